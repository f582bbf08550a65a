"""Which models the settings select on this machine, and what to use where one of them is not there.

Used by the composition root, `sayso models` and `sayso doctor`, so that all three say the same.
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sayso.server.agent.llm.selection import ModelChoice, ModelPreferences, choose
from sayso.server.models import InstalledModels, Model, ModelError
from sayso.server.settings import LanguageModel
from sayso.server.speech.synthesis.voices import Voice

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Selected:
    """A model for speech, whole."""

    model: Model
    complaint: str = ""
    """Why it is not the one that the settings name; empty if it is."""


def for_speech(installed: InstalledModels, kind: Literal["ears", "voice"], name: str) -> Selected:
    """The model that the settings name, else the one that comes with Sayso and the reason why.

    Looks at files' content the first time: not for an event loop. Raises ModelError if neither is
    whole.
    """
    try:
        return Selected(installed.ready(kind, name))
    except ModelError as error:
        fallback = installed.starter(kind)
        if fallback.name == name:
            raise
        return Selected(fallback, f"{error} Until then, {fallback.name} is used.")


def voice(model: Model) -> Voice:
    """A model of the kind as the mouth takes it."""
    return Voice(model.name, model.language, model.path)


def voices(installed: InstalledModels) -> list[Voice]:
    """All voices on this machine that are whole. Hashes what is new: not for an event loop."""
    found = []
    for model in installed.models():
        if model.kind == "voice":
            try:
                installed.verify(model)
            except ModelError as error:
                log.warning("%s", error)
            else:
                found.append(voice(model))
    return found


async def for_talking(
    settings: LanguageModel,
    installed: InstalledModels,
    environment: Mapping[str, str] | None = None,
) -> ModelChoice:
    """The language model, found anew. Raises nothing."""
    return await choose(
        wishes(settings),
        installed=installed,
        environment=os.environ if environment is None else environment,
    )


def wishes(settings: LanguageModel) -> ModelPreferences:
    """What the settings say of the language model, in the agent's words."""
    return ModelPreferences(
        model=settings.model,
        api_base=settings.api_base,
        api_key_variable=settings.api_key_variable,
        calls_tools=settings.calls_tools,
        cloud_allowed=settings.cloud_allowed,
        cloud_refused=settings.cloud_refused,
        look_for_local=settings.look_for_local,
        stays_home=settings.stays_home,
    )

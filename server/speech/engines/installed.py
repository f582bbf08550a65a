"""Which speech models the settings select on this machine, and what is used in place of one."""

import logging
from dataclasses import dataclass
from typing import Literal

from sayso.protocol.health import Finding, split_remedy
from sayso.server.models import InstalledModels, Model, ModelError
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


def examine_model(installed: InstalledModels, kind: Literal["ears", "voice"], name: str) -> Finding:
    """How the model is that the settings name."""
    try:
        selected = for_speech(installed, kind, name)
    except ModelError as error:
        return Finding(kind, "bad", *split_remedy(str(error)))
    if selected.complaint:
        return Finding(kind, "poor", *split_remedy(selected.complaint))
    model = selected.model
    if model.source == "path":
        return Finding(kind, "good", f"{model.name} is there; what it should hold is not known.")
    return Finding(kind, "good", f"{model.name} is there and whole.")


def voice(model: Model) -> Voice:
    """A model of this kind in the form that synthesis takes."""
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

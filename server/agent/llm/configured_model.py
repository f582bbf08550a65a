"""Tells which language model the settings select.

Used by the composition root, `sayso models` and `sayso doctor`, so that all three say the same.
"""

import os
from collections.abc import Mapping

from sayso.server.agent.llm.selection import ModelChoice, ModelPreferences, choose
from sayso.server.models import InstalledModels
from sayso.server.settings import LanguageModel


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

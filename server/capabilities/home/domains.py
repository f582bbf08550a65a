"""Which of a home's things are calm, by the domains of what is acted on. Pure.

In Home Assistant unlocking a door is the intent HassTurnOff, and opening a garage HassTurnOn: what
is done says nothing, so what it is done to decides.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

CALM: Final = frozenset(
    {
        "climate", "fan", "humidifier", "input_boolean", "light", "media_player", "scene", "switch",
        "timer", "todo",
    }
)  # fmt: skip
"""What nobody comes into the house by, and nothing breaks by."""

READS: Final = frozenset(
    {
        "HassClimateGetTemperature", "HassGetCurrentDate", "HassGetCurrentTime", "HassGetState",
        "HassGetTemperature", "HassGetWeather", "HassTimerStatus",
    }
)  # fmt: skip
"""Intents that change nothing, whatever they are about."""

WITHOUT_TARGETS: Final = frozenset(
    {"HassListAddItem", "HassListCompleteItem", "HassShoppingListAddItem"}
)
"""Calm intents that name no thing of the house."""

CALM_SERVICES: Final = frozenset({"turn_on", "turn_off", "toggle"})
"""Of the domain `homeassistant`, which are for all others."""


def domain_of(entity: str) -> str:
    """What kind of thing it is."""
    return entity.partition(".")[0]


def are_calm(entities: Iterable[str]) -> bool:
    """Whether there are any, and all are calm."""
    there = list(entities)
    return bool(there) and all(domain_of(each) in CALM for each in there)


def only_asks(found: Mapping[str, Any]) -> bool:
    """Whether what a dry run found changes nothing."""
    return _intent(found) in READS


def kinds_of(found: Mapping[str, Any]) -> frozenset[str]:
    """What kinds of things a sentence would touch; none where that cannot be told, as with
    sentences of the household's own, which may do anything."""
    if only_asks(found):
        return frozenset({"sensor"})  # to look at a lock opens nothing
    if found.get("source") not in (None, "builtin"):
        return frozenset()
    targets = found.get("targets") or {}
    if not isinstance(targets, Mapping):
        return frozenset()
    if not targets and _intent(found) in WITHOUT_TARGETS:
        return frozenset({"todo"})
    return frozenset(domain_of(name) for name, each in targets.items() if _is_matched(each))


def _intent(found: Mapping[str, Any]) -> str:
    intent = found.get("intent")
    return str(intent.get("name", "")) if isinstance(intent, Mapping) else ""


def _is_matched(target: object) -> bool:
    """Whether it is one that a sentence is about; what says nothing of it is."""
    return not isinstance(target, Mapping) or bool(target.get("matched", True))


def call_is_calm(service: str, entities: Iterable[str]) -> bool:
    """Whether a service may be called for these unasked."""
    domain, _, name = service.partition(".")
    suits = domain in CALM or (domain == "homeassistant" and name in CALM_SERVICES)
    return suits and are_calm(entities)

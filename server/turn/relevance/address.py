"""Takes the wake word off the beginning of what was said, as recognisers write it.

Whoever says "Hey Jarvis, stop" over an answer, in a moment in which no wake word is needed, or with
the key held down means "stop".
"""

import re

from sayso.server.turn.relevance.request_form import asks_for_something

_JARVIS = r"(?:jarvis|jervis|charvis|jarvi)"
_NABU = r"(?:nabu|naboo|navu)"
_HEY = r"(?:hey|hei|hay|hi|hallo|hello)"
_WITH_HEY = re.compile(
    rf"^\W*(?:{_HEY}\W+(?:{_JARVIS}|travis|my\W?croft|minecraft|say\W?so|alexa|{_NABU})"
    rf"|a\W+{_JARVIS}|(?:okay|ok|o\.k\.)\W+(?:{_NABU}|{_JARVIS}|sayso))(?!['\w])\W*",
    re.IGNORECASE,
)
"""The shipped wake words, and what small models make of them."""
_ALONE = r"(?:jarvis|nabu|mycroft|alexa|sayso)"
"""Without a "hey"."""
_SET_OFF = re.compile(rf"^\W*{_ALONE}\s*(?:[,.!?:;\u2026\u2013-]+\s*|$)", re.IGNORECASE)
_BEFORE_A_REQUEST = re.compile(
    rf"^\W*{_ALONE}\s+(?!(?:is|are|was|were|has|have|had|does|did|can|will|would)\b)",
    re.IGNORECASE,
)
"""One who is spoken of is not spoken to."""


def without_wake_word(text: str) -> str:
    """What was said to whoever was called; empty if nobody was told anything."""
    found = _WITH_HEY.match(text) or _SET_OFF.match(text)
    if found is None:
        bare = _BEFORE_A_REQUEST.match(text)
        found = bare if bare and asks_for_something(text[bare.end() :]) else None
    if found is None:
        return text
    rest = without_wake_word(text[found.end() :])
    return rest[:1].upper() + rest[1:]

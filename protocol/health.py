"""What an examination finds: the words in which every room tells `sayso doctor` how it is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and how it is."""

    part: str
    """What was looked at, in a word or two: `microphone`, `language model`."""
    state: Literal["good", "poor", "bad"]
    """`poor`: it works, but less well than it could. `bad`: it does not work."""
    detail: str
    """What was found, in one sentence."""
    remedy: str = ""
    """What to do about it, exactly: a command where there is one. Empty if nothing need be done."""


def split_remedy(sentence: str) -> tuple[str, str]:
    """A sentence in two: what is wrong, and what to do about it."""
    wrong, semicolon, remedy = sentence.partition("; ")
    if not semicolon:
        return sentence, ""
    return f"{wrong}.", remedy[0].upper() + remedy[1:]

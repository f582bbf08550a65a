"""A hurried "stop", for which a small recogniser writes "start" or "star" over Sayso's own voice.

Said over an answer, and alone, these words ask for nothing else; anywhere else they are themselves.
"""

import re

_WORD = re.compile(r"\w+")
_STOP = re.compile(r"(the )?(start|star|stock)( that)?")


def is_hurried_stop(text: str) -> bool:
    """Whether the whole of it is what a hurried "stop" is taken for."""
    return _STOP.fullmatch(" ".join(_WORD.findall(text.lower()))) is not None

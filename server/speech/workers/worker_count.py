"""How many processes of one speech engine a machine has cores for."""

import os
from typing import Final

CORES_EACH: Final = 4
"""A short utterance is no faster with more, and a voice speaks to seven people with one."""


def usual_workers() -> int:
    """Of each engine, where the settings say nothing."""
    return max(1, (os.cpu_count() or 1) // CORES_EACH)

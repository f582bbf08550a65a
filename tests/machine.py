"""What a test needs of the machine it runs on.

Where that is missing the test is left out and says why. Where `SAYSO_TEST_EVERYTHING` is set, as on
the machine that decides, nothing is left out: there it fails.
"""

import os
import shutil
from typing import NoReturn

import pytest

_DECIDES = bool(os.environ.get("SAYSO_TEST_EVERYTHING"))
"""Whether this is the machine that decides."""


def lacking(what: str) -> NoReturn:
    """Leave the test out; on the machine that decides, fail it."""
    if _DECIDES:
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def needed(program: str, package: str = "") -> str:
    """Where a program lies; `package` is Debian's, if it has another name."""
    place = shutil.which(program)
    if place is None:
        lacking(f"{program} is missing: sudo apt install {package or program}")
    return place


def has(program: str, package: str = "") -> bool:
    """Whether a program is here without which a test proves less, but goes on."""
    if _DECIDES:
        needed(program, package)
    return shutil.which(program) is not None

"""What a test needs of the machine it runs on.

Where that is missing the test is left out and says why. Where `SAYSO_TEST_EVERYTHING` is set, as on
the machine that decides, nothing is left out: there it fails.
"""

import ctypes
import os
import shutil
import sys
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
    """Where a program lies, or a library of Linux; `package` is Debian's, if it has another
    name."""
    place = _library(program) if ".so" in program else shutil.which(program)
    if place is None:
        lacking(f"{program} is missing: sudo apt install {package or program}")
    return place


def _library(name: str) -> str | None:
    """Its name, if programs can load it; elsewhere what needs it brings it along."""
    if sys.platform == "linux":
        try:
            ctypes.CDLL(name)
        except OSError:
            return None
    return name


def has(program: str, package: str = "") -> bool:
    """Whether a program is here without which a test proves less, but goes on."""
    if _DECIDES:
        needed(program, package)
    return shutil.which(program) is not None

"""Libraries in C that come between a program and the system (LD_PRELOAD), built when needed."""

import subprocess
import sys
from pathlib import Path

from tests.machine import lacking

BUILD_S = 60.0
"""On a busy machine."""


def built(source: Path, folder: Path) -> Path:
    """The library of a source, in a folder of the test."""
    if sys.platform != "linux":
        lacking("LD_PRELOAD is Linux's")
    library = folder / source.with_suffix(".so").name
    compiler = ("cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl")
    subprocess.run(compiler, check=True, timeout=BUILD_S)
    return library

"""The Python that the server's environment and the kernels' are both made from."""

import sys
from pathlib import Path


def base_prefix() -> Path:
    """Where it is installed, with its standard library."""
    return Path(sys.base_prefix).resolve()


def base_python() -> Path:
    """Return the interpreter itself: it needs no environment, and exists inside every sandbox."""
    named = base_prefix() / "bin" / "python{}.{}".format(*sys.version_info)
    return named if named.exists() else Path(sys.executable).resolve()

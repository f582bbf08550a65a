"""Puts what code installed behind the standard library, where it cannot stand in for it.

Every Python in a sandbox runs this file as it starts, because its folder is named in PYTHONPATH.
What lies in a workspace is so no `sitecustomize` any more, and no `.pth` file of it is read.
"""

import os
import sys

PACKAGES = "SAYSO_PACKAGES"
"""Names the folder of what code installed."""

WHEN = "SAYSO_PACKAGES_COME"
"""`later`: the program that starts puts them in place itself. `last`: behind all that is there."""


def place_for_packages() -> int:
    """Return where they belong in `sys.path`: behind the standard library, before what is there."""
    ends = ("site-packages", "dist-packages")
    places = (number for number, path in enumerate(sys.path) if path.endswith(ends))
    return next(places, len(sys.path))


def _start() -> None:
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - each import costs
    sys.path[:] = [path for path in sys.path if path != own]
    packages, when = os.environ.get(PACKAGES, ""), os.environ.pop(WHEN, "")
    version = "python{}.{}".format(*sys.version_info)
    if version in packages.split("/") and when != "later":
        sys.path.insert(len(sys.path) if when == "last" else place_for_packages(), packages)


_start()

"""Folders in folders, deeper than what goes through them by calling itself, or by whole paths."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DIG = "import os\nfor _ in range({depth}): os.mkdir({name!r}); os.chdir({name!r})\n"


def dig(folder: Path, depth: int, name: str = "d", then: str = "") -> None:
    """Make them in a folder, each in the one before; `then`: Python that runs in the last."""
    code = DIG.format(depth=depth, name=name) + then
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


@contextmanager
def filled_in(folder: Path) -> Iterator[None]:
    """Clear a folder away at the end: pytest could not."""
    try:
        yield
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())

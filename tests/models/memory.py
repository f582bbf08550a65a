"""Spares tests from verifying every byte of the starter models in each fresh home."""

import tempfile
from functools import cache
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.models.verification import memory_file


def remember_starters(home: Home) -> None:
    """As if this home had verified them before; they were, once in this test run."""
    path = memory_file(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_memory())


@cache
def _memory() -> str:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home = Home(Path(folder), Path(folder), Path(folder))
        shelf = InstalledModels(home)
        for model in shelf.models():
            shelf.verify(model)
        return memory_file(home).read_text()

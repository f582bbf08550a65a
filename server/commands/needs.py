"""Says that the server's packages are missing before anything heavy is imported."""

from importlib.util import find_spec
from typing import Final

_TELLING: Final = ("litellm", "faster_whisper", "jupyter_client")
"""Packages without which no server runs, and which no client has."""


def need_the_server() -> None:
    """Raise ModuleNotFoundError where Sayso is installed without its server."""
    for name in _TELLING:
        if find_spec(name) is None:
            message = f"No module named {name!r}"
            raise ModuleNotFoundError(message, name=name)

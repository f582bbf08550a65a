"""Serves the web client's files from its package: they are read once, and no other is served."""

from functools import cache
from importlib.resources import files
from pathlib import PurePath

PACKAGE = "sayso.client.web"
INDEX = "index.html"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""By the ending of the name; files that end otherwise are not shown."""


def page(path: str) -> tuple[str, bytes] | None:
    """The type and content of what stands at this path of the server's."""
    return _pages().get(path.removeprefix("/") or INDEX)


@cache
def _pages() -> dict[str, tuple[str, bytes]]:
    return {
        entry.name: (kind, entry.read_bytes())
        for entry in files(PACKAGE).iterdir()
        if (kind := TYPES.get(PurePath(entry.name).suffix)) and entry.is_file()
    }

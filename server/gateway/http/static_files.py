"""Serves the web client's files from its packages: they are read once, and no other is served."""

import gzip
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import PurePath

PACKAGES = {"sayso.client.web": "", "sayso.client.web.vendor": "vendor/"}
"""Where they lie, and under which path they are served."""

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

SMALL_ALREADY = ("image/png",)


@dataclass(frozen=True)
class StaticFile:
    """A file of the page. It holds no secret, so that its size may be seen."""

    kind: str
    content: bytes

    @cached_property
    def packed(self) -> bytes | None:
        """The same with gzip; None where that saves nothing."""
        return None if self.kind in SMALL_ALREADY else gzip.compress(self.content, mtime=0)


def page(path: str) -> StaticFile | None:
    """What stands at this path of the server's."""
    return _pages().get(path.removeprefix("/") or INDEX)


@cache
def _pages() -> dict[str, StaticFile]:
    return {
        prefix + entry.name: StaticFile(kind, entry.read_bytes())
        for package, prefix in PACKAGES.items()
        for entry in files(package).iterdir()
        if (kind := TYPES.get(PurePath(entry.name).suffix)) and entry.is_file()
    }

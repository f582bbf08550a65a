"""Tells what code finds installed: the kernels' Python with its packages, and common programs."""

import re
import shutil
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from sayso.server.runtimes.kernels.environment import LOCK, KernelEnvironment

_OWN: Final = frozenset({"ipykernel", "pip", "pyzmq"})
"""Asked for because kernels need them; no model has to be told of them."""

_ASKED_FOR: Final = "kernel.in"
_NAME: Final = re.compile(r"^[A-Za-z0-9][\w.-]*", re.MULTILINE)

_SYSTEM: Final = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
"""Where programs lie that a sandbox shows."""

MOST_ADDED: Final = 20
"""Packages that the person installed besides: a line of a prompt."""

_PROGRAMS: Final = (
    "git", "gcc", "make", "node", "java", "go", "cargo", "curl", "jq", "sqlite3", "ffmpeg",
    "convert", "pandoc", "pdftotext", "soffice",
)  # fmt: skip
"""What work is done with where it is there. Shells and small tools are there anyway."""


def at_hand(environment: KernelEnvironment) -> str:
    """What is installed, in a sentence."""
    python = environment.library.parent.name.removeprefix("python")
    packages = (*_shipped(), *_added(environment.folder / environment.library))
    programs = _programs()
    also = f" Programs: {', '.join(programs)}." if programs else ""
    return f"Python {python} has {', '.join(packages)}.{also}"


@cache
def _shipped() -> tuple[str, ...]:
    asked = resources.files(__package__).joinpath(_ASKED_FOR).read_text(encoding="utf-8")
    return tuple(name for name in _NAME.findall(asked) if name not in _OWN)


@cache
def _locked() -> frozenset[str]:
    lock = resources.files(__package__).joinpath(LOCK).read_text(encoding="utf-8")
    return frozenset(map(_plain, _NAME.findall(lock)))


def _added(library: Path) -> tuple[str, ...]:
    """What the person installed besides."""
    try:
        found = sorted(each.name.partition("-")[0] for each in library.glob("*.dist-info"))
    except OSError:
        return ()
    return tuple(name for name in found if _plain(name) not in _locked())[:MOST_ADDED]


@cache
def _programs() -> tuple[str, ...]:
    return tuple(name for name in _PROGRAMS if shutil.which(name, path=_SYSTEM))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

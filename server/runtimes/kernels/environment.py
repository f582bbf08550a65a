"""The kernels' own Python: a virtual environment made from a lock, never the server's.

A virtual environment cannot be moved after it was made, so each one is built in the folder in which
it will stay, under a name of its own, and gets its marker last. `kernels/python` is a symbolic link
that is then turned to it in one step. Behind the link there is always a whole environment; a folder
without a marker is a build that broke off, and the next build sweeps it away.
"""

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.runtimes.base_python import base_prefix
from sayso.server.runtimes.kernels.environment_install import (
    KernelEnvironmentError,
    Progress,
    install,
    make_skeleton,
)

__all__ = ["KernelEnvironment", "KernelEnvironmentError", "Progress", "ensure"]

log = logging.getLogger(__name__)

LOCK = "kernel.lock"
"""The packages with their hashes, package data beside this file; `kernel.in` says what was asked
for."""

_MARKER = "sayso-environment.json"
"""Written last: an environment that has it is whole."""

_LAYOUT = 1
"""Raised when environments are to be laid out anew although the lock did not change."""

_WAIT_S = 900.0
"""How long to wait for another process that builds: a download over a slow line, then it is
hung."""

_POLL_S = 0.2
"""How often to look whether the other process is done: no person notices, no processor either."""


@dataclass(frozen=True, slots=True)
class KernelEnvironment:
    """A whole environment in which kernels start."""

    folder: Path
    """Where it lies: real, not the link."""
    base: Path
    """The prefix of the interpreter that it was made from, which holds the standard library."""

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def library(self) -> Path:
        """Where packages lie below a prefix of this Python."""
        return Path("lib", "python{}.{}".format(*sys.version_info), "site-packages")

    @property
    def skeleton(self) -> Path:
        """What each kernel's own home folder starts with: caches that would take seconds to
        make."""
        return self.folder / "skeleton"


def ensure(home: Home, on_progress: Progress = lambda _: None) -> KernelEnvironment:
    """Return the kernels' environment; make it if it is missing, broken or of another lock.

    Making it takes a minute and blocks, so call this in a thread; finding it takes a millisecond.
    """
    kernels = home.data / "kernels"
    lock = resources.files(__package__).joinpath(LOCK).read_text(encoding="utf-8")
    if found := _whole(kernels / "python", lock):
        return found
    try:
        kernels.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(kernels / "python.busy", on_progress):
            return _whole(kernels / "python", lock) or _build(kernels, lock, on_progress)
    except OSError as error:
        what = f"{error.strerror or error} ({error.filename or kernels})"
        raise KernelEnvironmentError(
            f"The kernels' Python environment cannot be made: {what}; free space or set SAYSO_HOME"
            " to a folder that you may write to, and start again."
        ) from error


def present(home: Home) -> KernelEnvironment | None:
    """Return the kernels' environment if it is there, whole and of the present lock."""
    lock = resources.files(__package__).joinpath(LOCK).read_text(encoding="utf-8")
    return _whole(home.data / "kernels" / "python", lock)


def _whole(link: Path, lock: str) -> KernelEnvironment | None:
    """What the link leads to, if it was made from this lock, by an interpreter that is still
    there."""
    try:
        folder = link.resolve(strict=True)
        marker = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
        base = Path(marker["base"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if (
        marker != _marker(lock, base)
        or base != base_prefix()
        or not os.access(folder / "bin/python", os.X_OK)
    ):
        return None
    return KernelEnvironment(folder, base)


def _marker(lock: str, base: Path) -> dict[str, str | int]:
    return {
        "layout": _LAYOUT,
        "lock": hashlib.sha256(lock.encode()).hexdigest(),
        "python": "{}.{}".format(*sys.version_info),
        "base": str(base),
    }


@contextlib.contextmanager
def _alone(path: Path, on_progress: Progress) -> Iterator[None]:
    """Hold the builders' lock; the system releases it if this process dies."""
    with path.open("w") as file:
        deadline = time.monotonic() + _WAIT_S
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise KernelEnvironmentError(
                        "Another Sayso has been making the kernels' Python environment for"
                        f" {_WAIT_S / 60:.0f} minutes; stop it and start again."
                    ) from None
                if not told:
                    on_progress(
                        "Another Sayso is making the kernels' Python environment; waiting for it"
                    )
                    told = True
                time.sleep(_POLL_S)
        yield


def _build(kernels: Path, lock: str, on_progress: Progress) -> KernelEnvironment:
    link = kernels / "python"
    if link.exists() and not link.is_symlink():
        raise KernelEnvironmentError(
            f"{link} is in the way of the kernels' Python environment; move it away and start"
            " again."
        )
    before = link.resolve() if link.is_symlink() else None
    _sweep(kernels, keep={before} if before and (before / _MARKER).exists() else set())
    folder = (
        kernels / f"python-{hashlib.sha256(lock.encode()).hexdigest()[:8]}-{secrets.token_hex(4)}"
    )
    on_progress("Making the kernels' Python environment (once; about 80 MB to download)")
    try:
        install(folder, LOCK, on_progress)
        make_skeleton(folder, on_progress)
        environment = KernelEnvironment(folder, base_prefix())
        marker = json.dumps(_marker(lock, environment.base))
        (folder / _MARKER).write_text(marker, encoding="utf-8")
        _turn(link, folder)
        _sweep(kernels, keep={folder, before or folder})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    on_progress("The kernels' Python environment is ready")
    return environment


def _turn(link: Path, folder: Path) -> None:
    """Switch the link to another folder, atomically for every process."""
    fresh = link.with_name(f"{link.name}.{secrets.token_hex(4)}")
    fresh.symlink_to(folder.name)
    fresh.replace(link)


def _sweep(kernels: Path, keep: set[Path]) -> None:
    """Remove builds that broke off or are out of date; but for the last, in which kernels may still
    run."""
    for old in kernels.glob("python-*-*"):
        if old not in keep and old.is_dir():
            log.info("removing the old kernels' environment %s", old.name)
            shutil.rmtree(old, ignore_errors=True)

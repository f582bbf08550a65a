"""Lets the person change code in their own editor, and read long text in their own pager."""

import asyncio
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from sayso.client.errors import ClientError

_SUFFIXES = {"python": ".py", "py": ".py", "bash": ".sh", "sh": ".sh", "javascript": ".js"}
_USUAL = ("nano", "vim", "vi", "emacs")
_PAGERS = ("less", "more")


class NoEditor(ClientError):
    """There is no editor, or it does not start."""


class NoPager(ClientError):
    """There is nothing to read a long text with, or it does not start."""


def editor() -> list[str]:
    """Finds the person's editor as a command."""
    chosen = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if chosen:
        return shlex.split(chosen)
    for name in _USUAL:
        if shutil.which(name):
            return [name]
    raise NoEditor("No editor was found: set EDITOR to the one you like.")


async def edit(code: str, language: str) -> str:
    """Opens the editor on the code and gives what was saved. The terminal must be as usual.

    The code lies in a file that only its owner can read, in a folder that is gone afterwards.
    """
    command = editor()
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        path = Path(folder) / f"code{_SUFFIXES.get(language, '.txt')}"
        path.write_text(code)
        try:
            process = await asyncio.create_subprocess_exec(*command, str(path))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NoEditor(f"The editor {command[0]} does not start: {reason}.") from error
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise
        if status != 0:
            raise NoEditor(f"The editor {command[0]} ended with status {status}; nothing changed.")
        return path.read_text()


async def page(path: Path) -> None:
    """Shows a long text in the person's own pager until they leave it. The terminal must be as
    usual."""
    found = (name for name in _PAGERS if shutil.which(name))
    command = shlex.split(os.environ.get("PAGER", "")) or [next(found, "")]
    try:
        process = await asyncio.create_subprocess_exec(*command, str(path))
    except (OSError, ValueError) as error:
        raise NoPager(f"There is no pager: set PAGER to one. The output lies in {path}.") from error
    try:
        await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise

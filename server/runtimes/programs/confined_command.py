"""Runs one command in the sandbox: gives it a text, and returns how it ended and what it said."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.programs.confined_program import ProgramError

SAID_MOST_BYTES: Final = 64 * 1024
"""Of each of its two outputs. What is beyond is read and dropped, so that nothing blocks."""

_PIECE_BYTES: Final = 16 * 1024

BY_SIGNAL: Final = 128
"""An exit code of this and a signal's number is that of what the signal has ended."""

NOT_FOUND: Final = 127
"""The exit code of a shell for a program that is not there."""

_START: Final = (
    "import os, sys\n"
    "channel, errors, folder, *words = sys.argv[1:]\n"
    "os.dup2(int(channel), 0)\n"
    "os.dup2(int(channel), 1)\n"
    "os.dup2(int(errors), 2)\n"
    "try:\n"
    "    os.chdir(folder)\n"
    "    os.execvp(words[0], words)\n"
    "except OSError as error:\n"
    "    os.write(2, f'{words[0]}: {error.strerror}'.encode())\n"
    f"    os._exit({NOT_FOUND})\n"
)
"""Makes sockets the standard input and outputs of a program."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    code: int
    """Its exit code; more than 128 for a signal."""
    out: bytes
    """The beginning of what it wrote to its standard output."""
    errors: bytes
    """The same for its standard error."""
    is_cut: bool
    """Whether it may have written more."""


async def run_confined(
    place: Place,
    words: Sequence[str],
    text: str,
    folder: Path,
    seconds: float,
    most_bytes: int = SAID_MOST_BYTES,
) -> Finished:
    """Run a command in a folder that it is shown, with a text as its standard input, and end it
    with all that it started. `most_bytes`: kept of each of its outputs. Raises ProgramError where
    it cannot be started or takes longer.
    """
    ours, theirs = socket.socketpair()
    our_errors, their_errors = socket.socketpair()
    numbers = (theirs.fileno(), their_errors.fileno())

    def command(_: Path) -> tuple[str, ...]:
        python = str(place.environment.python)
        named = (*map(str, numbers), str(folder))
        return (python, "-I", "-S", "-B", "-c", _START, *named, *words)

    confines = replace(place.with_environment(folder), skeleton=None)
    with theirs, their_errors:
        try:
            process = await ConfinedProcess.start(
                place.sandbox, command, place.given, confines, numbers
            )
        except BaseException as error:
            ours.close()
            our_errors.close()
            if isinstance(error, OSError):
                raise ProgramError(f"it could not be started: {error}") from error
            raise
    try:
        return await _seen_through(process, (ours, our_errors), text, seconds, most_bytes)
    finally:
        await to_the_end(asyncio.create_task(process.close()))


async def _seen_through(
    process: ConfinedProcess,
    ends: tuple[socket.socket, socket.socket],
    text: str,
    seconds: float,
    most_bytes: int,
) -> Finished:
    reader, writer = await asyncio.open_unix_connection(sock=ends[0])
    error_reader, error_writer = await asyncio.open_unix_connection(sock=ends[1])
    tasks = [asyncio.create_task(_read(each, most_bytes)) for each in (reader, error_reader)]
    giving = asyncio.create_task(_give(writer, text))
    try:
        async with asyncio.timeout(seconds):
            code = await asyncio.shield(process.ended)
        await process.close()  # what it left running holds its outputs open no more
        out, said = await asyncio.gather(*tasks)
    except TimeoutError:
        raise ProgramError(f"it took longer than {seconds:g} seconds") from None
    finally:
        for task in (*tasks, giving):
            task.cancel()
        await asyncio.gather(*tasks, giving, return_exceptions=True)
        writer.close()
        error_writer.close()
    if process.ended_for:
        raise ProgramError(f"{process.ended_for}, so it was ended")
    code = code if code >= 0 else BY_SIGNAL - code
    is_cut = len(out) >= most_bytes
    return Finished(code, out, said or process.last_words.encode(), is_cut)


async def _give(writer: asyncio.StreamWriter, text: str) -> None:
    """The text, as far as it is read."""
    with suppress(ConnectionError):
        writer.write(text.encode(errors="replace"))
        await writer.drain()
        writer.write_eof()


async def _read(reader: asyncio.StreamReader, most_bytes: int) -> bytes:
    """All that comes, as far as it is kept."""
    kept = b""
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE_BYTES):
            kept += piece[: most_bytes - len(kept)]
    return kept

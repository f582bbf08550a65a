"""A program of Sayso's own that works in the sandbox and answers requests, one at a time.

It is there for what reads or writes files that strangers may have made: the server itself never
does. What comes back is data: whoever made the file may have taken the program over.
"""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.language import Place

Message = Mapping[str, Any]

LENGTH: Final = struct.Struct(">I")

ANSWER_MOST_BYTES: Final = 4 * 1024**2
"""Of one message: more than anybody is shown at once."""

_WAITING_MOST_BYTES: Final = 256 * 1024
"""What waits to be read, before the program waits."""

_END: Final = "end"
"""The name in a message by which it is the last about a request."""


class ProgramError(Exception):
    """The program did not do it; the message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """One of them: a Python file that serves requests on the socket whose number it is given."""

    file: Path
    """It is shown in the sandbox with the folder that it lies in."""


class ConfinedProgram:
    """One that runs."""

    def __init__(
        self,
        process: ConfinedProcess,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    async def start(cls, program: Program, place: Place) -> "ConfinedProgram":
        """Start it with what code of this place may touch. Raises ProgramError."""
        ours, theirs = socket.socketpair()

        def command(_: Path) -> tuple[str, ...]:
            python = str(place.environment.python)
            # Without what code may have left where Python looks for packages.
            return (python, "-I", "-B", str(program.file), str(theirs.fileno()))

        confines = replace(place.with_environment(program.file.parent), skeleton=None)
        variables = {**place.variables, "GIT_OPTIONAL_LOCKS": "0"}
        try:
            process = await ConfinedProcess.start(
                place.sandbox, command, variables, confines, (theirs.fileno(),)
            )
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError):
                raise ProgramError(f"It could not be started: {error}.") from error
            raise
        finally:
            theirs.close()
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_WAITING_MOST_BYTES)
        return cls(process, reader, writer)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.alive and not self._reader.at_eof()

    async def ask(self, request: Message, seconds: float) -> Message:
        """The last thing that it says about a request. Raises ProgramError, and ends the program,
        where that takes too long; cancelling ends it as well."""
        last: Message = {}
        async with aclosing(self.stream(request, seconds)) as messages:
            async for message in messages:
                last = message
        return last

    async def stream(self, request: Message, seconds: float) -> AsyncGenerator[Message]:
        """All that it says about a request, the last with `end`. As `ask`."""
        async with self._one_at_a_time:
            ended = False
            try:
                deadline = asyncio.get_running_loop().time() + seconds
                body = json.dumps(request).encode()
                self._writer.write(LENGTH.pack(len(body)) + body)
                while not ended:
                    async with asyncio.timeout_at(deadline):
                        message = await self._read()
                    ended = _END in message
                    yield message
            except TimeoutError:
                raise ProgramError(
                    f"It took longer than {seconds:.0f} seconds and was stopped."
                ) from None
            except (EOFError, ConnectionError):
                words = self._process.last_words.splitlines()[-1:]
                why = self._process.ended_for or "It ended in the middle of it"
                raise ProgramError(f"{why}{f' ({words[0][:200]})' if words else ''}.") from None
            finally:
                if not ended:
                    await self.close()

    async def _read(self) -> Message:
        (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
        if length > ANSWER_MOST_BYTES:
            raise ProgramError("It said more than can be taken in.")
        try:
            message = read_json(
                await self._reader.readexactly(length), most_bytes=ANSWER_MOST_BYTES
            )
        except UntrustedJsonError:
            raise ProgramError("It said what can't be read.") from None
        if not isinstance(message, dict):
            raise ProgramError("It said what can't be read.")
        return message

    async def close(self) -> None:
        """End it, with all that it started."""
        self._writer.close()
        await self._process.close()


def without_network(place: Place) -> Place:
    """The same place, for what needs no network."""
    return replace(place, confines=replace(place.confines, proxy=None))

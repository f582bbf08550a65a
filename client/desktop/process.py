"""Starts the process at the screen when it is first wanted, and talks to it.

It is one of its own so that a client that only talks stays as light as it is, and so that what the
person's hand stops is stopped whatever the client is doing.
"""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sayso.client.desktop.messages import LENGTH, MOST_BYTES, packed

START_S: Final = 10.0
"""It takes a quarter of a second; on a busy Raspberry Pi some."""
END_S: Final = 2.0
"""For keys to be let go and given back."""
MOST_PICTURE_BYTES: Final = 8 * 2**20
_OVER: Final = "It was stopped before it began."
_GONE: Final = "What works at this screen has ended; ask again to start it anew."


Attempt = tuple[int, ...]
"""Conversation, turn and generation: they order like words."""


class DesktopGone(Exception):
    """There is no process at the screen, or no more; the text says why."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer of the process."""

    message: dict[str, Any]
    pictures: tuple[bytes, ...] = ()


class DesktopProcess:
    """One screen's. It does one request after the other; a stop overtakes them."""

    def __init__(self, server: str) -> None:
        """`server`: whose pages at this screen are out of reach."""
        self._server = server
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Told]] = {}
        self._starting = asyncio.Lock()
        self._unsent: dict[object, Attempt] = {}
        """What waits until the process is there: a stop takes it out."""
        self._number = 0

    @property
    def pid(self) -> int:
        """0 where it does not run."""
        return self._process.pid if self._process and self._process.returncode is None else 0

    async def ask(self, method: str, args: dict[str, Any], attempt: Attempt) -> Told:
        """What came of a request. Raises DesktopGone."""
        this = object()
        self._unsent[this] = attempt
        try:
            async with self._starting:
                process = await self._up()
        finally:
            is_over = self._unsent.pop(this, None) is None
        if is_over:
            return Told({"effect": "refused", "data": {"stopped": True}, "problem": _OVER})
        self._number += 1
        number = self._number
        answered: asyncio.Future[Told] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answered
        try:
            _send(process, {"id": number, "method": method, "args": args, "attempt": attempt})
            return await answered
        finally:
            self._waiting.pop(number, None)

    def stop(self, attempt: Attempt | None = None) -> None:
        """What it does or was asked is over; with an attempt, only what is of that or an older
        one."""
        for each, of in list(self._unsent.items()):
            if attempt is None or of <= attempt:
                del self._unsent[each]
        if self.pid and self._process:
            _send(self._process, {"stop": attempt})

    async def close(self) -> None:
        """End it; keys and buttons come up."""
        async with self._starting:
            await self._end()

    async def _up(self) -> asyncio.subprocess.Process:
        if self._process and self._process.returncode is None and not _is_over(self._reading):
            return self._process
        await self._end()
        borrowed = _borrowed()
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "sayso.client.desktop.hands"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is the client's to understand
        )
        _send(process, {"server": self._server, "borrowed": str(borrowed)})
        try:
            async with asyncio.timeout(START_S):
                told = await _receive(process)
        except (TimeoutError, OSError, EOFError, ValueError) as problem:
            await self._end()
            raise DesktopGone("What works at this screen does not start.") from problem
        if "ready" not in told.message:
            await self._end()
            raise DesktopGone(str(told.message.get("problem", "")))
        self._reading = asyncio.create_task(self._read(process), name="desktop process")
        return process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hand on answers until the process ends, or says what is no answer."""
        try:
            while True:
                told = await _receive(process)
                waiting = self._waiting.get(int(told.message.get("id", 0)))
                if waiting and not waiting.done():
                    waiting.set_result(told)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            for each in self._waiting.values():
                if not each.done():
                    each.set_exception(DesktopGone(_GONE))

    async def _end(self) -> None:
        process, self._process = self._process, None
        reading, self._reading = self._reading, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            async with asyncio.timeout(END_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        if reading:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        await self._restore(_borrowed())

    async def _restore(self, borrowed: Path) -> None:
        """Give back keys that a process had borrowed which was killed."""
        from sayso.client.desktop.x11.keyboard import restore_keys

        await asyncio.to_thread(restore_keys, os.environ.get("DISPLAY", ""), borrowed)


def _is_over(task: "asyncio.Task[None] | None") -> bool:
    return task is None or task.done()


def _borrowed() -> Path:
    """Where a screen's borrowed keys are written down, for this session of the person's."""
    folder = os.environ.get("XDG_RUNTIME_DIR") or str(Path.home() / ".cache")
    screen = "".join(each if each.isalnum() else "-" for each in os.environ.get("DISPLAY", ""))
    return Path(folder) / "sayso" / f"keys{screen}.json"


def _send(process: asyncio.subprocess.Process, message: dict[str, Any]) -> None:
    if process.stdin is None:
        raise EOFError
    process.stdin.write(packed(message))


async def _receive(process: asyncio.subprocess.Process) -> Told:
    """The next message. Raises EOFError, ValueError."""
    if process.stdout is None:
        raise EOFError
    try:
        (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
        if length > MOST_BYTES:
            raise ValueError("too long")
        message = json.loads(await process.stdout.readexactly(length))
        sizes = [int(each) for each in message.get("pictures", [])]
        if sum(sizes) > MOST_PICTURE_BYTES:
            raise ValueError("too many pictures")
        return Told(message, tuple([await process.stdout.readexactly(each) for each in sizes]))
    except asyncio.IncompleteReadError as problem:
        raise EOFError from problem

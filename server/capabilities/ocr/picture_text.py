"""Tells what is written in pictures: a process in the sandbox, started when it is needed, reads
them, and ends when nobody has needed it for a while.
"""

import asyncio
import importlib.util
import socket
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.protocol.visible import HIDDEN
from sayso.server.agent.record.picture_words import HOW_TO_GET_IT, UnreadablePicture
from sayso.server.runtimes.base_python import base_prefix, base_python
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox

WORKER: Final = Path(__file__).with_name("inside").joinpath("worker.py").resolve()
START_S: Final = 30.0
READ_S: Final = 90.0
"""For one picture; a page takes five to fifteen seconds on two busy cores."""
IDLE_S: Final = 60.0
"""It holds half a gigabyte."""
ANSWER_MOST_BYTES: Final = 4 * 1024**2
TEXT_CHARS: Final = 6_000
"""Of what is told of one picture."""

_LENGTH: Final = struct.Struct(">I")


class PictureText:
    """Of one server: pictures are read one after the other."""

    def __init__(self, sandbox: Callable[[], Sandbox | None], folder: Path) -> None:
        """`folder`: the process begins there, and may write nowhere else; nothing is kept in it."""
        self._sandbox = sandbox
        self._folder = folder
        self._busy = asyncio.Lock()
        self._process: ConfinedProcess | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()

    async def read(self, picture: bytes) -> str:
        """What is written in a picture, a line each; empty if nothing is. Raises
        UnreadablePicture."""
        async with self._busy:
            if self._idle:
                self._idle.cancel()
            try:
                answer = await self._answer(picture)
            except (OSError, EOFError, TimeoutError, UntrustedJsonError, struct.error) as problem:
                await self.close()
                raise UnreadablePicture(f"reading it failed ({type(problem).__name__})") from None
            except BaseException:
                await self.close()  # what it says next would be about this one
                raise
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._idled)
        return _told(answer)

    async def close(self) -> None:
        """End the process."""
        if self._idle:
            self._idle.cancel()
        process, self._process = self._process, None
        if self._writer:
            self._writer.close()
        self._reader = self._writer = None
        if process:
            await process.close()

    def _idled(self) -> None:
        if not self._busy.locked():
            task = asyncio.get_running_loop().create_task(self.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _answer(self, picture: bytes) -> Mapping[str, Any]:
        reader, writer = await self._started()
        async with asyncio.timeout(READ_S):
            writer.write(_LENGTH.pack(len(picture)) + picture)
            await writer.drain()
            (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
            if length > ANSWER_MOST_BYTES:
                raise EOFError
            answer = read_json(await reader.readexactly(length), most_bytes=ANSWER_MOST_BYTES)
        return answer if isinstance(answer, dict) else {}

    async def _started(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._process and self._process.alive and self._reader and self._writer:
            return self._reader, self._writer
        await self.close()
        sandbox = self._sandbox()
        if sandbox is None:
            raise UnreadablePicture("there is no sandbox here, outside of which none is decoded")
        found = importlib.util.find_spec("rapidocr")
        if found is None or found.origin is None:
            raise UnreadablePicture(f"nothing that reads pictures is installed ({HOW_TO_GET_IT})")
        await asyncio.to_thread(self._folder.mkdir, 0o700, True, True)
        packages = Path(found.origin).parents[1]
        ours, theirs = socket.socketpair()
        confines = Confines(self._folder, (self._folder,), (WORKER.parent, packages, base_prefix()))
        command = (
            str(base_python()), "-I", "-S", str(WORKER), str(theirs.fileno()), str(packages),
        )  # fmt: skip
        with theirs:
            try:
                self._process = await ConfinedProcess.start(
                    sandbox, lambda _: command, {}, confines, (theirs.fileno(),)
                )
            except BaseException:
                ours.close()
                raise
        self._reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        async with asyncio.timeout(START_S):
            await self._reader.readexactly(_LENGTH.size)
        return self._reader, self._writer


def _told(answer: Mapping[str, Any]) -> str:
    if problem := answer.get("problem"):
        raise UnreadablePicture(HIDDEN.sub("", str(problem))[:200])
    lines = answer.get("lines")
    found = lines if isinstance(lines, list) else []
    rows: list[str] = []
    last = None
    for each in found:
        text = HIDDEN.sub("", str(each.get("text", ""))) if isinstance(each, dict) else ""
        top, bottom = (each.get("top"), each.get("bottom")) if text else (0, 0)
        if not text or not isinstance(top, int) or not isinstance(bottom, int):
            continue
        if last is not None and last[0] <= (top + bottom) / 2 <= last[1]:
            rows[-1] += f"  {text}"
        else:
            rows.append(text)
            last = (top, bottom)
    told = "\n".join(rows)
    return told if len(told) <= TEXT_CHARS else f"{told[:TEXT_CHARS]}…"

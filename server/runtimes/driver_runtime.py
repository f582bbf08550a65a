"""An interpreter that is no Jupyter kernel: a program in the sandbox, and a driver beside it."""

import asyncio
import codecs
import contextlib
import json
import logging
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.runtimes import processes
from sayso.server.runtimes.base_python import base_prefix, base_python
from sayso.server.runtimes.calls.channel import CallChannel
from sayso.server.runtimes.calls.registry import NOTHING, CallableFunctions
from sayso.server.runtimes.confined_process import ConfinedProcess, how_it_died
from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.interpreter import CUT, CUT_S, SWEEP_S, CannotStartError
from sayso.server.runtimes.kernels.outputs import PlainText, plain
from sayso.server.runtimes.languages.driver import HEADER
from sayso.server.runtimes.languages.plan import Plan
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.runtimes.output_stream import OutputStream
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox

log = logging.getLogger(__name__)

DRIVER = Path(__file__).parent.joinpath("languages", "driver.py").resolve()

_RELAY = tuple(
    DRIVER.parents[1].joinpath("calls", f"{name}.py")
    for name in ("relay", "node_line", "shell_line")
)
"""What it loads for calls out of code."""

_NO_CALLS = -1
"""In place of the channel's number."""

START_S = 20.0
"""A shell is ready in a tenth of a second; a cold disk on a Raspberry Pi takes ten."""

_FRAME_MOST_BYTES = 8 * 1024**2
"""Frames have 64 KiB, values and errors a bounded length; more comes from no driver of ours."""

_WAITING_MOST_BYTES = 256 * 1024
"""What waits to be read, before the driver waits and with it what prints."""

_OVER_MOST_BYTES = 64 * 1024
"""A few numbers, and a sentence that is as long as a driver makes any."""

_BETWEEN_MOST = 16
"""Frames that programs left behind may say until the next run tells them: the last mebibyte."""

_ASKED = "It asked for input, but nobody can type here; put the values in the code."

_BY_SIGNAL = 128


@dataclass(frozen=True, slots=True)
class _Over:
    """What a driver tells about the end of a run."""

    code: int = 0
    """The exit status; negative for a signal that ended the interpreter."""
    detail: str = ""
    gone: bool = False
    """Whether the interpreter ended and took its state along."""
    kept: bool = True
    """Whether what the run itself changed was kept."""
    asked: bool = False
    """Whether anything looked for input."""
    interrupted: bool = False
    child: int = 0
    """The interpreter's process, by the number that it has in the sandbox; 0 is none."""


_KINDS: Mapping[str, type] = {field.name: type(field.default) for field in fields(_Over)}


def _over(body: bytes) -> _Over | None:
    """Read the end of a run; None if these bytes are none: a stranger lives beside the driver."""
    try:
        about = read_json(body, most_bytes=_OVER_MOST_BYTES)
        over = _Over(**about)
    except (UntrustedJsonError, TypeError):
        return None
    if any(type(value) is not _KINDS[name] for name, value in asdict(over).items()):
        return None
    return replace(over, detail=plain(over.detail))


class DriverRun(OutputStream):
    """One run's outputs, from the driver's frames."""

    def __init__(self) -> None:
        super().__init__()
        self._text = {kind: _Text() for kind in ("stdout", "stderr")}
        self._over = _Over()
        self._death = ""
        self.begun = processes.now()
        self.interrupted = ""
        """Why the run was asked to stop, if it was: a sentence."""

    def printed(self, kind: Literal["stdout", "stderr"], data: bytes) -> None:
        self.add(Output(kind, self._text[kind].feed(data)))

    def told(self, kind: Literal["result", "error"], data: bytes) -> None:
        self.add(Output(kind, _Text().feed(data)))

    def marked(self, number: bytes) -> None:
        """The driver says a number: what was printed before it has come."""
        if number.isdigit():
            self.mark(int(number[:9]))

    def over(self, about: _Over) -> None:
        """The driver says that the run is over."""
        self._over = about
        if self._over.asked and self._over.code == 0 and not self.silent:
            self.add(Output("stderr", f"[{_ASKED}]\n"))
        self.end()

    @property
    def gone(self) -> bool:
        return self._over.gone

    @property
    def interpreter(self) -> int:
        """The process that the next run is for (processes.py)."""
        return self._over.child

    def died(self, how: str) -> bool:
        """The driver is gone; `how` is a sentence about it. Return whether the run dies of it."""
        if self.ended.is_set():
            return False
        self._death = how
        self.end()
        return True

    def ending(self, seconds: float) -> Ending:
        """How it ended, once it has."""
        over = self._over
        if self._death:
            return Ending("died", seconds, self._death)
        if over.gone:
            why = self.interrupted or f"The code ended its own interpreter{_with(over.code)}."
            lost = "Its variables are lost; the next run gets a new one."
            return Ending("died", seconds, f"{why.partition(';')[0].rstrip('.')}. {lost}")
        changed = "" if over.kept else " What this run changed in the shell is lost."
        if over.interrupted and self.interrupted:
            return Ending("interrupted", seconds, self.interrupted + changed)
        if over.code == 0:
            silent = over.asked and self.silent
            return Ending("error" if silent else "ok", seconds, _ASKED if silent else "")
        told = over.detail or f"It ended{_with(over.code)}."
        asked = f" {_ASKED}" if over.asked else ""
        return Ending("error", seconds, f"{told}{asked}{changed}")


class DriverInterpreter:
    """A living interpreter with its driver: code goes in, one run at a time."""

    def __init__(
        self,
        process: ConfinedProcess,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        calls: CallChannel | None = None,
    ) -> None:
        self.calls = calls
        self._runs = 0
        self._process = process
        self._reader, self._writer = reader, writer
        self._run: DriverRun | None = None
        process.ready = processes.now()
        self._told = False
        self._between: deque[tuple[bytes, bytes]] = deque(maxlen=_BETWEEN_MOST)
        self._closing: asyncio.Task[None] | None = None
        self._reading = asyncio.create_task(self._read())
        self._tasks = [self._reading, asyncio.create_task(self._watch())]

    @classmethod
    async def start(
        cls, sandbox: Sandbox, plan: Plan, environment: Mapping[str, str], confines: Confines
    ) -> "DriverInterpreter":
        """Start an interpreter and return it when it is ready."""
        ours, theirs = socket.socketpair()
        calls = CallChannel() if plan.line else None
        channel = calls.inherited if calls else _NO_CALLS

        def command(private: Path) -> Sequence[str]:
            python = (str(base_python()), "-I", "-S", str(DRIVER))
            link = (str(theirs.fileno()), str(channel))
            return (*python, *link, json.dumps(asdict(plan)), str(private))

        inherited = (theirs.fileno(), *((channel,) if calls else ()))
        try:
            process = await ConfinedProcess.start(
                sandbox, command, environment, _with_driver(confines), inherited
            )
        except BaseException as error:
            ours.close()
            if calls:
                await calls.close()
            if isinstance(error, OSError):
                raise CannotStartError(f"The interpreter cannot be started: {error}.") from error
            raise
        finally:
            theirs.close()
        if calls:
            calls.passed_on()
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_WAITING_MOST_BYTES)
        try:
            async with asyncio.timeout(START_S):
                _, length = HEADER.unpack(await reader.readexactly(HEADER.size))
                await reader.readexactly(length)
        except BaseException as error:
            writer.close()
            await process.close()
            if calls:
                await calls.close()
            if isinstance(error, TimeoutError | EOFError | ConnectionError):
                said = (process.last_words.splitlines() or ["it said nothing"])[-1]
                raise CannotStartError(f"The interpreter did not start: {said}.") from error
            raise
        return cls(process, reader, writer, calls)

    @property
    def alive(self) -> bool:
        return self._process.alive

    @property
    def ended_for(self) -> str:
        """Why it was ended by the watch, if it was: what begins a sentence."""
        return self._process.ended_for

    @property
    def leaves(self) -> bool:
        """The driver replaces what ends itself."""
        return False

    @property
    def died_unnoticed(self) -> bool:
        """Whether it took variables with it and no run has told of that."""
        return not self.alive and self._run is not None and not self._told

    @property
    def ended_commands(self) -> Sequence[str]:
        """What the run that was interrupted last had started, and was ended with it."""
        return self._process.ended_commands

    def left_behind(self) -> LeftProcesses | None:
        """What the last run has left running. Blocking: a thread's."""
        run = self._run
        return self._process.left_behind(run.interpreter) if run else None

    async def execute(self, code: str, functions: CallableFunctions = NOTHING) -> DriverRun:
        """Begin a run, which may call these. The one before must have ended."""
        self._run = run = DriverRun()
        self._process.run_begins(run.begun)
        if not self.alive:
            self._told = run.died(how_it_died(self._process))
            return run
        while self._between:
            self._hear(*self._between.popleft())
        self._send(b"R", code.encode(errors="replace"))
        self._runs += 1
        if self.calls:
            self.calls.open(functions, str(self._runs), run.shown)
        return run

    async def interrupt(self, within: float, why: str) -> bool:
        """Ask the run to stop; return whether it did, with all that it started, within so many
        seconds."""
        run = self._run
        if run is None or run.ended.is_set():
            return True
        run.interrupted = run.interrupted or why
        self._send(b"I", b"")
        deadline = asyncio.get_running_loop().time() + within
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await run.ended.wait()
        if not run.ended.is_set():
            return False
        left = max(SWEEP_S, deadline - asyncio.get_running_loop().time())
        return not self.alive or await self._process.end_since(run.begun, left, run.interpreter)

    async def close(self, why: str = "The interpreter was ended.") -> None:
        """End the process with everything in its sandbox; a run in it has then died of `why`."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(why))
        await to_the_end(self._closing)

    async def _close(self, why: str) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._writer.close()
        if self.calls:
            await self.calls.close()
        await self._process.close()
        if self._run:
            self._told = self._run.died(why) or self._told

    def _send(self, letter: bytes, body: bytes) -> None:
        self._writer.write(HEADER.pack(letter, len(body)) + body)

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                letter, length = HEADER.unpack(await self._reader.readexactly(HEADER.size))
                if length > _FRAME_MOST_BYTES:
                    log.warning("a driver sent a frame of %s bytes and is not heard", length)
                    return
                self._hear(letter, await self._reader.readexactly(length))
                # What is there already is read without a pause: in a flood, nobody else would get
                # a turn.
                await asyncio.sleep(0)

    def _hear(self, letter: bytes, body: bytes) -> None:
        run = self._run
        if run is None or run.ended.is_set():
            self._between.append((letter, body))
            return
        match letter:
            case b"o":
                run.printed("stdout", body)
            case b"e":
                run.printed("stderr", body)
            case b"r":
                run.told("result", body)
            case b"x":
                run.told("error", body)
            case b"m":
                run.marked(body)
            case b"D":
                if about := _over(body):
                    run.over(about)

    async def _watch(self) -> None:
        """Wait for the process to end: the link alone does not tell, since something may hold it
        open."""
        await asyncio.wait(
            [self._process.ended, self._reading], return_when=asyncio.FIRST_COMPLETED
        )
        await asyncio.wait([self._process.ended], timeout=CUT_S)
        if not self._process.ended.done():
            self._closing = self._closing or asyncio.create_task(self._close(CUT))
            return
        if self._run:
            self._told = self._run.died(how_it_died(self._process)) or self._told


class _Text:
    """Decodes bytes to plain text, wherever they were cut."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._plain = PlainText()

    def feed(self, data: bytes) -> str:
        return self._plain.feed(self._decoder.decode(data))


def _with(code: int) -> str:
    if code < 0:
        return f" by signal {-code}"
    if code > _BY_SIGNAL:
        return f" with exit status {code} (signal {code - _BY_SIGNAL})"
    return f" with exit status {code}"


def _with_driver(confines: Confines) -> Confines:
    own = (base_prefix(), DRIVER, *_RELAY)
    return replace(confines, readable=(*confines.readable, *own))

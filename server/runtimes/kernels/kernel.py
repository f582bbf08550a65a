"""One kernel process, from its start to its end."""

import asyncio
import contextlib
import logging
import secrets
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sayso.server.runtimes import processes
from sayso.server.runtimes.base_python import base_prefix, base_python
from sayso.server.runtimes.calls.channel import CallChannel
from sayso.server.runtimes.calls.registry import NOTHING, CallableFunctions
from sayso.server.runtimes.confined_process import ConfinedProcess, how_it_died
from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.interpreter import CUT, CUT_S, SWEEP_S, CannotStartError
from sayso.server.runtimes.kernels.messages import MARK, MessageCollector
from sayso.server.runtimes.kernels.wire import TOO_LONG, Wire, connection_in, write_connection
from sayso.server.runtimes.languages.interrupter import INTERRUPTER
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox

log = logging.getLogger(__name__)

_SILENT = (
    "The interpreter did not take the code in, so it was ended, and its variables are lost; the"
    " code has probably not begun, and the next run gets a new interpreter."
)

START_S = 20.0
"""A kernel is ready in half a second; a cold disk on a Raspberry Pi takes ten."""

_REMEMBERED = 1_000
"""Runs whose threads, if they still print, are heard in a later run."""

_ASK_AGAIN_S = 0.1
"""Between questions whether the output channel is heard yet."""

ANSWER_S = 30.0
"""How long a kernel may take before it says that it has a request. It says so within milliseconds,
on a busy machine within a second; and never if what earlier code left in it keeps its loop busy."""

_LAST_MESSAGES_S = 0.05
"""What a kernel said just before it died is still in its sockets, and arrives within this."""


class Kernel:
    """A living kernel: code goes in, one run at a time."""

    def __init__(
        self,
        process: ConfinedProcess,
        wire: Wire,
        signals: socket.socket | None = None,
        calls: CallChannel | None = None,
    ) -> None:
        self.calls = calls
        self._process = process
        self._wire = wire
        self._signals = signals
        """Where to write a byte for an interrupt; None if the kernel wants a message."""
        self._collector: MessageCollector | None = None
        self._begun = 0
        process.ready = processes.now()
        self._told = False
        self._closing: asyncio.Task[None] | None = None
        self._awaiting: asyncio.Task[None] | None = None
        """Waits for a sign that the last request has come to the kernel."""
        self._requests: deque[str] = deque(maxlen=_REMEMBERED)
        self._tasks = [
            asyncio.create_task(each)
            for each in (
                self._read_outputs(),
                self._read_answers(),
                self._watch(),
            )
        ]

    @classmethod
    async def start(
        cls,
        sandbox: Sandbox,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        *,
        by_signal: bool = False,
        calls: CallChannel | None = None,
    ) -> "Kernel":
        """Start a kernel and return it when it is ready.

        In `argv`, `{connection_file}` stands for the file in which a kernel finds its sockets. With
        `by_signal` it is interrupted by a signal, else by a message. It inherits its end of
        `calls`, and closes ours with itself.
        """
        if not by_signal:
            inherited = (calls.inherited,) if calls else ()
            try:
                return await cls._start(
                    sandbox, argv, environment, confines, None, inherited, calls
                )
            except BaseException:
                if calls:
                    await calls.close()
                raise
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            python = (str(base_python()), "-I", "-S", str(INTERRUPTER), str(theirs.fileno()))
            readable = (*confines.readable, base_prefix(), INTERRUPTER)
            try:
                return await cls._start(
                    sandbox,
                    (*python, *argv),
                    environment,
                    replace(confines, readable=readable),
                    ours,
                    (theirs.fileno(),),
                )
            except BaseException:
                ours.close()
                raise

    @classmethod
    async def _start(
        cls,
        sandbox: Sandbox,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        signals: socket.socket | None,
        descriptors: Sequence[int] = (),
        calls: CallChannel | None = None,
    ) -> "Kernel":
        key = secrets.token_hex(32)

        def command(private: Path) -> list[str]:
            file = str(write_connection(private, key))
            return [part.replace("{connection_file}", file) for part in argv]

        try:
            process = await ConfinedProcess.start(
                sandbox, command, environment, confines, descriptors
            )
        except OSError as error:
            raise CannotStartError(f"The interpreter cannot be started: {error}.") from error
        if calls:
            calls.passed_on()
        wire = Wire(process.folder, key)
        try:
            await _become_ready(process, wire)
        except BaseException:
            wire.close()
            await process.close()
            raise
        return cls(process, wire, signals, calls)

    @property
    def alive(self) -> bool:
        return self._process.alive

    @property
    def ended_for(self) -> str:
        """Why it was ended by the watch, if it was: what begins a sentence."""
        return self._process.ended_for

    @property
    def leaves(self) -> bool:
        """Whether the code of the last run told it to end."""
        return self._collector is not None and self._collector.leaves

    @property
    def died_unnoticed(self) -> bool:
        """Whether it took variables with it and no run has told of that."""
        return not self.alive and bool(self._requests) and not (self._told or self.leaves)

    @property
    def ended_commands(self) -> Sequence[str]:
        """What the run that was interrupted last had started, and was ended with it."""
        return self._process.ended_commands

    def left_behind(self) -> LeftProcesses | None:
        """What the last run has left running. Blocking: a thread's."""
        return self._process.left_behind()

    @property
    def connection(self) -> Path:
        """The file that tells other clients of Jupyter how to talk with it."""
        return connection_in(self._process.folder)

    @property
    def pid(self) -> int:
        """The process that stands for the whole sandbox."""
        return self._process.pid

    async def execute(self, code: str, functions: CallableFunctions = NOTHING) -> MessageCollector:
        """Begin a run, which may call these. The one before must have ended."""
        self._begun = processes.now()
        self._process.run_begins(self._begun)
        request = await self._wire.send(
            "shell",
            "execute_request",
            {
                "code": code,
                "silent": False,
                "store_history": True,
                "user_expressions": {},
                "allow_stdin": False,  # so that input() fails at once
                "stop_on_error": False,  # what else would be refused is the next run
            },
        )
        self._collector = MessageCollector(request, self._requests)
        if self.calls:
            self.calls.open(functions, request, self._collector.shown)
        self._requests.append(request)
        if not self.alive:
            self._told = self._collector.died(self._how_it_died())
        else:
            self._awaiting = asyncio.create_task(self._replace_if_silent(self._collector))
        return self._collector

    async def interrupt(self, within: float, why: str) -> bool:
        """Ask the run to stop; return whether it did, with all that it started, within so many
        seconds.

        `why` is a sentence for the report of how it ended.
        """
        collector = self._collector
        if collector is None or collector.ended.is_set():
            return True
        collector.interrupted = collector.interrupted or why
        deadline = asyncio.get_running_loop().time() + within
        await self._process.note_commands_since(self._begun)  # the interrupt is for them, too
        begun = collector.begun.is_set()  # seen before it is asked: it may begin right after
        try:
            async with asyncio.timeout_at(deadline):
                await self._ask_to_stop()
                if not begun:
                    await collector.begun.wait()
                    if not collector.ended.is_set():  # what has not begun does not hear
                        await self._ask_to_stop()
                await collector.ended.wait()
        except TimeoutError:
            return False  # also if it has ended: what was asked of it would meet the next run
        left = max(SWEEP_S, deadline - asyncio.get_running_loop().time())
        return not self.alive or await self._process.end_since(self._begun, left)

    async def _ask_to_stop(self) -> None:
        """Return when the interrupt has been given, so that it cannot meet the next run instead."""
        if self._signals:
            loop = asyncio.get_running_loop()
            with contextlib.suppress(OSError):
                await loop.sock_sendall(self._signals, b"!")
                await loop.sock_recv(self._signals, 1)
            return
        request = await self._wire.send("control", "interrupt_request", {})
        while (await self._wire.receive("control")).parent != request:
            pass  # the answer to one that was given up

    async def close(self, why: str = "The interpreter was ended.") -> None:
        """End the process with everything in its sandbox; a run in it has then died of `why`."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(why))
        await to_the_end(self._closing)

    async def _close(self, why: str) -> None:
        tasks = [*self._tasks, *([self._awaiting] if self._awaiting else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._wire.close()
        if self.calls:
            await self.calls.close()
        if self._signals:
            self._signals.close()
        await self._process.close()
        if self._collector:
            self._told = self._collector.died(why) or self._told

    async def _replace_if_silent(self, collector: MessageCollector) -> None:
        """End a kernel that does not answer. Whether its code has begun cannot be known for
        certain, so it is not run again."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await collector.seen.wait()
        except TimeoutError:
            log.warning("a kernel did not take in a request and is replaced")
            self._closing = self._closing or asyncio.create_task(self._close(_SILENT))

    async def _read_outputs(self) -> None:
        while True:
            message = await self._wire.receive("output")
            if self._collector and not self._collector.ended.is_set():
                if message is TOO_LONG:
                    self._collector.missed()
                elif message.kind == MARK:
                    self._collector.marked(message)
                else:
                    self._collector.heard(message)
            # A message that is there already is received without a pause: in a flood, nobody else
            # would get a turn.
            await asyncio.sleep(0)

    async def _read_answers(self) -> None:
        while True:
            message = await self._wire.receive("shell")
            if self._collector:
                self._collector.answered(message)

    async def _watch(self) -> None:
        """Wait for the process to end, which the kernel's protocol does not tell."""
        cut = asyncio.create_task(self._wire.cut())
        try:
            await asyncio.wait([self._process.ended, cut], return_when=asyncio.FIRST_COMPLETED)
        finally:
            cut.cancel()
        await asyncio.wait([self._process.ended], timeout=CUT_S)
        if not self._process.ended.done():
            self._closing = self._closing or asyncio.create_task(self._close(CUT))
            return
        await asyncio.sleep(_LAST_MESSAGES_S)
        if self._collector:
            self._told = self._collector.died(self._how_it_died()) or self._told

    def _how_it_died(self) -> str:
        return how_it_died(self._process)


async def _become_ready(process: ConfinedProcess, wire: Wire) -> None:
    """Return when the kernel answers and its output is heard."""
    asking = asyncio.create_task(_ask_until_heard(wire))
    try:
        await asyncio.wait(
            [asking, process.ended], timeout=START_S, return_when=asyncio.FIRST_COMPLETED
        )
        if asking.done():
            return
    finally:  # also when nobody wants the kernel any more
        asking.cancel()
        await asyncio.wait([asking])
    if process.ended.done():
        await asyncio.sleep(_LAST_MESSAGES_S)
        reason = process.last_words.splitlines()[-1:] or ["it said nothing"]
        log.warning("a kernel did not start (%s): %s", process.ended.result(), process.last_words)
        raise CannotStartError(f"The interpreter did not start: {reason[0]}.")
    raise CannotStartError(
        f"The interpreter was not ready within {START_S:.0f} seconds; try again."
    )


async def _ask_until_heard(wire: Wire) -> None:
    """Ask for kernel_info until the output channel speaks: its subscription arrives when it
    will."""
    while True:
        await wire.send("shell", "kernel_info_request", {})
        await wire.receive("shell")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ASK_AGAIN_S):
                await wire.receive("output")
                return

"""Starts a confined process with a private folder, watches it, and ends it with all it started."""

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import tempfile
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sayso.server.runtimes import processes
from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.left_processes import LeftInSandbox, LeftProcesses, commands_of
from sayso.server.runtimes.network.socket_handover import ENVIRONMENT, SocketHandover, handover_for
from sayso.server.runtimes.protection.own_places import PRIVATE
from sayso.server.runtimes.protection.paths_beneath import remove_tree
from sayso.server.runtimes.resources.cgroups import InterpreterCgroup
from sayso.server.runtimes.resources.watch import ResourceWatch, held_too_much
from sayso.server.runtimes.sandbox.sandbox import NO_HANDOVER, Confined, Confines, Sandbox

log = logging.getLogger(__name__)

_LAST_WORDS_BYTES = 4_096
"""As much of a process's own complaints as a log line should hold; it is read on, so that it never
blocks."""

_TERM_S = 4.0
"""A sandbox ends its tree in some 20 ms when asked, a fork bomb's in a second. Killing it earlier
could leave behind what it was about to end."""

_LOOK_AGAIN_S = 0.01
"""An interpreter that is ended as it starts is under way after some 50 ms."""

_BY_SIGNAL = 128
"""A sandbox ends with this plus the number of the signal that ended the process in it."""

_WAYS_TO_DIE: dict[int, str] = {
    signal.SIGKILL: "was killed, perhaps because memory ran out,",
    signal.SIGSYS: "made a forbidden system call and was ended",
    **dict.fromkeys((signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT), "crashed"),
}


class PrivateFolder:
    """A folder that one confined process and we share, and nobody else can enter.

    It is locked while we live, so that what a killed server left can be told from what is in use.
    """

    def __init__(self) -> None:
        while not self._is_made():
            pass  # Another server, which sweeps as it starts, was faster than our lock.

    def _is_made(self) -> bool:
        self.path = Path(tempfile.mkdtemp(prefix=PRIVATE)).resolve()  # made with mode 0700
        try:
            self._handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        fcntl.flock(self._handle, fcntl.LOCK_SH)
        if self.path.exists():
            return True
        os.close(self._handle)
        return False

    def remove(self) -> None:
        os.close(self._handle)
        with contextlib.suppress(OSError):
            remove_tree(self.path)


def sweep() -> None:
    """Remove the private folders of servers that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{PRIVATE}*"):
        with contextlib.suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
            finally:
                os.close(handle)


class _Word:
    """A pipe to the launcher: a byte on it says that it may begin, and its end that the server is
    gone."""

    def __init__(self) -> None:
        self.theirs, self._ours = os.pipe()
        os.write(self._ours, b"\n")

    def passed_on(self) -> None:
        """Close the end that the process has by now."""
        os.close(self.theirs)

    @property
    def was_heard(self) -> bool:
        """Whether it is under way. bubblewrap, ended before that, leaves the half of itself behind
        that it has not bound to its own life yet."""
        unread = fcntl.ioctl(self._ours, termios.FIONREAD, bytes(4))
        return not any(unread)

    def take_back(self) -> None:
        """Keep the command from beginning, if it has not begun."""
        os.close(self._ours)


def _prepare(
    sandbox: Sandbox,
    command: Callable[[Path], Sequence[str]],
    environment: Mapping[str, str],
    confines: Confines,
    handover: int,
) -> tuple[PrivateFolder, InterpreterCgroup | None, Confined]:
    """Make a private folder, a cgroup where there is any, and the confined command, which joins
    it."""
    private = PrivateFolder()
    cgroup = None
    if confines.cgroup and (limits := sandbox.limits):
        cgroup = confines.cgroup.for_interpreter(limits.together, limits.processes_together)
    try:
        if cgroup:
            confines = replace(confines, joins=cgroup.descriptor)
        confined = sandbox.confine(
            command(private.path), environment, confines, private.path, handover
        )
    except BaseException:
        if cgroup:
            os.close(cgroup.descriptor)
        _leave(private, cgroup)
        raise
    if cgroup:
        confined = replace(confined, descriptors=(*confined.descriptors, cgroup.descriptor))
    return private, cgroup, confined


def _leave(private: PrivateFolder, cgroup: InterpreterCgroup | None) -> None:
    """Keep nothing of what did not start."""
    private.remove()
    if cgroup:
        cgroup.remove()


class ConfinedProcess:
    """One process in a sandbox, and everything that it starts."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        word: "_Word",
        private: PrivateFolder,
        handover: SocketHandover | None,
        watch: ResourceWatch | None = None,
        cgroup: InterpreterCgroup | None = None,
    ) -> None:
        self._process = process
        self._word = word
        self._private = private
        self._handover = handover
        self._last_words = b""
        self._closing: asyncio.Task[None] | None = None
        self._watch = watch
        self._cgroup = cgroup
        self._ended_for = ""
        self.ready = 0
        """When its interpreter was ready for the first run, in ticks (processes.py)."""
        self.ended_commands: Sequence[str] = ()
        """What the latest run had started, and was ended with it."""
        self._left = LeftInSandbox(process.pid)
        self._listening = asyncio.create_task(self._listen())
        self.ended = asyncio.create_task(process.wait())
        """Done when the process is gone; its result is the exit code, negative for a signal."""

    @classmethod
    async def start(
        cls,
        sandbox: Sandbox,
        command: Callable[[Path], Sequence[str]],
        environment: Mapping[str, str],
        confines: Confines,
        descriptors: Sequence[int] = (),
    ) -> "ConfinedProcess":
        """Start what `command` returns for the private folder; it inherits the descriptors.

        An OSError says that it could not be started.
        """
        starting = asyncio.create_task(
            cls._start(sandbox, command, environment, confines, descriptors)
        )
        try:
            return await to_the_end(starting)
        except asyncio.CancelledError:
            if not starting.cancelled() and not starting.exception():
                await starting.result().close()
            raise

    @classmethod
    async def _start(
        cls,
        sandbox: Sandbox,
        command: Callable[[Path], Sequence[str]],
        environment: Mapping[str, str],
        confines: Confines,
        descriptors: Sequence[int],
    ) -> "ConfinedProcess":
        handover = handover_for(sandbox.kind, confines.proxy)
        number = handover.descriptor if handover else NO_HANDOVER
        added = {**(ENVIRONMENT if handover else {}), **environment}
        try:
            private, cgroup, confined = await asyncio.to_thread(
                _prepare, sandbox, command, added, confines, number
            )
        except BaseException:
            if handover:
                handover.close()
            raise
        word = _Word()
        try:
            process = await asyncio.create_subprocess_exec(
                *confined.argv,
                env=confined.environment,
                pass_fds=(*confined.descriptors, *descriptors, *([number] if handover else [])),
                stdin=word.theirs,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                cwd="/",
                start_new_session=True,
            )
        except BaseException:
            word.take_back()
            _leave(private, cgroup)
            if handover:
                handover.close()
            raise
        finally:
            word.passed_on()
            if handover:
                handover.passed_on()
            for descriptor in confined.descriptors:
                os.close(descriptor)
        made = cls(process, word, private, handover, confines.watch, cgroup)
        if confines.watch:
            folders = (private.path, *confines.writable)
            confines.watch.add(made, confined.memory, folders)
        return made

    @property
    def folder(self) -> Path:
        """The private folder."""
        return self._private.path

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can be worked with: what is being ended cannot any more."""
        return self._closing is None and not self.ended.done()

    @property
    def ended_for(self) -> str:
        """Why it was ended, if not because nobody needs it any more: what begins a sentence."""
        if not self._ended_for and self._cgroup and self._cgroup.was_killed:
            return held_too_much(self._cgroup.memory)
        return self._ended_for

    @property
    def last_words(self) -> str:
        """What the process itself complained of, not the code in it."""
        return self._last_words.decode(errors="replace").strip()

    async def end_since(self, moment: int, within: float, interpreter: int = 0) -> bool:
        """End what was started in the sandbox since a moment (processes.py), but for the
        interpreter; return whether all of it is gone within so many seconds."""
        left = partial(processes.begun_since, self.pid, self.ready, moment, interpreter)
        await self._note_commands(left)
        return await asyncio.to_thread(processes.end, left, within)

    async def note_commands_since(self, moment: int) -> None:
        """Note what was started in the sandbox since a moment, and is about to be ended."""
        await self._note_commands(partial(processes.begun_since, self.pid, self.ready, moment))

    async def _note_commands(self, found: Callable[[], set[processes.Process]]) -> None:
        commands = await asyncio.to_thread(lambda: commands_of(found()))
        self.ended_commands = list(dict.fromkeys((*self.ended_commands, *commands)))

    def run_begins(self, moment: int) -> None:
        """A run begins: what is started in the sandbox from now on may be its own."""
        self.ended_commands = ()
        self._left.run_begins(moment)

    def left_behind(self, interpreter: int = 0) -> LeftProcesses | None:
        """The run is over: what it has left running in the sandbox, but for the interpreter.
        Blocking: a thread's."""
        return self._left.run_is_over(interpreter) if self.alive else None

    async def end_for(self, why: str) -> None:
        """End it with everything in its sandbox; `why` begins a sentence."""
        self._ended_for = why
        await self.close()

    async def close(self) -> None:
        """End the process and everything that it started."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await to_the_end(self._closing)

    async def _close(self) -> None:
        try:
            await self._end()
        finally:
            self._listening.cancel()
            if self._watch:
                self._watch.remove(self)
            if self._handover:
                self._handover.close()
            if self._cgroup:
                await asyncio.to_thread(self._cgroup.remove)
            await asyncio.to_thread(self._private.remove)

    async def _end(self) -> None:
        looks = round(_TERM_S / _LOOK_AGAIN_S)
        while looks and not (self.ended.done() or self._word.was_heard):
            await asyncio.wait([self.ended], timeout=_LOOK_AGAIN_S)
            looks -= 1
        self._word.take_back()
        for end in (self._process.terminate, self._process.kill):
            with contextlib.suppress(ProcessLookupError):
                end()
            await asyncio.wait([self.ended], timeout=_TERM_S)
            if self.ended.done():
                return
        await self.ended

    async def _listen(self) -> None:
        if self._process.stderr:
            while said := await self._process.stderr.read(_LAST_WORDS_BYTES):
                self._last_words = (self._last_words + said)[-_LAST_WORDS_BYTES:]


def how_it_died(process: ConfinedProcess) -> str:
    """A sentence about an interpreter whose process is gone."""
    code = process.ended.result()
    log.info("an interpreter ended with %s: %s", code, process.last_words)
    if process.ended_for:
        return (
            f"{process.ended_for}, so its interpreter was ended; its variables are lost, and the"
            " next run gets a new one."
        )
    how = _WAYS_TO_DIE.get(code - _BY_SIGNAL, "ended")
    return (
        f"The interpreter {how} in the middle of the run, and its variables are lost;"
        " the next run gets a new one."
    )

"""The server's side of a worker process: start it, ask it, and when it dies start it again.

    closed ──start()──► starting ──loaded──► ready ──process dies──► restarting ──loaded──► ready
                           │                                             │
                           └──────────── cannot be loaded ──► failed ◄───┘

A request under which the process dies raises WorkerLost; a request made while it is being
restarted waits for it. The event loop never waits for a model: all that happens here is bytes.
"""

import asyncio
import contextlib
import itertools
import logging
import os
import socket
import sys
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from sayso.server.log_context import no_log_ids
from sayso.server.speech.errors import BY_NAME, SpeechError, WorkerFailed
from sayso.server.speech.workers.wire import (
    LAST,
    PREFIX,
    Note,
    Value,
    WireBroken,
    lengths,
    pack,
    unpack,
)

log = logging.getLogger(__name__)

State = Literal["closed", "starting", "ready", "restarting", "failed"]

RESTART_DELAYS = (0.0, 0.2, 1.0, 4.0, 15.0)
"""Seconds before each new try. One crash costs the person nothing but the load; a worker that dies
again and again must not keep a core busy."""

STEADY_AFTER = 30.0
"""Seconds of life after which a crash counts as the first again; so it does after any answer."""

LOAD_LIMIT = 120.0
"""Seconds. Large models on a Raspberry Pi's card take tens of seconds to read."""

START_TRIES = 2
"""A first start that crashes is tried once more; then a person is better told than kept waiting."""

KEPT_COMPLAINTS = 20
"""Last lines of a worker's standard error, for the log when it dies."""

CLOSE_LIMIT = 2.0
"""Seconds from closing the channel, which ends a worker at once, to killing it."""


TROUBLES: dict[State, str] = {
    "closed": "It has been closed.",
    "starting": "It is being loaded; that takes a few seconds.",
    "restarting": "It stopped and is being started again; that takes a few seconds.",
    "ready": "",
}
"""What keeps a worker from being asked, for a person."""


class WorkerLost(Exception):
    """The process died under this request."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker that is ready to work."""

    what: str
    """The model it loaded, in words."""
    seconds: float
    """From the order to start to the end of the warm-up."""
    facts: Mapping[str, Value]
    """What else the worker said of its model."""


class Supervisor:
    """Keeps one worker process alive and passes requests to it."""

    def __init__(self, module: str, order: Note, *, name: str, threads: int) -> None:
        self.state: State = "closed"
        self.restarts = 0
        """How often the process had to be started again."""
        self._failure = ""
        """Why it failed for good, for a person."""
        self._module = module
        self._order = order
        self._name = name
        self._threads = threads
        self._numbers = itertools.count(1)
        self._worked = False
        """The worker has done what it is for; its next crash then counts as the first again."""
        self._pending: dict[int, asyncio.Queue[Note | Exception]] = {}
        """By number of the request: what came of it. An answer has as many parts as there are
        windows in a chunk, a dozen, so that none is held up."""
        self._complaints: deque[str] = deque(maxlen=KEPT_COMPLAINTS)
        self._writer: asyncio.StreamWriter | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._up: asyncio.Future[Ready] | None = None

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._process.pid if self._process else None

    @property
    def trouble(self) -> str:
        """What keeps it from being asked, for a person; empty if nothing does."""
        return TROUBLES.get(self.state, self._failure)

    async def start(self) -> Ready:
        """Start the worker and wait until its model is loaded and warm."""
        if self._keeper is None or self._keeper.done():
            self.state = "starting"
            self._up = asyncio.get_running_loop().create_future()
            with no_log_ids():
                self._keeper = asyncio.create_task(self._keep(), name=f"{self._name} keeper")
        return await self.ready()

    async def ready(self) -> Ready:
        """Wait until the worker can be asked; raise what keeps it from that."""
        if self._up is None:
            raise WorkerFailed(f"The {self._name} has not been started.")
        return await asyncio.shield(self._up)

    async def close(self) -> None:
        """End the worker. Pending requests raise WorkerLost."""
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
            self._keeper = None
        if self._up is not None:
            self._refuse(WorkerFailed(f"The {self._name} has been closed."))
        self.state = "closed"

    async def ask(self, kind: str, note: Note, *, limit: float) -> Note:
        """Ask and wait for the answer. Cancelling gives the request up in the worker too."""
        return await _last(self.ask_in_parts(kind, note, limit=limit))

    async def ask_in_parts(
        self, kind: str, note: Note, *, limit: float
    ) -> AsyncGenerator[Note, None]:
        """Ask, and take the parts of the answer as they come; each may take so many seconds.
        Closing it gives the request up in the worker too."""
        await self.ready()
        try:
            async with aclosing(self._ask(kind, note, limit)) as parts:
                async for part in parts:
                    yield part
        except TimeoutError:
            log.warning("The %s did not answer in %.0f s; it is restarted.", self._name, limit)
            self._go_down()
            self._kill()
            raise WorkerLost from None
        self._worked = True

    async def _ask(self, kind: str, note: Note, limit: float) -> AsyncGenerator[Note, None]:
        writer = self._writer
        if writer is None:
            raise WorkerLost
        number = next(self._numbers)
        came = self._pending[number] = asyncio.Queue()
        over = False
        try:
            await self._write(writer, Note(kind, {**note.fields, "id": number}, note.load), limit)
            while not over:
                async with asyncio.timeout(limit):
                    part = await came.get()
                over = isinstance(part, Exception) or LAST in part.fields
                if isinstance(part, Exception):
                    raise part
                yield part
        finally:
            self._pending.pop(number, None)
            if not over and not writer.is_closing():
                writer.write(pack(Note("give_up", {"id": number})))

    async def _write(self, writer: asyncio.StreamWriter, note: Note, limit: float) -> None:
        try:
            async with asyncio.timeout(limit):
                writer.write(pack(note))
                await writer.drain()
        except TimeoutError:
            raise
        except OSError:
            self._go_down()
            raise WorkerLost from None

    async def _keep(self) -> None:
        """One worker's life after the other, until closed or beyond help."""
        loop = asyncio.get_running_loop()
        crashes = 0
        while True:
            began = loop.time()
            try:
                await self._live()
            except SpeechError as problem:
                self._fail(problem)
                return
            except OSError as problem:  # not even started: this machine is short of something
                self._complaints.append(str(problem))
            if self._worked or loop.time() - began > STEADY_AFTER:
                crashes = 0
            crashes += 1
            if self.state == "starting" and crashes >= START_TRIES:
                self._fail(WorkerFailed(self._obituary()))
                return
            self.restarts += 1
            self._lament(crashes)
            await asyncio.sleep(RESTART_DELAYS[min(crashes, len(RESTART_DELAYS)) - 1])

    async def _live(self) -> None:
        """One worker, from birth to death. Raises SpeechError if its model can't be loaded."""
        began = asyncio.get_running_loop().time()
        self._worked = False
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            reader, writer = await asyncio.open_connection(sock=ours)
            with contextlib.closing(writer):  # which ends the process
                process = await self._spawn(theirs.fileno())
                theirs.close()
                await self._serve(process, reader, writer, began)

    async def _serve(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        began: float,
    ) -> None:
        """Pass requests to it until it is gone."""
        self._process, self._writer = process, writer
        reading = asyncio.create_task(self._read(reader), name=f"{self._name} answers")
        listening = asyncio.create_task(self._listen(process), name=f"{self._name} complaints")
        try:
            try:
                loaded = await _last(self._ask("load", self._order, LOAD_LIMIT))
            except (WorkerLost, TimeoutError):
                return
            took = asyncio.get_running_loop().time() - began
            self._welcome(Ready(loaded.text("what"), took, loaded.fields))
            await reading
        finally:
            reading.cancel()
            writer.close()
            self._writer = None
            self._go_down()
            await asyncio.shield(self._bury(process, listening))

    async def _spawn(self, channel: int) -> asyncio.subprocess.Process:
        bounded = str(self._threads)
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # what lies in the folder that we were started in is not for the worker
            "-m",
            self._module,
            str(channel),
            str(os.getpid()),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(channel,),
            start_new_session=True,  # Ctrl-C in the server's terminal is the server's alone
            env={
                **os.environ,
                "OMP_NUM_THREADS": bounded,
                "OPENBLAS_NUM_THREADS": bounded,
                "HF_HUB_OFFLINE": "1",  # models are given as files; nothing is fetched
                "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime reports to its maker unless told not to
            },
        )

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Hand each answer to who waits for it, until the worker is gone."""
        try:
            while True:
                head, load = lengths(await reader.readexactly(PREFIX.size))
                note = unpack(await reader.readexactly(head), await reader.readexactly(load))
                waiting = self._pending.get(note.whole("id"))
                if waiting is None:
                    continue
                if note.kind == "error":
                    kind = BY_NAME.get(note.text("error"), SpeechError)
                    waiting.put_nowait(kind(note.text("message")))
                else:
                    waiting.put_nowait(note)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        except WireBroken as problem:
            log.warning("The %s sent nonsense (%s).", self._name, problem)
            return
        finally:
            self._go_down()

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last lines that the worker complains with."""
        if process.stderr is None:
            return
        with contextlib.suppress(ValueError):  # a line beyond asyncio's limit
            async for line in process.stderr:
                text = line.decode(errors="replace").rstrip()
                self._complaints.append(text)
                log.debug("%s: %s", self._name, text)

    async def _bury(
        self, process: asyncio.subprocess.Process, listening: asyncio.Task[None]
    ) -> None:
        """See the process to its end; its channel is closed, so it is on its way."""
        try:
            async with asyncio.timeout(CLOSE_LIMIT):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        self._process = None
        await listening

    def _welcome(self, ready: Ready) -> None:
        log.info("The %s is ready: %s, in %.1f s.", self._name, ready.what, ready.seconds)
        self.state = "ready"
        if self._up is not None and not self._up.done():
            self._up.set_result(ready)

    def _lament(self, crashes: int) -> None:
        log.warning("The %s stopped (%d in a row); it is restarted.", self._name, crashes)
        if self._complaints:
            log.warning("Its last words: %s", self._complaints[-1])

    def _fail(self, problem: SpeechError) -> None:
        self.state, self._failure = "failed", str(problem)
        self._refuse(problem)

    def _refuse(self, problem: SpeechError) -> None:
        """Let nobody wait for a worker that won't come."""
        if self._up is None or self._up.done():
            self._up = asyncio.get_running_loop().create_future()
        self._up.set_exception(problem)
        self._up.exception()  # retrieved: who never asks is not to be blamed for it

    def _go_down(self) -> None:
        """From now on requests wait for the next worker; those of this one are lost."""
        if self.state == "ready":
            self.state = "restarting"
            self._up = asyncio.get_running_loop().create_future()
        for waiting in self._pending.values():
            waiting.put_nowait(WorkerLost())

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    def _obituary(self) -> str:
        last = f" Its last words: {self._complaints[-1]}" if self._complaints else ""
        return (
            f"The {self._name} stopped while it was loading; its model may be damaged or too large "
            f"for this machine's memory. Fetch the model again or choose a smaller one.{last}"
        )


async def _last(parts: AsyncGenerator[Note, None]) -> Note:
    """The part that ends an answer."""
    async with aclosing(parts):
        return [part async for part in parts][-1]

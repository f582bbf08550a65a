"""The worker's side: one process, one model, one request at a time.

    server ── socketpair ──► listener thread ──► inbox ──► main thread runs the model
       ◄────────────────────────── answers ──────────────────────┘

The listener thread sees two things at once, whatever the model is doing: that a request is given
up (`Task.wanted()` turns false), and that the server is gone (the process ends on the spot).
Where the kernel offers it, the kernel too ends the worker with its parent.
"""

import contextlib
import ctypes
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.workers.wire import LAST, Note, WireBroken, pack, read

PR_SET_PDEATHSIG = 1
"""prctl(2): send this process a signal when its parent dies."""

MAX_WAITING = 16
"""The server wants one thing at a time; more than a few wanted requests mean a broken peer. It may
give up any number while one is worked on: a chunk that is guessed at ends with the next letter."""


@dataclass(slots=True)
class Task:
    """A request as the model sees it."""

    note: Note
    tell: Callable[[Note], None] = lambda _: None
    """Sends a part of the answer ahead of the rest."""
    given_up: threading.Event = field(default_factory=threading.Event)

    def wanted(self) -> bool:
        """Is anybody still waiting for this? Ask between the steps of long work."""
        return not self.given_up.is_set()


class GivenUp(Exception):
    """Raised by the model's code when it finds that its task is no longer wanted."""


class Engine(Protocol):
    """What a worker can do: load its model once, then answer requests."""

    def load(self, order: Note) -> Note:
        """Load and warm up; the note says what was loaded."""
        ...

    def answer(self, task: Task) -> Note:
        """Do what is asked; the note is the answer, or its last part."""
        ...


def live_and_die_with_parent(parent: int) -> None:
    """End when the server ends, however it ends; leave its keyboard signals alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could ask to be told
        os._exit(0)


class WorkerLoop:
    """The place where a trade is worked: the channel, its listener and the inbox."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._inbox: queue.SimpleQueue[Task] = queue.SimpleQueue()
        self._tasks: dict[int, Task] = {}
        self._lock = threading.Lock()

    def serve(self, engine: Engine) -> None:
        """Answer until the server closes the channel; the listener then ends the process."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        while True:
            task = self._inbox.get()
            self._work(engine, task)
            with self._lock:
                self._tasks.pop(task.note.whole("id"), None)

    def _work(self, engine: Engine, task: Task) -> None:
        number = task.note.whole("id")
        try:
            if task.note.kind == "load":
                answer = engine.load(task.note)
            elif task.wanted():
                answer = engine.answer(task)
            else:
                answer = Note("given_up")
        except GivenUp:
            answer = Note("given_up")
        except SpeechError as problem:
            answer = Note("error", {"error": type(problem).__name__, "message": str(problem)})
        # Anything else is a defect: the process dies of it, the server restarts it and says so.
        self._send(Note(answer.kind, {**answer.fields, LAST: True}, answer.load), number)

    def _send(self, note: Note, number: int) -> None:
        with contextlib.suppress(OSError):  # the server is gone; the listener ends us
            addressed = Note(note.kind, {**note.fields, "id": number}, note.load)
            self._channel.sendall(pack(addressed))

    def _listen(self) -> None:
        try:
            while True:
                note = read(self._read_exactly)
                number = note.whole("id")
                with self._lock:
                    if note.kind == "give_up":
                        if number in self._tasks:
                            self._tasks[number].given_up.set()
                        continue
                    task = Task(note, partial(self._send, number=number))
                    self._tasks[number] = task
                    self._check_waiting()
                self._inbox.put(task)
        except (EOFError, OSError, WireBroken):
            # The model may be deep in native code: nothing gentler than this ends it at once.
            os._exit(0)

    def _check_waiting(self) -> None:
        if sum(task.wanted() for task in self._tasks.values()) > MAX_WAITING:
            raise WireBroken("it wants too much at once")

    def _read_exactly(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._channel.recv(min(count - len(parts), 1 << 20))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)


def main(engine: Engine, arguments: list[str]) -> None:
    """Run a worker process. The arguments: the channel's descriptor, the parent's process id."""
    channel, parent = int(arguments[0]), int(arguments[1])
    live_and_die_with_parent(parent)
    WorkerLoop(socket.socket(fileno=channel)).serve(engine)

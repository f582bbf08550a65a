"""The worker's side: one process, one model, one step of one request at a time.

    server ── socketpair ──► listener thread ──► inbox ──► main thread runs the model
       ◄────────────────────────── answers ──────────────────────┘

An answer may be made in steps, each of which gives a part of it. Of several requests the one goes
on whose next part is needed first: who has nothing yet waits for one step of another.

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
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Protocol

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.workers.wire import LAST, Note, WireBroken, pack, read

PR_SET_PDEATHSIG = 1
"""prctl(2): send this process a signal when its parent dies."""

MAX_WAITING = 16
"""The server wants few things at a time; more than that mean a broken peer. It may give up any
number while one is worked on: a chunk that is guessed at ends with the next letter."""


@dataclass(slots=True, eq=False)
class Task:
    """A request as the model sees it."""

    note: Note
    due: float = field(default_factory=time.monotonic)
    """When the next part of the answer is needed, on the monotonic clock: at once, unless whoever
    works on it knows better."""
    given_up: threading.Event = field(default_factory=threading.Event)

    def wanted(self) -> bool:
        """Is anybody still waiting for this? Ask between the steps of long work."""
        return not self.given_up.is_set()


Answer = Generator[Note, None, Note]
"""Each step yields a part of the answer; the last returns its end."""


class GivenUp(Exception):
    """Raised by the model's code when it finds that its task is no longer wanted."""


class Engine(Protocol):
    """What a worker can do: load its model once, then answer requests."""

    def load(self, order: Note) -> Note:
        """Load and warm up; the note says what was loaded."""
        ...

    def answer(self, task: Task) -> Answer:
        """Do what is asked, step by step."""
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
        working: dict[Task, Answer] = {}
        while True:
            while not working or not self._inbox.empty():
                task = self._inbox.get()
                working[task] = _answer(engine, task)
            task = min(working, key=lambda one: one.due)
            if self._step(task, working[task]):
                del working[task]
                with self._lock:
                    self._tasks.pop(task.note.whole("id"), None)

    def _step(self, task: Task, answer: Answer) -> bool:
        """Make and send the next part of an answer; returns whether it was the last."""
        number = task.note.whole("id")
        try:
            part = next(answer) if task.wanted() else None
        except StopIteration as end:
            last: Note = end.value
        except GivenUp:
            last = Note("given_up")
        except SpeechError as problem:
            last = Note("error", {"error": type(problem).__name__, "message": str(problem)})
        else:
            if part is not None:
                self._send(part, number)
                return False
            last = Note("given_up")
        # Anything else is a defect: the process dies of it, the server restarts it and says so.
        self._send(Note(last.kind, {**last.fields, LAST: True}, last.load), number)
        return True

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
                    task = self._tasks[number] = Task(note)
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


def _answer(engine: Engine, task: Task) -> Answer:
    if task.note.kind == "load":
        return engine.load(task.note)
    return (yield from engine.answer(task))


def main(engine: Engine, arguments: list[str]) -> None:
    """Run a worker process. The arguments: the channel's descriptor, the parent's process id."""
    channel, parent = int(arguments[0]), int(arguments[1])
    live_and_die_with_parent(parent)
    WorkerLoop(socket.socket(fileno=channel)).serve(engine)

"""Drives an interpreter that knows no protocol: a script in the sandbox, without packages.

It runs as `python -I -S driver.py LINK CALLS PLAN FOLDER`, where LINK is the number of a socket to
the server, CALLS that of the channel for calls out of code (calls/relay.py), PLAN a `Plan` record
as JSON. Over the link go frames: a letter, a length, a body (LETTERS tells which). The interpreter
gets its orders through one pipe and reports through another, as lines of JSON; what it and its
children print comes through two more. So nothing that is printed is ever taken for a report, and
nothing is added to the code: it lies in a file, byte for byte.
"""

import contextlib
import ctypes
import json
import os
import runpy
import selectors
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.server.runtimes.languages.plan import Plan

LETTERS = {
    # from the server
    "R": "run this code",
    "I": "interrupt what runs",
    # to the server
    "B": "ready; so many bytes of JSON about it",
    "o": "printed to standard output",
    "e": "printed to standard error",
    "r": "the value of the run, in words",
    "x": "the error of the run, in words",
    "m": "a number; what was printed before it comes before it",
    "D": "the run is over; JSON says how",
}

HEADER = struct.Struct(">cI")

ORDERS, REPORTS = 250, 251
"""The interpreter's ends of the two pipes: beyond the numbers that scripts use by hand."""

_READ_BYTES = 64 * 1024
"""As much as a pipe holds."""

_SETTLE_BYTES = 4 * 1024**2
"""The most that a run waits for at its end: a program left behind may print for ever."""

_STOP_S = 1.0
"""How long an interpreter may take to stop when asked; then it is killed, and only it."""

_AGAIN_S = 0.05
"""When to ask again: a program that was just being started may not have heard."""

_REPORT_MOST_BYTES = 1024**2
"""The longest report. An interpreter's words for a value are bounded; this is somebody else."""

_CODE_MOST = 2**31
"""No exit status is larger."""

_DETAIL_MOST = 4_096
"""Characters of a sentence about how a run ended."""


class Driver:
    def __init__(
        self, link: socket.socket, plan: "Plan | SimpleNamespace", folder: Path, calls: int
    ) -> None:
        self._link = link
        self._plan = plan
        self._folder = folder
        self._file = folder / f"run{plan.suffix}"
        self._received = b""
        self._reported = b""
        self._child: subprocess.Popen[bytes] | None = None
        self._orders = -1
        self._running = False
        self._interrupted = self._killed = False
        self._done: tuple[int, str] | None = None
        """How the code ended, while it is not yet known whether the interpreter goes on."""
        self._ours_before: set[int] = set()
        self._asked_at = self._ask_at = self._kill_at = 0.0
        self._watched = selectors.DefaultSelector()
        self._streams = {letter: self._pipe(letter) for letter in ("o", "e")}
        self._reports, self._report_end = self._pipe("D")
        self._empty = _empty(folder)
        wake, self._woken = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._woken)
        self._watched.register(wake, selectors.EVENT_READ, "child")
        self._watched.register(link, selectors.EVENT_READ, "link")
        self._wake = wake
        self._marks, self._unmarked = 0, False
        self._relay = None
        if calls >= 0:
            relay = Path(__file__).parents[1] / "calls" / "relay.py"
            connect = runpy.run_path(str(relay))["connect"]
            self._relay = connect(plan.line, calls, self._watched, self)

    @property
    def interpreter(self) -> int:
        """The interpreter's process; 0 if there is none."""
        return self._child.pid if self._child else 0

    def mark(self) -> int:
        """Bring what was printed to the server, and a number after it; return that. It is the
        last one where nothing was printed since."""
        for stream in self._streams:
            self._bring(stream)
        if self._unmarked:
            self._marks, self._unmarked = self._marks + 1, False
            self._tell("m", str(self._marks).encode())
        return self._marks

    def drive(self) -> None:
        """Serve until the server hangs up."""
        if self._plan.order:
            self._start()
        self._tell("B", json.dumps({"driver": 1}).encode())
        while True:
            for key, _ in self._watched.select(_AGAIN_S if self._kill_at else None):
                if key.data == "link":
                    if not self._listen():
                        return
                elif key.data == "child":
                    with contextlib.suppress(BlockingIOError):
                        os.read(self._wake, 4096)
                elif key.data == "D":
                    self._hear_report()
                elif callable(key.data):
                    key.data()
                else:
                    self._bring(key.data)
            self._look_after_child()
            if self._kill_at:
                self._insist(time.monotonic())

    # --- the server ---

    def _listen(self) -> bool:
        said = self._link.recv(_READ_BYTES)
        self._received += said
        while len(self._received) >= HEADER.size:
            letter, length = HEADER.unpack_from(self._received)
            if len(self._received) < HEADER.size + length:
                break
            body = self._received[HEADER.size : HEADER.size + length]
            self._received = self._received[HEADER.size + length :]
            if letter == b"R":
                self._run(body)
            elif letter == b"I":
                self._interrupt()
        return bool(said)

    def _tell(self, letter: str, body: bytes) -> None:
        self._link.sendall(HEADER.pack(letter.encode(), len(body)) + body)

    def _run(self, code: bytes) -> None:
        self._file.write_bytes(code)
        self._running, self._interrupted, self._killed = True, False, False
        self._done = None
        self._ours_before = _children()
        os.utime(self._empty, (0, time.time()))
        word = self._relay.begin() if self._relay else ""
        if not self._plan.order:
            self._start()
            return
        order = self._plan.order.replace("{word}", word)
        order = order.replace("{folder}", shlex.quote(str(self._folder)))
        self._order(order.replace("{file}", shlex.quote(str(self._file))))

    def _interrupt(self) -> None:
        if self._running and not self._done:
            self._interrupted = True
            self._asked_at = now = time.monotonic()
            self._ask_at, self._kill_at = now + _AGAIN_S, now + _STOP_S
            if self._plan.stop:
                self._order(self._plan.stop)
            self._signal(signal.SIGINT)

    def _insist(self, now: float) -> None:
        """Ask again, and at last kill, an interpreter that was asked to stop and did not."""
        if now >= self._kill_at:
            self._killed = True
            self._signal(signal.SIGKILL)
        elif now >= self._ask_at:
            self._ask_at = now + 2 * (now - self._asked_at)
            if self._done:
                self._order(self._plan.here)
            else:
                self._signal(signal.SIGINT)

    def _is_done(self, code: int, detail: str) -> None:
        """Note that the code has ended. What is left of an interrupt may still end the interpreter,
        and with it what is ordered next: then the run is over when that is known."""
        if self._child and not (self._interrupted and self._plan.here):
            self._over(code, detail)
        elif not self._done:
            self._done = code, detail
            if self._child:
                self._order(self._plan.here)

    def _over(self, code: int, detail: str = "", *, gone: bool = False, kept: bool = True) -> None:
        """Tell that the run is over, when all that it printed has been brought."""
        self._running, self._kill_at = False, 0.0
        for letter in self._streams:
            for _ in range(_SETTLE_BYTES // _READ_BYTES):
                if not self._bring(letter):
                    break
        asked = os.fstat(self._empty).st_atime_ns != 0
        about = {"code": code, "detail": detail, "gone": gone, "kept": kept, "asked": asked}
        about |= {"interrupted": self._interrupted, "child": self.interpreter}
        self._tell("D", json.dumps(about).encode())

    # --- the interpreter ---

    def _start(self, state: Path | None = None) -> None:
        orders, self._orders = os.pipe()
        ends = {ORDERS: orders, REPORTS: os.dup(self._report_end)}
        ends |= self._relay.line.ends() if self._relay else {}
        for number, end in ends.items():
            os.dup2(end, number, inheritable=True)
            os.close(end)
        argv = [part.replace("{file}", str(self._file)) for part in self._plan.argv]
        try:
            self._child = subprocess.Popen(
                argv,
                stdin=self._empty,
                stdout=self._streams["o"][1],
                stderr=self._streams["e"][1],
                pass_fds=tuple(ends) if self._plan.order else (),
                start_new_session=True,
            )
        except OSError as error:
            self._over(127, f"{argv[0]} cannot be started: {error.strerror}.")
            return
        finally:
            for number in ends:
                os.close(number)
        if state:
            self._order(self._plan.restore.replace("{state}", shlex.quote(str(state))))
        self._order(self._plan.begin.replace("{folder}", shlex.quote(str(self._folder))))

    def _order(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # it is gone, which will be heard
            os.write(self._orders, text.encode())

    def _hear_report(self) -> None:
        self._reported += os.read(self._reports, _READ_BYTES)
        *lines, self._reported = self._reported.split(b"\n")
        self._reported = self._reported[-_REPORT_MOST_BYTES:]
        for line in lines:
            try:
                report = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if not isinstance(report, dict) or not self._running:
                continue
            for name, letter in (("result", "r"), ("error", "x")):
                if isinstance(report.get(name), str):
                    self._settled_tell(letter, report[name])
            if isinstance(code := report.get("done"), int) and abs(code) <= _CODE_MOST:
                self._is_done(code, str(report.get("detail", ""))[:_DETAIL_MOST])
            elif "here" in report and self._done:
                self._over(*self._done)

    def _settled_tell(self, letter: str, words: str) -> None:
        """Tell something that comes after all that was printed before it."""
        for stream in self._streams:
            self._bring(stream)
        self._tell(letter, words.encode(errors="replace"))

    def _bring(self, letter: str) -> bool:
        """Bring what was printed to the server; return whether there may be more."""
        try:
            said = os.read(self._streams[letter][0], _READ_BYTES)
        except BlockingIOError:
            return False
        self._tell(letter, said)
        self._unmarked = True
        return len(said) > 0

    def _signal(self, number: int) -> None:
        if self._child:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    def _look_after_child(self) -> None:
        """See whether the interpreter has ended; clear away what others left."""
        child = self._child
        if child is None:
            return
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid == child.pid:
                    break
        self._child = None
        if self._killed:
            self._end_orphans()
        child.returncode = code = os.waitstatus_to_exitcode(status)
        os.close(self._orders)
        self._hear_last_reports()
        if not self._plan.order:
            if self._running:
                self._over(code)
            return
        state, kept = self._state()
        self._start(state)
        if self._running:
            code, detail = self._done or (code, "")
            self._over(code, detail, gone=state is None, kept=kept)

    def _end_orphans(self) -> None:
        """End what a run that had to be killed leaves behind: with its parent gone it is ours."""
        while left := _children() - self._ours_before:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def _hear_last_reports(self) -> None:
        readable = selectors.DefaultSelector()
        readable.register(self._reports, selectors.EVENT_READ)
        while readable.select(0):
            self._hear_report()
        readable.close()
        self._reported = b""

    def _state(self) -> tuple[Path | None, bool]:
        """What the interpreter that is gone has saved, and whether that is the best it could."""
        restored = self._folder / "restored"
        found = [file for file in map(self._folder.joinpath, self._plan.saved) if file.exists()]
        if found:
            found[0].replace(restored)
        for file in found[1:]:
            file.unlink()
        kept = bool(found) and found[0].name == self._plan.saved[0]
        return (restored if restored.exists() else None), kept

    def _pipe(self, letter: str) -> tuple[int, int]:
        reading, writing = os.pipe()
        if letter != "D":
            os.set_blocking(reading, False)
        self._watched.register(reading, selectors.EVENT_READ, letter)
        return reading, writing


def _children() -> set[int]:
    """Our own children, where the system tells."""
    try:
        told = Path("/proc/self/task", str(os.getpid()), "children").read_text()
    except OSError:
        return set()
    return set(map(int, told.split()))


def _empty(folder: Path) -> int:
    """Open an empty input whose time of access tells whether the code read from it."""
    if hasattr(os, "memfd_create"):
        written = os.memfd_create("input", os.MFD_CLOEXEC)
        with contextlib.suppress(OSError):
            return os.open(f"/proc/self/fd/{written}", os.O_RDONLY | os.O_CLOEXEC)
    return os.open(folder / "input", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o400)


def main() -> None:
    link = socket.socket(fileno=int(sys.argv[1]))
    link.set_inheritable(False)
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: we clear away orphans
    plan = SimpleNamespace(**json.loads(sys.argv[3]))
    Driver(link, plan, Path(sys.argv[4]), int(sys.argv[2])).drive()


if __name__ == "__main__":
    main()

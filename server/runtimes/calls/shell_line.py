"""How the shell's command `sayso` says what it wants called: a script in the sandbox, which the
driver loads."""

import contextlib
import json
import os
import selectors
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sayso.server.runtimes.calls.relay import Relay, Writer

_READ_BYTES = 64 * 1024

WISH_MOST_BYTES = 1024**2
"""As long as a call may be (frames.py)."""

_CALLERS_MOST = 64
"""Processes of whose wish a part has come; eight at once are answered."""

LINE = 249
"""What the shell knows its end of the line by, beside those of the driver (driver.py)."""

_REFUSED, _WRONG_USE, _UNKNOWN = 1, 2, 127
"""Exit codes of the command: refused; used wrongly; there is no such function."""

_CODES = {"v": 0, "b": 0, "r": _REFUSED, "n": _UNKNOWN}

_NOT_HERE = "Sayso can be called from the shell of the run only, and from its own subshells."

USE = (
    "sayso tell TEXT [--fraction 0.5], sayso ask QUESTION [--choice TEXT]..., or sayso FUNCTION"
    " [--argument value]..."
)


class Line:
    """A socket on which the shell's command says its words, each ended by a zero byte: how many,
    the run's own word, the descriptor on which it reads, and what it was called with.

    What the shell starts inherits the socket, but calls nothing: it must be the shell itself, or a
    subshell that this run has begun. The kernel tells who speaks; that it is a shell can be seen,
    and, where /proc shows other processes, whose child it is. The run's word is a variable of the
    shell that is not exported: what an earlier run has left knows an earlier one.
    """

    def __init__(self, relay: "Relay") -> None:
        self._relay = relay
        self._ours, self._theirs = socket.socketpair()
        self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._ours.setblocking(False)
        self._said: dict[int, bytearray] = {}
        self._earlier: set[tuple[int, int]] = set()
        self._run = b""
        self._writers: list[Writer] = []
        self.listen(listening=True)

    def ends(self) -> dict[int, int]:
        return {LINE: os.dup(self._theirs.fileno())}

    def listen(self, *, listening: bool) -> None:
        if listening:
            self._relay.watched.register(self._ours, selectors.EVENT_READ, self._hear)
        else:
            self._relay.watched.unregister(self._ours)

    def begin(self) -> str:
        run = os.urandom(16).hex()
        self._run = run.encode()
        self._said.clear()
        for writer in self._writers:
            writer.close()
        self._writers.clear()
        self._earlier = set(_below(os.getpid()))
        return run

    @property
    def unread(self) -> int:
        self._writers = [writer for writer in self._writers if writer.unread]
        return sum(len(writer.unread) for writer in self._writers)

    def _hear(self) -> None:
        room = socket.CMSG_SPACE(struct.calcsize("3i"))
        try:
            data, about, _, _ = self._ours.recvmsg(_READ_BYTES, room)
        except BlockingIOError:
            return
        found = [body for level, kind, body in about if kind == socket.SCM_CREDENTIALS]
        if not found:
            return
        pid = int(struct.unpack_from("i", found[0])[0])
        said = self._said.setdefault(pid, bytearray())
        said += data
        *words, _ = said.split(b"\0")
        if len(said) > WISH_MOST_BYTES or not (words and words[0].isdigit()):
            del self._said[pid]
            return
        if len(words) - 3 >= int(words[0][:9]):
            del self._said[pid]
            self._take(pid, *(bytes(word) for word in words[1:]))
        elif len(self._said) > _CALLERS_MOST:
            del self._said[next(iter(self._said))]

    def _take(self, pid: int, run: bytes, end: bytes, *words: bytes) -> None:
        try:
            path = f"/proc/{pid}/fd/{int(end)}"
            writer = self._relay.writer(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except (OSError, ValueError):
            return

        def tell(code: int, text: bytes) -> None:
            text = text.replace(b"\0", b"")
            writer.write(b"%d %d\n%s" % (code, len(text), text))
            writer.finish()
            if writer.unread:
                self._writers.append(writer)
                self._relay.look()

        if run != self._run or not self._is_of_the_run(pid):
            tell(_UNKNOWN, _NOT_HERE.encode())
            return
        try:
            name, arguments = as_call([word.decode(errors="replace") for word in words])
        except ValueError as problem:
            tell(_WRONG_USE, str(problem).encode())
            return

        def answer(letter: str, body: bytes) -> None:
            tell(_CODES.get(letter, _REFUSED), as_text(body) if letter == "v" else body)

        self._relay.want(name, arguments, answer, after_output=name != "tell")

    def _is_of_the_run(self, pid: int) -> bool:
        shell, own = self._relay.driver.interpreter, os.getpid()
        try:
            if Path(f"/proc/{pid}/exe").readlink() != Path(f"/proc/{shell}/exe").readlink():
                return False
            while pid != shell:
                parent, begun = _parent_and_begin(pid)
                if (pid, begun) in self._earlier or parent in (0, 1, own):
                    return False
                pid = parent
        except PermissionError:
            return True  # nothing of other processes is shown here; the run's word must do
        except (OSError, ValueError):
            return False
        return True


def as_call(words: list[str]) -> tuple[str, dict[str, object]]:
    """The name and the arguments of what a shell's command was called with. Raises ValueError,
    whose text is a sentence."""
    if not words or words[0] in ("help", "--help", "-h"):
        raise ValueError(f"This is how it is used: {USE}.")
    name, *rest = words
    plain, named = _sorted(rest)
    if name == "tell":
        fractions = named.pop("fraction", [])
        told: dict[str, object] = {"text": " ".join(plain)}
        if fractions:
            try:
                told["fraction"] = float(fractions[-1])
            except ValueError:
                raise ValueError("--fraction is a number from 0 to 1.") from None
        arguments = told
    elif name == "ask":
        arguments = {"question": " ".join(plain), "choices": named.pop("choice", [])}
    else:
        arguments = {key: values[-1] for key, values in named.items()}
        return name, {"*": plain, **arguments} if plain else arguments
    if named:
        raise ValueError(f"{name} takes no --{next(iter(named))}; use it so: {USE}.")
    return name, arguments


def _sorted(words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Split words into positional ones, and the values of `--name` options."""
    plain: list[str] = []
    named: dict[str, list[str]] = {}
    left = iter(words)
    for word in left:
        if word == "--":
            plain.extend(left)
        elif word.startswith("--"):
            name, given, value = word[2:].partition("=")
            found = value if given else next(left, None)
            if found is None:
                raise ValueError(f"--{name} needs a value.")
            named.setdefault(name.replace("-", "_"), []).append(found)
        else:
            plain.append(word)
    return plain, named


def as_text(body: bytes) -> bytes:
    """What the shell's command prints of a value: text as it is, nothing for none, else JSON."""
    value = json.loads(body)
    if value is None:
        return b""
    return value.encode(errors="replace") if isinstance(value, str) else body


def _below(pid: int) -> list[tuple[int, int]]:
    """All processes below one, each with when it began."""
    found: list[tuple[int, int]] = []
    left = [pid]
    while left:
        folder = Path(f"/proc/{left.pop()}/task")
        with contextlib.suppress(OSError):
            for task in folder.iterdir():
                for child in map(int, (task / "children").read_text().split()):
                    with contextlib.suppress(OSError, ValueError):
                        found.append((child, _parent_and_begin(child)[1]))
                    left.append(child)
    return found


def _parent_and_begin(pid: int) -> tuple[int, int]:
    """A process's parent, and when it began in ticks; what it is called may hold anything."""
    fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return int(fields[1]), int(fields[19])

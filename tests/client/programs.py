"""The `sayso` command as a person meets it: a process of its own, on pipes or on a terminal."""

import asyncio
import fcntl
import json
import os
import pty
import re
import resource
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sayso.client.terminal.approval_prompt import TOO_SOON
from tests.client.server_double import TOKEN

SOON = 20.0
"""Seconds for what takes tenths of one, on a machine that is busy with other tests."""
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|.)")


def give_token() -> Path:
    """Puts the server double's token where the client looks for it."""
    path = Path(os.environ["SAYSO_HOME"]) / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "sayso.client.command", *arguments]


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    out: str
    told: str
    """What stood on standard error."""

    @property
    def sentence(self) -> str:
        """The only thing on standard error."""
        assert "Traceback" not in self.told
        assert self.told.count("\n") == 1, self.told
        return self.told.strip()


async def sayso(
    *arguments: str,
    given: str = "",
    environment: Mapping[str, str] | None = None,
    largest_file: int = resource.RLIM_INFINITY,
) -> Ended:
    """Runs it to its end. `largest_file`: bytes after which a disk is full."""
    process = await asyncio.create_subprocess_exec(
        *command(*arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        preexec_fn=disk_of(largest_file),
    )
    try:
        async with asyncio.timeout(SOON):
            out, told = await process.communicate(given.encode())
    except BaseException:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), told.decode())


def disk_of(largest_file: int) -> Callable[[], None]:
    """For a child process: no file grows beyond that."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))


class Window:
    """A terminal with a program in it."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        descriptor: int,
        *,
        kitty: bool,
        pictures: bool = False,
    ) -> None:
        self.process = process
        self._descriptor = descriptor
        self._kitty = kitty
        self._pictures = pictures
        self._raw = b""
        self._changed = asyncio.Event()
        self._from = 0
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    @property
    def raw(self) -> str:
        """Everything that was written, with the sequences that steer a terminal."""
        return self._raw.decode(errors="replace")

    @property
    def text(self) -> str:
        return _SEQUENCE.sub("", self.raw)

    def type(self, text: str) -> None:
        """Presses keys; from here on `sees` looks at what is new."""
        self._from = len(self.text)
        os.write(self._descriptor, text.encode())

    async def sees(self, *words: str) -> None:
        """Waits until one of these, however it is broken, was written since the last key."""
        if not await self._saw(words, SOON):
            raise AssertionError(f"never saw {words!r} in:\n{self.text[self._from :]}")

    async def answer(self, line: str, *words: str) -> None:
        """Enters a line, again while the question is too young for it, until it sees these.

        What came too soon is dropped with a word, or without one where it was still in the
        terminal: then nothing follows, and the line is entered again.
        """
        time = asyncio.get_running_loop().time
        until = time() + 2 * SOON
        while time() < until:
            self.type(line + "\n")
            if await self._saw((TOO_SOON, *words), SOON / 4) and await self._saw(words, 0):
                return
        raise AssertionError(f"never saw {words!r} in:\n{self.text}")

    async def _saw(self, words: tuple[str, ...], within: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while not any(word in self.new for word in words):
                    self._changed.clear()
                    await self._changed.wait()
        return any(word in self.new for word in words)

    @property
    def new(self) -> str:
        """What was written since the last key, in one line."""
        return " ".join(self.text[self._from :].split())

    async def ends(self) -> int:
        async with asyncio.timeout(SOON):
            return await self.process.wait()

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    @property
    def as_before(self) -> bool:
        """The terminal is in the state in which a shell wants it."""
        flags = termios.tcgetattr(self._descriptor)[3]
        return bool(flags & termios.ICANON and flags & termios.ECHO and flags & termios.ISIG)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._raw += data
        if b"\x1b[c" in data:
            answer = b"\x1b[?0u" if self._kitty else b""
            if self._pictures and b"\x1b_Gi=31," in data:
                answer = b"\x1b_Gi=31;OK\x1b\\" + answer
            os.write(self._descriptor, answer + b"\x1b[?62;4c")
        self._changed.set()


@asynccontextmanager
async def window(
    *arguments: str,
    kitty: bool = False,
    pictures: bool = False,
    columns: int = 80,
    rows: int = 24,
    environment: Mapping[str, str] | None = None,
    program: list[str] | None = None,
) -> AsyncIterator[Window]:
    """Opens a terminal in which `sayso` runs, as its foreground process. What `environment` took
    over from whoever runs the tests says nothing about this terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    wanted = (environment or {}).items()
    chosen = {name: value for name, value in wanted if os.environ.get(name) != value}
    settings = {"TERM": "xterm-256color", "EDITOR": "/bin/false", **chosen}
    inherited = {
        name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "STY", "TMUX"}
    }

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = await asyncio.create_subprocess_exec(
        *(program or command(*arguments)),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**inherited, **settings},
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    opened = Window(process, ours, kitty=kitty, pictures=pictures)
    try:
        yield opened
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        opened.close()
        os.close(theirs)
        os.close(ours)


def events(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def named(told: list[dict[str, object]], name: str) -> list[dict[str, object]]:
    return [event for event in told if event["event"] == name]

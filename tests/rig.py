"""Real processes of the product, for end-to-end tests and benchmarks: a server, and its clients.

with Server(home, model) as server:
    events = server.talk(question_wav, answer_wav)
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.scripted_model import ScriptedModel

START_S = 60.0
"""Longest time for a server to be ready on a busy machine."""
TURN_S = 90.0
"""Longest time for a turn, code included, on a busy machine."""
STOP_S = 15.0

SAYSO = str(Path(sys.executable).with_name("sayso"))
"""The command as it is installed beside the interpreter that runs the tests."""

_PORTS = count(16_384 + os.getpid() * 61 % 16_000)
"""Below those that systems give to whoever asks for any, from 32768 on; and tests that run beside
these begin elsewhere."""

Event = Mapping[str, Any]
"""A line of `--json`: `at`, `event`, and the event's fields."""


@dataclass
class Client:
    """What a client process said before it ended."""

    code: int
    events: list[Event]
    stderr: str

    @classmethod
    def of(cls, code: int, stdout: str, stderr: str) -> Self:
        """From what the process wrote."""
        return cls(code, list(_lines(stdout)), stderr)

    def all(self, name: str) -> list[Event]:
        return [event for event in self.events if event["event"] == name]

    def first(self, name: str) -> Event:
        found = self.all(name)
        assert found, f"no {name} among {[e['event'] for e in self.events]}\n{self.stderr}"
        return found[0]

    @property
    def reply(self) -> str:
        return "".join(event["text"] for event in self.all("reply.delta"))

    @property
    def output(self) -> str:
        return "".join(event.get("text", "") for event in self.all("code.out"))


@dataclass
class Server:
    """A server process of its own home; ends with the block."""

    home: Path
    model: ScriptedModel | None = None
    flags: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    startup_s: float = 0.0

    def __enter__(self) -> Self:
        self.port = self.port or free_port()
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and wait until it is ready to hear."""
        started = time.monotonic()
        self.log = (self.home / "server.out").open("a+")
        self.process = subprocess.Popen(
            [SAYSO, "serve", "--port", str(self.port), *self._model_flags(), *self.flags],
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() - started > START_S:
                self.stop()
                raise AssertionError(f"The server did not start:\n{self.said}")
            time.sleep(0.02)
        self.startup_s = time.monotonic() - started

    def stop(self) -> int:
        """End it as a person would; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise AssertionError(f"The server did not stop:\n{self.said}") from None
        finally:
            self.log.close()
        return code

    @property
    def said(self) -> str:
        """What it printed so far."""
        return (self.home / "server.out").read_text()

    @property
    def variables(self) -> dict[str, str]:
        """The environment of its processes, without this machine's keys."""
        own = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_TOKEN"))}
        key = {"SCRIPTED_KEY": self.model.key or "none"} if self.model else {}
        return own | {"SAYSO_HOME": str(self.home)} | key | dict(self.environment)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    def health(self) -> Mapping[str, Any]:
        return dict(json.loads(self.get("/health")))

    def get(self, path: str) -> str:
        """What a plain request is answered."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
            return str(answer.read().decode())

    def ask(self, text: str, *flags: str) -> Client:
        """One typed question."""
        return self.client("ask", text, "--json", *flags)

    def talk(self, question: Path, answer: Path | None = None, *flags: str) -> Client:
        """One spoken question from a file; the answer is written to another."""
        speaker = ("--speaker", f"file:{answer}") if answer else ()
        mic = f"file:{question}"
        return self.client("talk", "--mic", mic, *speaker, "--once", "--json", *flags)

    def client(self, *arguments: str) -> Client:
        """Run a client to its end."""
        done = subprocess.run(
            [SAYSO, arguments[0], "--server", self.url, *arguments[1:]],
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TURN_S,
            check=False,
        )
        return Client(done.returncode, list(_lines(done.stdout)), done.stderr)

    def _is_ready(self) -> bool:
        try:
            return bool(self.health()["ready"])
        except OSError:
            return False

    def _model_flags(self) -> tuple[str, ...]:
        if self.model is None:
            return ()
        settings = {
            "model": "scripted",
            "api_base": self.model.url,
            "api_key_variable": "SCRIPTED_KEY",
        }
        return tuple(f"--set=language_model.{key}={value}" for key, value in settings.items())


def free_port() -> int:
    """A port that nobody listens on, and that nobody is given before the server has it."""
    while True:
        port = next(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _lines(text: str) -> Iterable[Event]:
    for line in text.splitlines():
        yield json.loads(line)

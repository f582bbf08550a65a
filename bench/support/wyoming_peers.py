"""Runs Home Assistant's voice stack beside ours: wyoming-faster-whisper and wyoming-piper.

They are installed in an environment of their own, in the cache folder, from wherever this machine
gets its packages; nothing of Sayso imports them. They are given the same models, two threads, and
the narrowest search, which is their fastest.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import venv
import wave
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from tests.rig import free_port

PACKAGES: Final = ("wyoming-faster-whisper==3.8.1", "wyoming-piper==2.5.2")

START_S: Final = 120.0
"""Longest time for one of them to load its model and warm up."""

ANSWER_S: Final = 60.0
"""Longest time for one answer of theirs."""

SETTLE_S: Final = 0.3
"""After the sound was sent and before its end is told: as if it had come while somebody spoke."""


@dataclass(frozen=True, slots=True)
class PeerTimes:
    """Of one question, in milliseconds after the end of its sound."""

    final: float
    """Until the transcript is there."""
    first_audio: float
    """Until the first sound of the answer is there, which begins as soon as the transcript is."""
    text: str


class WyomingPeers:
    """Both servers, each in a process of its own, as Home Assistant's add-ons run them."""

    def __init__(self, whisper: Path, voice: Path) -> None:
        self._whisper = whisper
        self._voice = voice
        self._stack = ExitStack()
        self._ports = (free_port(), free_port())

    def __enter__(self) -> Self:
        python = _environment()
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        heard, spoken = self._ports
        for ending in (".onnx", ".onnx.json"):
            source = self._voice.with_name(self._voice.name.removesuffix(".onnx") + ending)
            (folder / f"{self._voice.stem}{ending}").symlink_to(source.resolve())
        shared = ("--data-dir", str(folder))
        hears = ("--model", str(self._whisper.resolve()), "--language", "en", "--beam-size", "1")
        exact = ("--compute-type", "int8", "--cpu-threads", "2", "--stt-library", "faster-whisper")
        self._start(python, "wyoming_faster_whisper", heard, *shared, *hears, *exact)
        self._start(python, "wyoming_piper", spoken, *shared, "--voice", self._voice.stem)
        for port in self._ports:
            _wait_for(port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def ask(self, question: Path, answer: str) -> PeerTimes:
        """Have the question heard, and this answer spoken."""
        heard, spoken = self._ports
        with _Connection(heard) as ears:
            ears.send("transcribe", {"language": "en"})
            with wave.open(str(question)) as file:
                shape = {
                    "rate": file.getframerate(),
                    "width": file.getsampwidth(),
                    "channels": file.getnchannels(),
                }
                ears.send("audio-start", shape)
                while block := file.readframes(1024):
                    ears.send("audio-chunk", shape, block)
            time.sleep(SETTLE_S)
            ended = time.perf_counter()
            ears.send("audio-stop")
            text = str(ears.wait("transcript")["text"])
        final = time.perf_counter()
        with _Connection(spoken) as mouth:
            mouth.send("synthesize", {"text": answer})
            mouth.wait("audio-chunk")
            first = time.perf_counter()
            mouth.wait("audio-stop")  # it takes its time, but nobody else's
        return PeerTimes((final - ended) * 1000, (first - ended) * 1000, text.strip())

    def _start(self, python: Path, module: str, port: int, *arguments: str) -> None:
        process = subprocess.Popen(
            [python, "-m", module, "--uri", f"tcp://127.0.0.1:{port}", *arguments],
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(_end, process)


class _Connection:
    """Wyoming's protocol: a line of JSON, more JSON if it says so, and bytes if it says so."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file: BinaryIO = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
        self._socket.close()

    def send(self, kind: str, data: dict[str, Any] | None = None, payload: bytes = b"") -> None:
        head: dict[str, Any] = {"type": kind, "data": data or {}}
        if payload:
            head["payload_length"] = len(payload)
        self._socket.sendall(json.dumps(head).encode() + b"\n" + payload)

    def wait(self, kind: str) -> dict[str, Any]:
        """The data of the next event of this kind."""
        while line := self._file.readline():
            head = json.loads(line)
            data = dict(head.get("data") or {})
            if length := head.get("data_length"):
                data |= json.loads(self._file.read(length))
            if length := head.get("payload_length"):
                self._file.read(length)
            if head["type"] == kind:
                return data
        raise SystemExit(f"A server of Home Assistant's stack ended before its {kind}.")


def _environment() -> Path:
    """The interpreter of the environment that has both, made if it is not there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sayso-bench"
    root = cache / "peers"
    done, python = root / "complete", root / "bin" / "python"
    if done.exists() and done.read_text("utf-8") == repr(PACKAGES):
        return python
    print(f"Installing {' and '.join(PACKAGES)} in {root}", file=sys.stderr)
    shutil.rmtree(root, ignore_errors=True)
    try:
        if uv := shutil.which("uv"):
            subprocess.run([uv, "venv", "--quiet", root], check=True)
            install = [uv, "pip", "install", "--quiet", "--python", str(python)]
        else:
            venv.create(root, with_pip=True)
            install = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "--only-binary", ":all:", *PACKAGES], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"Home Assistant's stack can't be installed ({error}).") from error
    done.write_text(repr(PACKAGES), "utf-8")
    return python


def _wait_for(port: int) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        with suppress(OSError), _Connection(port) as there:
            there.send("describe")
            there.wait("info")
            return
        time.sleep(0.1)
    raise SystemExit("Home Assistant's stack did not start.")


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

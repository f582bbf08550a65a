"""One life of the embedded language model's engine: start it, prove it, wait for its end."""

import asyncio
import contextlib
import json
import logging
import os
import re
import secrets
import signal
import sys
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Self

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.llm.loopback_http import NoAnswer, ask
from sayso.server.agent.llm.model import Endpoint, ModelError
from sayso.server.models.machine import install_command

logger = logging.getLogger(__name__)

MODEL_NAME = "pocket"
"""What the engine calls its model, whichever it is."""

START_SECONDS = 180.0
"""A starter loads in 0.3 s; 20 GB from a slow disk take two minutes."""

PROOF_SECONDS = 5.0
"""For one small request to an engine that has just started."""

LAST_WORDS_SECONDS = 2.0
"""For the rest of what an engine complains of that ends."""

TAIL_BYTES = 4_096
"""What is kept of the engine's complaints, to say why it died."""

LONGEST_COMPLAINT = 200
"""Characters of a complaint that fit a sentence."""

OPENMP = "libgomp.so"
"""The one library of the system that the engine needs; pip cannot bring it."""

STAMP = re.compile(r"^[\d.]+ [A-Z] ")
"""Time and level before each of the engine's lines."""

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH")
"""Of the environment; keys and tokens are none of the engine's business."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the engine runs."""

    weights: Path
    """A GGUF file; of several parts, the first."""
    context_tokens: int
    """Length of its memory. The engine takes no more than the model was trained with."""
    threads: int


class PocketError(ModelError):
    """The embedded model does not run; the text says why and what to do."""


class EngineDied(Exception):
    """The engine's process ended; it may be started again."""


class Engine:
    """One process of the engine."""

    def __init__(self, load: Load, process: asyncio.subprocess.Process) -> None:
        self._load = load
        self._process = process
        self._tail = bytearray()
        self._listener = asyncio.create_task(self._hear_complaints())

    @classmethod
    async def start(cls, load: Load) -> Self:
        """Start the process; it does not answer yet."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # no module from the folder where Sayso was started
            "-m",
            "sayso.server.agent.llm.embedded.engine",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        )
        return cls(load, process)

    @property
    def process_id(self) -> int:
        return self._process.pid

    async def answering(self) -> Endpoint:
        """Load the weights, and answer who has the key and no one else.

        Raises EngineDied, and PocketError where another try would end the same.
        """
        key = secrets.token_urlsafe(32)
        try:
            async with asyncio.timeout(START_SECONDS):
                line = await self._first_words(key)
        except TimeoutError:
            message = (
                f"{self._load.weights.name} did not load in {START_SECONDS:.0f} s; "
                f"choose a smaller language model (`sayso models`)."
            )
            raise PocketError(message) from None
        try:
            answer = read_json(line)
        except UntrustedJsonError:
            await self._last_words()
            raise PocketError("The embedded model's engine did not start as it should.") from None
        if "address" not in answer:
            await self._last_words()
            raise PocketError(self._trouble(answer["trouble"], answer["detail"]))
        endpoint = Endpoint(f"{answer['address']}/v1", key)
        await _prove(endpoint)
        return endpoint

    async def ended(self) -> EngineDied:
        """Wait until the process ends; the answer says why."""
        await self._process.wait()
        status = self._process.returncode or 0
        if status < 0:
            with contextlib.suppress(ValueError):
                return EngineDied(f"killed by {signal.Signals(-status).name}")
        await self._last_words()
        return EngineDied(self._complaint() or f"status {status}")

    async def stop(self) -> None:
        """End the process, whatever it is doing; it holds nothing that is worth saving."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        await self._listener

    async def _first_words(self, key: str) -> bytes:
        """Give the orders and read the answer. Raises EngineDied, PocketError."""
        orders = {
            "weights": str(self._load.weights),
            "alias": MODEL_NAME,
            "context_tokens": self._load.context_tokens,
            "threads": self._load.threads,
            "key": key,
            "parent": os.getpid(),
        }
        line = b""
        if self._process.stdin and self._process.stdout:
            with contextlib.suppress(ConnectionError):
                self._process.stdin.write(json.dumps(orders).encode() + b"\n")
                await self._process.stdin.drain()
            line = await self._process.stdout.readline()
        if line:
            return line
        death = await self.ended()
        if self._process.returncode == -signal.SIGILL:
            message = (
                "This processor lacks instructions that the embedded language model needs; "
                "use a model server such as Ollama, or a cloud model (--model)."
            )
            raise PocketError(message)
        raise death

    async def _last_words(self) -> None:
        """Hear the rest of what an engine complains of that ends now; it comes by a way of its own,
        and may come later than the news."""
        await asyncio.wait([self._listener], timeout=LAST_WORDS_SECONDS)

    def _trouble(self, trouble: str, detail: str) -> str:
        install = f"`{install_command('xllamacpp', '--upgrade')}`"
        match trouble:
            case "no engine" if OPENMP in detail:
                return (
                    f"The embedded language model's engine lacks a library of the system"
                    f" ({detail}); run `sudo apt install libgomp1` and start Sayso again."
                )
            case "no engine":
                return (
                    f"The embedded language model's engine is not installed ({detail}); "
                    f"install it with {install}."
                )
            case "other engine":
                return (
                    f"The embedded language model's engine is of a version that Sayso does not "
                    f"know ({detail}); install the right one with {install}."
                )
            case _:
                return (
                    f"{self._load.weights} is no language model that the embedded engine can load "
                    f"({self._complaint() or detail}); choose another (`sayso models`)."
                )

    def _complaint(self) -> str:
        """The first thing that the engine complained of, as far as it is still known."""
        lines = self._tail.decode(errors="replace").splitlines()
        first = next((line for line in lines if line.strip()), "")
        return STAMP.sub("", first).strip()[:LONGEST_COMPLAINT]

    async def _hear_complaints(self) -> None:
        if not self._process.stderr:
            return
        while block := await self._process.stderr.read(TAIL_BYTES):
            self._tail += block
            del self._tail[:-TAIL_BYTES]
            logger.debug("Engine: %s", block.decode(errors="replace").strip())


async def _prove(endpoint: Endpoint) -> None:
    """Make sure that the engine answers us and no one else. Raises PocketError, EngineDied."""
    url = f"{endpoint.api_base}/models"
    ours = {"Authorization": f"Bearer {endpoint.api_key}"}
    try:
        stranger = await ask(url, seconds=PROOF_SECONDS, headers={"Origin": "http://example.org"})
        friend = await ask(url, seconds=PROOF_SECONDS, headers=ours)
    except NoAnswer as silence:
        message = f"it does not answer: {silence}"
        raise EngineDied(message) from silence
    refused = stranger.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    if not refused or stranger.headers.get("access-control-allow-origin", ""):
        message = (
            "The embedded language model's engine answers whoever asks, so it is not used; "
            "install the version that Sayso was built with."
        )
        raise PocketError(message)
    if friend.status != HTTPStatus.OK:
        message = f"it refuses its own key with status {friend.status}"
        raise EngineDied(message)

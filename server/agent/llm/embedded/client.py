"""The embedded language model: llama.cpp in a process of its own, restarted if it dies.

    async with Pocket(weights) as pocket:
        endpoint = await pocket.ready()      # where it answers, and with which key

The engine serves the OpenAI wire on a loopback port, so that litellm stays the one way to any
model. Its address and key are new after every restart: ask `ready` before each request, as
`PocketModel` does.
"""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from sayso.protocol.home import Home
from sayso.server.agent.llm.embedded.process import (
    MODEL_NAME,
    Engine,
    EngineDied,
    Load,
    PocketError,
)
from sayso.server.agent.llm.model import ChatMessage, ChatModel, Delta, Endpoint, ToolDefinition
from sayso.server.log_context import no_log_ids
from sayso.server.settings.defaults import LanguageModel

__all__ = ["MODEL_NAME", "Pocket", "PocketError", "PocketModel", "introduction"]

logger = logging.getLogger(__name__)

BACK_OFF_SECONDS = (0.0, 0.5, 2.0, 5.0, 15.0)
"""Waits before restarts. One crash costs nothing; an engine that cannot live is left alone after
these."""

HEALTHY_SECONDS = 60.0
"""An engine that lived this long starts the count of failures anew."""

_CONTEXT_TOKENS = LanguageModel().context_tokens

MOST_THREADS = 8
"""More threads than this gain nothing on a small model: memory is what is slow."""


class Pocket:
    """The engine's keeper. Use it as an async context manager."""

    def __init__(
        self, weights: Path, *, context_tokens: int = _CONTEXT_TOKENS, threads: int = 0
    ) -> None:
        self._load = Load(weights, context_tokens, threads or sensible_threads())
        self._endpoint: asyncio.Future[Endpoint]
        self._keeper: asyncio.Task[None]
        self._engine: Engine | None = None

    async def __aenter__(self) -> Self:
        self._endpoint = asyncio.get_running_loop().create_future()
        with no_log_ids():
            self._keeper = asyncio.create_task(self._keep(), name="keeper of the pocket model")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._keeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._keeper
        if not self._endpoint.done():
            self._give_up(PocketError("The embedded language model was stopped."))

    async def ready(self) -> Endpoint:
        """Where the engine answers, as soon as it does. Raises PocketError if it never will."""
        return await asyncio.shield(self._endpoint)

    @property
    def process_id(self) -> int | None:
        """Of the engine that runs now."""
        return self._engine.process_id if self._engine else None

    async def _keep(self) -> None:
        """Start the engine, wait for its death, start it again, until that is hopeless."""
        clock = asyncio.get_running_loop().time
        failures = 0
        while True:
            started = clock()
            try:
                death = await self._live_once()
            except PocketError as hopeless:
                self._give_up(hopeless)
                return
            failures = 1 if clock() - started > HEALTHY_SECONDS else failures + 1
            logger.warning("The embedded language model's engine ended (%s)", death)
            if failures > len(BACK_OFF_SECONDS):
                message = (
                    f"The embedded language model ended {failures} times ({death}); "
                    f"choose another one with --model, or see `sayso doctor`."
                )
                self._give_up(PocketError(message))
                return
            await asyncio.sleep(BACK_OFF_SECONDS[failures - 1])

    async def _live_once(self) -> EngineDied:
        """One life of the engine, and why it ended. Raises PocketError if none can follow."""
        engine = self._engine = await Engine.start(self._load)
        try:
            self._endpoint.set_result(await engine.answering())
            return await engine.ended()
        except EngineDied as death:
            return death
        finally:
            if self._endpoint.done():
                self._endpoint = asyncio.get_running_loop().create_future()
            self._engine = None
            await engine.stop()

    def _give_up(self, reason: PocketError) -> None:
        logger.info("%s", reason)
        self._endpoint.set_exception(reason)
        self._endpoint.exception()  # it is known to be looked at, even if nobody asks


class PocketModel:
    """A ChatModel on the embedded engine, which it finds again after every restart."""

    def __init__(
        self,
        pocket: Pocket,
        connect: Callable[[Endpoint], ChatModel],
        *,
        name: str,
        calls_tools: bool,
    ) -> None:
        self._pocket = pocket
        self._connect = connect
        self._connected: tuple[Endpoint, ChatModel] | None = None
        self.name = name
        self.calls_tools = calls_tools
        self.sees = False

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """It costs nothing but time."""
        return None

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        """Answer. Raises ModelError."""
        model = await self._model()
        async for delta in model.reply(messages, tools):
            yield delta

    async def _model(self) -> ChatModel:
        endpoint = await self._pocket.ready()
        if self._connected is None or self._connected[0] != endpoint:
            self._connected = endpoint, self._connect(endpoint)
        return self._connected[1]


def sensible_threads() -> int:
    """All cores but one, which hearing and speaking keep."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(cores - 1, MOST_THREADS))


def introduction(home: Home, better: str) -> str | None:
    """What a person is told when a pocket model answers for the first time; None after that.

    `better` is how to get a better one, in words that complete a sentence.
    """
    told = home.state / "pocket-introduced"
    if told.exists():
        return None
    with contextlib.suppress(OSError):  # where nothing can be remembered, it is told again
        told.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        told.touch(mode=0o600)
    return (
        f"A pocket language model answers: it works without a network and keeps all that you say "
        f"on this machine, but it knows little and is often wrong. For better answers, {better}."
    )

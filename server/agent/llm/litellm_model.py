"""Any model that litellm knows, behind the ChatModel seam.

litellm takes seconds and 160 MB to import and half a second for its first call, so it is loaded in
a thread, by `warm` or when first needed. It is told before to keep off the network by itself.
"""

import asyncio
import logging
import os
import random
import socket
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import closing as closing_now
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from sayso.server.agent.llm.errors import explain, explain_break
from sayso.server.agent.llm.model import (
    ChatMessage,
    Delta,
    Endpoint,
    ModelError,
    TextDelta,
    ToolCallDelta,
    ToolDefinition,
    TooLongError,
    Usage,
)
from sayso.server.agent.stream_closing import closing
from sayso.server.process import in_background, loading

logger = logging.getLogger(__name__)

_ENVIRONMENT: Final[Mapping[str, str]] = {
    # Each of these it would otherwise fetch from the network, on import or at its first call.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    # Otherwise it reads a `.env` file from whatever folder the server was started in.
    "LITELLM_MODE": "PRODUCTION",
    # It takes many equal deltas for a broken model, but the rule of a table comes like that.
    # Runaway answers end at the agent's own bounds.
    "REPEATED_STREAMING_CHUNK_LIMIT": "100000",
}


LOADING: Final = "loading the language model's library"

PROBE_S: Final = 25.0
"""For the question whether a server takes tools: a local one may have to load its model first."""
PROBE_TOOL: Final = "ready"

_PROBE: Final[ToolDefinition] = {
    "type": "function",
    "function": {
        "name": PROBE_TOOL,
        "description": "Say that you are ready.",
        "parameters": {"type": "object", "properties": {}},
    },
}

_Begun = tuple[Any, Any]
"""litellm's stream, and its first chunk or None."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for a model."""

    first_delta_s: float = 90.0
    """A local server may have to load a large model from disk first."""
    next_delta_s: float = 60.0
    """Reasoning models pause in mid-stream; a minute of silence is a dead connection."""
    all_tries_s: float = 120.0
    """Until the first delta, with all retries. Nobody waits longer at a voice assistant."""
    retries: int = 3
    """Tries after the first, for what may pass: busy, overloaded, slow."""
    pause_s: float = 0.5
    """Before the first retry. It doubles each time, and up to as much again comes by chance, so
    that many who were refused together do not come back together."""
    longest_pause_s: float = 8.0
    """A provider that asks for more is told of rather than waited for."""


class LitellmModel:
    """A ChatModel."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint | None = None,
        *,
        name: str = "",
        calls_tools: Literal["auto", "yes", "no", "probe"] = "auto",
        sees: Literal["auto", "yes", "no"] = "auto",
        temperature: float | None = None,
        reply_tokens: int | None = None,
        patience: Timeouts | None = None,
    ) -> None:
        """`model` is litellm's name, for example `anthropic/claude-sonnet-4-5`; for a server on the
        OpenAI wire it is `openai/` and the server's name, with its `endpoint`. Without a key it is
        the provider's environment variable that counts. `name` is for screens and sentences.
        `probe`: it is asked once, when it is warmed, whether it calls a tool.
        """
        self._model = model
        self._name = name or model
        self._tools: Literal["auto", "yes", "no", "probe"] = calls_tools
        self._sees: Literal["auto", "yes", "no"] = sees
        self._patience = patience or Timeouts()
        endpoint = endpoint or Endpoint()
        given = {
            "api_base": endpoint.api_base or None,
            "api_key": endpoint.api_key or None,
            "temperature": temperature,
            "max_tokens": reply_tokens,
        }
        self._secret = endpoint.api_key
        self._options = {key: value for key, value in given.items() if value is not None}
        self._litellm: Any = None
        self._is_asked = False

    def __repr__(self) -> str:
        return f"LitellmModel({self._model!r})"

    @property
    def name(self) -> str:
        return self._name

    @property
    def calls_tools(self) -> bool:
        """What was said, else what litellm knows of the model, or its server showed. Until that is
        known the answer is no, and the model writes fenced code, which every model can.
        """
        return self._tools == "yes"

    @property
    def sees(self) -> bool:
        """What was said, else what litellm knows of the model; no until it is loaded."""
        return self._sees == "yes"

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """By litellm's table, which lies on disk; None for what is not in it."""
        if self._litellm is None:
            return None
        return self._price(prompt_tokens=tokens_in, completion_tokens=tokens_out)

    async def warm(self) -> None:
        """Load litellm and let it make its first call, to nobody, unless somebody asks already.
        Raises ModelError.

        That call is made in this event loop, as those that follow are: litellm shares its clients
        between calls, and one that another loop closed would fail them all.
        """
        for step in (self._load, self._rehearse):
            await in_background(step, LOADING)
            if self._tools == "probe":
                await self._probe()
            if self._is_asked:
                return  # The one who waits does in the event loop what would be rehearsed now.
        with closing_now(socket.socket()) as nobody, suppress(Exception):
            nobody.bind(("127.0.0.1", 0))  # taken, and not listening: every call is refused
            port = nobody.getsockname()[1]
            await self._call_nobody(f"http://127.0.0.1:{port}")

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncGenerator[Delta, None]:
        """Answer. Raises ModelError."""
        self._is_asked = True
        if self._litellm is None:
            await in_background(self._load, LOADING)
        stream, chunk = await self._begin(messages, tools)
        async with closing(stream):
            while chunk is not None:
                for delta in self._deltas(chunk):
                    yield delta
                try:
                    chunk = await _next(stream, self._patience.next_delta_s)
                except Exception as problem:  # noqa: BLE001 (litellm and its providers raise anything)
                    logger.info("%s broke off: %s", self._name, type(problem).__name__)
                    raise ModelError(explain_break(self._name)) from None

    async def _begin(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> _Begun:
        """The stream and its first chunk, after as many tries as patience allows."""
        patience, clock = self._patience, asyncio.get_running_loop().time
        give_up_at = clock() + patience.all_tries_s
        tries = 0
        while True:
            try:
                async with asyncio.timeout(min(patience.first_delta_s, give_up_at - clock())):
                    return await self._open(messages, tools)
            except Exception as problem:  # noqa: BLE001 (providers' adapters raise anything)
                logger.info("%s did not answer: %s", self._name, type(problem).__name__)
                trouble = explain(problem, self._name)
            pause = patience.pause_s * 2**tries * (1 + random.random())  # noqa: S311 (no secret)
            pause = max(pause, trouble.after_s or 0.0)
            tries += 1
            worthwhile = trouble.may_pass and tries <= patience.retries
            if not worthwhile or pause > min(patience.longest_pause_s, give_up_at - clock()):
                sentence = trouble.sentence
                kind = TooLongError if trouble.too_long else ModelError
                raise kind(sentence.replace(self._secret, "…") if self._secret else sentence)
            await asyncio.sleep(pause)

    async def _open(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> _Begun:
        stream = await self._litellm.acompletion(
            model=self._model,
            messages=list(messages),
            tools=list(tools) or None,
            stream=True,
            stream_options={"include_usage": True},
            timeout=self._patience.all_tries_s,
            max_retries=0,
            # Otherwise any tool makes it import its proxy server, with packages that are not here.
            _skip_mcp_handler=True,
            **self._options,
        )
        try:
            return stream, await anext(stream, None)
        except BaseException:
            await stream.aclose()
            raise

    def _deltas(self, chunk: Any) -> Iterator[Delta]:  # noqa: ANN401 (litellm's own type)
        """What a chunk says, in our words. What a model thinks to itself is left out."""
        for choice in chunk.choices[:1]:
            if choice.delta.content:
                yield TextDelta(choice.delta.content)
            for call in choice.delta.tool_calls or ():
                function = call.function
                yield ToolCallDelta(call.index, call.id, function.name, function.arguments or "")
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            yield Usage(
                usage.prompt_tokens, usage.completion_tokens, self._price(usage_object=usage)
            )

    def _price(self, **used: Any) -> float | None:  # noqa: ANN401 (litellm's own types)
        try:
            parts = self._litellm.cost_per_token(model=self._model, **used)
        except Exception:  # noqa: BLE001 (its lookup raises anything for an unknown model)
            return None
        return float(sum(parts))

    def _load(self) -> None:
        """Import litellm and quieten it. In a thread."""
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        try:
            with loading():
                import litellm
        except ImportError:
            raise ModelError(
                "Language models need the litellm package; install sayso[server]."
            ) from None
        litellm.suppress_debug_info = True  # it prints advice otherwise
        litellm.telemetry = False
        litellm.drop_params = True  # not every model takes a temperature
        # Its other transport leaves sessions open for their loop to complain about when it ends.
        litellm.disable_aiohttp_transport = True
        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
        if self._tools == "auto":
            known = litellm.supports_function_calling(model=self._model)
            self._tools = "yes" if known else "no"
        if self._sees == "auto":
            self._sees = "yes" if litellm.supports_vision(model=self._model) else "no"
        self._litellm = litellm

    def _rehearse(self) -> None:
        """Let it make up an answer of its own. In a thread: what it brings in for its first one, a
        tokenizer among it, takes a third of a second in which nobody would be heard."""
        with suppress(Exception):
            made_up = self._litellm.completion(
                model="openai/nobody",
                messages=[{"role": "user", "content": "hello"}],
                mock_response="hello",
                stream=True,
                stream_options={"include_usage": True},
                api_key="nobody",
            )
            for _ in made_up:
                pass
            self._litellm.token_counter(model="", text="hello")

    async def _probe(self) -> None:
        """Ask the server whether it takes tools, with nothing of the person's. One that does not
        call the one it is given, refuses it or says nothing, is given none."""
        self._tools = "no"
        message = {"role": "user", "content": f"Call the tool {PROBE_TOOL}, and say nothing."}
        try:
            async with asyncio.timeout(PROBE_S):
                stream, chunk = await self._open([message], [_PROBE])
                async with closing(stream):
                    while chunk is not None and self._tools == "no":
                        if any(_calls(delta, PROBE_TOOL) for delta in self._deltas(chunk)):
                            self._tools = "yes"
                        chunk = await anext(stream, None)
        except Exception as problem:  # noqa: BLE001 (litellm and its providers raise anything)
            logger.info("%s was not seen to take tools: %s", self._name, type(problem).__name__)

    async def _call_nobody(self, api_base: str) -> None:
        await self._litellm.acompletion(
            model=self._model,
            messages=[{"role": "user", "content": "hello"}],
            stream=True,
            timeout=1.0,
            max_retries=0,
            **{**self._options, "api_base": api_base, "api_key": "nobody"},
        )


def _calls(delta: Delta, tool: str) -> bool:
    return isinstance(delta, ToolCallDelta) and delta.name == tool


async def _next(stream: Any, seconds: float) -> Any:  # noqa: ANN401 (litellm's own types)
    async with asyncio.timeout(seconds):
        return await anext(stream, None)

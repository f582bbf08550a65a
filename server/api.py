"""Sayso from Python: `from sayso.server import Sayso`.

    with Sayso() as sayso:
        for event in sayso.chat("how many files are in here?", stream=True):
            print(event)

Each instance is a house of its own, with its conversation, workspace and interpreters, and works in
a thread of its own, so that it can be used from ordinary code and from any event loop, several of
them in one process. Nothing runs unasked: without `approve`, every question is answered with no.
"""

import asyncio
import inspect
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from sayso.server.agent.events import AgentEvent, ApprovalAsked, Said, WorkFailed

if TYPE_CHECKING:
    from sayso.server.agent.say_so import Mode
    from sayso.server.one_house import OneHouse
    from sayso.server.runtimes.language import Language

Answer = bool | str
"""Of `approve`: whether the code may run; a text is code to run instead."""

Approve = Callable[[ApprovalAsked], Answer | Awaitable[Answer]]

Kind = TypeVar("Kind")

CLOSE_S = 20.0
"""For interpreters and the log to end; they take a second."""


class ChatFailed(Exception):
    """The request could not be answered. The text is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Message:
    """A piece of the conversation so far."""

    role: Literal["person", "sayso", "code", "output"]
    text: str
    language: str = ""
    """Of code."""
    status: str = ""
    """Of output: how the run ended."""


class Sayso:
    """Use it as a context manager, or an async one; or call `start` and `close`."""

    def __init__(
        self,
        *,
        model: str = "",
        mode: "Mode" = "ask",
        approve: Approve | None = None,
        workspace: Path | str | None = None,
        keep: Path | str | None = None,
        languages: "Sequence[Language]" = (),
        tools: Sequence[Callable[..., Any]] = (),
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """`model` and `settings` (by dotted name) win over the person's own settings.

        `approve` is asked before each run, in the thread or loop that iterates over `chat`; without
        it the answer is no. `mode="workspace"` runs what stays in the sandbox unasked. `workspace`
        is where code runs, `keep` a folder for the log; without them both are thrown away at the
        end. `languages` and `tools` (annotated functions) are offered to the model as well.
        """
        self._flags = {**(settings or {}), **({"language_model.model": model} if model else {})}
        self._mode: Mode = mode
        self._approve = approve
        self._workspace = Path(workspace) if workspace else None
        self._keep = Path(keep) if keep else None
        self._languages = tuple(languages)
        self._tools = tuple(tools)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stack = AsyncExitStack()
        self._house: OneHouse | None = None

    # --- life ---

    def start(self) -> Self:
        """Get everything ready; takes a second or two the first time."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="sayso", daemon=True
            )
            self._thread.start()
            try:
                self._house = self._do(self._open())
            except BaseException:
                self.close()
                raise
        return self

    def close(self) -> None:
        """End what runs, and the interpreters."""
        if self._loop is None or self._thread is None:
            return
        loop, self._loop = self._loop, None
        try:
            asyncio.run_coroutine_threadsafe(self._stack.aclose(), loop).result(CLOSE_S)
        finally:
            self._house = None
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(CLOSE_S)
            loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)

    # --- talk ---

    @overload
    def chat(self, text: str) -> str: ...

    @overload
    def chat(self, text: str, *, stream: Literal[False]) -> str: ...

    @overload
    def chat(self, text: str, *, stream: Literal[True]) -> "Chat": ...

    def chat(self, text: str, *, stream: bool = False) -> "Chat | str":
        """Ask for something. With `stream`, an iterator of events, for `for` and `async for`;
        without, the answer's text, when all is done. Raises ChatFailed.

        Both ask `approve` before anything runs.
        """
        chat = Chat(self, text, self._approve)
        if stream:
            return chat
        said = ""
        for event in chat:
            match event:
                case Said(text=piece):
                    said += piece
                case WorkFailed(message=message):
                    raise ChatFailed(message)
                case _:
                    pass
        return said.strip()

    @property
    def mode(self) -> "Mode":
        """What is asked about; taken up by the next request."""
        return self._mode

    @mode.setter
    def mode(self, mode: "Mode") -> None:
        self._mode = mode
        if self._house is not None:
            self._house.agent.say_so.change_mode(mode, at_console=True)

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        house = self.house

        async def read() -> list[Message]:
            return [Message(*parts) for parts in house.messages()]

        return self._do(read())

    def reset(self) -> None:
        """Begin anew: nothing of before is told to the model, and variables are gone."""
        self._do(self.house.reset())

    # --- inside ---

    @property
    def house(self) -> "OneHouse":
        """What works behind the scenes."""
        if self._house is None:
            raise RuntimeError("Use `with Sayso() as sayso:`, or call start() first.")
        return self._house

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop in which it works."""
        if self._loop is None:
            raise RuntimeError("Use `with Sayso() as sayso:`, or call start() first.")
        return self._loop

    def _do(self, work: Coroutine[Any, Any, Kind]) -> Kind:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def _open(self) -> "OneHouse":
        from sayso.server.one_house import OneHouse

        return await OneHouse.open(
            self._stack,
            flags=self._flags,
            mode=self._mode,
            workspace=self._workspace,
            keep=self._keep,
            languages=self._languages,
            tools=self._tools,
        )


class Chat:
    """The events of one request. Leaving the iteration stops the work."""

    def __init__(self, sayso: Sayso, text: str, approve: Approve | None) -> None:
        self._sayso = sayso
        self._text = text
        self._approve = approve

    def __iter__(self) -> Iterator[AgentEvent]:
        events = self._sayso.house.work(self._text)
        loop = self._sayso.loop
        try:
            while True:
                step = asyncio.run_coroutine_threadsafe(_next(events), loop)
                event = step.result()
                if event is None:
                    return
                if isinstance(event, ApprovalAsked):
                    self._settle(event, self._ask_here(event))
                yield event
        finally:
            asyncio.run_coroutine_threadsafe(_close(events), loop).result(CLOSE_S)

    async def __aiter__(self) -> AsyncIterator[AgentEvent]:
        events = self._sayso.house.work(self._text)
        loop = self._sayso.loop
        try:
            while True:
                step = asyncio.run_coroutine_threadsafe(_next(events), loop)
                event = await asyncio.wrap_future(step)
                if event is None:
                    return
                if isinstance(event, ApprovalAsked):
                    answer = self._approve(event) if self._approve else False
                    self._settle(event, await answer if inspect.isawaitable(answer) else answer)
                yield event
        finally:
            closing = asyncio.run_coroutine_threadsafe(_close(events), loop)
            await asyncio.wrap_future(closing)

    def _ask_here(self, asked: ApprovalAsked) -> Answer:
        answer = self._approve(asked) if self._approve else False
        return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer

    def _settle(self, asked: ApprovalAsked, answer: Answer) -> None:
        self._sayso.loop.call_soon_threadsafe(self._sayso.house.settle, asked, answer)


async def _next(events: AsyncIterator[AgentEvent]) -> AgentEvent | None:
    return await anext(events, None)


async def _close(events: AsyncIterator[AgentEvent]) -> None:
    close = getattr(events, "aclose", None)
    if close is not None:
        await close()


async def _awaited(answer: Awaitable[Answer]) -> Answer:
    return await answer

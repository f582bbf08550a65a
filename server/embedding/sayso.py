"""Sayso from Python: `from sayso.server import Sayso`.

    with Sayso() as sayso:
        for event in sayso.chat("how many files are in here?", stream=True):
            print(event)

Each instance stands by itself, with its conversation, workspace and interpreters, and works in
a thread of its own, so that it can be used from ordinary code and from any event loop, several of
them in one process. Nothing runs unasked: without `approve`, every question is answered with no.
"""

import asyncio
import threading
from collections.abc import (
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from sayso.server.embedding.stream import BY, CLOSE_S, Approve, ChatFailed, EventStream

if TYPE_CHECKING:
    from sayso.server.agent.permissions.permissions import Mode
    from sayso.server.embedding.session import EmbeddedSession
    from sayso.server.runtimes.language import Language
    from sayso.server.undo.results import Undone

Kind = TypeVar("Kind")


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
        self._workspace = Path(workspace).resolve() if workspace else None
        self._keep = Path(keep) if keep else None
        self._languages = tuple(languages)
        self._tools = tuple(tools)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stack = AsyncExitStack()
        self._session: EmbeddedSession | None = None

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
                self._session = self._do(self._open())
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
            self._session = None
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
    def chat(self, text: str, *, stream: Literal[True]) -> "EventStream": ...

    def chat(self, text: str, *, stream: bool = False) -> "EventStream | str":
        """Ask for something. With `stream`, an iterator of events, for `for` and `async for`;
        without, the answer's text, when all is done. Raises ChatFailed.

        Both ask `approve` before anything runs.
        """
        chat = EventStream(
            self.loop, partial(self.session.work, text), self.session.settle, self._approve
        )
        return chat if stream else chat.answer()

    @property
    def waits(self) -> bool:
        """Whether a question was open when the program before this one ended: see `go_on`."""
        return self.session.agent.waits

    @overload
    def go_on(self) -> str: ...

    @overload
    def go_on(self, *, stream: Literal[False]) -> str: ...

    @overload
    def go_on(self, *, stream: Literal[True]) -> "EventStream": ...

    def go_on(self, *, stream: bool = False) -> "EventStream | str":
        """Put the question again that was open when the program before this one ended, and go on
        from there, as `chat` does. Raises ChatFailed where none `waits`.
        """
        if not self.waits:
            raise ChatFailed("No question was open; ask for something with chat().")
        chat = EventStream(
            self.loop, self.session.agent.take_up, self.session.settle, self._approve
        )
        return chat if stream else chat.answer()

    def undo(self, requests: int = 1, about: str = "") -> "Undone":
        """Put files back as they were before the last requests that changed any, or before the
        latest one in which these words are."""
        return self._do(self.session.undo_requests.undo(BY, requests, about))

    def redo(self) -> "Undone":
        """Do again what was undone last; no code runs."""
        return self._do(self.session.undo_requests.redo(BY))

    def diff(self) -> str:
        """What `undo` would put back, for a screen; empty if nothing."""
        return self._do(self.session.undo_requests.diff())

    @property
    def mode(self) -> "Mode":
        """What is asked about; taken up by the next request."""
        return self._mode

    @mode.setter
    def mode(self, mode: "Mode") -> None:
        if self._session is not None:
            self._session.agent.permissions.change_mode(mode, at_console=True)
        self._mode = mode

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        session = self.session

        async def read() -> list[Message]:
            return [Message(*parts) async for parts in session.messages()]

        return self._do(read())

    def reset(self) -> None:
        """Begin anew: nothing of before is told to the model, and variables are gone."""
        self._do(self.session.reset(self._mode))

    # --- inside ---

    @property
    def session(self) -> "EmbeddedSession":
        """What works behind the scenes."""
        if self._session is None:
            raise RuntimeError("Use `with Sayso() as sayso:`, or call start() first.")
        return self._session

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop in which it works."""
        if self._loop is None:
            raise RuntimeError("Use `with Sayso() as sayso:`, or call start() first.")
        return self._loop

    def _do(self, work: Coroutine[Any, Any, Kind]) -> Kind:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def _open(self) -> "EmbeddedSession":
        from sayso.server.embedding.session import EmbeddedSession

        return await EmbeddedSession.open(
            self._stack,
            flags=self._flags,
            mode=self._mode,
            workspace=self._workspace,
            keep=self._keep,
            languages=self._languages,
            tools=self._tools,
        )

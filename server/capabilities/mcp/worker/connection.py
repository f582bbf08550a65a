"""One MCP server as the worker speaks with it: its transport, its end, and what it asks back."""

import asyncio
import contextlib
import os
import socket
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
import httpx2
import mcp_types as types
from mcp.client._transport import Transport
from mcp.client.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import SessionMessage
from pydantic import FileUrl, ValidationError

from sayso.server.capabilities.mcp.wire import Message
from sayso.server.capabilities.mcp.worker import oauth

CONNECT_S: Final = 60.0
"""A server that npx or uvx fetches first takes this long."""

ANSWER_BYTES: Final = 16 * 1024**2
"""Of one answer over HTTP: as much as the parent takes."""

FOLDER_S: Final = 1.0
"""For a server to ask for the folder again that it works for; a call goes on without."""

WORDS_MOST: Final = 2_000
"""Of what a server last said on its standard error, in an error."""

_NO_ERROR: Final = "It ended without saying why."


class Parent(Protocol):
    """Who is told of a server, and asked for it."""

    def tell(self, message: Message) -> None: ...

    async def ask(self, question: Message) -> Message: ...


class ServerError(Exception):
    """A server did not do what it was asked; the text says why, in the server's own words."""


@dataclass(slots=True)
class Serving:
    """A call that a server works on."""

    where: str
    person: int
    """Whom the parent asks for it."""


class LastWords:
    """The end of what a server says on its standard error."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        self.file = os.fdopen(write, "w")
        self._text = b""
        asyncio.get_running_loop().add_reader(self._read, self._take)

    @property
    def text(self) -> str:
        self._take()
        lines = self._text.decode(errors="replace").strip().splitlines()
        return lines[-1][-WORDS_MOST:] if lines else ""

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._read)
        self.file.close()
        os.close(self._read)

    def _take(self) -> None:
        os.set_blocking(self._read, False)
        with contextlib.suppress(OSError):
            data = os.read(self._read, 65_536)
            self._text = (self._text + data)[-WORDS_MOST:]


@contextlib.asynccontextmanager
async def _inherited(channel: socket.socket) -> AsyncIterator[Any]:
    """A transport to a server that the parent has started, over a socket."""
    channel.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=channel, limit=32 * 1024**2)
    into, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, out = anyio.create_memory_object_stream[SessionMessage](0)

    async def read_lines() -> None:
        async with into:
            with contextlib.suppress(OSError, ValueError, anyio.BrokenResourceError):
                while line := await reader.readline():
                    try:
                        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError as error:
                        await into.send(error)
                    else:
                        await into.send(SessionMessage(message))

    async def write_lines() -> None:
        async with out:
            async for message in out:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(line.encode() + b"\n")
                await writer.drain()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_lines)
        tasks.start_soon(write_lines)
        try:
            yield read, write
        finally:
            writer.close()
            tasks.cancel_scope.cancel()


class Connection:
    """One server, from its start to its end, in a task of its own."""

    def __init__(
        self, name: str, spec: Mapping[str, Any], worker: Parent, channel: socket.socket | None
    ) -> None:
        self._name = name
        self._spec = spec
        self._worker = worker
        self._channel = channel
        self._words = LastWords()
        self._end = asyncio.Event()
        self._told = False
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._serving: dict[int, Serving] = {}
        self._folder = ""
        """Which it was told last."""
        self._folder_told = asyncio.Event()
        self._asks_for_folders = False
        self._task = asyncio.create_task(self._live())

    async def client(self) -> Client:
        """The client, when it is connected. Raises ServerError."""
        return await asyncio.shield(self._ready)

    async def close(self) -> None:
        self._end.set()
        await asyncio.gather(self._task, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def serving(self, message: Message) -> AsyncIterator[None]:
        """What a server asks while it works on one call alone is asked for that call."""
        number = message["id"]
        self._serving[number] = Serving(message.get("where", ""), message.get("person", 0))
        try:
            await self._tell_folder(message.get("where", ""))
            yield
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                self._gone(reason_of(error, self._words.text))
            raise
        finally:
            del self._serving[number]

    async def _tell_folder(self, where: str) -> None:
        """Have a server that asks for folders outside of calls know the one of this call."""
        if where == self._folder or not self._asks_for_folders:
            return
        self._folder = where
        self._folder_told.clear()
        client = await self.client()
        with contextlib.suppress(TimeoutError), warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)  # it is what older servers have
            await client.send_roots_list_changed()
            async with asyncio.timeout(FOLDER_S):
                await self._folder_told.wait()

    async def _live(self) -> None:
        words = self._words
        try:
            await self._connected(words)
            why = words.text or _NO_ERROR
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - the root of the task; the parent is told
            why = reason_of(error, words.text)
        finally:
            words.close()
        if not self._ready.done():
            self._ready.set_exception(ServerError(why))
            self._ready.exception()
        self._gone(why)

    def _gone(self, why: str) -> None:
        """Tell the parent, once, that the server is gone."""
        self._end.set()
        if not self._told:
            self._told = True
            self._worker.tell({"gone": self._name, "why": why})

    async def _connected(self, words: LastWords) -> None:
        async with contextlib.AsyncExitStack() as stack:
            transport = await self._transport(stack, words)
            client = Client(
                transport,
                client_info=types.Implementation(name="sayso", version="1"),
                elicitation_callback=self._asked,
                list_roots_callback=self._roots,
                message_handler=self._heard,
                cache=None,
            )
            async with asyncio.timeout(float(self._spec.get("connect_s", CONNECT_S))):
                await stack.enter_async_context(client)
            self._ready.set_result(client)
            await self._end.wait()

    async def _transport(self, stack: contextlib.AsyncExitStack, words: LastWords) -> Transport:
        spec = self._spec
        if self._channel is not None:
            return _inherited(self._channel)
        if url := spec.get("url"):
            headers = {"Authorization": f"Bearer {spec['token']}"} if spec.get("token") else None
            auth = None if spec.get("token") else oauth.provider(spec, self._visit)
            http = create_mcp_http_client(headers=headers, auth=auth)
            http.headers["Accept-Encoding"] = "identity"
            http.event_hooks = {"request": [_only_near(str(url))], "response": [_bound]}
            await stack.enter_async_context(http)
            return streamable_http_client(url, http_client=http)
        program, *arguments = spec["command"]
        folder = spec.get("cwd") or str(Path.home())
        server = StdioServerParameters(
            command=program, args=arguments, env=spec.get("env") or {}, cwd=folder
        )
        return stdio_client(server, errlog=words.file)

    async def _visit(self, address: str) -> None:
        """Have the person open an address in their browser."""
        if not self._spec.get("may_visit"):
            raise ServerError(f"It wants you to log in: run `sayso mcp try {self._name}`.")
        await self._worker.ask({"visit": address, "server": self._name})

    def _sole(self) -> Serving | None:
        serving = list(self._serving.values())
        return serving[0] if len(serving) == 1 else None

    async def _asked(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        serving = self._sole()
        if serving is None:  # nobody can tell whose work it is about
            return types.ElicitResult(action="cancel")
        asked = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        answer = await self._worker.ask(
            {"person": serving.person, "server": self._name, "elicit": asked}
        )
        return types.ElicitResult(
            action=answer.get("action", "cancel"), content=answer.get("content")
        )

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        serving = self._sole()
        where = serving.where if serving else ""
        roots = [types.Root(uri=FileUrl(Path(where).as_uri()))] if where else []
        self._asks_for_folders, self._folder = True, where
        self._folder_told.set()
        return types.ListRootsResult(roots=roots)

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._worker.tell({"changed": self._name})


def _only_near(url: str) -> Callable[[httpx2.Request], Awaitable[None]]:
    """Lets requests go to a server's own host, and to others over TLS alone: a server that names
    where to log in reaches nothing in the house so, since no device there is what it is called."""
    own = httpx2.URL(url).host

    async def check(request: httpx2.Request) -> None:
        if request.url.host != own and request.url.scheme != "https":
            raise ServerError(f"It leads on to {request.url.host} without TLS; nothing was sent.")

    return check


class _Bounded(httpx2.AsyncByteStream):
    """An answer that ends with an error where it is longer than is taken."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = ANSWER_BYTES
        async for piece in self._stream:
            room -= len(piece)
            if room < 0:
                raise ServerError("It answered more than is taken.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    """Let no answer fill the memory: of a stream of events each is bounded by the SDK, and the
    stream lasts; nothing is unpacked, which could be any size."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ServerError("It packed its answer, which nobody asked for.")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream" and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


def reason_of(error: BaseException, words: str) -> str:
    """What went wrong, in a sentence."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case ServerError():
            return str(error)
        case FileNotFoundError():
            return f"There is no program {error.filename}; install it, or correct the command."
        case TimeoutError():
            return "It did not answer in time."
        case ValidationError():
            return "It sent what the protocol does not allow."
        case MCPError():
            said = str(error)
            return f"{said} {words}".strip() if "closed" in said.lower() else said
        case httpx2.HTTPError():
            return f"It cannot be reached ({type(error).__name__})."
        case _:
            return words or f"{type(error).__name__}: {error}"

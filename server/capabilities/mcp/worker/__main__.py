"""Takes requests of the server and has the MCP servers carry them out.

The server never imports this; it starts it when the first MCP server is configured.
"""

import asyncio
import contextlib
import itertools
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT

from sayso.server.capabilities.mcp.wire import Message, WireError, packed, receive
from sayso.server.capabilities.mcp.worker.connection import Connection, ServerError, reason_of
from sayso.server.speech.workers.worker import live_and_die_with_parent

PAGES_MOST: Final = 50
"""Of one list: a paginator that never ends must end somewhere."""

TEXT_MOST: Final = 4_000_000
"""Characters of text in one result; the rest is cut, and said."""


class Worker:
    """Takes requests from the parent until it hangs up."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handover: socket.socket
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handover = handover
        self._connections: dict[str, Connection] = {}
        self._work: dict[int, asyncio.Task[None]] = {}
        self._numbers = itertools.count(1)
        self._questions: dict[int, asyncio.Future[Message]] = {}
        self._operations: Mapping[str, Callable[[Message], Awaitable[Any]]] = {
            "connect": self._connect,
            "disconnect": self._disconnect,
            "list": self._list,
            "call": self._call,
            "resources": self._resources,
            "read": self._read,
            "prompts": self._prompts,
            "prompt": self._prompt,
        }

    async def serve(self) -> None:
        """Until the parent hangs up."""
        with contextlib.suppress(WireError):
            while True:
                self._take(await receive(self._reader))

    async def close(self) -> None:
        """End all servers."""
        for task in self._work.values():
            task.cancel()
        await asyncio.gather(*self._work.values(), return_exceptions=True)
        await asyncio.gather(*(each.close() for each in self._connections.values()))

    def tell(self, message: Message) -> None:
        """Let the parent have a message."""
        self._writer.write(packed(message))

    async def ask(self, question: Message) -> Message:
        """The parent's answer."""
        number = next(self._numbers)
        answer = self._questions[number] = asyncio.get_running_loop().create_future()
        try:
            self.tell({**question, "question": number})
            value: Message = await answer
            return value
        finally:
            del self._questions[number]

    def _take(self, message: Message) -> None:
        if "cancel" in message:
            if work := self._work.get(message["cancel"]):
                work.cancel()
        elif "reply" in message:
            waiting = self._questions.get(message["reply"])
            if waiting and not waiting.done():
                waiting.set_result(message.get("value") or {})
        else:
            number = message["id"]
            self._work[number] = task = asyncio.create_task(self._do(message))
            task.add_done_callback(lambda _: self._work.pop(number, None))

    async def _do(self, message: Message) -> None:
        number = message["id"]
        try:
            value = await self._operations[message["op"]](message)
            answer = packed({"id": number, "value": value})
        except asyncio.CancelledError:
            answer = packed({"id": number, "error": "It was stopped."})
        except ServerError as error:
            answer = packed({"id": number, "error": str(error)})
        except Exception as error:  # noqa: BLE001 - what a stranger's server makes the SDK raise
            answer = packed({"id": number, "error": reason_of(error, "")})
        with contextlib.suppress(OSError):
            self._writer.write(answer)
            await self._writer.drain()

    def _connection(self, message: Message) -> Connection:
        try:
            return self._connections[message["server"]]
        except KeyError:
            raise ServerError("It is not connected.") from None

    async def _connect(self, message: Message) -> Message:
        name = message["server"]
        await self._disconnect(message)
        channel = None
        if message["spec"].get("inherited"):
            _, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, self._handover, 1, 1)
            channel = socket.socket(fileno=descriptors[0])
        self._connections[name] = Connection(name, message["spec"], self, channel)
        client = await self._connections[name].client()
        info = client.server_info
        return {
            "title": (info.title or info.name) if info else "",
            "version": info.version if info else "",
            "instructions": client.instructions or "",
            "protocol": client.protocol_version,
            "tools": await self._list(message),
        }

    async def _disconnect(self, message: Message) -> None:
        if connection := self._connections.pop(message["server"], None):
            await connection.close()

    async def _list(self, message: Message) -> list[Message]:
        client = await self._connection(message).client()
        if client.server_capabilities.tools is None:
            return []
        listed: list[types.Tool] = []
        cursor = None
        for _ in range(PAGES_MOST):
            page = await client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return [_dumped(tool) for tool in listed]

    async def _call(self, message: Message) -> Message:
        connection = self._connection(message)
        client = await connection.client()
        async with connection.serving(message):
            result = await client.call_tool(
                message["tool"],
                message["arguments"],
                read_timeout_seconds=message["seconds"],
                progress_callback=self._progress(message["id"]),
            )
        return _bounded(_dumped(result))

    def _progress(self, number: int) -> ProgressFnT:
        async def tell(progress: float, total: float | None, message: str | None) -> None:
            told = {"progress": number, "done": progress, "total": total}
            self.tell({**told, "text": message or ""})

        return tell

    async def _resources(self, message: Message) -> list[Message]:
        client = await self._connection(message).client()
        if client.server_capabilities.resources is None:
            return []
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        return [_dumped(each) for each in (*listed, *templates)]

    async def _read(self, message: Message) -> Message:
        connection = self._connection(message)
        client = await connection.client()
        async with connection.serving(message):
            result = await client.read_resource(message["uri"])
        return _bounded(_dumped(result))

    async def _prompts(self, message: Message) -> list[Message]:
        client = await self._connection(message).client()
        if client.server_capabilities.prompts is None:
            return []
        return [_dumped(each) for each in (await client.list_prompts()).prompts]

    async def _prompt(self, message: Message) -> Message:
        connection = self._connection(message)
        client = await connection.client()
        async with connection.serving(message):
            result = await client.get_prompt(message["prompt"], message["arguments"])
        return _bounded(_dumped(result))


def _dumped(model: Any) -> Any:  # noqa: ANN401 - a model of the SDK's
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _bounded(result: Message) -> Message:
    """A result with no more text than is taken."""
    room = TEXT_MOST
    for block in (*result.get("content", ()), *result.get("contents", ())):
        for name in ("text", "data", "blob"):
            text = block.get(name)
            if isinstance(text, str):
                if len(text) > room:
                    block[name] = text[:room] if name == "text" else ""
                    block["cut"] = len(text)
                room = max(0, room - len(text))
    structured = result.get("structuredContent")
    if structured is not None and len(str(structured)) > TEXT_MOST:
        del result["structuredContent"]
    return result


async def _main(channel: int, handover: int) -> None:
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=channel))
    worker = Worker(reader, writer, socket.socket(fileno=handover))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, writer.close)
    try:
        await worker.serve()
    finally:
        await worker.close()


if __name__ == "__main__":
    live_and_die_with_parent(int(sys.argv[3]))
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))

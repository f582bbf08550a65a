"""The MCP servers of a person: connects them, holds them to what was seen, offers their tools."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sayso.protocol.home import Home
from sayso.server.agent.tools.person import Person
from sayso.server.agent.tools.tool import Tool, ToolContext
from sayso.server.capabilities.mcp.definitions import (
    TOOLS_MOST,
    DefinitionError,
    McpDefinition,
    read_definition,
)
from sayso.server.capabilities.mcp.elicitation import CANCELLED, elicited
from sayso.server.capabilities.mcp.pins import Difference, Pins, difference
from sayso.server.capabilities.mcp.tools import McpRead, McpSearch, McpTool
from sayso.server.capabilities.mcp.wire import Message
from sayso.server.capabilities.mcp.worker_process import McpError, McpWorker
from sayso.server.settings.mcp_servers import McpServer

log = logging.getLogger(__name__)

FEW: Final = 5
"""So many tools of all servers together are told to models one by one."""

CONNECT_S: Final = 60.0
GRACE_S: Final = 15.0
"""Beyond what the worker itself waits for."""

LIST_S: Final = 30.0

RELIST_S: Final = 1.0
"""Between two looks at what a server offers, however often it says that this has changed."""

DELAYS_S: Final = (0.0, 5.0, 30.0, 300.0)
"""Before each new try to connect a server that was lost or cannot be had."""

Confine = Callable[[str, McpServer], Awaitable[tuple[int, Callable[[], Awaitable[None]]]]]
"""Starts a server in the sandbox; returns a descriptor of its socket, and what ends it. Raises
McpError."""


@dataclass(slots=True)
class _Server:
    """One server, as far as it is known now."""

    name: str
    settings: McpServer
    seen: Mapping[str, McpDefinition] = field(default_factory=dict)
    stamp: int = -1
    live: Mapping[str, McpDefinition] | None = None
    """What it offers; None while it is not connected."""
    trouble: str = ""
    title: str = ""
    instructions: str = ""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    end: Callable[[], Awaitable[None]] | None = None
    """Ends what was started in the sandbox."""
    changed: bool = False
    """It said that what it offers has changed, and was not asked since."""
    doubt: asyncio.Event = field(default_factory=asyncio.Event)
    """It is to be connected, or asked again what it offers."""


class McpServers:
    """Gone through, it is the tools that models are offered now."""

    def __init__(
        self,
        home: Home,
        servers: Mapping[str, McpServer],
        confine: Confine | None = None,
        *,
        visit: Callable[[str], None] | None = None,
    ) -> None:
        """`visit`: sends the person at this terminal to an address, to log in."""
        self._pins = Pins(home)
        self._servers = {name: _Server(name, each) for name, each in servers.items()}
        self._confine = confine
        self._visit = visit
        self._worker = McpWorker(self._asked, self._told)
        self._people: dict[int, Person] = {}
        """Who can be asked, by the number of the call that is under way."""
        self._tools: tuple[Tool, ...] = ()
        self._stamps: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Tool]:
        stamps = tuple(self._refreshed(each) for each in self._servers.values())
        if stamps != self._stamps:
            self._tools, self._stamps = self._made(), stamps
        return iter(self._tools)

    @property
    def troubles(self) -> Mapping[str, str]:
        """How each server is, in a sentence; empty where nothing is wrong."""
        return {name: self._trouble(server) for name, server in self._servers.items()}

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._worker.pid

    async def run(self) -> None:
        """Keep all connected, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for server in self._servers.values():
                tasks.create_task(self._keep(server))

    async def close(self) -> None:
        """End all servers and the worker."""
        await self._worker.close()
        for server in self._servers.values():
            await self._ended(server)

    async def examine(self, name: str) -> tuple[str, Sequence[McpDefinition], Difference]:
        """Connect a server; return what it says it is, what it offers, and how that differs from
        what was seen. Raises McpError."""
        server = self._servers[name]
        self._refreshed(server)
        live = await self._connected(server)
        return server.title, tuple(live.values()), difference(server.seen, tuple(live.values()))

    def accept(self, name: str, tools: Sequence[McpDefinition]) -> None:
        """The person has seen these tools of a server. Raises OSError."""
        self._pins.keep(name, tools)

    def closed(self, definition: McpDefinition) -> str:
        """Why a tool is closed, in a sentence; empty if it is open, as far as is known."""
        server = self._servers[definition.server]
        return "" if server.live is None else _closed(definition, server.live)

    async def call(
        self, definition: McpDefinition, arguments: Mapping[str, Any], context: ToolContext
    ) -> Mapping[str, Any]:
        """Call a tool. Raises McpError."""
        server = self._servers[definition.server]
        live = await self._connected(server)
        if server.changed:
            live = await self._listed(server)
        if closed := _closed(definition, live):
            raise McpError(closed)
        seconds = server.settings.seconds
        result = await self._ask(
            server,
            "call",
            context,
            seconds + GRACE_S,
            tool=definition.name,
            arguments=dict(arguments),
            seconds=seconds,
        )
        return result if isinstance(result, Mapping) else {}

    async def ask(self, server: str, op: str, context: ToolContext, **fields: Any) -> Any:  # noqa: ANN401
        """Something else than a call of a tool. Raises McpError."""
        there = self._servers[server]
        await self._connected(there)
        return await self._ask(there, op, context, there.settings.seconds + GRACE_S, **fields)

    async def _ask(
        self,
        server: _Server,
        op: str,
        context: ToolContext,
        limit: float,
        **fields: Any,  # noqa: ANN401 - JSON
    ) -> Any:  # noqa: ANN401 - JSON
        key = id(context)
        if context.person:
            self._people[key] = context.person
        try:
            return await self._worker.ask(
                op, limit=limit, server=server.name, where=context.where, person=key, **fields
            )
        finally:
            self._people.pop(key, None)

    async def _asked(self, question: Message) -> Message:
        if "visit" in question:
            if self._visit:
                self._visit(str(question["visit"]))
            return {}
        person = self._people.get(question.get("person", 0))
        if person is None:
            return dict(CANCELLED)
        return dict(await elicited(str(question["server"]), question.get("elicit") or {}, person))

    def _told(self, message: Message) -> None:
        if "worker" in message:
            for each in self._servers.values():
                self._lost(each, "The MCP worker stopped.")
        elif gone := self._servers.get(str(message.get("gone", ""))):
            self._lost(gone, str(message.get("why", "")))
        elif changed := self._servers.get(str(message.get("changed", ""))):
            changed.changed = True
            changed.doubt.set()

    def _lost(self, server: _Server, why: str) -> None:
        if server.live is not None:
            server.live, server.trouble = None, why
            log.info("the MCP server %s is gone", server.name)
        server.doubt.set()

    async def _keep(self, server: _Server) -> None:
        """Connect it again when it is lost, and ask again what it offers when that changes."""
        tries = 0
        while True:
            server.doubt.clear()
            try:
                if server.live is None:
                    await self._connected(server)
                else:
                    await self._listed(server)
                tries = 0
            except McpError as problem:
                tries += 1
                server.trouble = str(problem)
                log.info("the MCP server %s cannot be had", server.name)
            if tries:
                await asyncio.sleep(DELAYS_S[min(tries, len(DELAYS_S) - 1)])
            else:
                await asyncio.sleep(RELIST_S)
                await server.doubt.wait()

    async def _listed(self, server: _Server) -> Mapping[str, McpDefinition]:
        """What it offers now. Raises McpError."""
        server.changed = False
        raw = await self._worker.ask("list", limit=LIST_S, server=server.name)
        server.live = live = _read(server.name, raw)
        return live

    async def _connected(self, server: _Server) -> Mapping[str, McpDefinition]:
        async with server.one_at_a_time:
            if server.live is not None:
                return server.live
            await self._ended(server)
            spec, descriptor = self._spec(server), None
            if server.settings.confined:
                if self._confine is None:
                    raise McpError("There is no sandbox here that it could run in.")
                descriptor, server.end = await self._confine(server.name, server.settings)
            try:
                told = await self._worker.ask(
                    "connect",
                    limit=CONNECT_S + GRACE_S + (300.0 if self._visit else 0.0),
                    descriptor=descriptor,
                    server=server.name,
                    spec=spec,
                )
            except McpError as problem:
                server.trouble = str(problem)
                raise
            server.title = f"{told.get('title', '')} {told.get('version', '')}".strip()
            server.instructions = str(told.get("instructions", ""))
            server.live, server.trouble = _read(server.name, told.get("tools") or ()), ""
            return server.live

    def _spec(self, server: _Server) -> Message:
        settings = server.settings
        if settings.url:
            return {
                "url": settings.url,
                "token": _secret(settings.token_variable),
                "tokens": str(self._pins.tokens(server.name)),
                "login": {
                    "grant": settings.grant,
                    "client_id": settings.client_id,
                    "secret": _secret(settings.client_secret_variable),
                    "key": _key(settings.client_key_file),
                    "issuer": settings.issuer,
                    "scope": settings.scope,
                    "port": settings.login_port,
                },
                "may_visit": self._visit is not None,
                "connect_s": CONNECT_S + (300.0 if self._visit else 0.0),
            }
        env = environment_of(settings)
        return {"command": list(settings.command), "env": env, "inherited": settings.confined}

    async def _ended(self, server: _Server) -> None:
        if end := server.end:
            server.end = None
            with contextlib.suppress(OSError):
                await end()

    def _refreshed(self, server: _Server) -> int:
        """Take up what the person has seen since, in another process."""
        stamp = self._pins.stamp(server.name)
        if stamp != server.stamp:
            server.seen, server.stamp = self._pins.seen(server.name), stamp
        return stamp

    def _made(self) -> tuple[Tool, ...]:
        offered = [
            (server, tool)
            for server in self._servers.values()
            for tool in server.seen.values()
            if _is_offered(server.settings, tool.name)
        ]
        few = len(offered) <= FEW
        tools = tuple(
            McpTool(tool, server.settings, self, natively=_natively(server.settings, few=few))
            for server, tool in offered
        )
        settings = {name: server.settings for name, server in self._servers.items()}
        also = (McpSearch(tools), McpRead(self, settings)) if tools else ()
        return (*tools, *also)

    def _trouble(self, server: _Server) -> str:
        if server.trouble:
            return server.trouble
        if not server.seen:
            return f"None of its tools was seen yet: run `sayso mcp try {server.name}`."
        if server.live is not None and (
            changed := difference(server.seen, tuple(server.live.values())).changed
        ):
            names = ", ".join(tool.name for tool in changed)
            return f"Changed and closed: {names}; run `sayso mcp try {server.name}`."
        return ""


def environment_of(settings: McpServer) -> dict[str, str]:
    """What the person put into a server's environment."""
    found = {}
    for each in settings.env:
        name, given, value = each.partition("=")
        if given or name in os.environ:
            found[name] = value if given else os.environ[name]
    return found


def _secret(variable: str) -> str:
    """What a variable of the environment holds; empty where none is named. Raises McpError."""
    if variable and not os.environ.get(variable):
        raise McpError(f"The environment has no {variable}; set it.")
    return os.environ[variable] if variable else ""


def _key(file: str) -> str:
    """A private key; empty where none is named. Raises McpError."""
    if not file:
        return ""
    try:
        return Path(file).expanduser().read_text()
    except (OSError, ValueError) as error:
        raise McpError(f"The key {file} cannot be read ({error}).") from None


def _closed(definition: McpDefinition, live: Mapping[str, McpDefinition]) -> str:
    now = live.get(definition.name)
    if now is None:
        return f"The server {definition.server} does not offer {definition.name} any more."
    if now.pin != definition.pin:
        return (
            f"{definition.name} is not what the person saw: its description or arguments changed,"
            f" and it is closed until they run `sayso mcp try {definition.server}`."
        )
    return ""


def _natively(settings: McpServer, *, few: bool) -> bool:
    return settings.offer == "tools" or (settings.offer == "auto" and few)


def _is_offered(settings: McpServer, tool: str) -> bool:
    return tool not in settings.deny and (not settings.allow or tool in settings.allow)


def _read(server: str, raw: Any) -> Mapping[str, McpDefinition]:  # noqa: ANN401 - JSON
    found: dict[str, McpDefinition] = {}
    for each in raw[:TOOLS_MOST] if isinstance(raw, list) else ():
        try:
            definition = read_definition(server, each)
        except (DefinitionError, AttributeError) as problem:
            log.info("the MCP server %s offers something unusable: %s", server, problem)
            continue
        found.setdefault(definition.name, definition)
    return found

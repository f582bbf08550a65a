"""Answers MCP over streamable HTTP at `/mcp`, without sessions.

A program shows a key, as every other that comes in over HTTP: it takes part for the key's person
and may talk, whatever else the key may. What it asks for is asked about on the person's own
devices; it is told that they are asked, and can answer nothing.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final, Protocol

from websockets.http11 import Response

from sayso.protocol.messages import Announce, ApprovalDone, ApprovalRequest, Error, ReplyDelta
from sayso.server.adapters.mcp_server.json_rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RpcError,
    RpcRequest,
    answer,
    failure,
    progress,
    read_request,
)
from sayso.server.adapters.mcp_server.tool_list import (
    NAME_CHARS,
    TEXT_CHARS,
    TOOLS,
    last_argument,
    listed,
    text_argument,
)
from sayso.server.adapters.turn_client import Host as TurnHost
from sayso.server.adapters.turn_client import TurnClient
from sayso.server.gateway.http.adapter_routes import HttpRequest, Route, Routes
from sayso.server.gateway.http.responses import answered, answered_events, answered_json, event
from sayso.server.store.errors import StoreError
from sayso.server.trust.principal import Principal, Scope

log = logging.getLogger(__name__)

PATH: Final = "/mcp"
PROGRAM: Final = "X-Sayso-Program"
"""The header with which a client tells programs of one key apart."""
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Of the protocol, the newest first."""

WAITING_S: Final = 45.0
"""For the person's say-so, before the program is told that they are asked: less than clients wait
for an answer, which is a minute with most."""

PROGRAMS_MOST: Final = 1_000
"""Whose own conversations are known; one that comes again after so many others begins anew."""

TALKS: Final[frozenset[Scope]] = frozenset({"talk"})

INSTRUCTIONS: Final = (
    "What is asked here comes from another program of the person's, which reads your answers. It"
    " cannot approve anything."
)
ABOUT: Final = (
    "Sayso works on this person's machine for them. Ask it in plain words. What needs their say-so,"
    " they are asked on their own devices."
)
STILL_ASKED: Final = (
    "Waiting for the person: they are asked on their devices, and what they allow is done there."
    " Ask for the status of the conversation {conversation} later."
)
_SPOKEN_FOR: Final = "The person is asked for their say-so."


class Host(TurnHost, Protocol):
    """What this adapter needs of the server."""

    @property
    def look(self) -> Callable[[str, str], Awaitable[Mapping[str, Any] | None]]:
        """What a person may see at `/conversations`, or at one of these with its past; None if
        there is nothing there."""
        ...


class McpAdapter:
    """Answers programs that speak MCP."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._own: dict[tuple[str, str], str] = {}
        """By person and device: the conversation of a program's own."""
        self._beginning = asyncio.Lock()
        self._asking: dict[tuple[str, str], TurnClient] = {}
        """By device and request: what is being worked on."""
        self._numbers = 0

    def add_to(self, routes: Routes) -> None:
        """From now on its path is answered."""
        routes.add(Route("POST", PATH, self.post))

    async def post(self, request: HttpRequest) -> Response:
        """Answer one message."""
        who = talking(request.who, request.headers.get(PROGRAM, "")[:NAME_CHARS])
        wanted = None
        try:
            wanted = read_request(await request.whole_body())
            if wanted is None or wanted.id is None:
                self._note(wanted, who)
                return _accepted()
            if wanted.method == "tools/call" and wanted.params.get("name") == "ask":
                return await self._ask(wanted, who)
            return answered_json(answer(wanted, await self._result(wanted, who)))
        except RpcError as error:
            known = wanted.id if wanted else None
            return answered_json(failure(RpcError(error.code, str(error), known)))

    def _note(self, wanted: RpcRequest | None, who: Principal) -> None:
        """Something that wants no answer."""
        if wanted and wanted.method == "notifications/cancelled":
            key = who.device, repr(wanted.params.get("requestId"))
            if client := self._asking.get(key):
                client.stop()

    async def _result(self, wanted: RpcRequest, who: Principal) -> Mapping[str, Any]:
        """Raises RpcError."""
        match wanted.method:
            case "initialize":
                asked = wanted.params.get("protocolVersion")
                return {
                    "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "sayso", "version": version("sayso")},
                    "instructions": ABOUT,
                }
            case "ping":
                return {}
            case "tools/list":
                return {"tools": listed()}
            case "tools/call":
                return await self._called(wanted, who)
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"There is no {wanted.method[:80]} here.")

    async def _called(self, wanted: RpcRequest, who: Principal) -> Mapping[str, Any]:
        given = _arguments(wanted)
        match wanted.params["name"]:
            case "conversations":
                found = await self._host.look("/conversations", who.person) or {}
                return _told(json.dumps(found.get("conversations", []), ensure_ascii=False))
            case "transcript":
                last = last_argument(given)
                past = await self._past(given, who)
                return _told(json.dumps(past["turns"][-last:], ensure_ascii=False))
            case _:
                past = await self._past(given, who)
                waiting = [
                    {"language": each.get("language"), "code": each.get("code")}
                    for each in past["approvals"]
                ]
                status = {
                    "conversation": past["id"],
                    "mode": past["mode"],
                    "waits_for_the_person": waiting,
                    "jobs": past["tasks"],
                }
                return _told(json.dumps(status, ensure_ascii=False))

    async def _past(self, given: Mapping[str, Any], who: Principal) -> Mapping[str, Any]:
        """Raises RpcError."""
        place = await self._place(given, who)
        past = await self._host.look(f"/conversations/{place}", who.person)
        if past is None:
            raise RpcError(INVALID_PARAMS, "There is no such conversation of this person's.")
        return past

    async def _place(self, given: Mapping[str, Any], who: Principal) -> str:
        """The id of the conversation that is meant. Raises RpcError."""
        wanted = text_argument(given, "conversation", NAME_CHARS)
        try:
            if wanted:
                if not await self._host.has_conversation(wanted, who.person):
                    raise RpcError(INVALID_PARAMS, f"There is no conversation {wanted}.")
                return (await self._host.conversation(wanted, who)).id
            key = who.person, who.device
            async with self._beginning:
                known = self._own.get(key, "")
                if not known or not await self._host.has_conversation(known, who.person):
                    begun = await self._host.begin_conversation(who.person, INSTRUCTIONS, ())
                    self._own[key] = begun
                    while len(self._own) > PROGRAMS_MOST:
                        del self._own[next(iter(self._own))]
                return self._own[key]
        except StoreError as error:
            raise RpcError(INVALID_PARAMS, f"The conversation cannot be had: {error}") from None

    # ── Asking ───────────────────────────────────────────────────────────────────────────────────

    async def _ask(self, wanted: RpcRequest, who: Principal) -> Response:
        """Raises RpcError."""
        given = _arguments(wanted)
        text = text_argument(given, "text", TEXT_CHARS)
        if not text:
            raise RpcError(INVALID_PARAMS, "text must say what is wanted.")
        place = await self._place(given, who)
        return answered_events(self._asked(wanted, who, text, place))

    async def _asked(
        self, wanted: RpcRequest, who: Principal, text: str, place: str
    ) -> AsyncIterator[bytes]:
        """What came of it, as events: how it goes on, and the answer."""
        self._numbers += 1
        client = TurnClient(
            await self._host.conversation(place, who),
            who,
            f"{who.name or 'a program'} by MCP {self._numbers}",
            is_agent=True,
        )
        key = who.device, repr(wanted.id)
        self._asking[key] = client
        client.join()
        try:
            client.ask(text)
            async with aclosing(self._followed(client, wanted, place)) as messages:
                async for message in messages:
                    yield event(json.dumps(message, ensure_ascii=False), "message")
        except (asyncio.CancelledError, GeneratorExit):
            client.stop()
            raise
        finally:
            self._asking.pop(key, None)
            client.leave()

    async def _followed(
        self, client: TurnClient, wanted: RpcRequest, place: str
    ) -> AsyncGenerator[Mapping[str, Any]]:
        said, step, trouble = "", 0, ""
        token = wanted.progress_token
        coming = asyncio.ensure_future(client.next())
        try:
            while True:
                patience = WAITING_S if client.question else None
                done, _ = await asyncio.wait([coming], timeout=patience)
                if not done:
                    text = f"{said}\n\n{STILL_ASKED.format(conversation=place)}".strip()
                    yield answer(wanted, _told(text))
                    return
                message = coming.result()
                if message is None:
                    break
                coming = asyncio.ensure_future(client.next())
                sentence = ""
                match message:
                    case ReplyDelta(text=text):
                        said += text
                    case Announce(text=text):
                        said += f"{text}\n"
                    case Error(message=text):
                        trouble = text
                    case ApprovalRequest():
                        sentence = _SPOKEN_FOR
                    case ApprovalDone(decision=decision):
                        sentence = f"The person's answer is there: {decision}."
                if sentence and token is not None:
                    step += 1
                    yield progress(token, step, sentence)
        finally:
            coming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await coming
        text = "\n\n".join(filter(None, (said.strip(), trouble)))
        yield answer(wanted, _told(text or "It said nothing.", is_error=bool(trouble)))


def talking(who: Principal, program: str) -> Principal:
    """The same person, who may talk and nothing else: nothing that another agent sends decides
    anything, on whatever key. `program`: tells those of one key apart."""
    return replace(who, device=f"{who.device} by MCP {program}".strip(), scopes=TALKS)


def _arguments(wanted: RpcRequest) -> Mapping[str, Any]:
    """What a tool is given. Raises RpcError."""
    name, given = wanted.params.get("name"), wanted.params.get("arguments", {})
    if not isinstance(name, str) or name not in TOOLS:
        raise RpcError(INVALID_PARAMS, f"There is no tool {str(name)[:80]}.")
    known = TOOLS[name]["inputSchema"]["properties"]
    if not isinstance(given, dict) or not set(given) <= set(known):
        allowed = ", ".join(known) or "no arguments"
        raise RpcError(INVALID_PARAMS, f"{name} takes {allowed}.")
    return given


def _told(text: str, *, is_error: bool = False) -> Mapping[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _accepted() -> Response:
    headers = answered("application/json", "").headers
    return Response(HTTPStatus.ACCEPTED, HTTPStatus.ACCEPTED.phrase, headers)

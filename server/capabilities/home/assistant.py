"""Speaks with Home Assistant: a dry run of a sentence, the sentence, states and services."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.protocol.visible import HIDDEN

ANSWER_S: Final = 1.5
"""For one answer: what is asked aloud is told within two seconds that the home is away."""

CLOSE_S: Final = 0.2
"""For a farewell: nobody waits for it who waits for an answer."""

MESSAGE_BYTES: Final = 8 * 1024**2
"""All states of a large home."""

SENTENCE_CHARS: Final = 400
"""Of what the home says, which is read aloud."""


class HomeAwayError(Exception):
    """Home Assistant does not answer, or not us; the text says what to do, in a sentence."""


class HomeRefusedError(Exception):
    """Home Assistant did not do what it was asked; the text says why."""


AWAY: Final = "Your home does not answer; look whether Home Assistant runs at {url}."
SHUT_OUT: Final = "Your home does not take the token that it was shown; make a new one there."


class HomeAssistant:
    """One Home Assistant, by its address and a long-lived token. `close` ends the connections."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._http = httpx.AsyncClient(
            base_url=self._url,
            headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
            timeout=ANSWER_S,
            trust_env=False,
            follow_redirects=False,  # the token is for this address alone
        )
        self._socket: ClientConnection | None = None
        self._numbers = itertools.count(1)
        self._one_at_a_time = asyncio.Lock()

    async def close(self) -> None:
        """Hang up."""
        await self._hang_up()
        await self._http.aclose()

    async def warm(self) -> None:
        """Have it load its sentences, which the first that is said would wait for. Raises
        HomeAwayError."""
        config = await self._command({"type": "get_config"})
        language = config.get("language") if isinstance(config, Mapping) else None
        await self.try_out("hello", language if isinstance(language, str) else "en")

    async def try_out(self, sentence: str, language: str) -> Mapping[str, Any] | None:
        """What a sentence would do; None where it means nothing there. Raises HomeAwayError."""
        command = {
            "type": "conversation/agent/homeassistant/debug",
            "sentences": [sentence],
            "language": language,
        }
        result = await self._command(command)
        found = (result or {}).get("results") or [None]
        return found[0] if isinstance(found[0], Mapping) else None

    async def say(self, sentence: str, language: str) -> str:
        """Have a sentence done; return what there is to say. Raises HomeAwayError,
        HomeRefusedError."""
        asked = {"text": sentence, "language": language, "agent_id": "conversation.home_assistant"}
        response = _inner(await self._post("/api/conversation/process", asked), "response")
        speech = _line(_inner(_inner(response, "speech"), "plain").get("speech", ""))
        if response.get("response_type") == "error":
            raise HomeRefusedError(speech)
        return speech

    async def entities(self) -> Sequence[tuple[str, str]]:
        """What the home lets assistants use: ids, and what they are called there. Raises
        HomeAwayError."""
        exposed = await self._command({"type": "homeassistant/expose_entity/list"})
        exposed = _inner(exposed, "exposed_entities")
        ours = {name for name in exposed if _inner(exposed, name).get("conversation")}
        # The registry of entities leaves out what is called as its device is; states have it.
        states = await self._states()
        return [
            (each, str(_inner(states[each], "attributes").get("friendly_name", "")))
            for each in sorted(ours & states.keys())
        ]

    async def states(self, of: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """States of things, by id or domain. Raises HomeAwayError."""
        wanted, states = set(of), await self._states()
        return [each for name, each in states.items() if {name, name.partition(".")[0]} & wanted]

    async def _states(self) -> Mapping[str, Mapping[str, Any]]:
        """All states, by id."""
        answer = await self._request("GET", "/api/states")
        return {
            str(each.get("entity_id")): each
            for each in (answer if isinstance(answer, list) else ())
            if isinstance(each, Mapping)
        }

    async def call(self, service: str, entities: Sequence[str], data: Mapping[str, Any]) -> None:
        """Call a service for things. Raises HomeAwayError, HomeRefusedError."""
        domain, _, name = service.partition(".")
        given = {**data, "entity_id": list(entities)}
        await self._post(f"/api/services/{domain}/{name}", given)

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        return await self._request("POST", path, body)

    async def _request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - JSON
        try:
            async with (
                asyncio.timeout(ANSWER_S),
                self._http.stream(method, path, json=body) as response,
            ):
                answer = read_json(await _whole(response), most_bytes=MESSAGE_BYTES)
        except (httpx.HTTPError, TimeoutError, OSError):
            raise HomeAwayError(AWAY.format(url=self._url)) from None
        except UntrustedJsonError:
            answer = {}
        if response.status_code in (401, 403):
            raise HomeAwayError(SHUT_OUT)
        if response.is_error:
            said = _line(answer.get("message", "")) if isinstance(answer, Mapping) else ""
            raise HomeRefusedError(f"Home Assistant refused it ({said or response.status_code}).")
        return answer

    async def _command(self, command: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The result of a command over the socket, which is opened anew where it was lost."""
        async with self._one_at_a_time:
            for _ in range(2):
                fresh = self._socket is None
                try:
                    async with asyncio.timeout(ANSWER_S):
                        return await self._asked(command)
                except (OSError, TimeoutError, WebSocketException, UntrustedJsonError):
                    await self._hang_up()
                    if fresh:
                        break
            raise HomeAwayError(AWAY.format(url=self._url))

    async def _asked(self, command: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        socket = self._socket or await self._connected()
        number = next(self._numbers)
        await socket.send(json.dumps({**command, "id": number}))
        while True:
            answer = read_json(await socket.recv(), most_bytes=MESSAGE_BYTES)
            if isinstance(answer, Mapping) and answer.get("id") == number:
                return answer.get("result") if answer.get("success") else None

    async def _connected(self) -> ClientConnection:
        parts = urlsplit(self._url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        address = urlunsplit((scheme, parts.netloc, f"{parts.path}/api/websocket", "", ""))
        socket = await connect(
            address,
            max_size=MESSAGE_BYTES,
            proxy=None,
            open_timeout=ANSWER_S,
            close_timeout=CLOSE_S,
        )
        try:
            await socket.recv()
            await socket.send(json.dumps({"type": "auth", "access_token": self._token}))
            answer = read_json(await socket.recv())
            if answer.get("type") != "auth_ok":
                raise HomeAwayError(SHUT_OUT)  # noqa: TRY301
        except BaseException:
            await socket.close()
            raise
        self._numbers = itertools.count(1)
        self._socket = socket
        return socket

    async def _hang_up(self) -> None:
        if socket := self._socket:
            self._socket = None
            with contextlib.suppress(OSError, WebSocketException):
                await socket.close()


async def _whole(response: httpx.Response) -> bytes:
    """What was answered, as it came: nothing is unpacked, which could be any size. Raises
    HTTPError where it is more than is taken."""
    raw = bytearray()
    async for piece in response.aiter_raw():
        raw += piece
        if len(raw) > MESSAGE_BYTES:
            raise httpx.ReadError("more than is taken")
    return bytes(raw)


def _inner(value: object, name: str) -> Mapping[str, Any]:
    """The object of this name in another; an empty one where there is none."""
    inner = value.get(name) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _line(value: object) -> str:
    """What the home says, on one line in which nothing is hidden: a song's title may stand in
    it."""
    line = HIDDEN.sub("", " ".join(str(value).split()))
    return line if len(line) <= SENTENCE_CHARS else f"{line[: SENTENCE_CHARS - 1]}…"

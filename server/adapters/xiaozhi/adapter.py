"""Listens for xiaozhi boards: tells each where to connect, and lets it talk.

A board asks the address that its person typed into it where its server is, and gets a token with
the answer. That address ends with the board's key (`sayso pair --key NAME`), so nobody else is
given one; the answer never holds firmware. The line is not encrypted: a board approves nothing.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from sayso.server.adapters.plain_listeners import PlainListener
from sayso.server.adapters.turn_client import Host
from sayso.server.adapters.voice_client import VoiceClient
from sayso.server.adapters.xiaozhi.connection import SPEAKS_AT, XiaozhiConnection
from sayso.server.adapters.xiaozhi.opus import DECODED_RATE
from sayso.server.gateway.http.responses import answered, refused
from sayso.server.gateway.plain_port import PlainPort, open_plain_port, rates_of
from sayso.server.trust.devices import Device, Devices
from sayso.server.trust.principal import Principal

OTA: Final = "/xiaozhi/ota/"
SOCKET: Final = "/xiaozhi/v1/"
ADDRESS: Final = re.compile(
    r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9a-fA-F:]{2,45}\](:[0-9]{1,5})?"
)
"""How a request may name the server: a board is told the same, since it got there by it."""


class XiaozhiAdapter:
    """One port, for all boards of a house."""

    def __init__(self, host: Host, devices: Devices, where: PlainListener) -> None:
        self._host = host
        self._devices = devices
        self._where = where
        self._port: PlainPort | None = None
        self._here: dict[str, ServerConnection] = {}
        """By device: a board that connects again has lost its line."""
        devices.on_revoked(self._turn_out)

    async def open(self) -> None:
        """Begin to listen. Raises CannotListenError."""
        self._port = await open_plain_port(
            "adapters.xiaozhi",
            (self._where.host, self._where.port),
            self._where.lets_in,
            self._answer,
            self._talk,
            opens_socket=lambda path: path == SOCKET,
        )

    async def close(self) -> None:
        """Let everybody go."""
        if self._port:
            self._port.close(code=1001, reason="the server stops")
            await self._port.wait_closed()

    async def _answer(self, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path == SOCKET:
            there = self._who(_bearer(request.headers.get("Authorization", "")))
            return None if there else refused(HTTPStatus.UNAUTHORIZED, "The token is not valid.")
        if not path.startswith(OTA):
            return refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        key = path.removeprefix(OTA).strip("/")
        if self._who(key) is None:
            return refused(HTTPStatus.UNAUTHORIZED, "The key is not valid.")
        name = request.headers.get("Host", "")
        if not ADDRESS.fullmatch(name):
            return refused(HTTPStatus.BAD_REQUEST, "The Host header is not valid.")
        now = time.time()
        offset = time.localtime(now).tm_gmtoff // 60
        told = {
            "websocket": {"url": f"ws://{name}{SOCKET}", "token": key, "version": 1},
            "server_time": {"timestamp": int(now * 1000), "timezone_offset": offset},
        }
        return answered("application/json", json.dumps(told))

    async def _talk(self, socket: ServerConnection, headers: Mapping[str, str]) -> None:
        who = self._who(_bearer(headers.get("authorization", "")))
        if who is None:
            return
        version = headers.get("protocol-version", "1")
        if before := self._here.get(who.device):
            before.transport.abort()
        self._here[who.device] = socket
        number = int(version) if version in ("1", "2", "3") else 1
        connection = XiaozhiConnection(socket, number, rates_of(who))
        try:
            place = await self._host.conversation("", who)
            voice = VoiceClient(
                place,
                who,
                who.name,
                connection.told,
                connection.sounded,
                hears_at=DECODED_RATE,
                speaks_at=SPEAKS_AT,
            )
            await connection.talk(voice)
        finally:
            if self._here.get(who.device) is socket:
                del self._here[who.device]

    def _who(self, token: str) -> Principal | None:
        """Whose key this is; what it may, but approve."""
        who = self._devices.with_token(token) if token else None
        if who is None or not who.may("talk"):
            return None
        return replace(who, scopes=frozenset({"talk"}))

    def _turn_out(self, device: Device) -> None:
        if socket := self._here.get(device.id):
            socket.transport.abort()


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""

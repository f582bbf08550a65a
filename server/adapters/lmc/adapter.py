"""Listens for 01's light client on this machine, and translates for it.

The client shows no key. So it is for this machine alone, may talk, and approves nothing: its "go"
is answered with where to say yes.
"""

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from sayso.protocol.messages import (
    Announce,
    ApprovalRequest,
    CodeOut,
    CodeStart,
    Error,
    FromServer,
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    TurnState,
)
from sayso.server.adapters.device_names import DeviceNames
from sayso.server.adapters.lmc.messages import (
    Command,
    LmcMessage,
    SoundBegins,
    SoundEnds,
    Typed,
    read_message,
)
from sayso.server.adapters.outgoing_messages import OutgoingMessages
from sayso.server.adapters.plain_listeners import PlainListener
from sayso.server.adapters.turn_client import Host
from sayso.server.adapters.voice_client import VoiceClient
from sayso.server.gateway.http.responses import refused
from sayso.server.gateway.plain_port import PlainPort, open_plain_port, rates_of
from sayso.server.trust.principal import OWNER, Principal
from sayso.server.turn.events import Ticket

HEARS_AT: Final = 16_000
SPEAKS_AT: Final = 24_000
"""Samples a second, as the client has them."""
OWN_NAMES: Final = ("127.0.0.1", "localhost", "[::1]", "0.0.0.0")  # noqa: S104
"""How this machine is called by its own programs; the last is what the client itself names."""
CLIENTS: Final = 4
"""At once."""
ON_A_SCREEN: Final = "I need your yes for that on a screen: this client shows no key."
WHO: Final = Principal("lmc", OWNER, frozenset({"talk"}), "01 light")


class LmcAdapter:
    """One port on this machine."""

    def __init__(self, host: Host, where: PlainListener) -> None:
        self._host = host
        self._where = where
        self._server: PlainPort | None = None
        self._names = DeviceNames()

    async def open(self) -> None:
        """Begin to listen. Raises CannotListenError."""
        self._server = await open_plain_port(
            "adapters.lmc",
            (self._where.host, self._where.port),
            self._where.lets_in,
            self._answer,
            self._talk,
            opens_socket=lambda path: path == "/",
        )

    async def close(self) -> None:
        """Let everybody go."""
        if self._server:
            self._server.close(code=1001, reason="the server stops")
            await self._server.wait_closed()

    async def _answer(self, request: Request) -> Response | None:
        """A name of another machine's that leads here is a page's trick."""
        name = request.headers.get("Host", "").lower()
        own = {f"{host}:{self._port}" for host in OWN_NAMES}
        if name not in own or request.path != "/" or len(self._names) >= CLIENTS:
            return refused(HTTPStatus.FORBIDDEN, "Clients of LMC connect to this machine's /.")
        return None

    @property
    def _port(self) -> int:
        return self._server.port if self._server else self._where.port

    async def _talk(self, socket: ServerConnection, _: Mapping[str, str]) -> None:
        name = self._names.take(WHO.name)
        connection = LmcConnection(socket)
        try:
            place = await self._host.conversation("", WHO)
            await connection.talk(
                VoiceClient(
                    place,
                    WHO,
                    name,
                    connection.told,
                    connection.sounded,
                    hears_at=HEARS_AT,
                    speaks_at=SPEAKS_AT,
                )
            )
        finally:
            self._names.give_back(name)


class LmcConnection:
    """One client, as long as it is there."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._outgoing = OutgoingMessages(socket)
        self._rates = rates_of(WHO)
        self._writes = ""
        """The type of message that is being written."""
        self._works = False

    async def talk(self, voice: VoiceClient) -> None:
        """Until it leaves."""
        writer = asyncio.create_task(self._outgoing.run(), name="writer of an LMC client")
        voice.join()
        try:
            async for data in self._socket:
                await asyncio.sleep(self._rates.wait_for(data))
                if isinstance(data, bytes):
                    voice.hear(data)
                elif (message := read_message(data)) is not None:
                    self._take(message, voice)
        finally:
            voice.leave()
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    def _take(self, message: LmcMessage, voice: VoiceClient) -> None:
        match message:
            case SoundBegins():
                voice.listen("ptt", "")
            case SoundEnds():
                voice.listened()
            case Typed(text=text):
                voice.type(text, "")
            case Command(name="stop"):
                voice.interrupt()
            case Command():
                self._write("message", ON_A_SCREEN)

    # ── What the conversation tells ──────────────────────────────────────────────────────────────

    def told(self, message: FromServer, _: Ticket) -> None:
        """Make chunks of it."""
        match message:
            case ReplyDelta(text=text) | Announce(text=text):
                self._write("message", text)
            case CodeStart(language=language, code=code):
                self._write("code", code, format=language)
            case CodeOut(text=text) if text:
                self._write("console", text, role="computer", format="output")
            case ApprovalRequest():
                self._write("message", ON_A_SCREEN)
            case Error(message=sentence):
                self._write("message", sentence)
            case _:
                self._spoken(message)

    def _spoken(self, message: FromServer) -> None:
        match message:
            case SpeechStart() if self._writes != "audio":
                self._close()
                self._chunk(type="audio", format="bytes.wav", start=True)
                self._writes = "audio"
            case SpeechStop(reason=reason):
                if reason != "done":
                    self._outgoing.drop_sound()
                self._close()
            case TurnState(work=work, mouth=mouth):
                is_over = self._works and work == "idle" and mouth == "silent"
                self._works = work != "idle" or (self._works and not is_over)
                if is_over:
                    self._close()
                    self._chunk(role="server", type="status", content="complete")
            case _:
                pass

    def sounded(self, pcm: bytes) -> None:
        """Speech of the answer."""
        self._outgoing.put(pcm)

    def _write(self, kind: str, content: str, role: str = "assistant", **more: str) -> None:
        if self._writes == "audio":
            # Its words come while it is spoken: they stand between two of its pieces.
            self._chunk(role=role, type=kind, content=content, **more)
            return
        if self._writes != kind:
            self._close()
            self._chunk(role=role, type=kind, start=True, **more)
            self._writes = kind
        self._chunk(role=role, type=kind, content=content, **more)

    def _close(self) -> None:
        if self._writes:
            role = "computer" if self._writes == "console" else "assistant"
            form = {"format": "bytes.wav"} if self._writes == "audio" else {}
            self._chunk(role=role, type=self._writes, end=True, **form)
        self._writes = ""

    def _chunk(self, role: str = "assistant", **fields: Any) -> None:  # noqa: ANN401
        self._outgoing.put(json.dumps({"role": role, **fields}))

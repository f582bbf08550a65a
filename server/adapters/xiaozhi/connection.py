"""One board's socket: a greeting, then sound and small messages both ways."""

import asyncio
import json
import secrets
from typing import Any, Final

from websockets.asyncio.server import ServerConnection

from sayso.protocol.messages import (
    Error,
    FromServer,
    ListenEnd,
    SpeechStart,
    SpeechStop,
    SttFinal,
    TurnState,
)
from sayso.server.adapters.outgoing_messages import OutgoingMessages
from sayso.server.adapters.voice_client import VoiceClient
from sayso.server.adapters.xiaozhi.messages import (
    Abort,
    Hello,
    ListenStart,
    ListenStop,
    framed,
    read_message,
    read_sound,
)
from sayso.server.adapters.xiaozhi.opus import (
    FRAME_MS,
    BadPacketError,
    OpusDecoder,
    OpusEncoder,
)
from sayso.server.gateway.plain_port import Rates
from sayso.server.turn.events import Ticket

SPEAKS_AT: Final = 24_000
"""Samples a second of what boards are sent."""
HELLO_S: Final = 10.0
"""Seconds for a board's first message, as it waits itself for the answer."""
BAD_PACKETS: Final = 50
"""In a row; then it is no Opus that comes."""


class XiaozhiConnection:
    """One board, as long as it is connected: mostly for one talk."""

    def __init__(self, socket: ServerConnection, version: int, rates: Rates) -> None:
        self._socket = socket
        self._version = version
        self._rates = rates
        self._outgoing = OutgoingMessages(socket)
        self._session = secrets.token_hex(8)
        self._decoder = OpusDecoder()
        self._encoder = OpusEncoder(SPEAKS_AT)
        self._bad = 0
        self._mode: str = ""
        """How the board listens; empty: it does not."""
        self._speaks = False
        """It was told that speech comes."""
        self._voice: VoiceClient | None = None

    async def talk(self, voice: VoiceClient) -> None:
        """Until it leaves."""
        writer = asyncio.create_task(self._outgoing.run(), name="writer of a xiaozhi board")
        try:
            async with asyncio.timeout(HELLO_S):
                first = await self._socket.recv()
            if not isinstance(first, str) or read_message(first) != Hello():
                return
            sound = {"format": "opus", "sample_rate": SPEAKS_AT, "channels": 1}
            params = sound | {"frame_duration": FRAME_MS}
            self._tell("hello", transport="websocket", audio_params=params)
            self._voice = voice
            voice.join()
            async for data in self._socket:
                await asyncio.sleep(self._rates.wait_for("" if isinstance(data, bytes) else data))
                if isinstance(data, bytes):
                    self._hear(data, voice)
                else:
                    self._take(data, voice)
        finally:
            voice.leave()
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    def _take(self, text: str, voice: VoiceClient) -> None:
        match read_message(text):
            case ListenStart(mode=mode):
                self._mode = mode
                if mode == "manual":
                    voice.listen("ptt", "")
            case ListenStop():
                self._mode = ""
                voice.listened()
            case Abort():
                voice.interrupt()
                self._silence()
            case _:
                pass

    def _hear(self, data: bytes, voice: VoiceClient) -> None:
        if not self._mode:
            return
        try:
            pcm = self._decoder.decode(read_sound(data, self._version))
        except BadPacketError:
            self._bad += 1
            if self._bad > BAD_PACKETS:
                self._socket.transport.abort()
            return
        self._bad = 0
        if not voice.listens and self._mode != "manual":
            voice.listen("hands_free", "")
        voice.hear(pcm)

    # ── What the conversation tells ──────────────────────────────────────────────────────────────

    def told(self, message: FromServer, _: Ticket) -> None:
        """Make messages of it, as far as a board shows or speaks them."""
        match message:
            case SttFinal(text=words) if words:
                self._tell("stt", text=words)
            case ListenEnd():
                if self._voice:
                    self._voice.utterance_ended()
            case SpeechStart(text=words):
                self._speaks_next(words.strip())
            case SpeechStop(reason=reason):
                if reason == "done":
                    for packet in self._encoder.finish():
                        self._outgoing.put(framed(packet, self._version))
                self._silence(drop=reason != "done")
            case TurnState(mouth="silent", work="idle" | "awaiting_approval"):
                self._silence(drop=False)
            case Error(message=sentence):
                self._tell("alert", status="Sayso", message=sentence, emotion="sad")
            case _:
                pass  # what of it is for ears comes as speech

    def _speaks_next(self, words: str) -> None:
        if not self._speaks:
            self._speaks = True
            if self._mode != "realtime":
                self._mode = ""  # it listens again by itself, after the answer
            self._tell("tts", state="start")
        self._tell("tts", state="sentence_start", text=words)

    def sounded(self, pcm: bytes) -> None:
        """Speech of the answer."""
        for packet in self._encoder.encode(pcm):
            self._outgoing.put(framed(packet, self._version))

    def _silence(self, *, drop: bool = True) -> None:
        if drop:
            self._outgoing.drop_sound()
            self._encoder = OpusEncoder(SPEAKS_AT)
        if self._speaks:
            self._speaks = False
            self._tell("tts", state="stop")

    def _tell(self, kind: str, **fields: Any) -> None:  # noqa: ANN401
        told = {"type": kind, "session_id": self._session, **fields}
        self._outgoing.put(json.dumps(told, ensure_ascii=False))

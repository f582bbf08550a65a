"""The socket of the Realtime API, where this server listens: `/v1/realtime`.

A program shows a key, which is the token of a paired device. Each session is a conversation of its
own, as programs expect; the query `conversation=NAME` names one of the person's outright.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

from sayso.server.adapters.device_names import DeviceNames
from sayso.server.adapters.realtime.client_events import RATE
from sayso.server.adapters.realtime.connection import RealtimeConnection
from sayso.server.adapters.turn_client import Host
from sayso.server.adapters.voice_client import VoiceClient
from sayso.server.gateway.http.adapter_routes import OpenedSocket, Routes, SocketRoute
from sayso.server.speech.speech import Speech
from sayso.server.trust.principal import Principal

PATH: Final = "/v1/realtime"
NAMED: Final = "conversation"
"""What of the query names a conversation."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What a client says was said before."""

    asked: str
    answered: str


class RealtimeAdapter:
    """Answers clients of the Realtime API."""

    def __init__(self, host: Host, speech: Speech) -> None:
        self._host = host
        self._has_voice = speech.synthesis.has_voice
        self._names = DeviceNames()

    def add_to(self, routes: Routes) -> None:
        """From now on its path is answered."""
        routes.add_socket(SocketRoute(PATH, self._talk))

    async def _talk(self, opened: OpenedSocket) -> None:
        named = parse_qs(opened.query).get(NAMED, [""])[0]
        who, device = opened.who, self._names.take(opened.who.name or "a program")

        async def join(
            instructions: str, past: Sequence[tuple[str, str]], connection: RealtimeConnection
        ) -> VoiceClient:
            conversation = await self._conversation(who, named, instructions, past)
            return VoiceClient(
                await self._host.conversation(conversation, who),
                who,
                device,
                connection.told,
                connection.sounded,
                hears_at=RATE,
                speaks_at=RATE,
            )

        try:
            await RealtimeConnection(opened, join, self._has_voice).talk()
        finally:
            self._names.give_back(device)

    async def _conversation(
        self, who: Principal, named: str, instructions: str, past: Sequence[tuple[str, str]]
    ) -> str:
        if named and await self._host.has_conversation(named, who.person):
            return named
        told = [_Said(asked, answered) for asked, answered in past]
        return await self._host.begin_conversation(who.person, instructions, told)

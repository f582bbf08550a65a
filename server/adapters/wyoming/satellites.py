"""Answers what Home Assistant's satellites are asked, each in a conversation of its own.

A satellite keeps its conversation, whatever conversation id Home Assistant gives: that one changes
after five minutes. What is asked there may be answered by words alone; what waits for a yes waits
for one on a screen of the owner's.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from sayso.protocol.messages import Announce, ApprovalRequest, Error, ReplyDelta
from sayso.server.adapters.turn_client import Host, TurnClient
from sayso.server.store.errors import StoreError
from sayso.server.trust.devices import plain_name
from sayso.server.trust.principal import OWNER, Principal

HOLDS_S: Final = 120.0
"""Home Assistant takes one answer to each request: work that lasts longer is told of elsewhere."""

SATELLITES_AT_MOST: Final = 64
"""With conversations of their own, since the start; what calls itself by further names shares."""

LONGEST_NAME: Final = 100
"""Characters of a satellite's name."""

HOME_ASSISTANT: Final = "Home Assistant"
ON_A_SCREEN: Final = "I need your yes for that on a screen."
GOES_ON: Final = "That takes a while. I go on with it, and the answer will be on your screens."


@dataclass(frozen=True, slots=True)
class SatelliteAnswer:
    """What is to be said there."""

    text: str
    handled: bool = True


class Satellites:
    """All of them, of all Home Assistants."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: set[str] = set()
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def answer(self, text: str, satellite: str) -> SatelliteAnswer:
        """Answer what was said at a satellite. When it is cancelled, the work is stopped."""
        who = self._who(plain_name(satellite, LONGEST_NAME))
        async with self._turns[who.device]:
            try:
                place = await self._host.conversation("", who)
            except StoreError as error:
                return SatelliteAnswer(str(error), handled=False)
            client = TurnClient(place, who, who.device)
            client.join()
            try:
                return await _asked(client, text)
            finally:
                client.leave()

    def _who(self, satellite: str) -> Principal:
        if satellite not in self._known:
            if len(self._known) >= SATELLITES_AT_MOST:
                satellite = ""
            self._known.add(satellite)
        room = satellite.rpartition(".")[2] if "." in satellite else ""
        name = f"{HOME_ASSISTANT} {room.replace('_', ' ')}".strip()
        return Principal(f"wyoming:{satellite}", OWNER, frozenset({"talk"}), name)


async def _asked(client: TurnClient, text: str) -> SatelliteAnswer:
    words: list[str] = []
    client.ask(text)
    try:
        async with asyncio.timeout(HOLDS_S):
            while (message := await client.next()) is not None:
                match message:
                    case ReplyDelta(text=said):
                        words.append(said)
                    case Announce(text=said):
                        words.append(f"{said}\n")
                    case Error(message=sentence):
                        return SatelliteAnswer(sentence, handled=False)
                    case ApprovalRequest():
                        words.append(f"\n{ON_A_SCREEN}")
                        break
    except TimeoutError:
        words.append(f"\n{GOES_ON}")
    except asyncio.CancelledError:
        client.stop()
        raise
    return SatelliteAnswer("".join(words).strip())

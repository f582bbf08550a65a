"""Asks devices of one conversation to do what they offer, each thing once.

    ask ── told ──▶ waits ── result, pictures ──▶ what the device says
                      ├── deadline, cut, gone ──▶ unconfirmed
                      └── newer turn or generation ──▶ unconfirmed

A request reaches only a device that takes part in the conversation, and so is the same person's.
It leaves at once or never: nothing is kept for a device that is away, and nothing is sent again.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from math import isfinite
from typing import Any, Final, Protocol

from sayso.protocol.frames import PictureFrame
from sayso.protocol.messages import ActRequest, ActResult
from sayso.server.device_requests.answer import Answer, Outcome
from sayso.server.turn.events import Joined, Ticket

LONGEST_S: Final = 120.0
"""For one answer: a person may have to look first; longer work is a job of its own."""
MOST_OPEN: Final = 4
"""Requests that one device works on; their pictures bound what it may make the server hold."""
MOST_ARGS_BYTES: Final = 32_768
"""Of a request as JSON: half of the shortest frame that a device which offers something takes."""
MOST_STREAMS: Final = 2**16

NOT_OFFERED: Final = "No device of this person's here offers that under this name."
AWAY: Final = "The device is not connected."
BUSY: Final = "The device has too much to do already."
TOO_LONG: Final = "That is too long to ask of a device."
OVER: Final = "What this was for is over."
NO_ANSWER: Final = "The device did not answer in time; perhaps it was done."
CUT: Final = "The device's connection broke; perhaps it was done."
GONE: Final = "The device is gone; perhaps it was done."
STOPPED: Final = "It was stopped; perhaps it was done."

_STREAMS = count(secrets.randbelow(MOST_STREAMS))
"""Of all conversations: a late picture for one is none for another to which its device moved."""


class Line(Protocol):
    """The way to a device."""

    def tell(self, message: ActRequest, ticket: Ticket) -> None: ...


@dataclass(slots=True)
class _Device:
    offers: tuple[str, ...]
    line: Line
    is_here: bool = True


@dataclass(slots=True)
class _Open:
    device: str
    stream: int
    ticket: Ticket
    settled: "asyncio.Future[Outcome]"
    answer: Answer = field(default_factory=Answer)

    def settle(self, outcome: Outcome | None) -> None:
        if outcome and not self.settled.done():
            self.settled.set_result(outcome)

    def fail(self, problem: str) -> None:
        self.settle(Outcome("unconfirmed", problem=problem))


class DeviceRequests:
    """Of one conversation: which of its devices offer what, and what they are asked just now."""

    def __init__(self) -> None:
        self._devices: dict[str, _Device] = {}
        self._open: dict[str, _Open] = {}
        self._ticket = Ticket(0, 0)

    # --- what the conversation tells ---

    def joined(self, device: Joined, line: Line) -> None:
        """A device takes part, or is back."""
        self.left(device.device)
        if device.offers:
            self._devices[device.device] = _Device(device.offers, line)

    def away(self, device: str) -> None:
        """Its connection broke."""
        if known := self._devices.get(device):
            known.is_here = False
        self._fail_all(device, CUT)

    def left(self, device: str) -> None:
        """It takes part no more."""
        self._devices.pop(device, None)
        self._fail_all(device, GONE)

    def moved_on(self, ticket: Ticket) -> None:
        """This is the attempt that counts: what was asked for an older one is over."""
        if ticket == self._ticket:
            return
        self._ticket = ticket
        for request in list(self._open.values()):
            if request.ticket != ticket:
                request.fail(STOPPED)

    def answered(self, device: str, result: ActResult) -> None:
        """A device says what came of a request. It counts once, and from the one that was asked."""
        request = self._open.get(result.id)
        if request and request.device == device:
            request.answer.take_result(result)
            request.settle(request.answer.outcome)

    def pictured(self, device: str, piece: PictureFrame) -> None:
        """A piece of an answer's pictures came."""
        for request in self._open.values():
            if (request.device, request.stream) == (device, piece.stream):
                request.answer.take_picture(piece)
                request.settle(request.answer.outcome)

    # --- what capabilities use ---

    @property
    def offered(self) -> Mapping[str, tuple[str, ...]]:
        """The methods of each device that is here and offers some."""
        return {name: one.offers for name, one in self._devices.items() if one.is_here}

    async def ask(
        self,
        device: str,
        method: str,
        args: Mapping[str, Any],
        *,
        ticket: Ticket,
        deadline_s: float,
        lease: str = "",
    ) -> Outcome:
        """Ask a device to do this for this attempt, and wait for what comes of it.

        `refused` if it can't be asked. A caller that cancels this learns nothing: perhaps it was
        done.
        """
        known = self._devices.get(device)
        if known is None or method not in known.offers:
            return Outcome("refused", problem=NOT_OFFERED)
        if problem := self._why_not(device, known, args, ticket):
            return Outcome("refused", problem=problem)
        patience = min(LONGEST_S, max(0.0, deadline_s)) if isfinite(deadline_s) else LONGEST_S
        settled: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        request = _Open(device, next(_STREAMS) % MOST_STREAMS, ticket, settled)
        name = secrets.token_urlsafe(9)
        self._open[name] = request
        try:
            asked = ActRequest(name, method, patience, request.stream, lease, dict(args))
            known.line.tell(asked, ticket)
            async with asyncio.timeout(patience):
                return await settled
        except TimeoutError:
            return Outcome("unconfirmed", problem=NO_ANSWER)
        finally:
            del self._open[name]

    def _why_not(self, device: str, known: _Device, args: Mapping[str, Any], ticket: Ticket) -> str:
        if not known.is_here:
            return AWAY
        if ticket != self._ticket:
            return OVER
        if sum(request.device == device for request in self._open.values()) >= MOST_OPEN:
            return BUSY
        if len(json.dumps(dict(args))) > MOST_ARGS_BYTES:
            return TOO_LONG
        return ""

    def _fail_all(self, device: str, problem: str) -> None:
        for request in list(self._open.values()):
            if request.device == device:
                request.fail(problem)

"""Listens without a key and without a terminal, until it is told to end."""

import asyncio
import signal
from collections.abc import Callable
from typing import Literal

from sayso.audio.devices.microphone import Microphone
from sayso.client.listening.hands_free import HandsFree
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.session import Session
from sayso.client.terminal.events import Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import ApprovalRequest, Approve


class ApprovalScreen:
    """A screen before another one: answers each question whether code may run as it was told to.
    Without an answer, and for what opens more than a run, a person is waited for."""

    def __init__(self, screen: Screen, answer: Literal["yes", "no"] | None) -> None:
        self._screen = screen
        self._answer = answer
        self.send: Callable[[Approve], None] = lambda _: None
        self.refused = ""
        """Why the server did not let us in."""

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        match seen:
            case LinkChange(state=LinkState.REFUSED, reason=reason):
                self.refused = reason
            case Envelope(message=ApprovalRequest(kind="run") as request) if self._answer:
                self.send(Approve(request.id, request.nonce, self._answer))
            case _:
                pass


async def listen_until_ended(
    session: Session, hands_free: HandsFree, microphone: Microphone
) -> bool:
    """Goes on until SIGTERM or SIGINT, or until a recording has ended and is answered; false: until
    the server refused us. Raises `AudioError` and `TurnFailed`."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, ended.set)
    conversing = asyncio.create_task(session.run())
    listening = asyncio.create_task(_listen(hands_free, microphone))
    waiting = asyncio.create_task(ended.wait())
    tasks = {conversing, listening, waiting}
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
        if conversing in done:
            return False
        await session.leave()
        await conversing
        return True
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _listen(hands_free: HandsFree, microphone: Microphone) -> None:
    await hands_free.listen(microphone)
    await hands_free.rest()

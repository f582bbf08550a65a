"""A WebSocket connection with bounded memory, whatever its client sends or leaves unread.

The library answers every ping at once, before the socket is open, too: a client that pings on and
reads nothing would fill the memory with answers. So control frames are counted, only the last ping
is answered where answers wait, nothing is taken before the request is answered, and who takes
nothing any more is let go, whatever it is that waits.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import ClassVar, Final

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import LoggerLike

from sayso.protocol.errors import CODES
from sayso.server.gateway.admission.rate_limits import Bucket
from sayso.server.gateway.admission.tcp_liveness import LOOKS, taken
from sayso.server.gateway.limits import Limits
from sayso.server.log_context import NO_IDS, Ids, log_ids

log = logging.getLogger(__name__)

COUNTED: Final = (Opcode.PING, Opcode.PONG)
"""Frames that the library takes by itself; a message's pieces it counts as well."""


class BoundedProtocol(ServerProtocol):
    """What is received is bounded in number, too; not only in bytes."""

    def __init__(self, limits: Limits, logger: LoggerLike, cut: Callable[[], None]) -> None:
        super().__init__(max_size=limits.text_bytes, logger=logger)
        self._control = Bucket(limits.control_burst, limits.control_a_second)
        self._cut = cut
        self.answers_wait = False
        """The client does not read: of its pings only the last is remembered."""
        self._unanswered: bytes | None = None

    def recv_frame(self, frame: Frame) -> None:
        """Take a frame as the library does, within bounds."""
        if self.state is State.CONNECTING:  # It must wait for the answer to its request.
            self.reader.discard()
            self._cut()
            return
        if frame.opcode in COUNTED:
            if not self._control.take(1, asyncio.get_running_loop().time()):
                self.fail(CODES["too_fast"].close, "control frames came without a pause")
                return
            if frame.opcode is Opcode.PING and self.answers_wait:
                self._unanswered = bytes(frame.data)
                return
        super().recv_frame(frame)

    def answer_last_ping(self) -> None:
        """The client reads again."""
        self.answers_wait = False
        data, self._unanswered = self._unanswered, None
        if data is not None and self.state is State.OPEN:
            self.send_pong(data)


class BoundedConnection(ServerConnection):
    """Ends by itself when its client takes nothing any more, or does not leave when told to."""

    limits: ClassVar[Limits]
    protocol: BoundedProtocol
    _look: asyncio.TimerHandle | None = None
    _end: asyncio.TimerHandle | None = None
    ids: Ids = NO_IDS
    """What log lines about it carry, once it is known whose it is."""
    _taken = 0
    _in_vain = 0

    def cut(self) -> None:
        """Send and read nothing more, at once."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.protocol = BoundedProtocol(self.limits, self.logger, self.cut)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.protocol.state is State.CLOSING and self._end is None:
            self._end = self.loop.call_later(self.limits.goodbye_s, self.cut)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._look, self._end):
            if timer:
                timer.cancel()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.protocol.answers_wait = True
        self._taken, self._in_vain = taken(self.transport), 0
        self._look_later()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._look:
            self._look.cancel()
        self.protocol.answer_last_ping()
        self.send_data()

    def _look_later(self) -> None:
        self._look = self.loop.call_later(self.limits.send_s / LOOKS, self._look_at_line)

    def _look_at_line(self) -> None:
        """Whatever waits to be sent: who takes none of it for so long is gone."""
        now = taken(self.transport)
        self._in_vain = 0 if now > self._taken else self._in_vain + 1
        self._taken = now
        if self._in_vain < LOOKS:
            self._look_later()
            return
        with log_ids(**self.ids):
            log.warning("a client takes nothing of what it is sent; its connection is cut")
        self.cut()

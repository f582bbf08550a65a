"""One client's socket: a greeting, then a reader and a writer side by side."""

import asyncio
import logging
from collections.abc import Container, Sequence
from contextlib import suppress
from typing import NoReturn

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, Unknown, decode, encode
from sayso.protocol.errors import OutOfOrder, ProtocolError, Refused
from sayso.protocol.frames import is_picture, unpack, unpack_picture
from sayso.server.gateway.admission.rate_limits import TooFast
from sayso.server.gateway.admission.tcp_liveness import LOOKS, comes
from sayso.server.gateway.admission.unauthenticated import age_of
from sayso.server.gateway.lan.device_admin import DeviceAdmin
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.outbox import ClientIsSlowError
from sayso.server.gateway.socket.session import Session
from sayso.server.gateway.socket.translate import event_of, heard

log = logging.getLogger(__name__)

MAY_NOT_APPROVE = "This device may look on, but not decide: answer on another one."


class Connection:
    """One socket of a session's client, for as long as it is open."""

    def __init__(
        self,
        socket: ServerConnection,
        session: Session,
        limits: Limits,
        features: Container[str],
        administration: DeviceAdmin | None = None,
    ) -> None:
        self._features = features
        """What the server announced to the client."""
        self._socket = socket
        self._administration = administration
        self._session = session
        self._limits = limits
        self._outbox = session.outbox
        self._complaints = 0
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._ended_by: ProtocolError | None = None
        self.said_goodbye = False
        """The client left on purpose, and does not come back to this session."""
        self.ended_why = ""
        """Why it is over, for the records."""

    # --- the two tasks ---

    async def talk(self, first: Sequence[str]) -> None:
        """Send these, then carry messages both ways until the socket closes."""
        device = self._session.device
        writer = asyncio.create_task(self._write(first), name=f"writer of {device}")
        reader = asyncio.create_task(self._read(), name=f"reader of {device}")
        self._tasks = (writer, reader)
        try:
            if self._ended_by is None:
                done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    await self._ended(task)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.ended_why = self.ended_why or _why_closed(self._socket)
            if self._ended_by:
                await close_with(self._socket, self._ended_by, self._limits.goodbye_s)

    def end(self, error: ProtocolError) -> None:
        """Read and write nothing more, at once; then say why, and close."""
        self._ended_by, self.ended_why = error, error.reason
        for task in self._tasks:
            task.cancel()

    async def _ended(self, task: asyncio.Task[None]) -> None:
        try:
            await task
        except ConnectionClosed:
            pass
        except asyncio.CancelledError:
            if self._ended_by is None:
                raise
        except ClientIsSlowError:
            self.ended_why = "slow"
            log.warning("a client does not read what it is sent; its connection is closed")
            self._socket.transport.abort()
        except LeavingError as goodbye:
            self.said_goodbye, self.ended_why = True, "left"
            await close_with(self._socket, goodbye, self._limits.goodbye_s)
        except ProtocolError as error:
            self.ended_why = error.reason
            await close_with(self._socket, error, self._limits.goodbye_s)

    async def _write(self, first: Sequence[str]) -> None:
        for text in first:
            await self._send(text)
        while True:
            self._session.sent()
            await self._send(await self._outbox.take())

    async def _send(self, data: str | bytes) -> None:
        try:
            async with asyncio.timeout(self._limits.send_s / LOOKS):
                await self._socket.send(data)
        except TimeoutError:
            await self._until_taken()

    async def _until_taken(self) -> None:
        """The line is full: wait for as long as it moves, unless more waits behind it than may."""
        with suppress(OSError):  # It broke: the next send or read reports it.
            if not await comes(
                self._socket.drain,
                self._socket.transport,
                self._limits.send_s,
                in_vain=lambda: self._outbox.overflowed,
            ):
                raise ClientIsSlowError

    async def _read(self) -> None:
        async for data in self._socket:
            self._session.is_confirmed = True
            if (wait := self._session.wait_for(data)) and await self._ends_within(wait):
                return
            try:
                self._take(data)
            except ProtocolError as error:
                self._complain(error)

    async def _ends_within(self, seconds: float) -> bool:
        """Read nothing for so long; what comes too fast must not outlive its connection."""
        try:
            async with asyncio.timeout(seconds):
                await self._socket.wait_closed()
        except TimeoutError:
            return False
        return True

    def _take(self, data: str | bytes) -> None:
        if isinstance(data, bytes):
            if self._session.offers and is_picture(data):
                piece = unpack_picture(data, max_bytes=self._limits.frame_bytes)
                self._session.conversation.pictured(self._session.device, piece)
                return
            frame = unpack(data, max_bytes=self._limits.frame_bytes)
            self._session.conversation.happened(heard(self._session.device, frame))
            return
        envelope = decode(data, max_bytes=self._limits.text_bytes)
        message = envelope.message
        match message:
            case Unknown() | m.Pong():
                pass
            case m.Ping(id=number):
                self._outbox.put(Envelope(m.Pong(number)))
            case m.Bye():
                raise LeavingError
            case m.Hello() | m.Pair():
                raise OutOfOrder(f"{m.NAMES[type(message)]} came after the welcome.")
            case m.PairingOpen() | m.PairingClose() | m.DevicesList() | m.DevicesRevoke():
                self._administer(message)
            case _:
                self._hand_on(message, envelope.seq)

    def _hand_on(self, message: m.Message, seq: int | None) -> None:
        if not isinstance(message, m.FromClient):
            raise OutOfOrder(f"{m.NAMES[type(message)]} is for servers to send.")
        if not self._session.is_news(seq):
            return  # It was sent again after a cut, but had arrived.
        if isinstance(message, m.Approve) and not self._session.who.may("approve"):
            raise Refused(MAY_NOT_APPROVE, code="forbidden", fatal=False)
        self._session.rates.check(message)
        device, conversation = self._session.device, self._session.conversation
        if isinstance(message, m.Command):
            conversation.command(device, message.name, message.text)
        elif isinstance(message, m.FilePut):
            conversation.put(device, message)
        elif isinstance(message, m.ActResult):
            conversation.acted(device, message)
        elif isinstance(message, m.TaskCancel):
            conversation.cancel_job(device, message.id)
        elif event := event_of(device, message, self._features):
            conversation.happened(event)

    def _administer(self, message: m.FromClient) -> None:
        if self._administration is None:
            raise OutOfOrder("This server does not pair devices.")
        self._administration.take(self._session, message)

    def _complain(self, error: ProtocolError) -> None:
        self._complaints += 1
        if error.fatal or self._complaints > self._limits.complaints:
            raise error
        retry_ms = error.retry_ms if isinstance(error, TooFast) else None
        self._outbox.put(Envelope(m.Error(error.code, error.message, False, retry_ms)))


_OURS = {CloseCode.GOING_AWAY: "stopped", CloseCode.INTERNAL_ERROR: "no_answer"}


def _why_closed(socket: ServerConnection) -> str:
    """Who ended it: the client in order, we, or the line."""
    ours, theirs = socket.protocol.close_sent, socket.protocol.close_rcvd
    if theirs and socket.protocol.close_rcvd_then_sent:
        return "left"
    return _OURS.get(CloseCode(ours.code), "lost") if ours else "lost"


class LeavingError(ProtocolError):
    """The client said goodbye."""

    def __init__(self) -> None:
        super().__init__("", fatal=True)
        self.close_code = 1000


async def greet(socket: ServerConnection, limits: Limits) -> m.Hello | m.Pair:
    """Wait for the first message, or raise a ProtocolError."""
    try:
        async with asyncio.timeout(limits.handshake_s - age_of(socket)):
            data = await socket.recv()
    except TimeoutError:
        _no_hello()
    if isinstance(data, bytes):
        raise OutOfOrder("Audio came before the hello.", fatal=True)
    message = decode(data, max_bytes=limits.text_bytes).message
    if not isinstance(message, (m.Hello, m.Pair)):
        raise OutOfOrder("The first message must be a hello.", fatal=True)
    return message


def _no_hello() -> NoReturn:
    raise Refused("No hello came in time.", code="hello_timeout", fatal=True)


async def close_with(socket: ServerConnection, error: ProtocolError, patience_s: float) -> None:
    """Say why, then close; a client that does not take even that is cut off."""
    try:
        async with asyncio.timeout(patience_s):
            if error.message:
                last_words = m.Error(error.code, error.message, fatal=True)
                await socket.send(encode(Envelope(last_words)))
            await socket.close(error.close_code)
    except ConnectionClosed:
        pass
    except TimeoutError:
        socket.transport.abort()

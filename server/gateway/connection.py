"""One client's socket: a greeting, then a reader and a writer side by side."""

import asyncio
import contextlib
import logging
from typing import NoReturn

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, Unknown, decode, encode
from sayso.protocol.errors import OutOfOrder, ProtocolError, Refused
from sayso.protocol.frames import AudioFrame, unpack
from sayso.server.gateway.fitting import fitted
from sayso.server.gateway.host import Conversation
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.outbox import Outbox
from sayso.server.gateway.translate import event_of, heard
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Ticket

log = logging.getLogger(__name__)

ALWAYS_SENT = (m.Welcome, m.Error, m.Bye, m.Ping, m.Pong)
"""Sent to every client, whatever it says that it wants."""


class ClientIsSlowError(Exception):
    """The client does not read what it is sent."""


class Connection:
    """A device's place in a conversation, for as long as its socket is open."""

    def __init__(self, socket: ServerConnection, hello: m.Hello, limits: Limits) -> None:
        self._socket = socket
        self._limits = limits
        self._outbox = Outbox(limits.outgoing_bytes)
        self._wants = frozenset(hello.wants)
        self._client_takes = hello.limits.max_text_bytes
        self._frame_seq = 0
        self._complaints = 0

    # --- Outlet: what the conversation hands over ---

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        wanted = not self._wants or m.NAMES[type(message)] in self._wants
        if wanted or isinstance(message, ALWAYS_SENT):
            for piece in fitted(message, self._client_takes):
                self._outbox.put(Envelope(piece, turn=ticket.turn, gen=ticket.gen))

    def send(self, speech: Send) -> None:
        self._frame_seq = 0 if speech.first_sample == 0 else self._frame_seq + 1
        self._outbox.put_sound(
            AudioFrame(speech.stream, self._frame_seq, speech.first_sample, speech.pcm, speech.last)
        )

    # --- the two tasks ---

    async def talk(self, device: str, conversation: Conversation) -> None:
        """Carry messages both ways until the socket closes."""
        writer = asyncio.create_task(self._write(), name=f"writer of {device}")
        reader = asyncio.create_task(self._read(device, conversation), name=f"reader of {device}")
        try:
            done, _ = await asyncio.wait({writer, reader}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                await self._ended(task)
        finally:
            for task in (writer, reader):
                task.cancel()
            await asyncio.gather(writer, reader, return_exceptions=True)

    async def _ended(self, task: asyncio.Task[None]) -> None:
        try:
            await task
        except ConnectionClosed:
            pass
        except ClientIsSlowError:
            log.warning("a client does not read what it is sent; its connection is closed")
            self._socket.transport.abort()
        except ProtocolError as error:
            await close_with(self._socket, error)

    async def _write(self) -> None:
        while True:
            data = await self._outbox.take()
            if self._outbox.overflowed:
                raise ClientIsSlowError
            try:
                async with asyncio.timeout(self._limits.send_s):
                    await self._socket.send(data)
            except TimeoutError:
                raise ClientIsSlowError from None

    async def _read(self, device: str, conversation: Conversation) -> None:
        async for data in self._socket:
            try:
                self._take(device, conversation, data)
            except ProtocolError as error:
                self._complain(error)

    def _take(self, device: str, conversation: Conversation, data: str | bytes) -> None:
        if isinstance(data, bytes):
            frame = unpack(data, max_bytes=self._limits.frame_bytes)
            conversation.happened(heard(device, frame))
            return
        message = decode(data, max_bytes=self._limits.text_bytes).message
        match message:
            case Unknown() | m.Pong():
                pass
            case m.Ping(id=number):
                self._outbox.put(Envelope(m.Pong(number)))
            case m.Bye():
                raise LeavingError
            case m.Hello():
                raise OutOfOrder("A hello came after the welcome.")
            case m.Command(name=name, text=text):
                conversation.command(device, name, text)
            case _:
                self._hand_on(device, conversation, message)

    def _hand_on(self, device: str, conversation: Conversation, message: m.Message) -> None:
        if not isinstance(message, m.FromClient):
            raise OutOfOrder(f"{m.NAMES[type(message)]} is for servers to send.")
        event = event_of(device, message)
        if event is not None:
            conversation.happened(event)

    def _complain(self, error: ProtocolError) -> None:
        self._complaints += 1
        if error.fatal or self._complaints > self._limits.complaints:
            raise error
        self._outbox.put(Envelope(m.Error(error.code, error.message, fatal=False)))


class LeavingError(ProtocolError):
    """The client said goodbye."""

    def __init__(self) -> None:
        super().__init__("", fatal=True)
        self.close_code = 1000


async def greet(socket: ServerConnection, limits: Limits) -> m.Hello:
    """Wait for a valid hello, or raise a ProtocolError."""
    try:
        async with asyncio.timeout(limits.handshake_s):
            data = await socket.recv()
    except TimeoutError:
        _no_hello()
    if isinstance(data, bytes):
        raise OutOfOrder("Audio came before the hello.", fatal=True)
    message = decode(data, max_bytes=limits.text_bytes).message
    if not isinstance(message, m.Hello):
        raise OutOfOrder("The first message must be a hello.", fatal=True)
    return message


def _no_hello() -> NoReturn:
    raise Refused("No hello came in time.", code="hello_timeout", fatal=True)


async def close_with(socket: ServerConnection, error: ProtocolError) -> None:
    """Say why, then close."""
    with contextlib.suppress(ConnectionClosed):
        if error.message:
            last_words = m.Error(error.code, error.message, fatal=True)
            await socket.send(encode(Envelope(last_words)))
        await socket.close(error.close_code)

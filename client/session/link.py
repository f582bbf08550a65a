"""The line to the server: one WebSocket, kept up, with everything that must survive a cut.

    CONNECTING ─▶ GREETING ─▶ UP ─▶ (cut) ─▶ WAITING ─▶ CONNECTING …
         │            │        │
         └────────────┴────────┴──▶ REFUSED     trying again would not help
                      close() ────▶ CLOSED

`run()` is the task that keeps it; `events()` gives what arrives and every change of state, in
order. `send` and `send_audio` may be called in any state: what matters is kept until the line is
back.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from ssl import SSLContext
from typing import Literal, NoReturn

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from sayso.client.errors import ClientError
from sayso.client.session.backoff import seconds
from sayso.client.session.disconnect import (
    NotReady,
    NotSayso,
    ServerLeft,
    ServerSaid,
    Stalled,
    WrongVersion,
    judge,
)
from sayso.client.session.link_events import FINAL, LinkChange, LinkEvent, LinkState
from sayso.client.session.outbox import Outbox
from sayso.protocol.codec import MAX_TEXT_BYTES, Envelope, Unknown, decode, encode
from sayso.protocol.errors import HomeError, Invalid, ProtocolError
from sayso.protocol.frames import MAX_FRAME_BYTES, unpack
from sayso.protocol.messages import (
    Announce,
    AudioAck,
    Bye,
    Conversation,
    Error,
    FromClient,
    Hello,
    ListenEnd,
    Message,
    Metrics,
    Ping,
    Pong,
    SttFinal,
    Welcome,
)
from sayso.protocol.version import SPOKEN

log = logging.getLogger(__name__)

OPEN_SECONDS = 5.0
"""For connecting: at home it takes milliseconds, over a phone up to a few seconds."""
WELCOME_SECONDS = 5.0
"""For the server's answer to `hello`."""
QUIET_SECONDS = 5.0
"""After so long without a word from the server we ask whether it is there."""
STALLED_SECONDS = 12.0
"""After so long without a word the line counts as cut: two questions have gone unanswered."""
GOODBYE_SECONDS = 1.0
"""For what is still to be sent when we leave, and for closing; a person waits for the prompt."""
MOST_UNREAD = 512
"""Events that wait for the screen. Beyond that the socket is not read, and the server waits."""


class _AsksAnew(Exception):
    """We want other things of the server, and tell it so in a new greeting."""


_TROUBLE = (
    OSError,
    TimeoutError,
    EOFError,
    HomeError,
    ClientError,
    WebSocketException,
    ProtocolError,
    ServerSaid,
    ServerLeft,
    Stalled,
    NotReady,
    NotSayso,
    WrongVersion,
)
"""What ends a connection and is no fault of ours."""


class Link:
    """Connects as `hello` says; `token` and `tls` are asked again for each connection."""

    def __init__(
        self,
        url: str,
        hello: Hello,
        token: Callable[[], str | None],
        tls: Callable[[], SSLContext | None] = lambda: None,
        connection: type[ClientConnection] = ClientConnection,
    ) -> None:
        self.url = url
        self._connection = connection
        self._tls = tls
        self._hello = hello
        self._token = token
        self._outbox = Outbox()
        self._events: asyncio.Queue[LinkEvent] = asyncio.Queue(MOST_UNREAD)
        self._to_send = asyncio.Event()
        self._sent_all = asyncio.Event()
        self._asks_anew = asyncio.Event()
        self._leaving = False
        self._closing = asyncio.Event()
        self._state = LinkState.CONNECTING
        self._session: str | None = None
        self._last_seq = 0
        self._heard_at = 0.0
        self._shown: str | None = None
        """The token that the server was shown last."""

    @property
    def state(self) -> LinkState:
        return self._state

    @property
    def full(self) -> bool:
        """The line is away, and as much waits for it as can be kept of what was said."""
        return self._state is not LinkState.UP and self._outbox.full

    def send(self, message: FromClient) -> None:
        """Sends a message, now or when the line is back."""
        self._outbox.put(message)
        self._wake()

    def send_audio(self, stream: int, pcm: bytes) -> None:
        """Sends speech of an utterance that `listen.start` began."""
        self._outbox.put_audio(stream, pcm)
        self._wake()

    def send_picture(self, stream: int, content: bytes) -> None:
        """Sends the pictures of an answer to `act.request`."""
        self._outbox.put_picture(stream, content)
        self._wake()

    def want(self, names: tuple[str, ...]) -> None:
        """Asks to be sent these messages from now on; none are all. The session goes on."""
        if names != self._hello.wants:
            self._hello = replace(self._hello, wants=names)
            self._asks_anew.set()

    async def events(self) -> AsyncGenerator[LinkEvent, None]:
        """Gives what arrives, until the line is CLOSED or REFUSED; that change is the last."""
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, LinkChange) and event.state in FINAL:
                return

    async def close(self) -> None:
        """Sends what waits, says goodbye and lets `run()` end."""
        self._leaving = True
        if self._state is LinkState.UP:
            self.send(Bye())
            with suppress(TimeoutError):
                async with asyncio.timeout(GOODBYE_SECONDS):
                    await self._sent_all.wait()
        self._closing.set()

    async def run(self) -> None:
        """Keeps the line up until `close()`, or until the server refuses us."""
        keeping = asyncio.create_task(self._keep())
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait({keeping, closing}, return_when=asyncio.FIRST_COMPLETED)
            if keeping.done():
                keeping.result()
        finally:
            for task in (keeping, closing):
                task.cancel()
            await asyncio.gather(keeping, closing, return_exceptions=True)
        if self._state is not LinkState.REFUSED:
            self._enter_finally(LinkChange(LinkState.CLOSED))

    async def _keep(self) -> None:
        tries = 0
        while True:
            await self._enter(LinkChange(LinkState.CONNECTING))
            try:
                await self._visit()
            except _AsksAnew:
                tries = 0
                self._outbox.cut()
                continue
            except _TROUBLE as error:
                disconnect = judge(error, self.url)
            if self._leaving:
                return  # The server closed first, having heard our goodbye.
            tries = 0 if self._state is LinkState.UP else tries + 1
            self._outbox.cut()
            if disconnect.unauthorized and self._token() != self._shown:
                continue  # The server has made a new one meanwhile.
            if disconnect.backoff is None:
                self._enter_finally(LinkChange(LinkState.REFUSED, disconnect.reason))
                return
            wait = disconnect.retry_s
            if wait is None:
                wait = seconds(disconnect.backoff, tries)
            await self._enter(LinkChange(LinkState.WAITING, disconnect.reason, retry_s=wait))
            await asyncio.sleep(wait)

    async def _visit(self) -> NoReturn:
        """One connection, from its beginning to its end, which is always an exception."""
        self._shown = self._token()
        headers = {"Authorization": f"Bearer {self._shown}"} if self._shown else {}
        async with connect(
            self.url,
            additional_headers=headers,
            ssl=self._tls(),
            create_connection=self._connection,
            # Audio does not compress, and a server at home is not behind a proxy.
            compression=None,
            proxy=None,
            max_size=MAX_TEXT_BYTES,
            open_timeout=OPEN_SECONDS,
            close_timeout=GOODBYE_SECONDS,
            # The protocol's own ping sees more: the server's loop is alive, not only its socket.
            ping_interval=None,
        ) as socket:
            await self._enter(LinkChange(LinkState.GREETING))
            self._asks_anew.clear()
            await self._greet(socket)
            reading, writing = self._read(socket), self._write(socket)
            await _until_one_fails(reading, writing, self._watch(), self._other_wishes())

    async def _greet(self, socket: ClientConnection) -> None:
        known = self._session is not None
        last_seq = self._last_seq if known else None
        hello = replace(self._hello, session=self._session, last_seq=last_seq)
        await socket.send(encode(Envelope(hello)))
        try:
            async with asyncio.timeout(WELCOME_SECONDS):
                first = await socket.recv()
        except TimeoutError as error:
            raise NotReady from error
        if isinstance(first, bytes):
            raise NotSayso
        welcome = decode(first).message
        if isinstance(welcome, Error):
            raise ServerSaid(welcome)
        if not isinstance(welcome, Welcome):
            raise NotSayso
        if not SPOKEN.min <= welcome.protocol <= SPOKEN.max:
            raise WrongVersion(
                f"The server speaks version {welcome.protocol} of the protocol, this client "
                f"{SPOKEN.min} to {SPOKEN.max}: update the older one."
            )
        self._heard_at = asyncio.get_running_loop().time()
        await self._enter(self._welcomed(welcome, known=known))

    def _welcomed(self, welcome: Welcome, *, known: bool) -> LinkChange:
        """Takes the session up again, or begins a new one."""
        self._session = welcome.session
        # After a cut, the same conversation goes on, even if the server began anew.
        self._hello = replace(self._hello, conversation=welcome.conversation)
        if known and welcome.resume != "new":
            self._outbox.resume(welcome.last_seq or 0)
            session: Literal["resumed", "snapshot"] = (
                "resumed" if welcome.resume == "ok" else "snapshot"
            )
            return LinkChange(LinkState.UP, session=session, welcome=welcome)
        self._last_seq = 0
        lost = self._outbox.begin_anew()
        if known:
            return LinkChange(LinkState.UP, session="anew", welcome=welcome, lost=lost)
        return LinkChange(LinkState.UP, session="first", welcome=welcome)

    async def _read(self, socket: ClientConnection) -> NoReturn:
        while True:
            data = await socket.recv()
            self._heard_at = asyncio.get_running_loop().time()
            try:
                if isinstance(data, bytes):
                    await self._events.put(unpack(data, max_bytes=MAX_FRAME_BYTES))
                else:
                    await self._receive(decode(data))
            except Invalid as error:
                log.warning("ignored: %s", error.message)

    async def _receive(self, envelope: Envelope) -> None:
        if envelope.seq is not None and envelope.seq <= self._last_seq:
            return  # A replay of what we have.
        match envelope.message:
            case Ping(id=number):
                self.send(Pong(number))
                return
            case Pong() | Unknown():
                return
            case Conversation(id=name):
                self._hello = replace(self._hello, conversation=name)
            case message:
                self._settle(message)
        await self._events.put(envelope)
        # Only now: if the line ends while this waits for the screen, it must come again.
        self._last_seq = envelope.seq or self._last_seq
        match envelope.message:
            case Error(fatal=True) as error:
                raise ServerSaid(error)
            case Bye() as bye:
                raise ServerLeft(bye)

    def _settle(self, message: Message | Unknown) -> None:
        """What was said and need not be said again."""
        match message:
            case AudioAck(stream=stream, samples=samples):
                self._outbox.acknowledge(stream, samples)
            case ListenEnd() as end:
                self._outbox.ended(end)
            case SttFinal():
                self._outbox.understood()
            case Metrics() | Announce(answers=True):
                self._outbox.answered()
            case _:
                pass

    async def _write(self, socket: ClientConnection) -> NoReturn:
        while True:
            frame = self._outbox.take()
            if frame is not None:
                await socket.send(frame)
                continue
            self._sent_all.set()
            self._to_send.clear()
            await self._to_send.wait()

    async def _watch(self) -> NoReturn:
        """Asks when it is quiet, and gives up when nothing comes."""
        loop = asyncio.get_running_loop()
        number = 0
        while True:
            await asyncio.sleep(max(0.0, self._heard_at + QUIET_SECONDS - loop.time()))
            if loop.time() - self._heard_at >= STALLED_SECONDS:
                raise Stalled
            if loop.time() - self._heard_at >= QUIET_SECONDS:
                number += 1
                self.send(Ping(number))
                await asyncio.sleep((STALLED_SECONDS - QUIET_SECONDS) / 2)

    async def _other_wishes(self) -> NoReturn:
        while True:
            await self._asks_anew.wait()
            if not self._leaving:
                raise _AsksAnew
            self._asks_anew.clear()  # Nothing comes after the goodbye.

    def _wake(self) -> None:
        self._sent_all.clear()
        self._to_send.set()

    async def _enter(self, change: LinkChange) -> None:
        self._state = change.state
        await self._events.put(change)

    def _enter_finally(self, change: LinkChange) -> None:
        """The last event gets through even if nobody reads any more."""
        self._state = change.state
        if self._events.full():
            self._events.get_nowait()
        self._events.put_nowait(change)


async def _until_one_fails(*endless: Coroutine[None, None, NoReturn]) -> NoReturn:
    """Runs all of them until one raises, ends the others, and raises it.

    Not a TaskGroup: that one swallows a cancellation that comes while one of its tasks fails.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in endless]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    raise AssertionError("an endless task has ended")

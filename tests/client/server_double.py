"""A small server for the client's tests: real websockets, real codec, scripted answers.

As a program it is something to talk to while there is no other:

    python -m tests.client.server_double [--port 8765] [--code]
"""

import argparse
import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.messages import (
    ApprovalDone,
    ApprovalRequest,
    Approve,
    AudioAck,
    Bye,
    Changes,
    CodeEnd,
    CodeOut,
    CodeStart,
    Command,
    CommandDone,
    FromServer,
    Hello,
    Interrupt,
    ListenCancel,
    ListenStart,
    ListenStop,
    Message,
    Metrics,
    Ping,
    PlayState,
    Pong,
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    SttFinal,
    SttPartial,
    Text,
    TurnState,
    Welcome,
)

RATE = 22_050
AHEAD = RATE * 3 // 10
TOKEN = "t" * 43


def tone(seconds: float) -> bytes:
    """A tone that can be told from silence."""
    step = 2 * math.pi * 440 / RATE
    return array(
        "h", (int(8000 * math.sin(step * n)) for n in range(int(RATE * seconds)))
    ).tobytes()


@dataclass
class Wire:
    """One connection, with the server's side of numbering."""

    socket: ServerConnection
    hello: Hello
    seq: int = 0
    turn: int = 0

    async def say(self, *messages: FromServer) -> None:
        for message in messages:
            self.seq += 1
            await self.socket.send(encode(Envelope(message, self.seq, self.turn, 0)))

    async def hear(self) -> Message | AudioFrame:
        data = await self.socket.recv()
        if isinstance(data, bytes):
            return unpack(data)
        message = decode(data).message
        assert not isinstance(message, str)
        return message  # type: ignore[return-value]


Script = Callable[[Wire], Awaitable[None]]


@dataclass
class Answer:
    """What the scripted conversation says to every question."""

    final: str = "what is two and two"
    reply: str = "Two and two is four."
    seconds: float = 0.5
    code: str = ""
    asks_for: str = ""
    """More reach, asked for instead of running code."""
    output: str = "4\n"
    pictures: tuple[str, ...] = ()
    changes: Changes = field(default_factory=Changes)
    """What the code did to files; `/diff` then has a line to show."""
    whole: str | None = None
    """The id of all that the code put out."""


@dataclass
class Conversation:
    """A whole conversation as a server leads it: hears, answers, runs, speaks."""

    answer: Answer = field(default_factory=Answer)
    heard: list[Message | AudioFrame] = field(default_factory=list)
    streams: int = 0
    samples: int = 0

    async def __call__(self, wire: Wire) -> None:
        inbox: asyncio.Queue[Message | AudioFrame] = asyncio.Queue()
        work: asyncio.Task[None] | None = None
        async with asyncio.TaskGroup() as tasks:
            while True:
                message = await wire.hear()
                self.heard.append(message)
                match message:
                    case ListenStart() | AudioFrame() | ListenCancel():
                        await self.listen(wire, message)
                    case ListenStop() | Text():
                        work = tasks.create_task(self.work(wire, inbox, message))
                    case Interrupt():
                        if work is not None:
                            work.cancel()
                        stopped = SpeechStop(self.streams, "interrupted")
                        await wire.say(stopped, TurnState("idle", "idle", "silent"))
                    case Ping(id=number):
                        await wire.say(Pong(number))
                    case Command(name=name):
                        await wire.say(command_done(name))
                    case Bye():
                        if work is not None:
                            work.cancel()
                        return
                    case _:
                        inbox.put_nowait(message)

    async def listen(self, wire: Wire, message: ListenStart | AudioFrame | ListenCancel) -> None:
        match message:
            case ListenStart():
                self.samples, wire.turn = 0, wire.turn + 1
                await wire.say(TurnState("listening", "idle", "silent"))
            case AudioFrame() as frame:
                self.samples += len(frame.payload) // 2
                words = self.answer.final.split()[: frame.seq // 10 + 1]
                if words and frame.seq % 10 == 9:
                    await wire.say(
                        AudioAck(frame.stream, self.samples),
                        SttPartial(" ".join(words[:-1]), " " + words[-1]),
                    )
            case ListenCancel():
                await wire.say(TurnState("idle", "idle", "silent"))

    async def work(
        self,
        wire: Wire,
        inbox: "asyncio.Queue[Message | AudioFrame]",
        said: ListenStop | Text,
    ) -> None:
        if isinstance(said, Text):
            wire.turn += 1
        else:
            await wire.say(TurnState("committed", "idle", "silent"), SttFinal(self.answer.final))
            if not self.answer.final:
                await wire.say(TurnState("idle", "idle", "silent"))
                return
        await wire.say(TurnState("idle", "thinking", "silent"))
        if self.answer.code:
            await self.run(wire, inbox)
        if self.answer.asks_for:
            await self.reach(wire, inbox)
        self.streams += 1
        for word in self.answer.reply.split(" "):
            await wire.say(ReplyDelta(word + " "))
            await asyncio.sleep(0.02)
        if not wire.hello.wants or "speech.start" in wire.hello.wants:
            await self.speak(wire, inbox)
        await wire.say(
            TurnState("idle", "idle", "silent"),
            Metrics(
                {"final": 80.1, "first_audio_sent": 160.4},
                {"tokens_in": 100, "tokens_out": 10, "usd": 0.0012},
            ),
        )

    async def run(self, wire: Wire, inbox: "asyncio.Queue[Message | AudioFrame]") -> None:
        await wire.say(
            TurnState("idle", "awaiting_approval", "silent"),
            ApprovalRequest(
                "c1", "n1", "python", self.answer.code, "/home/you/sayso",
                ("read and write the workspace", "no network"), 60.0,
            ),
        )  # fmt: skip
        while not isinstance(answer := await inbox.get(), Approve):
            pass
        await wire.say(ApprovalDone("c1", answer.decision, "you"))
        if answer.decision == "no":
            return
        await wire.say(
            TurnState("idle", "acting", "silent"),
            CodeStart("c1", "python", answer.code or self.answer.code),
            CodeOut("c1", "stdout", text=self.answer.output),
            *(CodeOut("c1", "display", "image/png", file=name) for name in self.answer.pictures),
            CodeEnd("c1", "ok", 0.12, changes=self.answer.changes, output=self.answer.whole),
        )

    async def reach(self, wire: Wire, inbox: "asyncio.Queue[Message | AudioFrame]") -> None:
        await wire.say(
            TurnState("idle", "awaiting_approval", "silent"),
            ApprovalRequest(
                "a1", "n2", "access", self.answer.asks_for, "/home/you/sayso",
                ("read the bills", "no network"), 60.0, "access",
                ("Variables are lost.",), "the bill lies there", tap=True,
            ),
        )  # fmt: skip
        while not isinstance(answer := await inbox.get(), Approve):
            pass
        await wire.say(ApprovalDone("a1", answer.decision, "you"))

    async def speak(self, wire: Wire, inbox: "asyncio.Queue[Message | AudioFrame]") -> None:
        stream, pcm = self.streams, tone(self.answer.seconds)
        await wire.say(
            TurnState("idle", "idle", "speaking"), SpeechStart(stream, RATE, self.answer.reply)
        )
        sent = played = count = 0
        total = len(pcm) // 2
        while sent < total:
            while sent < min(total, played + AHEAD):
                size = min(441, total - sent)
                payload = pcm[sent * 2 : (sent + size) * 2]
                frame = AudioFrame(stream, count, sent, payload, sent + size == total)
                await wire.socket.send(frame.pack())
                sent, count = sent + size, count + 1
            if sent < total:
                played = await self.position(inbox, stream)
        await wire.say(SpeechStop(stream, "done", total))
        while played < total:
            played = await self.position(inbox, stream)

    async def position(self, inbox: "asyncio.Queue[Message | AudioFrame]", stream: int) -> int:
        while True:
            message = await inbox.get()
            if isinstance(message, PlayState) and message.stream == stream:
                return message.samples


async def stay(wire: Wire) -> None:
    """Listens and says nothing, until the client has gone."""
    async for _ in wire.socket:
        pass


def command_done(name: str) -> CommandDone:
    """What a server that knows `diff` alone answers."""
    if name == "diff":
        return CommandDone("diff", text="```diff\n+tide: seven\n```")
    return CommandDone(name, ok=False, text=f"There is no /{name}.")


class ServerDouble:
    """Listens on a free port of loopback. Each connection is greeted, then led by `script`."""

    def __init__(self, script: Script | None = None, *, token: str = TOKEN, port: int = 0) -> None:
        self.script: Script = script or Conversation()
        self.hellos: list[Hello] = []
        self.headers: list[Headers] = []
        self.files: dict[str, bytes] = {}
        self.welcome: Callable[[Hello], Welcome] = _welcome
        self._token = token
        self._port = port
        self._server: Server | None = None

    async def __aenter__(self) -> "ServerDouble":
        self._server = await serve(
            self._serve, "127.0.0.1", self._port, process_request=self._check, compression=None
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def start_again(self) -> None:
        """Comes back at the same port."""
        await self.__aenter__()

    def cut(self) -> None:
        """Breaks every connection without a word, as a network does."""
        assert self._server is not None
        for connection in list(self._server.connections):
            connection.transport.abort()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}/ws"

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        self.headers.append(request.headers)
        if request.headers.get("Authorization") != f"Bearer {self._token}":
            return connection.respond(HTTPStatus.UNAUTHORIZED, "no\n")
        if request.path.startswith("/files/"):
            content = self.files.get(request.path.removeprefix("/files/"))
            if content is None:
                return connection.respond(HTTPStatus.NOT_FOUND, "gone\n")
            headers = Headers({"Content-Length": str(len(content)), "Connection": "close"})
            return Response(HTTPStatus.OK.value, "OK", headers, content)
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        hello = decode(await socket.recv()).message
        assert isinstance(hello, Hello)
        self.hellos.append(hello)
        wire = Wire(socket, hello)
        with suppress(ConnectionClosed):
            try:
                await socket.send(encode(Envelope(self.welcome(hello))))
                await self.script(wire)
            except* ConnectionClosed:
                pass


def _welcome(hello: Hello) -> Welcome:
    models = {"ears": "tiny.en", "voice": "joe", "language_model": "scripted"}
    return Welcome(1, "double 1", "s1", models=models)


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--token", default=TOKEN)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--code", default="")
    parser.add_argument("--reply", default=Answer.reply)
    options = parser.parse_args()
    answer = Answer(reply=options.reply, seconds=options.seconds, code=options.code)
    server = ServerDouble(Conversation(answer), token=options.token, port=options.port)
    async with server:
        print(server.url, flush=True)  # noqa: T201 (a program for people)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())


async def hears(wire: Wire, kind: type[Message]) -> Message:
    """Waits for a message of this kind."""
    while not isinstance(message := await wire.hear(), kind):
        pass
    return message

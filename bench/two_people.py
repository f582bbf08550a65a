"""Checks that nothing of one person reaches another at the same server, in turns or at once.

All but model, recogniser and voice is the product's own: the network listener with TLS, paired
devices, conversations, interpreters in the sandbox, files. Each person has a word that stands in
all that they say, keep, draw, send and name; their voices, and those that answer them, lie above
zero for the one and below it for the other. Each also tries to reach what is the other's.
"""

import asyncio
import re
import ssl
import tempfile
from array import array
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from sayso.audio.pcm import FRAME_SAMPLES
from sayso.client.identity.known_server import KnownServer
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, Unknown, decode, encode
from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.version import SPOKEN
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.trust.certificates import identity
from sayso.server.trust.devices import Devices
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.scripted_server import Host
from tests.server.running_server import running_server
from tests.speech_doubles import ToneSynthesizer

WORDS = {"ann": "quince", "bob": "walnut"}
"""Each one's own, which stands nowhere else."""
LIMITS = Limits(requests_a_minute=100_000)
TURN_S = 60.0
"""Longest for one turn on a busy machine."""
CHARACTER_S = 0.002
"""Of speech: the line is what is looked at, and not how it sounds."""
SPOKEN_FRAMES = 20
LOUD = 4_000

KEEP = """
kept = globals().get('kept', []) + [{word!r}]
open('note.txt', 'w').write({word!r})
print({word!r}, len(kept))
"""
LOOK = """
import os
print(globals().get('kept', {word!r}))
for folder in ('.', '..', {others!r}, '/tmp', '/dev/shm'):
    try:
        for name in os.listdir(folder):
            print(name)
            with open(os.path.join(folder, name)) as file:
                print(file.read(200))
    except OSError as problem:
        print(type(problem).__name__)
"""
DRAW = """
from IPython.display import Image, display
display(Image(data=b'\\x89PNG\\r\\n\\x1a\\n' + {word!r}.encode(), format='png'))
"""


def measure(turns: int) -> int:
    """How much of one reached the other, in so many turns of both together."""
    return asyncio.run(_measure(turns))


async def _measure(turns: int) -> int:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-")))
        people = await _at_home(stack, folder)
        await asyncio.gather(*(person.live(turns // len(people)) for person in people))
        ann, bob = people
        return await ann.leaks_from(bob) + await bob.leaks_from(ann)


async def _at_home(stack: AsyncExitStack, folder: Path) -> Sequence["Person"]:
    """A server, and each of the two people with a device of their own."""
    report, kernels = await find_sandbox(), await asyncio.to_thread(ensure, lent_home())
    if report.sandbox is None:
        raise SystemExit(f"There is no sandbox to try, because {report.reason}.")
    server = await stack.enter_async_context(
        running_server(
            folder,
            model=Mind(),
            ears=Ears(),
            voice=Voice(character=CHARACTER_S, takes=0.0),
            code_runner=lambda place, reach, _: CodeRunner(place, kernels, report, reach),
        )
    )
    devices = Devices(folder / "devices.json")
    listener = Listener(Host(server), "unused", LIMITS, devices=devices)
    stack.push_async_callback(listener.close)
    own = identity(folder / "certificates", ())
    port = await listener.open_network("127.0.0.1", 0, own)
    context = KnownServer("", ssl.DER_cert_to_PEM_cert(own.authority), "", "").context()
    people = []
    for name, word in WORDS.items():
        _, token = devices.add(f"{word} phone", name, ("talk", "approve"))
        headers = {"Authorization": f"Bearer {token}"}
        socket = await stack.enter_async_context(
            connect(f"wss://127.0.0.1:{port}/ws", additional_headers=headers, ssl=context)
        )
        people.append(Person(name, socket, folder, port, token, context))
    return people


class Ears:
    """A recogniser that hears whose voice it is."""

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        name = "ann" if _sign(pcm) > 0 else "bob"
        return Transcript(f"{WORDS[name]} spoken by {name}")


class Mind(PlainModel):
    """A language model that does as each request says, and says each one's word again."""

    name = "two minds"

    def says(self, messages: Sequence[ChatMessage]) -> str:
        asked = [str(one["content"]) for one in messages if one["role"] == "user"]
        last = next(text for text in reversed(asked) if re.search("|".join(WORDS.values()), text))
        word = next(word for word in WORDS.values() if word in last)
        code = re.search(r"RUN:(.*):END", asked[-1], re.DOTALL)
        return f"```python\n{code[1].strip()}\n```" if code else f"I hear {word}."


def _sign(pcm: bytes) -> int:
    level = sum(array("h", pcm))
    return (level > 0) - (level < 0)


class Voice(ToneSynthesizer):
    """Speaks what is hers above zero and what is his below."""

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        sound = await super().synthesize(text, speed=speed)
        level = LOUD if WORDS["ann"] in text else -LOUD if WORDS["bob"] in text else 0
        pcm = array("h", [level]) * (len(sound.pcm) // 2)
        return Sound(pcm.tobytes(), sound.rate, sound.words)


class Person:
    """One of the two, at a device that remembers all that it was sent."""

    def __init__(
        self,
        name: str,
        socket: ClientConnection,
        server: Path,
        port: int,
        token: str,
        context: ssl.SSLContext,
    ) -> None:
        self.word = WORDS[name]
        self._sign = 1 if name == "ann" else -1
        self._socket = socket
        self._others = str(server / "workspaces")
        self._port = port
        self._token = token
        self._context = context
        self.conversation = ""
        self.files: list[str] = []
        """Ids of what was drawn."""
        self._texts: list[str] = []
        self._came: Counter[str] = Counter()
        self._caused: Counter[str] = Counter()
        """How many of some kinds this person's own turns lead to."""
        self._sounds: Counter[int] = Counter()
        """Frames of speech by their sign."""
        self._idle = True
        self._changed = asyncio.Event()
        self._streams = count(1)

    async def live(self, turns: int) -> None:
        """So many turns of every kind, one after the other."""
        reading = asyncio.create_task(self._read())
        try:
            await self._say(m.Hello(SPOKEN, "bench 1", self.word))
            await self._until(lambda: self._came["welcome"] == 1)
            kinds = (self._talk, self._keep, self._look, self._draw, self._speak, self._send)
            for number in range(turns):
                await kinds[number % len(kinds)](number)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    # --- turns ---

    async def _talk(self, number: int) -> None:
        await self._turn(m.Text(f"{self.word}, {number}"))

    async def _keep(self, _: int) -> None:
        await self._run(KEEP.format(word=self.word))

    async def _look(self, _: int) -> None:
        await self._run(LOOK.format(word=self.word, others=self._others))

    async def _draw(self, _: int) -> None:
        await self._run(DRAW.format(word=self.word))

    async def _run(self, code: str) -> None:
        self._caused.update(("approval.request", "code.start", "code.end"))
        await self._turn(m.Text(f"{self.word} RUN:{code}:END"))

    async def _speak(self, _: int) -> None:
        self._caused.update(("stt.final",))
        stream, pcm = next(self._streams), array("h", [self._sign * LOUD]) * FRAME_SAMPLES
        await self._say(m.ListenStart("ptt", stream))
        for number in range(SPOKEN_FRAMES):
            frame = AudioFrame(stream, number, number * FRAME_SAMPLES, pcm.tobytes())
            await self._socket.send(frame.pack())
        await self._turn(m.ListenStop(stream, SPOKEN_FRAMES * FRAME_SAMPLES))

    async def _send(self, number: int) -> None:
        self._caused.update(("file.got", "command.done"))
        data = b64encode(self.word.encode()).decode()
        await self._say(m.FilePut(str(number), f"{self.word}.txt", len(self.word), data=data))
        await self._say(m.Command("conversations"))
        await self._until(lambda: self._came >= self._caused)

    async def _turn(self, message: m.FromClient) -> None:
        before = self._came["metrics"]
        self._idle = False
        await self._say(message)
        await self._until(lambda: self._came["metrics"] > before and self._idle)

    # --- the line ---

    async def _say(self, message: m.FromClient) -> None:
        await self._socket.send(encode(Envelope(message)))

    async def _until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(TURN_S):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    async def _read(self) -> None:
        async for data in self._socket:
            if isinstance(data, bytes):
                self._sounds[_sign(unpack(data).payload)] += 1
            else:
                self._texts.append(data)
                await self._take(decode(data).message)
            self._changed.set()

    async def _take(self, message: m.Message | Unknown) -> None:
        if not isinstance(message, Unknown):
            self._came[m.NAMES[type(message)]] += 1
        match message:
            case m.Welcome(conversation=name):
                self.conversation = name
            case m.ApprovalRequest(id=name, nonce=nonce):
                await self._say(m.Approve(name, nonce, "yes"))
            case m.SpeechStop(stream=stream):
                await self._say(m.PlayState(stream, 0, done=True))
            case m.CodeOut(file=str(name)):
                self.files.append(name)
            case m.TurnState():
                self._idle = message == m.TurnState("idle", "idle", "silent")

    # --- what came ---

    async def leaks_from(self, other: "Person") -> int:
        """How much of the other's is here, or can be had from here."""
        own = (f"/files/{self.files[-1]}", f"/files/{self.conversation}/note.txt")
        if not (self._sounds[self._sign] and all([await self._get(path) for path in own])):
            raise SystemExit("What is one's own did not come either: nothing can be said.")
        theirs = [f"/files/{name}" for name in other.files]
        theirs += [f"/files/{other.conversation}/{name}" for name in ("note.txt", ".", "")]
        fetched = sum([await self._get(path) for path in theirs])
        beyond = sum(max(0, self._came[kind] - self._caused[kind]) for kind in self._caused)
        words = sum(other.word in text for text in self._texts)
        return fetched + beyond + words + self._sounds[-self._sign]

    async def _get(self, path: str) -> bool:
        """Whether something is there for this person."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._context)
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self._port}",
            f"Authorization: Bearer {self._token}",
        )
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        async with asyncio.timeout(TURN_S):
            status = (await reader.readline()).split()[1]
        writer.transport.abort()
        return status == b"200"

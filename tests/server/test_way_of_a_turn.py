"""docs/architecture.md names the modules that hand words and sound on, in a turn that is spoken."""

import asyncio
import dataclasses
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from websockets.asyncio.client import ClientConnection, connect

import sayso.server
from sayso.protocol import messages as m
from sayso.protocol.codec import decode
from sayso.protocol.frames import AudioFrame
from sayso.protocol.home import Home, make_token
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.listener import Listener
from tests.gateway.running_gateway import WAIT_S, hear, say
from tests.repository.tree import ROOT
from tests.scripted_server import Host, Scripted
from tests.server.running_server import running_server
from tests.speech_doubles import ScriptedRecognizer, ToneSynthesizer

SERVER = Path(*sayso.server.__path__)
"""Where it is installed: the repository, or the wheel."""
PAGE = (ROOT / "docs" / "architecture.md").read_text()
WAY = set(
    re.findall(r"`(server/[\w/]+\.py)`", PAGE.partition("Module by module")[2].partition("## ")[0])
)
SOUND = bytes((7, 1, 9, 2)) * 160
ASKED = "What does the zanzibar do in the garden?"
ANSWERED = "The quokka is here, and it is well."
DOUBLED = re.compile(
    r"server/(speech/(engines|workers|synthesis/voice_pool|recognition/scheduler)|agent/llm)"
)
"""What computes or asks a model, in whose place this turn has doubles."""


class Trace:
    """Which modules of the server were given the sound or the words, and by which other ones."""

    def __init__(self) -> None:
        self.takers: set[str] = set()
        self.handed: set[tuple[str, str]] = set()

    @contextmanager
    def on(self) -> Iterator[None]:
        sys.setprofile(self._event)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call" or not (module := _module(frame)) or not _is_given(frame):
            return
        self.takers.add(module)
        caller = frame.f_back
        if caller and (by := _module(caller)) and by != module and _is_given(caller):
            self.handed.add((by, module))


def _module(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    named = path.is_relative_to(SERVER)
    return f"server/{path.relative_to(SERVER).as_posix()}" if named else ""


def _is_given(frame: FrameType) -> bool:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(_holds(frame.f_locals.get(name)) for name in names if name != "self")


def _holds(value: object, depth: int = 0) -> bool:
    match value:
        case str():
            return "zanzibar" in value or "quokka" in value
        case bytes():
            return SOUND[:64] in value[:4_000]
        case tuple() | list() if depth < 2:
            return any(_holds(each, depth + 1) for each in value[:20])
    if depth < 2 and dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return any(_holds(getattr(value, each.name, None), depth + 1) for each in fields)
    return False


@pytest.fixture
async def trace(tmp_path: Path) -> Trace:
    """Of a turn that was spoken, answered and heard."""
    trace = Trace()
    home = Home(tmp_path, tmp_path, tmp_path)
    ears, voice = ScriptedRecognizer([ASKED]), ToneSynthesizer()
    async with running_server(tmp_path, model=Scripted(ANSWERED), ears=ears, voice=voice) as server:
        token = make_token(home)
        listener = Listener(Host(server), token)
        port = await listener.open("127.0.0.1", 0)
        right = {"Authorization": f"Bearer {token}"}
        url = f"ws://127.0.0.1:{port}/ws"
        try:
            async with connect(url, additional_headers=right, compression=None) as socket:
                await say(socket, m.Hello(SPOKEN, "test 1"))
                assert isinstance(await hear(socket), m.Welcome)
                with trace.on():
                    await say(socket, m.ListenStart("ptt", 1))
                    for number in range(40):
                        at = number * len(SOUND) // 2
                        await socket.send(AudioFrame(1, number, at, SOUND).pack())
                    await say(socket, m.ListenStop(1, 40 * len(SOUND) // 2))
                    await _heard_to_its_end(socket)
        finally:
            await listener.close()
    return trace


async def _heard_to_its_end(socket: ClientConnection) -> None:
    sounds, is_answered = 0, False
    async with asyncio.timeout(WAIT_S):
        while not (sounds and is_answered):
            received = await socket.recv()
            sounds += isinstance(received, bytes)
            is_answered = is_answered or (
                isinstance(received, str) and isinstance(decode(received).message, m.Metrics)
            )


@pytest.mark.slow
def test_each_module_of_the_way_is_given_the_words_or_the_sound(trace: Trace) -> None:
    assert {module for module in WAY - trace.takers if not DOUBLED.match(module)} == set()


@pytest.mark.slow
def test_no_other_module_hands_them_on_to_one_of_the_way(trace: Trace) -> None:
    assert {by for by, module in trace.handed if module in WAY and by not in WAY} == set()

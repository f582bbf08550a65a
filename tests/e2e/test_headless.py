"""A device without a screen as a whole: a process with pretended pins, and a real sound card."""

import asyncio
import os
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sayso.client.background.companion import MUTE, UNMUTE
from sayso.client.background.service_files import headless_unit
from sayso.client.session.backoff import AWAY_SECONDS
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import ListenStart, ListenStop
from tests.client.programs import give_token
from tests.client.server_double import Answer, Conversation, ServerDouble
from tests.e2e.speech import Voice
from tests.fault_proxy import FaultProxy
from tests.pulse import SoundCard, loudness, write_tone

pytestmark = [pytest.mark.thorough, pytest.mark.sound, pytest.mark.timeout(180)]

SOON = 40.0
"""Seconds for what takes one, on a machine that is busy with other tests."""
BUTTON, LED = 17, 18
SPOKEN, ANSWERED = 1_000, 440
"""Hertz of the person's voice, and of the server double's."""
TROUBLE, READY = 329.6, 659.3
"""The same of the first notes of two earcons."""


class Pi:
    """A running device: its pins, and what it writes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    def down(self) -> None:
        self._tell(f"down {BUTTON}")

    def up(self) -> None:
        self._tell(f"up {BUTTON}")

    async def sees(self, words: str, since: int = 0) -> int:
        """Waits for a line; gives the place behind it."""
        try:
            async with asyncio.timeout(SOON):
                while True:
                    self._news.clear()
                    for place, line in enumerate(self.lines[since:], since):
                        if words in line:
                            return place + 1
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never saw {words!r} in {self.lines[since:]}") from None

    async def close(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        await self._reading

    def _tell(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())

    async def _read(self) -> None:
        assert self.process.stdout
        async for line in self.process.stdout:
            self.lines.append(line.decode().strip())
            self._news.set()


def command(*flags: str) -> list[str]:
    headless = ["talk", "--headless", "--button", f"gpio:{BUTTON}", "--led", f"gpio:{LED}"]
    return [sys.executable, "-m", "tests.client.pi", *headless, *flags]


@asynccontextmanager
async def device(
    *flags: str, environment: Mapping[str, str], program: Sequence[str] = ()
) -> AsyncIterator[Pi]:
    process = await asyncio.create_subprocess_exec(
        *(program or command(*flags)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, **environment},
    )  # fmt: skip
    pi = Pi(process)
    try:
        yield pi
    finally:
        await pi.close()


async def until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while True:
            if await asyncio.to_thread(so):
                return
            await asyncio.sleep(0.2)


async def until_heard(conversation: Conversation, kind: type) -> None:
    await until(lambda: any(isinstance(heard, kind) for heard in conversation.heard))


async def test_a_button_is_held_and_the_answer_is_heard(
    sound_card: SoundCard, tmp_path: Path
) -> None:
    give_token()
    said, heard = tmp_path / "said.wav", tmp_path / "heard.wav"
    write_tone(said, SPOKEN, 1.0)
    conversation = Conversation(Answer(seconds=1.0))
    async with ServerDouble(conversation) as server:
        with sound_card.recording(heard):
            flags = ("--server", server.url)
            async with device(*flags, environment=sound_card.environment) as pi:
                ready = await pi.sees("The server is there.")
                pi.down()
                await until_heard(conversation, ListenStart)
                listening = await pi.sees(f"pin {LED} 1", ready)
                await asyncio.to_thread(sound_card.speak_into_microphone, said)
                pi.up()
                await until_heard(conversation, ListenStop)
                speaking = await pi.sees(f"pin {LED} 0.3", listening)
                await pi.sees(f"pin {LED} 0", speaking)
                assert await asyncio.to_thread(sound_card.listened_to) == 1
                pi.process.send_signal(MUTE)
                muted = await pi.sees("The microphone is closed", speaking)
                await until(lambda: sound_card.listened_to() == 0)
                pi.process.send_signal(UNMUTE)
                await pi.sees("The microphone is open", muted)
                await until(lambda: sound_card.listened_to() == 1)
                pi.process.terminate()
                async with asyncio.timeout(SOON):
                    assert await pi.process.wait() == 0
    frames = [message for message in conversation.heard if isinstance(message, AudioFrame)]
    assert frames
    assert loudness(heard, ANSWERED) > 0.1


async def test_what_goes_wrong_and_right_again_is_told_in_a_sentence_without_a_server(
    sound_card: SoundCard, tmp_path: Path, voice: Voice
) -> None:
    give_token()
    greeting, away, back = (tmp_path / f"{name}.wav" for name in ("greeting", "away", "back"))
    async with ServerDouble(Conversation()) as server:
        flags = ("--server", server.url)
        async with device(*flags, environment=sound_card.environment) as pi:
            with sound_card.recording(greeting) as spoken:
                place = await pi.sees("The server is there.")
                await until(lambda: spoken.over)
            with sound_card.recording(away) as spoken:
                await server.stop()
                place = await pi.sees("No Sayso server answers", place)
                await until(lambda: spoken.over)
            with sound_card.recording(back) as spoken:
                await server.start_again()
                place = await pi.sees("The server is there.", place)
                await until(lambda: spoken.over)
            await asyncio.to_thread(sound_card.unplug)
            place = await pi.sees("microphone", place)
            await asyncio.to_thread(sound_card.plug_in)
            await pi.sees("is in use.", place)
            assert pi.process.returncode is None
    assert "server" in await asyncio.to_thread(voice.words, away)
    assert "server" in await asyncio.to_thread(voice.words, back)


async def test_a_network_that_is_gone_is_told_and_what_was_said_meanwhile_is_answered(
    sound_card: SoundCard, tmp_path: Path
) -> None:
    give_token()
    away, back = tmp_path / "away.wav", tmp_path / "back.wav"
    conversation = Conversation(Answer(seconds=1.0))
    async with ServerDouble(conversation) as server, FaultProxy(iter(())) as proxy:
        proxy.target = urlsplit(server.url).port or 0
        flags = ("--server", f"ws://127.0.0.1:{proxy.port}/ws", "--announce", "earcons")
        async with device(*flags, environment=sound_card.environment) as pi:
            place = await pi.sees("The server is there.")
            with sound_card.recording(away):
                proxy.pull_out()
                place = await pi.sees("does not answer", place)
                await asyncio.sleep(AWAY_SECONDS + 2)  # what it then says takes its time
            pi.down()
            place = await pi.sees(f"pin {LED} 1", place)
            await asyncio.sleep(1)  # what is said
            pi.up()
            with sound_card.recording(back):
                proxy.plug_in()
                place = await pi.sees("The server is there.", place)
                place = await pi.sees(f"pin {LED} 0.3", place)
                await pi.sees(f"pin {LED} 0", place)
    assert loudness(away, TROUBLE) > 0.03
    assert loudness(back, ANSWERED) > 0.1
    assert any(isinstance(heard, ListenStop) for heard in conversation.heard)


async def test_a_power_cut_in_mid_sentence_is_over_when_its_unit_starts_it_again(
    sound_card: SoundCard, tmp_path: Path
) -> None:
    give_token()
    heard = tmp_path / "heard.wav"
    conversation = Conversation(Answer(seconds=1.0))
    async with ServerDouble(conversation) as server:
        unit = headless_unit(
            command("--server", server.url, "--announce", "earcons"), os.environ, "pi"
        )
        rules = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line)
        assert (rules["Restart"], rules["StartLimitIntervalSec"]) == ("always", "0")
        program = [
            word.replace("$$", "$").replace("%%", "%") for word in shlex.split(rules["ExecStart"])
        ]
        async with device(program=program, environment=sound_card.environment) as pi:
            await pi.sees("The server is there.")
            pi.down()
            await until_heard(conversation, ListenStart)
            pi.process.kill()
            await pi.process.wait()
        await asyncio.sleep(float(rules["RestartSec"]))
        with sound_card.recording(heard) as spoken:
            async with device(program=program, environment=sound_card.environment) as pi:
                place = await pi.sees("The server is there.")
                await until(lambda: spoken.over)
                pi.down()
                place = await pi.sees(f"pin {LED} 1", place)
                await asyncio.sleep(1)  # what is said
                pi.up()
                place = await pi.sees(f"pin {LED} 0.3", place)
                await pi.sees(f"pin {LED} 0", place)
    assert loudness(heard, READY) > 0.03
    assert loudness(heard, ANSWERED) > 0.1


async def test_a_device_that_is_not_paired_says_so_and_waits_for_a_pairing(
    sound_card: SoundCard, tmp_path: Path, voice: Voice
) -> None:
    heard = tmp_path / "heard.wav"
    with sound_card.recording(heard) as spoken:
        async with device(environment=sound_card.environment) as pi:
            place = await pi.sees("This device is not paired")
            await until(lambda: spoken.over)
            give_token()
            await pi.sees("No Sayso server answers", place)
    assert "paired" in await asyncio.to_thread(voice.words, heard)

"""A key that talks from anywhere on the desktop: on a real X server, and where there is none."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.client.devices.hotkey import Hotkey, NoHotkey
from sayso.protocol.messages import ListenStart, ListenStop, PlayState
from tests.client.programs import SOON, give_token, window
from tests.client.server_double import Answer, Conversation, ServerDouble
from tests.machine import needed
from tests.pulse import SoundCard, write_tone

PRESS, RELEASE = "press", "release"
KEY = """
import sys
from pynput.keyboard import Controller, Key
getattr(Controller(), sys.argv[1])(Key.f9)
"""


async def test_without_a_desktop_it_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    with pytest.raises(NoHotkey, match="Wayland does not tell"):
        Hotkey("f9", list, list)
    monkeypatch.delenv("WAYLAND_DISPLAY")
    with pytest.raises(NoHotkey, match="There is no desktop here"):
        Hotkey("f9", list, list)
    monkeypatch.setitem(sys.modules, "pynput", None)
    with pytest.raises(NoHotkey, match=r"pip install 'sayso\[hotkey\]'"):
        Hotkey("f9", list, list)


@pytest.fixture
def display() -> Iterator[str]:
    """An X server without a screen."""
    program = needed("Xvfb", "xvfb")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [program, "-displayfd", str(writing), "-nolisten", "tcp"],
        pass_fds=[writing],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def key(display: str, what: str) -> None:
    subprocess.run(
        [sys.executable, "-c", KEY, what], env=os.environ | {"DISPLAY": display}, check=True
    )


@pytest.mark.thorough
@pytest.mark.sound
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "screen"])
async def test_the_key_is_held_elsewhere_on_the_desktop(
    plain: bool, display: str, sound_card: SoundCard, tmp_path: Path
) -> None:
    give_token()
    said = tmp_path / "said.wav"
    write_tone(said, 1_000, 0.5)
    conversation = Conversation(Answer(seconds=0.2))
    environment = sound_card.environment | {"DISPLAY": display, "WAYLAND_DISPLAY": ""}
    flags = ["--plain"] if plain else []
    async with (
        ServerDouble(conversation) as server,
        window(
            "talk", "--server", server.url, "--hotkey", "f9", *flags, environment=environment
        ) as seen,
    ):
        await seen.sees("Hold f9 anywhere" if plain else "hold f9 anywhere")
        await seen.sees("Enter again sends" if plain else "ready")
        await asyncio.to_thread(key, display, PRESS)
        await seen.sees("Listening." if plain else "let go, or space to send")
        await asyncio.to_thread(sound_card.speak_into_microphone, said)
        seen.type("")
        await asyncio.to_thread(key, display, RELEASE)
        await seen.sees("Two and two is four.")
        async with asyncio.timeout(SOON):
            while True:
                if any(isinstance(heard, PlayState) and heard.done for heard in conversation.heard):
                    break
                await asyncio.sleep(0.1)
        seen.type("\x04")
        assert await seen.ends() == 0
    kinds = [type(heard) for heard in conversation.heard]
    assert (kinds.count(ListenStart), kinds.count(ListenStop)) == (1, 1)


@pytest.mark.thorough
async def test_a_key_that_does_not_exist_is_told_before_anything_begins(display: str) -> None:
    async with window(
        "talk", "--hotkey", "hyper", environment={"DISPLAY": display, "WAYLAND_DISPLAY": ""}
    ) as seen:
        await seen.sees("There is no key named hyper")
        assert await seen.ends() == 1

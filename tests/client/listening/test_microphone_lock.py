"""Push-to-talk clients share a microphone; a hands-free client needs it alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from sayso.client.listening.microphone_lock import MicrophoneTaken, claim
from sayso.protocol.home import Home
from tests.client.programs import sayso


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, tmp_path, tmp_path)


def test_a_second_hands_free_client_is_told_what_to_do(home: Home) -> None:
    claim(home, "USB microphone")
    with pytest.raises(MicrophoneTaken, match="--mic"):
        claim(home, "usb Microphone")


def test_another_microphone_is_free(home: Home) -> None:
    claim(home, "USB microphone")
    claim(home, "default")


def test_who_is_gone_leaves_it_free(home: Home, tmp_path: Path) -> None:
    taking = f"""
from pathlib import Path
from sayso.client.listening.microphone_lock import claim
from sayso.protocol.home import Home
claim(Home(*[Path({str(tmp_path)!r})] * 3), "default")
"""
    subprocess.run([sys.executable, "-c", taking], check=True)
    claim(home, "default")


def test_a_home_that_cannot_be_written_keeps_nobody_from_listening(tmp_path: Path) -> None:
    below_a_file = tmp_path / "file" / "home"
    below_a_file.parent.write_bytes(b"")
    claim(Home(below_a_file, below_a_file, below_a_file), "default")


@pytest.mark.needs("libportaudio.so.2", "libportaudio2")
async def test_a_device_without_a_screen_does_not_listen_beside_another_client() -> None:
    claim(Home.find(), "default")
    ended = await sayso("talk", "--headless", "--hands-free")
    assert ended.code != 0
    assert "listens hands-free at this microphone already" in ended.sentence

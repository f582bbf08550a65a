"""The sound card made of software carries sound both ways, through PortAudio as programs use it."""

import os
import subprocess
import sys
import wave
from pathlib import Path

import pytest

from tests.pulse import SoundCard, loudness, write_tone

pytestmark = pytest.mark.sound

PLAY = """
import sys, wave
import numpy
import sounddevice
with wave.open(sys.argv[1]) as file:
    sound = numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16)
    sounddevice.play(sound, file.getframerate(), blocking=True)
"""

RECORD = """
import sys, wave
import sounddevice
with wave.open(sys.argv[1], "wb") as file:
    file.setnchannels(1)
    file.setsampwidth(2)
    file.setframerate(16_000)
    with sounddevice.RawInputStream(16_000, 320, channels=1, dtype="int16") as microphone:
        print("recording", flush=True)
        for _ in range(100):
            file.writeframes(bytes(microphone.read(320)[0]))
"""


def test_what_portaudio_plays_is_heard(sound_card: SoundCard, tmp_path: Path) -> None:
    write_tone(tmp_path / "tone.wav", 440, seconds=0.6)
    with sound_card.recording(tmp_path / "heard.wav"):
        subprocess.run(
            [sys.executable, "-c", PLAY, tmp_path / "tone.wav"],
            env=os.environ | sound_card.environment,
            check=True,
            timeout=30,
        )
    assert loudness(tmp_path / "heard.wav", 440) == pytest.approx(0.5, abs=0.1)
    assert loudness(tmp_path / "heard.wav", 1300) < 0.05


@pytest.mark.slow
def test_what_is_said_into_the_microphone_is_recorded_by_portaudio(
    sound_card: SoundCard, tmp_path: Path
) -> None:
    write_tone(tmp_path / "said.wav", 880, seconds=0.8)
    with subprocess.Popen(
        [sys.executable, "-c", RECORD, tmp_path / "recorded.wav"],
        env=os.environ | sound_card.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as recorder:
        assert recorder.stdout
        assert recorder.stdout.readline() == "recording\n"
        sound_card.speak_into_microphone(tmp_path / "said.wav")
        assert recorder.wait(30) == 0
    with wave.open(str(tmp_path / "recorded.wav")) as file:
        assert file.getnframes() == 32_000
    assert loudness(tmp_path / "recorded.wav", 880) == pytest.approx(0.5, abs=0.1)
    assert loudness(tmp_path / "recorded.wav", 440) < 0.05


def test_programs_see_one_sound_card_as_the_default(sound_card: SoundCard) -> None:
    look = (
        "import sounddevice as s\n"
        "print(s.query_devices(kind='input')['name'], s.query_devices(kind='output')['name'])"
    )
    run = subprocess.run(
        [sys.executable, "-c", look],
        env=os.environ | sound_card.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert run.stdout.split() == ["default", "default"]


def test_a_silent_room_is_recorded_as_silence(sound_card: SoundCard, tmp_path: Path) -> None:
    with sound_card.recording(tmp_path / "heard.wav"):
        write_tone(tmp_path / "nobody plays this.wav", 440, seconds=0.1)
    assert loudness(tmp_path / "heard.wav", 440) == 0.0


def test_a_card_leaves_nothing_behind() -> None:
    with SoundCard() as card:
        folder = Path(card.environment["PULSE_RUNTIME_PATH"])
        assert folder.exists()
    assert not folder.exists()

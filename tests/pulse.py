"""A sound card made of software: a private PulseAudio with a loudspeaker and a microphone.

    with SoundCard() as card:
        with card.recording(heard_wav) as heard:            # what comes out of the loudspeaker
            talking = subprocess.Popen([...], env=os.environ | card.environment)
            card.speak_into_microphone(question_wav)        # returns when it has been played
            while not heard.over: ...                       # an answer, and silence after it
            ...

Programs that get `card.environment` see one sound card, as PortAudio's and ALSA's default device;
whatever they play and record goes through the real sound path. Nothing of the machine's own sound
is touched, and nothing is left behind. Where a part is missing, `missing()` says which.
"""

import array
import contextlib
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

START_S = 20.0
"""How long the daemon may take to start. It takes 50 ms; a busy machine more."""

STOP_S = 5.0
"""How long the daemon and its tools may take to end before they are killed."""

RECORDING_RATE = 16_000
"""Samples per second of recordings: Sayso's own for speech."""

PAUSE_S = 2.0
"""No pause within what is said lasts so long."""

AUDIBLE = 100
"""Of 32768. A loudspeaker of software that plays nothing is silent to the bit."""

_TOOLS = ("pulseaudio", "pactl", "paplay", "parec")

_ALSA = """
pcm.!default { type pulse }
ctl.!default { type pulse }
"""
"""The whole of ALSA's configuration for our programs: one device, which is PulseAudio."""


def missing() -> str:
    """Tell what this machine lacks for a sound card, or nothing."""
    if sys.platform != "linux":
        return "PulseAudio with ALSA is for Linux"
    if lacking := [tool for tool in _TOOLS if not shutil.which(tool)]:
        return f"{', '.join(lacking)} not found: sudo apt install pulseaudio pulseaudio-utils"
    if not any(Path("/usr/lib").glob("**/alsa-lib/libasound_module_pcm_pulse.so")):
        return "ALSA cannot reach PulseAudio: sudo apt install libasound2-plugins"
    return ""


class Recording:
    """What a loudspeaker has played so far."""

    def __init__(self, heard: bytearray) -> None:
        self._heard = heard

    @property
    def over(self) -> bool:
        """Whether something was played, and then nothing for longer than any pause in it."""
        pcm = bytes(self._heard[: len(self._heard) // 2 * 2])
        pause = int(PAUSE_S * RECORDING_RATE) * 2
        return _audible(pcm[:-pause]) and not _audible(pcm[-pause:])


class SoundCard:
    """A loudspeaker that can be listened to, and a microphone that can be spoken into."""

    def __init__(self) -> None:
        # Short, because the path of a UNIX socket may have a hundred characters at most.
        self._folder = Path(tempfile.mkdtemp(prefix="sayso-pulse-", dir="/tmp"))
        self._socket = self._folder / "native"
        self._daemon: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which a program finds this card, and no other."""
        return {
            "ALSA_CONFIG_PATH": str(self._folder / "asound.conf"),
            "PULSE_SERVER": f"unix:{self._socket}",
            "PULSE_RUNTIME_PATH": str(self._folder),
            "PULSE_STATE_PATH": str(self._folder),
            "PULSE_COOKIE": str(self._folder / "cookie"),
            "PULSE_CONFIG_PATH": str(self._folder),
            "PULSE_CLIENTCONFIG": str(self._folder / "client.conf"),
        }

    def __enter__(self) -> Self:
        (self._folder / "asound.conf").write_text(_ALSA)
        (self._folder / "client.conf").write_text("autospawn = no\n")
        self.plug_in()
        return self

    def plug_in(self) -> None:
        """The card is there from now on; also after `unplug`."""
        # Null sinks render two seconds ahead when they may take it back; a sound card does not.
        prompt = "norewinds=yes"
        modules = [
            f"module-native-protocol-unix socket={self._socket} auth-anonymous=1",
            f"module-null-sink sink_name=speaker rate=48000 channels=2 {prompt}",
            f"module-null-sink sink_name=air rate=48000 channels=1 {prompt}",
            "module-remap-source source_name=microphone master=air.monitor",
        ]
        quiet = "-n --daemonize=no --use-pid-file=no --exit-idle-time=-1 --realtime=no"
        command = ["pulseaudio", *quiet.split(), "--high-priority=no", "--log-target=stderr"]
        with (self._folder / "log").open("wb") as log:
            self._daemon = subprocess.Popen(
                [*command, *(f"--load={module}" for module in modules)],
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        try:
            self._wait_until_ready()
            self._pactl("set-default-sink", "speaker")
            self._pactl("set-default-source", "microphone")
        except BaseException:
            self.close()
            raise

    def unplug(self) -> None:
        """The card is gone, as if it had been pulled out."""
        if self._daemon:
            _end(self._daemon)
            self._socket.unlink(missing_ok=True)

    def listened_to(self) -> int:
        """How many programs have the microphone open: what a desktop's own sign shows."""
        (microphone,) = (row[0] for row in self._listed("sources") if row[1] == "microphone")
        return sum(row[1] == microphone for row in self._listed("source-outputs"))

    def _listed(self, what: str) -> list[list[str]]:
        done = subprocess.run(
            ["pactl", "list", "short", what],
            env=self._variables,
            capture_output=True,
            check=True,
            text=True,
            timeout=START_S,
        )
        return [line.split("\t") for line in done.stdout.splitlines()]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the daemon and forget the card."""
        if self._daemon:
            _end(self._daemon)
        shutil.rmtree(self._folder, ignore_errors=True)

    def hear_the_loudspeaker(self, percent: int = 40) -> None:
        """From now on the microphone hears the loudspeaker too, so loud: a device in a room.

        Forty percent of PulseAudio's volume are -24 dB; sixty are -13, eighty -6. PulseAudio would
        adjust the delay as it goes, by many milliseconds a second: in a room it stays.
        """
        air = ["source=speaker.monitor", "sink=air", "latency_msec=30", "adjust_time=0"]
        self._pactl("load-module", "module-loopback", *air)
        inputs = self._listed("sink-inputs")[0]
        self._pactl("set-sink-input-volume", inputs[0], f"{percent}%")

    def speak_into_microphone(self, path: Path) -> None:
        """Play a WAV file into the microphone, as fast as sound is; returns when it was played."""
        with wave.open(str(path)) as file:
            duration_s = file.getnframes() / file.getframerate()
        subprocess.run(
            ["paplay", "--device=air", "--latency-msec=20", str(path)],
            env=self._variables,
            check=True,
            timeout=duration_s + START_S,
        )

    @contextlib.contextmanager
    def recording(self, path: Path) -> Iterator[Recording]:
        """Write what the loudspeaker plays to a WAV file, 16-bit mono, while the block runs."""
        raw = f"--raw --format=s16le --channels=1 --rate={RECORDING_RATE} --latency-msec=20"
        recorder = subprocess.Popen(
            ["parec", "--device=speaker.monitor", *raw.split()],
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            bufsize=0,  # what is there is read, and not waited for until there is more
        )
        assert recorder.stdout
        sound = recorder.stdout
        # A loudspeaker that is silent is recorded as well: the first bytes say that it began.
        heard = bytearray(sound.read(2))

        def collect() -> None:
            while piece := sound.read(RECORDING_RATE):
                heard.extend(piece)

        collecting = threading.Thread(target=collect)
        collecting.start()
        try:
            yield Recording(heard)
        finally:
            _end(recorder)
            collecting.join()
            sound.close()
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RECORDING_RATE)
                file.writeframes(bytes(heard[: len(heard) // 2 * 2]))

    @property
    def _variables(self) -> dict[str, str]:
        return os.environ | self.environment | {"HOME": str(self._folder)}

    def _wait_until_ready(self) -> None:
        assert self._daemon
        deadline = time.monotonic() + START_S
        while not self._pactl("info", check=False):
            if self._daemon.poll() is not None or time.monotonic() > deadline:
                said = (self._folder / "log").read_text(errors="replace")
                raise AssertionError(f"PulseAudio did not start:\n{said}")
            time.sleep(0.02)

    def _pactl(self, *arguments: str, check: bool = True) -> bool:
        done = subprocess.run(
            ["pactl", *arguments],
            env=self._variables,
            capture_output=True,
            check=check,
            timeout=START_S,
        )
        return done.returncode == 0


def loudness(path: Path, frequency: float) -> float:
    """How loud a tone is in a 16-bit mono WAV file: its amplitude (0…1) in the loudest 0.1 s."""
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        samples = array.array("h", file.readframes(file.getnframes()))
    length = rate // 10
    blocks = (samples[start : start + length] for start in range(0, len(samples) - length, length))
    return max((_amplitude(block, frequency / rate) for block in blocks), default=0.0)


def write_tone(path: Path, frequency: float, seconds: float, rate: int = RECORDING_RATE) -> None:
    """Write a tone of half the full amplitude as a 16-bit mono WAV file."""
    step = 2 * math.pi * frequency / rate
    tone = array.array(
        "h", (round(16_384 * math.sin(step * n)) for n in range(int(seconds * rate)))
    )
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(tone.tobytes())


def _audible(pcm: bytes) -> bool:
    return max(array.array("h", pcm), default=0) > AUDIBLE


def _amplitude(block: "array.array[int]", cycles_per_sample: float) -> float:
    step = 2 * math.pi * cycles_per_sample
    real = sum(value * math.cos(step * n) for n, value in enumerate(block))
    imaginary = sum(value * math.sin(step * n) for n, value in enumerate(block))
    return 2 * math.hypot(real, imaginary) / len(block) / 32_768


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

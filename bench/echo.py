"""Compares three echo cancellers in the same rooms: `python -m bench.echo` says why two are used.

`left` is how far below the echo the rest lies while only the device speaks, `over` how far what is
wrong with a person's voice lies below that voice while both speak, `cost` percent of a core.
The far end is noise with the colour and rhythm of speech, so that no model is needed.
WebRTC's filters also shift the voice a little, which counts against it here and not for an ear.
"""

import time
from collections.abc import Callable

import numpy as np

from bench.support.room_acoustics import RATE, ROOMS, Room, Sound, floats, pcm
from sayso.audio.echo import KalmanFilter
from sayso.audio.pcm import FRAME_SAMPLES as FRAME

SECONDS = 30
SETTLED_S = 8
"""What comes before is learning."""
SPEAKS_S, PAUSES_S = 0.5, 2.5
"""A person says a word now and then."""

Cancel = Callable[[Sound, Sound], Sound]
"""Takes a frame of the near and of the far end, gives the near one without the far one."""


def webrtc() -> Cancel:
    from pywebrtc_audio import EchoCanceller

    canceller = EchoCanceller(RATE)

    def cancel(near: Sound, far: Sound) -> Sound:
        near_steps, far_steps = (np.frombuffer(pcm(sound), np.int16) for sound in (near, far))
        return floats(canceller.process(near_steps, far_steps).tobytes())

    return cancel


def kalman() -> Cancel:
    return KalmanFilter().take


def speex() -> Cancel:
    from pyaec import Aec

    canceller = Aec(FRAME, RATE // 5, RATE, False)

    def cancel(near: Sound, far: Sound) -> Sound:
        near_steps, far_steps = (np.frombuffer(pcm(sound), np.int16) for sound in (near, far))
        rest = canceller.cancel_echo(near_steps.tolist(), far_steps.tolist())
        return np.array(rest, np.float64) / 32_768

    return cancel


CANCELLERS = {"WebRTC": webrtc, "Kalman": kalman, "Speex": speex}


def speechlike(seconds: int, seed: int) -> Sound:
    numbers = np.random.default_rng(seed)
    white = numbers.normal(0, 1, seconds * RATE)
    coloured = np.convolve(white, [1, 1.6, 1.4, 0.8, 0.3], "same")
    loud = numbers.choice([0.05, 0.5, 1.0], len(white) // 2_000 + 1)
    sound: Sound = coloured * np.repeat(loud, 2_000)[: len(white)]
    return sound * float(0.1 / np.sqrt(np.mean(sound**2)))


def measure(room: Room, cancel: Cancel) -> tuple[float, float, float]:
    """Gives `left`, `over` (decibels) and `cost` (percent)."""
    far, voice = speechlike(SECONDS, 1), speechlike(SECONDS, 2)
    place = np.arange(len(far)) % int((SPEAKS_S + PAUSES_S) * RATE)
    voice[place > SPEAKS_S * RATE] = 0
    echo = room.echo(far)
    near = echo + voice + room.hiss(len(far))
    began = time.process_time()
    rest = np.concatenate(
        [
            cancel(near[at : at + FRAME], far[at : at + FRAME])
            for at in range(0, len(near) - FRAME + 1, FRAME)
        ]
    )
    cost = 100 * (time.process_time() - began) / SECONDS
    settled = np.arange(len(rest)) > SETTLED_S * RATE
    speaks, alone = settled & (voice != 0), settled & (place > RATE)
    left = _decibels(echo[alone], rest[alone])
    return left, _decibels(voice[speaks], rest[speaks] - voice[speaks]), cost


def _decibels(over: Sound, under: Sound) -> float:
    return float(10 * np.log10(np.mean(over**2) / (np.mean(under**2) + 1e-12)))


def table() -> str:
    lines = [f"{'':26}" + "".join(f"{name:^24}" for name in CANCELLERS)]
    lines.append(f"{'':26}" + f"{'left':>8}{'over':>8}{'cost':>8}" * len(CANCELLERS))
    for room in (*ROOMS, Room(-6, 0.03, 100), Room(-6, 0.25, 0)):
        figures = [figure for make in CANCELLERS.values() for figure in measure(room, make())]
        lines.append(f"{room.name:26}" + "".join(f"{figure:8.1f}" for figure in figures))
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())

"""Checks whether there is speech in a recording, and whether a text covers all of it.

Whisper sometimes stops in the middle, at a pause or because the text that it was given before seems
to say it all. What it leaves out is lost without a trace, unless somebody counts.
"""

from sayso.audio.errors import NotInstalled
from sayso.audio.pcm import FRAME_BYTES
from sayso.audio.voice_gate import VoiceGate
from sayso.server.speech.recognition.hallucinations import plain
from sayso.server.speech.recognition.loudness import FRAME, Samples
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from sayso.server.speech.recognition.voice_activity import VoiceActivity

LEFT_OVER = 0.3
"""Seconds of speech after a pause after the last word that was heard: something was missed."""

PAUSE_BEFORE = 0.5
"""Seconds of that pause. Whisper's times are rough: without a pause, what follows the last word is
the end of that word, and of less than a word it makes some up."""

THIN = 0.8
"""Words for each second of speech. Who speaks slowly says one and a half; fewer means that some are
missing."""

LETTERS_OF_A_WORD = 6
"""For languages that are written without spaces: as many characters count as a word at least."""

ENOUGH = 4.0
"""Seconds of speech from which words are counted: less may be one long "well"."""


VOICED_FRAMES = 2
"""40 ms of a voice for each letter: nobody speaks faster. Piper takes 50 to 160; music that passes
for a voice now and then has less than a text made up of it needs."""


def is_voiced(text: str, samples: Samples) -> bool:
    """Does the detector that knows voices hear as much of one as these words need? True where it is
    not installed."""
    try:
        gate = VoiceGate()
    except NotInstalled:
        return True
    pcm = _pcm(samples)
    frames = (pcm[at : at + FRAME_BYTES] for at in range(0, len(pcm), FRAME_BYTES))
    letters = sum(map(str.isalnum, text))
    return sum(gate.hears(frame) for frame in frames) >= VOICED_FRAMES * letters


def spoken_seconds(samples: Samples) -> float:
    """How much of it is speech."""
    gate = VoiceActivity()
    gate.feed(_pcm(samples))
    return gate.spoken / HEARING_RATE


def spoken_after(samples: Samples, seconds: float) -> float:
    """How much of what follows so many seconds is speech."""
    gate, pcm = VoiceActivity(), _pcm(samples)
    at = 2 * int(seconds * HEARING_RATE)
    gate.feed(pcm[:at])
    before = gate.spoken
    gate.feed(pcm[at:])
    return (gate.spoken - before) / HEARING_RATE


def speaks_again(rest: Samples) -> bool:
    """Is there a pause in what was left over, and speech after it?"""
    gate = VoiceActivity()
    pcm = _pcm(rest)
    before = None
    for at in range(0, len(pcm), 2 * FRAME):
        gate.feed(pcm[at : at + 2 * FRAME])
        if before is None and gate.quiet_for >= PAUSE_BEFORE * HEARING_RATE:
            before = gate.spoken
    return before is not None and gate.spoken - before >= LEFT_OVER * HEARING_RATE


def is_thin(text: str, samples: Samples) -> bool:
    """Are these too few words for so much speech?"""
    words = plain(text).split()
    count = max(len(words), sum(map(len, words)) // LETTERS_OF_A_WORD)
    seconds = len(samples) / HEARING_RATE
    if seconds < ENOUGH or count >= THIN * seconds:
        return False  # the usual case, told without listening
    spoken = spoken_seconds(samples)
    return spoken >= ENOUGH and count < THIN * spoken


def _pcm(samples: Samples) -> bytes:
    return bytes((samples * 32767).astype("<i2").tobytes())

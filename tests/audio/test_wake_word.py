"""The wake word: when it counts as said, and what is handed on."""

from pathlib import Path

import pytest

from sayso.audio.errors import BadSound
from sayso.audio.pcm import FRAME_MS, FRAME_SAMPLES, silence
from sayso.audio.wake_word import (
    CHUNK_BYTES,
    LINGER_FRAMES,
    PAUSE_FRAMES,
    PRE_ROLL_FRAMES,
    SETTLE_FRAMES,
    Spotter,
    WakeWord,
    Woken,
    find_wake_word,
    load,
    wake_words,
)

WORD = WakeWord("hey you", Path("none"))
QUIET = silence(FRAME_SAMPLES)


def speech(number: int) -> bytes:
    """A loud frame that can be told from others."""
    return (8_000 + number).to_bytes(2, "little") * FRAME_SAMPLES


class Model:
    """Is sure once it has been shown so many chunks."""

    def __init__(self, sure_after: int) -> None:
        self.sure_after = sure_after
        self.shown = bytearray()
        self.forgot = 0

    def score(self, chunk: bytes) -> float:
        assert len(chunk) == CHUNK_BYTES
        self.shown += chunk
        return 0.9 if len(self.shown) // CHUNK_BYTES == self.sure_after else 0.1

    def forget(self) -> None:
        self.forgot += 1

    def spotter(self, word: WakeWord = WORD) -> Spotter:
        return Spotter(word, self.score, self.forget)


def play(spotter: Spotter, frames: list[bytes]) -> list[tuple[int, Woken]]:
    """Plays frames; loud ones count as voice. Gives what came at which frame."""
    heard = [(at, spotter.take(frame, voice=frame != QUIET)) for at, frame in enumerate(frames)]
    return [(at, woken) for at, woken in heard if woken]


def test_the_model_is_shown_nothing_while_nobody_speaks() -> None:
    model = Model(1)
    assert play(model.spotter(), [QUIET] * 1_000) == []
    assert not model.shown


def test_the_model_is_shown_what_came_before_the_voice_and_what_comes_just_after() -> None:
    model = Model(10_000)
    voice = [speech(n) for n in range(20)]
    play(model.spotter(), [QUIET] * 100 + voice + [QUIET] * 500)
    before, after = QUIET * PRE_ROLL_FRAMES, QUIET * (LINGER_FRAMES - 1)
    whole = before + b"".join(voice) + after
    assert bytes(model.shown) == whole[: len(whole) // CHUNK_BYTES * CHUNK_BYTES]


def test_a_word_that_a_pause_follows_hands_on_nothing_of_itself() -> None:
    # 25 frames from before, and the 35th frame of the word, are 15 chunks.
    model = Model(15)
    frames = [QUIET] * 60 + [speech(n) for n in range(40)] + [QUIET] * 50
    ((at, woken),) = play(model.spotter(), frames)
    assert woken == Woken(QUIET * PAUSE_FRAMES, goes_on=False)
    assert at == 60 + 40 + PAUSE_FRAMES - 1
    assert model.forgot == 1


def test_a_word_that_is_known_only_after_the_pause_counts_at_once() -> None:
    model = Model(20)
    frames = [QUIET] * 60 + [speech(n) for n in range(40)] + [QUIET] * 50
    ((_, woken),) = play(model.spotter(), frames)
    assert woken == Woken(QUIET * PAUSE_FRAMES, goes_on=False)


def test_when_speech_goes_on_what_followed_the_word_is_handed_on() -> None:
    model = Model(15)
    said = [speech(n) for n in range(120)]
    ((at, woken),) = play(model.spotter(), [QUIET] * 60 + said)
    tail = WORD.tail_ms // FRAME_MS
    assert woken.goes_on
    assert woken.sound == b"".join(said[at - 60 + 1 - tail - SETTLE_FRAMES : at - 60 + 1])
    assert len(woken.sound) < 2 * 16_000, "the protocol takes a second at most"


def test_a_short_command_right_behind_the_word_is_not_taken_for_the_word() -> None:
    """The whole is longer than the word can be, so the pause comes after the command."""
    model = Model(15)
    said = [speech(n) for n in range(WORD.longest_ms // FRAME_MS + 2)]
    ((_, woken),) = play(model.spotter(), [QUIET] * 60 + said + [QUIET] * 50)
    assert woken.goes_on
    assert said[-1] in woken.sound


def test_after_the_word_it_must_be_said_anew() -> None:
    model = Model(15)
    spotter = model.spotter()
    frames = [QUIET] * 60 + [speech(n) for n in range(40)] + [QUIET] * 50
    assert len(play(spotter, frames)) == 1
    assert play(spotter, frames) == []


def test_the_words_are_there_and_found_by_name() -> None:
    assert {"alexa", "hey jarvis", "hey mycroft", "okay nabu"} <= set(wake_words())
    for name in ("hey jarvis", "Hey Jarvis", "hey_jarvis"):
        assert find_wake_word(name).name == "hey jarvis"


def test_a_model_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "my_word.tflite"
    path.write_bytes(find_wake_word("okay nabu").model.read_bytes())
    word = find_wake_word(str(path))
    assert (word.name, word.model) == ("my word", path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("computer", None, "hey jarvis"),
        ("{}/none.tflite", None, "no such file"),
        ("{}/bad.tflite", b"not a model at all", "is no wake-word model"),
    ],
)
def test_what_is_no_word_is_told_in_a_sentence(
    name: str, content: bytes | None, says: str, tmp_path: Path
) -> None:
    wanted = name.format(tmp_path)
    if content:
        Path(wanted).write_bytes(content)
    with pytest.raises(BadSound, match=says):
        find_wake_word(wanted)


def test_the_real_model_knows_silence() -> None:
    spotter = load(find_wake_word("hey jarvis"))
    for _ in range(100):
        assert spotter.take(QUIET, voice=True) is None
    spotter.reset()
    assert spotter.take(QUIET, voice=True) is None

"""When a microphone without a key is listened to."""

from collections.abc import Iterable

import pytest

from sayso.audio.pcm import FRAME_MS, FRAME_SAMPLES, silence
from sayso.audio.playback_reference import Heard
from sayso.audio.wake_word import Woken
from sayso.client.listening.wake_gate import (
    AFTERGLOW_FRAMES,
    FOLLOW_UP_MS,
    OVER_FRAMES,
    PRE_ROLL_FRAMES,
    VOICE_FRAMES,
    WAIT_MS,
    EchoKind,
    Opening,
    WakeGate,
)

QUIET, VOICE, WORD = (bytes([kind, 0]) * FRAME_SAMPLES for kind in range(3))
REST = b"rest" * (FRAME_SAMPLES // 2)
"""What a spotter hands on: a frame."""


class ToldGate:
    def hears(self, frame: bytes) -> bool:
        return frame != QUIET


class ToldSpotter:
    def __init__(self) -> None:
        self.resets = 0

    def take(self, frame: bytes, *, voice: bool) -> Woken | None:
        return Woken(REST, goes_on=False) if frame == WORD and voice else None

    def reset(self) -> None:
        self.resets += 1


class Room:
    """An ear, and what goes on around it."""

    def __init__(
        self, echo: EchoKind = "cancelled", *, word: bool = True, follow_up_ms: int = FOLLOW_UP_MS
    ) -> None:
        self.spotter = ToldSpotter()
        clean = Heard
        self.ear = WakeGate(
            ToldGate(),
            self.spotter if word else None,
            lambda frame: clean(frame, frame),
            echo,
            follow_up_ms,
        )
        self.speaking = self.working = self.asks = False

    def hear(self, frames: Iterable[bytes]) -> list[Opening]:
        openings = []
        for frame in frames:
            sent, opening = self.ear.take(
                frame,
                open_already=False,
                speaking=self.speaking,
                working=self.working,
                asks=self.asks,
            )
            assert sent == b""
            if opening:
                openings.append(opening)
        return openings

    def answer(self) -> None:
        """An answer is spoken, and over."""
        self.speaking = True
        self.hear([QUIET] * 10)
        self.speaking = False


def test_nothing_but_the_wake_word_opens_when_nothing_goes_on() -> None:
    room = Room()
    assert room.hear([VOICE] * 500) == []
    assert room.hear([WORD]) == [Opening("wake word", REST, speaks=False, wait_ms=WAIT_MS)]
    assert room.spotter.resets == 1


def test_without_a_wake_word_any_voice_opens_but_a_click_does_not() -> None:
    room = Room(word=False)
    assert room.hear([VOICE] * (VOICE_FRAMES - 1) + [QUIET] * 50) == []
    (opening,) = room.hear([VOICE] * VOICE_FRAMES)
    assert (opening.why, opening.speaks) == ("voice", True)


def test_what_came_before_stays_here_but_for_half_a_second() -> None:
    room = Room(word=False)
    (opening,) = room.hear([QUIET] * 500 + [VOICE] * VOICE_FRAMES)
    quiet = PRE_ROLL_FRAMES - VOICE_FRAMES
    assert opening.pre_roll == QUIET * quiet + VOICE * VOICE_FRAMES
    assert PRE_ROLL_FRAMES * FRAME_MS == 500


def test_while_somebody_is_listened_to_every_frame_goes_out() -> None:
    room = Room()
    for frame in (QUIET, VOICE, WORD):
        taken = room.ear.take(frame, open_already=True, speaking=False, working=False)
        assert taken == (frame, None)


def test_after_an_answer_a_voice_opens_for_some_seconds() -> None:
    room = Room()
    room.answer()
    assert room.hear([QUIET] * 50) == []
    assert room.ear.inviting
    (opening,) = room.hear([VOICE] * VOICE_FRAMES)
    assert opening.why == "follow-up"
    assert opening.wait_ms == FOLLOW_UP_MS - (50 + VOICE_FRAMES - 1) * FRAME_MS, (
        "a cough ends it not"
    )
    assert not room.ear.inviting


def test_the_invitation_ends() -> None:
    room = Room()
    room.answer()
    room.hear([QUIET] * (FOLLOW_UP_MS // FRAME_MS + 1))
    assert not room.ear.inviting
    assert room.hear([VOICE] * 50) == []


def test_the_invitation_waits_until_the_work_is_done() -> None:
    room = Room()
    room.working = True
    room.answer()
    assert not room.ear.inviting
    room.working = False
    room.hear([QUIET])
    assert room.ear.inviting


def test_while_work_goes_on_a_voice_opens_nothing() -> None:
    room = Room()
    room.answer()
    room.hear([QUIET])
    assert room.ear.inviting
    room.working = True
    assert room.hear([QUIET] + [VOICE] * 500) == []
    assert [o.why for o in room.hear([WORD])] == ["wake word"]


def test_a_question_in_the_middle_of_work_may_be_answered_without_the_word_for_some_seconds() -> (
    None
):
    room = Room()
    room.working = room.asks = True
    room.answer()
    room.hear([QUIET] * 50)
    assert room.ear.inviting
    assert [o.why for o in room.hear([VOICE] * VOICE_FRAMES)] == ["follow-up"]
    assert room.hear([VOICE] * 500) == [], "what was said has not renewed it"


def test_the_invitation_can_be_shortened() -> None:
    room = Room(follow_up_ms=1_000)
    room.answer()
    room.hear([QUIET] * (1_000 // FRAME_MS + 1))
    assert room.hear([VOICE] * 50) == []


def test_without_invitations_the_wake_word_alone_opens() -> None:
    room = Room(follow_up_ms=0)
    room.speaking = True
    assert room.hear([VOICE] * 100) == []
    room.speaking = False
    assert room.hear([QUIET] + [VOICE] * 100) == []
    assert [o.why for o in room.hear([WORD])] == ["wake word"]


@pytest.mark.parametrize("echo", ["cancelled", "headphones"])
def test_a_voice_over_the_answer_opens_where_the_device_cannot_hear_itself(echo: EchoKind) -> None:
    room = Room(echo)
    room.speaking = True
    assert room.hear([VOICE] * (OVER_FRAMES - 1) + [QUIET] * 20) == []
    assert [o.why for o in room.hear([VOICE] * OVER_FRAMES)] == ["over the answer"]


def test_a_device_that_hears_itself_opens_over_the_answer_after_the_wake_word_alone() -> None:
    room = Room("half_duplex")
    room.speaking = True
    assert room.hear([VOICE] * 100) == []
    assert [o.why for o in room.hear([WORD])] == ["wake word"]


def test_a_device_that_hears_itself_waits_until_the_room_is_still() -> None:
    room = Room("half_duplex")
    room.answer()
    assert room.hear([VOICE] * (AFTERGLOW_FRAMES - 1)) == []
    assert [o.why for o in room.hear([VOICE] * VOICE_FRAMES * 2)][:1] == ["follow-up"]


def test_the_gate_and_the_words_may_be_different_sounds() -> None:
    ear = WakeGate(ToldGate(), None, lambda frame: Heard(QUIET, frame), "cancelled")
    for _ in range(100):
        assert ear.take(VOICE, open_already=False, speaking=True, working=False) == (b"", None)
    taken = ear.take(silence(4), open_already=True, speaking=True, working=False)
    assert taken == (silence(4), None)

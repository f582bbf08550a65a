"""Who is speaking: what a press, a release and the server's words lead to."""

import pytest

from sayso.audio.pcm import FRAME_SAMPLES, RATE, silence
from sayso.client.session.turn_state import (
    Drop,
    Effects,
    Finish,
    Hush,
    Open,
    Play,
    Send,
    SendAudio,
    Talker,
)
from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    ApprovalDone,
    ApprovalRequest,
    Conversation,
    Interrupt,
    ListenCancel,
    ListenStart,
    ListenStop,
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    SttFinal,
    Text,
    TurnState,
)

FRAME = silence(FRAME_SAMPLES)


def speech(stream: int, turn: int = 1, gen: int = 0) -> Envelope:
    return Envelope(SpeechStart(stream, 22_050, "words"), 1, turn, gen)


def sound(stream: int) -> AudioFrame:
    return AudioFrame(stream, 0, 0, b"\0\0")


@pytest.fixture
def talker() -> Talker:
    return Talker()


def test_what_is_said_between_press_and_release_is_sent(talker: Talker) -> None:
    assert talker.frame(FRAME) == ()
    assert talker.press(10.0) == (Send(ListenStart("ptt", 1, question="")),)
    assert talker.frame(FRAME) == (SendAudio(1, FRAME),)
    assert talker.frame(FRAME) == (SendAudio(1, FRAME),)
    assert talker.release(10.5) == (Send(ListenStop(1, 2 * FRAME_SAMPLES)),)
    assert talker.frame(FRAME) == ()


def test_a_key_that_repeats_itself_is_pressed_once(talker: Talker) -> None:
    talker.press(10.0)
    assert talker.press(10.4) == ()
    assert talker.press(10.43) == ()


def test_a_release_without_a_press_is_nothing(talker: Talker) -> None:
    assert talker.release(1.0) == ()


def test_each_utterance_has_a_number_of_its_own(talker: Talker) -> None:
    numbers = set()
    for now in range(5):
        (start,) = talker.press(now)
        assert isinstance(start, Send)
        assert isinstance(start.message, ListenStart)
        numbers.add(start.message.stream)
        talker.release(now + 0.5)
    assert len(numbers) == 5


def test_a_tap_is_forgotten(talker: Talker) -> None:
    talker.press(10.0)
    talker.frame(FRAME)
    assert talker.release(10.149) == (Send(ListenCancel(1)),)


def test_150_ms_are_no_tap(talker: Talker) -> None:
    talker.press(10.0)
    assert talker.release(10.151) == (Send(ListenStop(1, 0)),)


def test_a_file_that_is_spoken_in_no_time_is_no_tap(talker: Talker) -> None:
    talker.press(10.0)
    talker.frame(silence(RATE))
    assert talker.release(10.001) == (Send(ListenStop(1, RATE)),)


def test_after_a_minute_the_utterance_ends_by_itself(talker: Talker) -> None:
    talker.press(0.0)
    for _ in range(59):
        talker.frame(silence(RATE))
    before = talker.listening
    assert talker.frame(silence(RATE))[1:] == (Send(ListenStop(1, 60 * RATE)),)
    assert (before, talker.listening) == (True, False)
    assert talker.release(70.0) == ()


def test_a_press_while_the_answer_plays_silences_it_first(talker: Talker) -> None:
    assert talker.hear(speech(7)) == (Open(7, 22_050),)
    assert talker.press(10.0) == (Hush("play.state"), Send(ListenStart("ptt", 1, question="")))
    assert not talker.speaking


def test_what_was_silenced_stays_silent_whatever_still_comes(talker: Talker) -> None:
    talker.hear(speech(7))
    talker.press(10.0)
    talker.release(11.0)
    assert talker.hear_audio(sound(7)) == ()
    assert talker.hear(speech(7)) == ()
    assert talker.hear(Envelope(SpeechStop(7, "done", 500), 1, 1, 0)) == ()
    assert talker.hear(speech(8, 1, 1)) == (Open(8, 22_050),)
    assert talker.hear_audio(sound(8)) == (Play(sound(8)),)


def test_speech_that_was_on_its_way_when_the_key_went_down_is_not_played(talker: Talker) -> None:
    talker.press(10.0)
    assert talker.hear(speech(7)) == ()
    assert talker.hear_audio(sound(7)) == ()


def test_the_stop_key_silences_and_interrupts(talker: Talker) -> None:
    talker.hear(speech(7))
    assert talker.interrupt() == (Hush("interrupt"),)
    assert talker.interrupt() == ()


def test_the_stop_key_stops_silent_work_too(talker: Talker) -> None:
    assert talker.interrupt() == ()
    talker.hear(Envelope(TurnState("idle", "acting", "silent"), 1, 1, 0))
    assert talker.interrupt() == (Send(Interrupt()),)


def test_typed_words_are_as_good_as_spoken_ones(talker: Talker) -> None:
    assert talker.say("hello") == (Send(Text("hello", question="")),)
    talker.hear(speech(7))
    assert talker.say("hello") == (Hush("play.state"), Send(Text("hello", question="")))


def test_a_newer_generation_ends_the_older_speech(talker: Talker) -> None:
    talker.hear(speech(7, turn=3, gen=0))
    newer = Envelope(TurnState("idle", "thinking", "silent"), 2, 3, 1)
    assert talker.hear(newer) == (Drop(7),)
    assert talker.hear_audio(sound(7)) == ()


@pytest.mark.parametrize(
    "message",
    [
        ReplyDelta("old"),
        SpeechStart(9, 22_050, "old"),
        SpeechStop(9, "done", 1),
        ApprovalRequest("a", "n", "python", "1", "/"),
    ],
)
def test_what_belongs_to_an_older_attempt_is_stale(talker: Talker, message: object) -> None:
    talker.hear(Envelope(TurnState("idle", "thinking", "silent"), 1, 3, 1))
    for turn, gen in ((3, 0), (2, 9), (0, 0)):
        assert talker.hear(Envelope(message, 2, turn, gen)) is None  # type: ignore[arg-type]


def test_what_was_understood_is_never_stale(talker: Talker) -> None:
    talker.hear(Envelope(TurnState("idle", "thinking", "silent"), 1, 3, 1))
    assert talker.hear(Envelope(SttFinal("two"), 2, 0, 0)) == ()


def test_the_end_of_speech_is_played_to_its_end_or_dropped(talker: Talker) -> None:
    talker.hear(speech(7))
    assert talker.hear(Envelope(SpeechStop(7, "done", 500), 1, 1, 0)) == (Finish(7, 500),)
    assert talker.hear(Envelope(SpeechStop(7, "failed"), 1, 1, 0)) == (Drop(7),)
    assert talker.hear_audio(sound(7)) == ()


def test_once_an_answer_is_played_a_press_hushes_nothing(talker: Talker) -> None:
    talker.hear(speech(7))
    talker.played(7)
    assert talker.press(10.0) == (Send(ListenStart("ptt", 1, question="")),)


def test_a_server_that_began_anew_may_use_its_numbers_again(talker: Talker) -> None:
    talker.hear(speech(1, turn=5))
    assert talker.begin_anew() == (Drop(1),)
    assert talker.hear(speech(1, turn=1)) == (Open(1, 22_050),)


def asks(question: str, turn: int = 1) -> Envelope:
    return Envelope(ApprovalRequest(question, "n", "python", "…", "/work"), turn=turn, gen=0)


def names(effects: Effects | None) -> list[str | None]:
    """Which question the words are about."""
    kinds = (ListenStart, Text)
    sent = [each.message for each in effects or () if isinstance(each, Send)]
    return [message.question for message in sent if isinstance(message, kinds)]


def test_words_name_the_question_that_stood_when_they_began(talker: Talker) -> None:
    assert names(talker.press(10.0)) == [""]
    talker.release(11.0)
    talker.hear(asks("1"), 20.0)
    assert names(talker.press(20.1)) == [""], "nobody reads it so soon"
    talker.release(21.0)
    assert names(talker.press(21.0)) == ["1"]
    talker.release(22.0)
    talker.hear(asks("2"), 22.0)
    assert talker.question(22.1) == ""
    talker.hear(Envelope(ApprovalDone("1", "no", "phone"), turn=1, gen=0))
    assert talker.question(23.0) == "2"
    talker.hear(Envelope(ApprovalDone("2", "no", "phone"), turn=1, gen=0))
    assert talker.question(24.0) == ""


def test_a_voice_that_began_before_the_question_was_there_is_not_about_it(talker: Talker) -> None:
    talker.hear(asks("1"), 20.0)
    assert names(talker.open(20.8, silence(RATE // 2), 5_000)) == [""]
    talker.cancel()
    assert names(talker.open(21.2, silence(RATE // 2), 5_000)) == ["1"]


def test_typed_words_are_about_nothing_that_they_were_not_begun_over(talker: Talker) -> None:
    talker.hear(asks("1"), 20.0)
    assert names(talker.say("yes")) == [""]
    assert names(talker.say("yes", question=talker.question(21.0))) == ["1"]


@pytest.mark.parametrize(
    "ends",
    [
        Envelope(TurnState("idle", "thinking", "silent"), turn=2, gen=0),
        Envelope(Conversation("taxes", "Taxes"), turn=1, gen=0),
    ],
)
def test_a_question_of_an_older_attempt_stands_no_more(talker: Talker, ends: Envelope) -> None:
    talker.hear(asks("1"), 20.0)
    talker.hear(ends, 21.0)
    assert talker.question(30.0) == ""

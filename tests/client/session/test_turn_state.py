"""The turn state follows presses, releases and the server's messages."""

import pytest

from sayso.audio.pcm import FRAME_SAMPLES, RATE, silence
from sayso.client.session.turn_state import (
    ClientTurn,
    Drop,
    Effects,
    Finish,
    Hush,
    Open,
    Play,
    Send,
    SendAudio,
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
def client_turn() -> ClientTurn:
    return ClientTurn()


def test_what_is_said_between_press_and_release_is_sent(client_turn: ClientTurn) -> None:
    assert client_turn.frame(FRAME) == ()
    assert client_turn.press(10.0) == (Send(ListenStart("ptt", 1, question="")),)
    assert client_turn.frame(FRAME) == (SendAudio(1, FRAME),)
    assert client_turn.frame(FRAME) == (SendAudio(1, FRAME),)
    assert client_turn.release(10.5) == (Send(ListenStop(1, 2 * FRAME_SAMPLES)),)
    assert client_turn.frame(FRAME) == ()


def test_a_key_that_repeats_itself_is_pressed_once(client_turn: ClientTurn) -> None:
    client_turn.press(10.0)
    assert client_turn.press(10.4) == ()
    assert client_turn.press(10.43) == ()


def test_a_release_without_a_press_is_nothing(client_turn: ClientTurn) -> None:
    assert client_turn.release(1.0) == ()


def test_each_utterance_has_a_number_of_its_own(client_turn: ClientTurn) -> None:
    numbers = set()
    for now in range(5):
        (start,) = client_turn.press(now)
        assert isinstance(start, Send)
        assert isinstance(start.message, ListenStart)
        numbers.add(start.message.stream)
        client_turn.release(now + 0.5)
    assert len(numbers) == 5


def test_a_tap_is_forgotten(client_turn: ClientTurn) -> None:
    client_turn.press(10.0)
    client_turn.frame(FRAME)
    assert client_turn.release(10.149) == (Send(ListenCancel(1)),)


def test_150_ms_are_no_tap(client_turn: ClientTurn) -> None:
    client_turn.press(10.0)
    assert client_turn.release(10.151) == (Send(ListenStop(1, 0)),)


def test_a_file_that_is_spoken_in_no_time_is_no_tap(client_turn: ClientTurn) -> None:
    client_turn.press(10.0)
    client_turn.frame(silence(RATE))
    assert client_turn.release(10.001) == (Send(ListenStop(1, RATE)),)


def test_after_a_minute_the_utterance_ends_by_itself(client_turn: ClientTurn) -> None:
    client_turn.press(0.0)
    for _ in range(59):
        client_turn.frame(silence(RATE))
    before = client_turn.listening
    assert client_turn.frame(silence(RATE))[1:] == (Send(ListenStop(1, 60 * RATE)),)
    assert (before, client_turn.listening) == (True, False)
    assert client_turn.release(70.0) == ()


def test_a_press_while_the_answer_plays_silences_it_first(client_turn: ClientTurn) -> None:
    assert client_turn.hear(speech(7)) == (Open(7, 22_050),)
    assert client_turn.press(10.0) == (Hush("play.state"), Send(ListenStart("ptt", 1, question="")))
    assert not client_turn.speaking


def test_what_was_silenced_stays_silent_whatever_still_comes(client_turn: ClientTurn) -> None:
    client_turn.hear(speech(7))
    client_turn.press(10.0)
    client_turn.release(11.0)
    assert client_turn.hear_audio(sound(7)) == ()
    assert client_turn.hear(speech(7)) == ()
    assert client_turn.hear(Envelope(SpeechStop(7, "done", 500), 1, 1, 0)) == ()
    assert client_turn.hear(speech(8, 1, 1)) == (Open(8, 22_050),)
    assert client_turn.hear_audio(sound(8)) == (Play(sound(8)),)


def test_speech_that_was_on_its_way_when_the_key_went_down_is_not_played(
    client_turn: ClientTurn,
) -> None:
    client_turn.press(10.0)
    assert client_turn.hear(speech(7)) == ()
    assert client_turn.hear_audio(sound(7)) == ()


def test_the_stop_key_silences_and_interrupts(client_turn: ClientTurn) -> None:
    client_turn.hear(speech(7))
    assert client_turn.interrupt() == (Hush("interrupt"),)
    assert client_turn.interrupt() == ()


def test_the_stop_key_stops_silent_work_too(client_turn: ClientTurn) -> None:
    assert client_turn.interrupt() == ()
    client_turn.hear(Envelope(TurnState("idle", "acting", "silent"), 1, 1, 0))
    assert client_turn.interrupt() == (Send(Interrupt()),)


def test_typed_words_are_as_good_as_spoken_ones(client_turn: ClientTurn) -> None:
    assert client_turn.say("hello") == (Send(Text("hello", question="")),)
    client_turn.hear(speech(7))
    assert client_turn.say("hello") == (Hush("play.state"), Send(Text("hello", question="")))


def test_a_newer_generation_ends_the_older_speech(client_turn: ClientTurn) -> None:
    client_turn.hear(speech(7, turn=3, gen=0))
    newer = Envelope(TurnState("idle", "thinking", "silent"), 2, 3, 1)
    assert client_turn.hear(newer) == (Drop(7),)
    assert client_turn.hear_audio(sound(7)) == ()


@pytest.mark.parametrize(
    "message",
    [
        ReplyDelta("old"),
        SpeechStart(9, 22_050, "old"),
        SpeechStop(9, "done", 1),
        ApprovalRequest("a", "n", "python", "1", "/"),
    ],
)
def test_what_belongs_to_an_older_attempt_is_stale(
    client_turn: ClientTurn, message: object
) -> None:
    client_turn.hear(Envelope(TurnState("idle", "thinking", "silent"), 1, 3, 1))
    for turn, gen in ((3, 0), (2, 9), (0, 0)):
        assert client_turn.hear(Envelope(message, 2, turn, gen)) is None  # type: ignore[arg-type]


def test_what_was_understood_is_never_stale(client_turn: ClientTurn) -> None:
    client_turn.hear(Envelope(TurnState("idle", "thinking", "silent"), 1, 3, 1))
    assert client_turn.hear(Envelope(SttFinal("two"), 2, 0, 0)) == ()


def test_the_end_of_speech_is_played_to_its_end_or_dropped(client_turn: ClientTurn) -> None:
    client_turn.hear(speech(7))
    assert client_turn.hear(Envelope(SpeechStop(7, "done", 500), 1, 1, 0)) == (Finish(7, 500),)
    assert client_turn.hear(Envelope(SpeechStop(7, "failed"), 1, 1, 0)) == (Drop(7),)
    assert client_turn.hear_audio(sound(7)) == ()


def test_once_an_answer_is_played_a_press_hushes_nothing(client_turn: ClientTurn) -> None:
    client_turn.hear(speech(7))
    client_turn.played(7)
    assert client_turn.press(10.0) == (Send(ListenStart("ptt", 1, question="")),)


def test_a_server_that_began_anew_may_use_its_numbers_again(client_turn: ClientTurn) -> None:
    client_turn.hear(speech(1, turn=5))
    assert client_turn.begin_anew() == (Drop(1),)
    assert client_turn.hear(speech(1, turn=1)) == (Open(1, 22_050),)


def asks(question: str, turn: int = 1) -> Envelope:
    return Envelope(ApprovalRequest(question, "n", "python", "…", "/work"), turn=turn, gen=0)


def names(effects: Effects | None) -> list[str | None]:
    """Which question the words are about."""
    kinds = (ListenStart, Text)
    sent = [each.message for each in effects or () if isinstance(each, Send)]
    return [message.question for message in sent if isinstance(message, kinds)]


def test_words_name_the_question_that_stood_when_they_began(client_turn: ClientTurn) -> None:
    assert names(client_turn.press(10.0)) == [""]
    client_turn.release(11.0)
    client_turn.hear(asks("1"), 20.0)
    assert names(client_turn.press(20.1)) == [""], "nobody reads it so soon"
    client_turn.release(21.0)
    assert names(client_turn.press(21.0)) == ["1"]
    client_turn.release(22.0)
    client_turn.hear(asks("2"), 22.0)
    assert client_turn.question(22.1) == ""
    client_turn.hear(Envelope(ApprovalDone("1", "no", "phone"), turn=1, gen=0))
    assert client_turn.question(23.0) == "2"
    client_turn.hear(Envelope(ApprovalDone("2", "no", "phone"), turn=1, gen=0))
    assert client_turn.question(24.0) == ""


def test_a_voice_that_began_before_the_question_was_there_is_not_about_it(
    client_turn: ClientTurn,
) -> None:
    client_turn.hear(asks("1"), 20.0)
    assert names(client_turn.open(20.8, silence(RATE // 2), 5_000)) == [""]
    client_turn.cancel()
    assert names(client_turn.open(21.2, silence(RATE // 2), 5_000)) == ["1"]


def test_typed_words_are_about_nothing_that_they_were_not_begun_over(
    client_turn: ClientTurn,
) -> None:
    client_turn.hear(asks("1"), 20.0)
    assert names(client_turn.say("yes")) == [""]
    assert names(client_turn.say("yes", question=client_turn.question(21.0))) == ["1"]


@pytest.mark.parametrize(
    "ends",
    [
        Envelope(TurnState("idle", "thinking", "silent"), turn=2, gen=0),
        Envelope(Conversation("taxes", "Taxes"), turn=1, gen=0),
    ],
)
def test_a_question_of_an_older_attempt_stands_no_more(
    client_turn: ClientTurn, ends: Envelope
) -> None:
    client_turn.hear(asks("1"), 20.0)
    client_turn.hear(ends, 21.0)
    assert client_turn.question(30.0) == ""

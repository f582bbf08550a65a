"""The outbox sends in order, and sends again after a cut what did not arrive."""

import pytest

from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES
from sayso.client.session.outbox import MOST_UTTERANCES, MOST_WAITING, Outbox
from sayso.protocol.codec import Envelope, decode
from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.messages import (
    Approve,
    FromClient,
    Interrupt,
    ListenCancel,
    ListenStart,
    ListenStop,
    Ping,
    PlayState,
    Text,
)

START, STOP = ListenStart("ptt", 1), ListenStop(1, 3 * FRAME_SAMPLES + 20)


def pcm(frames: int) -> bytes:
    return b"".join(bytes([n % 250 + 1]) * FRAME_BYTES for n in range(frames))


def drain(outbox: Outbox) -> list[Envelope | AudioFrame]:
    taken: list[Envelope | AudioFrame] = []
    while (data := outbox.take()) is not None:
        taken.append(unpack(data) if isinstance(data, bytes) else decode(data))
    assert outbox.empty
    return taken


def messages(taken: list[Envelope | AudioFrame]) -> list[object]:
    return [t.message for t in taken if isinstance(t, Envelope)]


def frames(taken: list[Envelope | AudioFrame]) -> list[AudioFrame]:
    return [t for t in taken if isinstance(t, AudioFrame)]


@pytest.fixture
def outbox() -> Outbox:
    return Outbox()


def say(outbox: Outbox, *said: FromClient | bytes) -> None:
    for thing in said:
        if isinstance(thing, bytes):
            outbox.put_audio(1, thing)
        else:
            outbox.put(thing)


def test_control_goes_before_a_backlog_of_speech(outbox: Outbox) -> None:
    say(outbox, START, pcm(50), Interrupt())
    assert messages(drain(outbox)[:2]) == [START, Interrupt()]


def test_speech_is_cut_into_numbered_frames_and_the_last_one_says_so(outbox: Outbox) -> None:
    say(outbox, START, pcm(1)[:100], pcm(3)[100:], b"\1" * 40)
    assert [f.seq for f in frames(drain(outbox))] == [0, 1, 2]
    say(outbox, STOP)
    (rest,) = frames(drain(outbox))
    assert (rest.seq, rest.first_sample, len(rest.payload) // 2, rest.last) == (3, 960, 20, True)


def test_seq_grows_for_the_session_and_not_for_the_connection(outbox: Outbox) -> None:
    say(outbox, Text("a"), Ping(1), Text("b"))
    assert [t.seq for t in drain(outbox) if isinstance(t, Envelope)] == [1, None, 2]


def test_after_a_cut_speech_goes_on_from_what_the_server_holds(outbox: Outbox) -> None:
    say(outbox, START, pcm(10))
    sent = frames(drain(outbox))
    outbox.acknowledge(1, 4 * FRAME_SAMPLES)
    outbox.cut()
    say(outbox, pcm(12)[10 * FRAME_BYTES :])
    outbox.resume(last_seq=1)
    again = frames(drain(outbox))
    assert [f.seq for f in again] == list(range(4, 12))
    assert again[:6] == sent[4:]


def test_after_a_cut_only_what_did_not_arrive_is_sent_again_under_its_old_seq(
    outbox: Outbox,
) -> None:
    answer = Approve("a", "n", "yes")
    say(outbox, Text("a"), Text("b"), PlayState(1, 5), answer)
    drain(outbox)
    outbox.cut()
    outbox.resume(last_seq=1)
    again = drain(outbox)
    assert messages(again) == [Text("b"), answer]
    assert [t.seq for t in again if isinstance(t, Envelope)] == [2, 4]


def test_what_was_put_while_the_line_was_away_follows_what_was_lost(outbox: Outbox) -> None:
    say(outbox, Text("a"))
    drain(outbox)
    outbox.cut()
    say(outbox, Text("b"), PlayState(1, 5))
    outbox.cut()
    outbox.resume(last_seq=0)
    assert messages(drain(outbox)) == [Text("a"), Text("b")]


def test_a_second_cut_loses_nothing(outbox: Outbox) -> None:
    say(outbox, Text("a"), Text("b"))
    drain(outbox)
    outbox.resume(last_seq=0)
    outbox.take()
    outbox.cut()
    outbox.resume(last_seq=0)
    assert messages(drain(outbox)) == [Text("a"), Text("b")]


def test_a_question_that_was_answered_is_not_called_lost(outbox: Outbox) -> None:
    for text in ("first", "second"):
        outbox.put(Text(text))
        drain(outbox)
    outbox.answered()
    assert outbox.begin_anew() == (Text("second"),)


def test_to_a_server_that_began_anew_everything_is_said_again(outbox: Outbox) -> None:
    say(outbox, START, pcm(3), b"\1" * 40, STOP, Text("question"))
    sent = frames(drain(outbox))
    outbox.acknowledge(1, STOP.samples)
    outbox.cut()
    say(outbox, Text("later"))
    assert outbox.begin_anew() == (Text("question"),)
    again = drain(outbox)
    assert messages(again) == [START, STOP, Text("later")]
    assert frames(again) == sent
    assert [t.seq for t in again if isinstance(t, Envelope)] == [1, 2, 3]


def test_what_was_understood_is_not_said_again(outbox: Outbox) -> None:
    say(outbox, START, pcm(3), STOP)
    drain(outbox)
    outbox.acknowledge(START.stream, STOP.samples)
    outbox.understood()
    outbox.begin_anew()
    assert drain(outbox) == []


def test_what_is_still_being_said_is_kept_when_something_else_was_understood(
    outbox: Outbox,
) -> None:
    say(outbox, START, pcm(3))
    drain(outbox)
    outbox.acknowledge(START.stream, STOP.samples)
    outbox.understood()
    outbox.begin_anew()
    assert len(frames(drain(outbox))) == 3


def test_a_cancelled_utterance_is_forgotten(outbox: Outbox) -> None:
    say(outbox, START, pcm(3), ListenCancel(1), pcm(3))
    assert frames(drain(outbox)) == []
    outbox.begin_anew()
    assert drain(outbox) == []


def test_messages_that_wait_are_bounded_and_those_about_the_moment_give_way(
    outbox: Outbox,
) -> None:
    say(outbox, Text("first"))
    for number in range(3 * MOST_WAITING):
        say(outbox, PlayState(1, number))
    taken = messages(drain(outbox))
    assert len(taken) == MOST_WAITING
    assert taken[0] == Text("first")
    assert taken[-1] == PlayState(1, 3 * MOST_WAITING - 1)


def test_what_the_server_does_not_hold_is_never_pushed_out_before_what_it_holds(
    outbox: Outbox,
) -> None:
    for stream in range(1, MOST_UTTERANCES + 1):
        say(outbox, ListenStart("ptt", stream))
        outbox.put_audio(stream, bytes(FRAME_BYTES))
        say(outbox, ListenStop(stream, FRAME_SAMPLES))
    before = outbox.full
    outbox.acknowledge(3, FRAME_SAMPLES)
    assert (before, outbox.full) == (True, False)
    say(outbox, ListenStart("ptt", 99))
    outbox.begin_anew()
    kept = [frame.stream for frame in frames(drain(outbox))]
    assert kept == [1, 2, *range(4, MOST_UTTERANCES + 1)]

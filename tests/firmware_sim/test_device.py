"""The device's program on the workbench: what a person presses, says and hears, and what breaks."""

import pytest

from sayso.firmware_sim.hardware.memory import CAPTURE_BYTES, MemoryExceeded
from sayso.protocol import messages as m
from tests.firmware_sim.bench_of_wires import Bench


@pytest.fixture
def bench() -> Bench:
    ready = Bench()
    ready.joins()
    return ready


def says(bench: Bench, seconds: float) -> None:
    bench.level = True
    bench.passes(0.04)
    bench.passes(seconds)
    bench.level = False
    bench.passes(0.06)


def test_it_declares_every_buffer_that_it_has(bench: Bench) -> None:
    (hello,) = bench.all(m.Hello)
    assert isinstance(hello, m.Hello)
    assert (hello.limits.max_text_bytes, hello.limits.max_frame_bytes) == (4_096, 1_024)
    assert hello.limits.play_buffer_ms * 24_000 * 2 / 1_000 <= 16_384
    assert hello.audio.echo == "half_duplex"


def test_what_is_said_while_the_button_is_held_is_sent_as_it_is_said(bench: Bench) -> None:
    bench.level = True
    bench.passes(0.5)
    assert bench.state == "listening"
    assert len(bench.frames) >= 22
    bench.level = False
    bench.passes(0.06)

    (stop,) = bench.all(m.ListenStop)
    assert isinstance(stop, m.ListenStop)
    assert sum(len(frame.payload) for frame in bench.frames) == 2 * stop.samples
    assert bench.frames[-1].last or bench.frames[-1].first_sample + 320 == stop.samples
    assert bench.state == "thinking"


def test_contacts_that_bounce_are_one_press(bench: Bench) -> None:
    for level in (True, False, True, False, True):
        bench.now += 0.002
        bench.device.level(level, bench.now)
    bench.level = True
    bench.passes(0.3)

    assert len(bench.all(m.ListenStart)) == 1


def test_a_tap_is_forgotten_at_once(bench: Bench) -> None:
    says(bench, 0.05)

    assert len(bench.all(m.ListenStop)) == 1
    assert bench.state == "ready"


def test_held_from_power_on_for_long_it_becomes_factory_fresh() -> None:
    bench = Bench()
    bench.level = True
    bench.passes(5.9)
    before = bench.erased
    bench.passes(0.2)
    assert (before, bench.erased) == (0, 1)


def test_a_long_sentence_does_not_make_it_factory_fresh(bench: Bench) -> None:
    bench.passes(0.1)
    says(bench, 20.0)
    assert not bench.erased


def test_an_answer_is_played_and_reported_to_its_end(bench: Bench) -> None:
    bench.tells(m.TurnState("idle", "thinking", "speaking"), turn=1)
    bench.tells(m.SpeechStart(1, 16_000, "Hello."), turn=1)
    for first in range(0, 4_800, 480):
        bench.plays(1, first, 480)
    bench.tells(m.SpeechStop(1, "done", 4_800), turn=1)
    bench.tells(m.TurnState("idle", "idle", "speaking"), turn=1)
    assert bench.state == "speaking"
    bench.passes(0.4)

    reports = [r for r in bench.all(m.PlayState) if isinstance(r, m.PlayState)]
    assert len(reports) >= 3
    assert reports[-1] == m.PlayState(1, 4_800, done=True)
    assert bench.state == "ready"


def test_a_press_over_the_answer_silences_it_and_says_how_far_it_was_heard(bench: Bench) -> None:
    bench.tells(m.SpeechStart(1, 16_000, "Hello."), turn=1)
    bench.plays(1, 0, 480)
    bench.passes(0.02)
    bench.level = True
    bench.passes(0.1)

    assert bench.all(m.PlayState)[-1] == m.PlayState(1, 480)
    assert not bench.device.plays
    bench.plays(1, 480, 480)
    bench.level = False
    bench.passes(0.1)
    assert bench.state != "speaking"


def test_an_old_answer_is_never_played(bench: Bench) -> None:
    bench.tells(m.SpeechStart(1, 16_000, "Old."), turn=1)
    bench.plays(1, 0, 480)
    bench.tells(m.TurnState("idle", "thinking", "silent"), turn=2)
    assert not bench.device.plays

    bench.tells(m.SpeechStart(1, 16_000, "older still"), turn=1)
    bench.plays(1, 480, 480)

    assert not bench.device.plays


def test_after_a_cut_what_is_not_safe_is_sent_again_under_its_old_numbers(bench: Bench) -> None:
    bench.level = True
    bench.passes(0.44)
    sent = len(bench.frames)
    bench.tells(m.AudioAck(1, 3_200))
    bench.loses_line()
    bench.passes(0.2)
    bench.level = False
    bench.passes(0.06)
    assert len(bench.frames) == sent
    bench.joins(session="one", resume="ok", last_seq=1)
    bench.passes(0.1)

    again = bench.frames[sent:]
    assert (again[0].first_sample, again[0].seq) == (3_200, 10)
    (stop,) = bench.all(m.ListenStop)
    assert isinstance(stop, m.ListenStop)
    assert again[-1].first_sample + len(again[-1].payload) // 2 == stop.samples
    assert len(bench.all(m.ListenStart)) == 1


def test_a_session_that_is_gone_gets_the_whole_utterance_anew(bench: Bench) -> None:
    bench.level = True
    bench.passes(0.3)
    bench.loses_line()
    bench.joins(session="two")
    bench.passes(0.1)

    assert len(bench.all(m.ListenStart)) == 2
    firsts = [frame.first_sample for frame in bench.frames]
    assert firsts.count(0) == 2


def test_half_an_utterance_is_never_acted_on(bench: Bench) -> None:
    bench.level = True
    bench.passes(0.44)
    bench.tells(m.AudioAck(1, 3_200))
    bench.loses_line()
    bench.level = False
    bench.passes(0.06)
    bench.joins(session="two")

    assert bench.state == "trouble"
    assert "again" in bench.device.trouble
    assert len(bench.all(m.ListenStart)) == 1


def test_three_seconds_are_kept_without_a_line_and_more_is_told(bench: Bench) -> None:
    bench.level = True
    bench.passes(0.1)
    bench.loses_line()
    bench.passes(2.8)
    assert bench.state == "listening"

    bench.passes(0.5)

    assert bench.state == "overflowing"
    assert bench.device.diary.overflows == 1
    assert CAPTURE_BYTES - 640 < bench.device.most_capture_bytes <= CAPTURE_BYTES


def test_it_calls_again_at_once_and_then_ever_later(bench: Bench) -> None:
    calls = bench.calls
    waits = []
    for _ in range(6):
        bench.loses_line()
        began = bench.now
        while bench.calls == calls:
            bench.passes(0.02)
        calls = bench.calls
        waits.append(round(bench.now - began))
    assert waits == [0, 1, 2, 5, 10, 10]


def test_a_silent_server_is_asked_and_then_given_up(bench: Bench) -> None:
    bench.passes(3.2)
    assert len(bench.all(m.Ping)) == 1
    bench.passes(4)
    assert bench.hang_ups == 1
    assert bench.state == "connecting"


def test_more_than_was_declared_fails_the_run(bench: Bench) -> None:
    bench.tells(m.SpeechStart(1, 16_000, "Long."), turn=1)
    for first in range(0, 7_680, 480):
        bench.plays(1, first, 480)
    bench.plays(1, 7_680, 256)
    bench.plays(1, 7_936, 256)
    with pytest.raises(MemoryExceeded):
        bench.plays(1, 8_192, 1)


def test_a_message_that_does_not_fit_the_buffer_fails_the_run(bench: Bench) -> None:
    with pytest.raises(MemoryExceeded):
        bench.tells(m.Announce("x" * 5_000))


@pytest.mark.parametrize("data", ["", "{", "[]", '{"t":"welcome"}', '{"t":"from the future"}'])
def test_garbage_from_the_server_is_survived(bench: Bench, data: str) -> None:
    bench.device.received_text(data, bench.now)
    bench.device.received_sound(data.encode(), bench.now)
    says(bench, 0.4)

    assert len(bench.all(m.ListenStop)) == 1

"""A whole board, from power on to the answer and through all that breaks, in virtual time."""

import asyncio
from pathlib import Path

import pytest

from sayso.firmware_sim.faults import parse
from sayso.firmware_sim.fleet import Fleet, run_fleet
from sayso.firmware_sim.hardware.board import Board, Unit
from sayso.firmware_sim.hardware.clock_drift import SampleClock
from sayso.firmware_sim.hardware.led import LIGHTS, State
from sayso.firmware_sim.hardware.memory import CAPTURE_BYTES, PLAY_BYTES
from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.hardware.watchdog import WATCHDOG_S
from sayso.firmware_sim.program.device import Device
from sayso.firmware_sim.scene import Report, Scene
from sayso.protocol import messages as m
from tests.firmware_sim.air import Air

pytestmark = pytest.mark.virtual_time

STORED = Stored(name="lamp", server="ws://server/ws", token="t" * 43)
QUESTION = Scene(b"\2\0" * 32_000)
"""Two seconds."""


class Loudspeaker:
    """Keeps what is played, pauses left out."""

    def __init__(self) -> None:
        self.sound = bytearray()

    def append(self, pcm: bytes, rate: int) -> None:
        self.sound += pcm.replace(b"\0\0", b"")


class Light:
    """Remembers when the device's state changed."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, State]] = []

    def watch(self, elapsed: float, device: Device) -> None:
        if not self.seen or self.seen[-1][1] != device.state:
            assert device.light == LIGHTS[device.state]
            self.seen.append((elapsed, device.state))

    @property
    def states(self) -> list[State]:
        return [state for _, state in self.seen]


async def run(air: Air, fault: str = "", scene: Scene = QUESTION, limit_s: float = 60) -> Report:
    board = Board(STORED, scene, faults=parse(fault), radio=air.radio)
    return await board.run(limit_s)


async def test_a_question_is_asked_and_its_whole_answer_heard() -> None:
    air, speaker, light = Air(), Loudspeaker(), Light()
    board = Board(STORED, QUESTION, radio=air.radio, speaker=speaker, watch=light.watch)
    report = await board.run(60)

    assert (report.heard, report.answers, report.gaps) == (["what was asked"], 1, 0)
    assert air.utterances == [report.captured_samples] == [report.acknowledged_samples]
    assert len(speaker.sound) == 2 * 32_000
    assert light.states == ["connecting", "ready", "listening", "thinking", "speaking", "ready"]


async def test_a_run_of_which_nothing_was_understood_is_over_and_unanswered() -> None:
    report = await Board(STORED, QUESTION, radio=Air(understands="").radio).run(60)

    assert (report.heard, report.answers) == ([""], 0)
    assert asyncio.get_running_loop().time() < 10


async def test_a_line_that_drops_in_mid_sentence_loses_nothing() -> None:
    air = Air()
    report = await run(air, "drop@0.7s, drop@1.2s, drop@1.6s")

    assert (report.cuts, report.answers) == (3, 1)
    assert air.utterances == [report.captured_samples]
    assert [hello.session for hello in air.hellos] == [None, "1", "1", "1"]


async def test_a_line_that_drops_in_the_answer_plays_nothing_stale() -> None:
    air, speaker = Air(answer_s=4.0), Loudspeaker()
    board = Board(STORED, QUESTION, faults=parse("drop@4s"), radio=air.radio, speaker=speaker)
    report = await board.run(10)

    # The server of this test does not take the answer up again, so the rest of it stays unheard.
    assert report.cuts == 1
    assert 0 < len(speaker.sound) < 2 * 24_000
    assert report.gaps == 0


@pytest.mark.parametrize("away_s", [1.5, 2.4])
async def test_what_is_said_while_the_server_is_away_is_kept_for_three_seconds(
    away_s: float,
) -> None:
    air, seen = Air(), Light()

    def watch(elapsed: float, device: Device) -> None:
        air.reachable = not 0.2 < elapsed < 0.3 + away_s
        seen.watch(elapsed, device)

    board = Board(STORED, QUESTION, faults=parse("drop@0.3s"), radio=air.radio, watch=watch)
    report = await board.run(60)

    assert (report.overflows, report.answers) == (0, 1)
    assert air.utterances == [report.captured_samples]
    assert report.most_capture_bytes <= CAPTURE_BYTES


async def test_more_than_that_is_told_by_the_light_and_what_was_kept_is_heard() -> None:
    air, light = Air(), Light()

    def watch(elapsed: float, device: Device) -> None:
        air.reachable = not 0.2 < elapsed < 7
        light.watch(elapsed, device)

    scene = Scene(b"\2\0" * 80_000)
    board = Board(STORED, scene, faults=parse("drop@0.3s"), radio=air.radio, watch=watch)
    report = await board.run(60)

    assert report.overflows == 1
    assert "overflowing" in light.states
    assert 48_000 <= air.utterances[0] < 80_000


@pytest.mark.parametrize(
    ("state", "stalls_at"),
    [("connecting", 0.0), ("listening", 1.0), ("thinking", 2.5), ("speaking", 4.0)],
)
async def test_a_hang_in_any_state_ends_in_a_reboot_within_ten_seconds(
    state: State, stalls_at: float
) -> None:
    air = Air()
    before: list[tuple[float, State]] = []

    def watch(elapsed: float, device: Device) -> None:
        if not report.reboots:
            before.append((elapsed, device.state))

    fault = parse(f"stall@{stalls_at}s")
    board = Board(STORED, QUESTION, faults=fault, radio=air.radio, watch=watch)
    report = board.report
    await board.run(60)

    last, hung = before[-1]
    assert hung == state
    assert last - stalls_at < WATCHDOG_S + 0.5 < 10
    assert (report.watchdog_bites, report.reboots, report.answers) == (1, 1, 1)


async def test_a_server_that_takes_calls_and_is_silent_is_called_again() -> None:
    air = Air(answers_calls=False)
    light = Light()

    def watch(elapsed: float, device: Device) -> None:
        air.answers_calls = elapsed > 12
        light.watch(elapsed, device)

    report = await Board(STORED, QUESTION, radio=air.radio, watch=watch).run(60)

    assert report.answers == 1
    assert report.reboots == 0


@pytest.mark.parametrize(
    ("refusal", "protocol", "words"),
    [
        (m.Error("unauthorized", "This device was turned out.", True), 1, "was turned out"),
        (m.Error("version_mismatch", "Update the client.", True), 1, "Update the client"),
        (None, 9, "speaks version 9 of the protocol, this device 1: update the older"),
    ],
)
async def test_a_device_that_may_not_come_in_shows_it_and_does_not_hammer_the_server(
    refusal: m.Error | None, protocol: int, words: str
) -> None:
    air = Air(refusal=refusal, protocol=protocol)
    troubles: list[str] = []

    def watch(elapsed: float, device: Device) -> None:
        if device.state == "trouble":
            troubles.append(device.trouble)
        if elapsed > 70:
            air.refusal, air.protocol = None, 1

    report = await Board(STORED, QUESTION, radio=air.radio, watch=watch).run(150)

    assert all(words in trouble for trouble in troubles)
    assert troubles
    assert len(air.hellos) == 3
    assert report.answers == 1


async def test_a_reboot_forgets_the_session_and_the_question_is_asked_anew() -> None:
    air = Air()
    report = await run(air, "reboot@1.5s")

    assert (report.reboots, report.watchdog_bites, report.answers) == (1, 0, 1)
    assert [hello.session for hello in air.hellos] == [None, None]
    assert len(air.utterances) == 1


async def test_somebody_who_leans_on_the_button_makes_it_factory_fresh(tmp_path: Path) -> None:
    nvs = Nvs(tmp_path / "flash")
    nvs.save(STORED)
    board = Board(STORED, Scene(), faults=parse("hold@1s"), radio=Air().radio, nvs=nvs)
    report = await board.run(30)

    assert report.erased
    assert not nvs.load().is_set_up


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000])
@pytest.mark.parametrize("ppm", [-200, 200])
async def test_an_answer_of_any_rate_fits_and_has_no_gap_whichever_way_the_quartz_errs(
    rate: int, ppm: int
) -> None:
    air = Air(answer_s=10.0, rate=rate)
    report = await Board(STORED, QUESTION, radio=air.radio, unit=Unit(ppm=ppm)).run(60)

    assert (report.answers, report.gaps, report.failure) == (1, 0, "")
    assert report.most_play_bytes <= PLAY_BYTES


@pytest.mark.thorough
@pytest.mark.virtual_time(limit_s=7_200)
@pytest.mark.parametrize("ppm", [-200, 200])
async def test_an_hour_of_answer_has_no_gap_whichever_way_the_quartz_errs(ppm: int) -> None:
    air = Air(answer_s=3_600.0, rate=8_000)
    report = await Board(STORED, QUESTION, radio=air.radio, unit=Unit(ppm=ppm)).run(3_700)

    assert (report.answers, report.gaps, report.failure) == (1, 0, "")
    assert report.most_play_bytes <= PLAY_BYTES


@pytest.mark.parametrize("ppm", [-200.0, 200.0])
def test_a_quartz_errs_by_so_much_in_an_hour_and_not_more(ppm: float) -> None:
    quartz, now, pieces = SampleClock(0.0, ppm), 0.0, 0
    while now < 3_600:
        now = quartz.next(now)
        pieces += 1
    assert pieces * 0.02 == pytest.approx(3_600 * (1 + ppm / 1e6), abs=0.05)


def test_a_host_that_is_late_is_caught_up_and_one_that_slept_is_not() -> None:
    quartz = SampleClock(0.0)
    assert quartz.next(0.3) == pytest.approx(0.02)
    assert quartz.next(0.3) == pytest.approx(0.04)
    assert quartz.next(60.0) == 60.0


async def test_a_fleet_joins_and_those_who_talk_are_answered_where_they_want() -> None:
    air = Air()
    fleet = Fleet(12, 3, QUESTION.say, 60.0, ("kitchen", "study"))
    result = await run_fleet(STORED, fleet, radio=air.radio)

    assert result.is_good, result.summary
    assert (result.connected, result.answered, result.lost_samples) == (12, 3, 0)
    assert result.control_p95_ms < 50
    wanted = sorted(hello.conversation for hello in air.hellos)
    assert wanted == [""] * 9 + ["kitchen", "kitchen", "study"]


async def test_a_fleet_tells_why_devices_were_turned_away() -> None:
    refusal = m.Error("too_many", "This device is connected twice already.", retry_ms=5_000)
    result = await run_fleet(
        STORED, Fleet(3, 1, QUESTION.say, 8.0), radio=Air(refusal=refusal).radio
    )

    assert not result.is_good
    assert "3 did not come in: This device is connected twice already." in result.summary


async def test_a_fleet_that_nobody_answers_is_no_good() -> None:
    result = await run_fleet(
        STORED, Fleet(3, 1, QUESTION.say, 8.0), radio=Air(reachable=False).radio
    )

    assert not result.is_good
    assert "0 of 3 devices connected" in result.summary

"""What `scripts/bench trust` measures holds at a tenth of its size as well."""

import asyncio

import pytest

from bench import cuts, kills, many_clients, slow_reader, soak, two_people
from bench.support import hostile_clients
from bench.support.figures import in_fresh_process

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]


def test_after_many_cuts_nothing_is_lost_or_doubled_or_done_twice() -> None:
    toll, _ = cuts.measure(300)
    assert toll.cuts >= 300
    assert (toll.lost, toll.doubled, toll.rerun, toll.misplaced, toll.anew) == (0, 0, 0, 0, 0)


def test_whoever_means_harm_is_sent_away_from_a_server_that_is_well() -> None:
    survived = hostile_clients.measure(messages=100_000)
    assert len(survived) > 30
    assert [name for name, well in survived.items() if not well] == []


def test_a_crowd_costs_little_and_keeps_nobody_waiting() -> None:
    # Generous: the machine that tests may do other things at the same time.
    assert in_fresh_process(many_clients.idle_kib, 100) < 60
    assert asyncio.run(many_clients.turn_ratio(100, turns=6)) < 8


def test_a_client_that_never_reads_is_let_go_and_costs_little() -> None:
    cost = in_fresh_process(slow_reader.never_reads, 1)
    assert cost.dropped_s < 15
    assert cost.megabytes < 16


def test_of_two_people_nothing_of_one_reaches_the_other() -> None:
    assert two_people.measure(36) == 0


def test_whoever_is_killed_takes_nothing_along_and_leaves_nothing_behind() -> None:
    figures = kills.measure(each=2)
    assert figures["kills"] == 8
    assert (figures["kills_lost"], figures["kills_orphans"]) == (0, 0)


def test_many_turns_with_all_that_goes_wrong_come_to_an_end_and_leave_nothing_open() -> None:
    # In the same few conversations: each that is open may have an interpreter.
    figures = soak.measure(turns=200, begin_anew=200)
    assert figures["soak_answered"] >= 190  # whoever is cut off in a turn may miss its end
    assert figures["soak_fd_growth"] <= soak.DESCRIPTORS_AT_REST

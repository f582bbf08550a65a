"""What `scripts/bench trust` measures holds at a tenth of its size as well."""

import pytest

from bench import cuts, harm

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]


def test_after_many_cuts_nothing_is_lost_or_doubled_or_done_twice() -> None:
    toll, _ = cuts.measure(300)
    assert toll.cuts >= 300
    assert (toll.lost, toll.doubled, toll.rerun, toll.misplaced, toll.anew) == (0, 0, 0, 0, 0)


def test_whoever_means_harm_is_sent_away_from_a_server_that_is_well() -> None:
    survived = harm.measure(messages=100_000)
    assert len(survived) > 30
    assert [name for name, well in survived.items() if not well] == []

"""The newest version that both ends speak, or a sentence that says which end to update."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.protocol.errors import VersionMismatch
from sayso.protocol.version import SPOKEN, VERSION, VersionRange, choose


def test_the_only_common_version_is_chosen() -> None:
    assert choose(VersionRange(1, 1)) == 1


def test_the_newest_common_version_is_chosen() -> None:
    assert choose(VersionRange(SPOKEN.min, VERSION + 5)) == VERSION


def test_a_newer_client_is_told_to_update_the_server() -> None:
    with pytest.raises(VersionMismatch, match="update the server") as caught:
        choose(VersionRange(VERSION + 1, VERSION + 3))
    assert caught.value.fatal
    assert caught.value.close_code == 4406


def test_a_range_that_holds_nothing_is_a_mismatch() -> None:
    with pytest.raises(VersionMismatch):
        choose(VersionRange(VERSION + 1, VERSION))


@given(st.integers(1, 65_535), st.integers(1, 65_535))
def test_what_is_chosen_is_spoken_by_both(least: int, most: int) -> None:
    try:
        chosen = choose(VersionRange(least, most))
    except VersionMismatch:
        assert least > most or most < SPOKEN.min or least > SPOKEN.max
    else:
        assert least <= chosen <= most
        assert SPOKEN.min <= chosen <= SPOKEN.max

"""How many conversations may be open: as many as memory holds."""

from sayso.server.conversations.idle_closing import (
    EACH_BYTES,
    OPEN_AT_LEAST,
    OPEN_AT_MOST,
    by_memory,
)
from sayso.server.runtimes.resources.usage import Machine

GB = 1_000_000_000


def allowed(now_open: int, whole: int, available: int) -> int:
    return by_memory(now_open, lambda: Machine(whole, available, 0, 0))


def test_a_large_machine_holds_many() -> None:
    assert allowed(0, 32 * GB, 24 * GB) == 200


def test_those_that_are_open_have_taken_their_memory_already() -> None:
    assert allowed(64, 8 * GB, 2 * GB) == 64 + 10


def test_where_memory_runs_out_some_have_to_close() -> None:
    assert allowed(50, 8 * GB, GB - 10 * EACH_BYTES) == 40


def test_on_the_smallest_machine_those_who_talk_at_once_still_can() -> None:
    assert allowed(4, GB, 0) == OPEN_AT_LEAST


def test_there_is_an_end_also_where_memory_has_none() -> None:
    assert allowed(10, 2**62, 2**62) == OPEN_AT_MOST

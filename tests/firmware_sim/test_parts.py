"""The device's small parts: memory that wraps, flash that survives, faults as they are written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.firmware_sim.faults import Fault, WrongFault, parse
from sayso.firmware_sim.hardware.memory import MemoryExceeded, Ring
from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.hardware.watchdog import WATCHDOG_S, Watchdog


@given(st.lists(st.tuples(st.binary(max_size=40), st.integers(0, 40)), max_size=60))
def test_a_ring_gives_back_what_it_was_given_in_order(steps: list[tuple[bytes, int]]) -> None:
    ring, expected = Ring(64), b""
    for data, taken in steps:
        if len(data) > ring.room:
            with pytest.raises(MemoryExceeded):
                ring.write(data)
        else:
            ring.write(data)
            expected += data
        assert ring.take(taken) == expected[:taken]
        expected = expected[taken:]
        assert ring.peek(0, 64) == expected
    assert ring.most <= 64


def test_flash_survives_and_belongs_to_its_owner(tmp_path: Path) -> None:
    nvs = Nvs(tmp_path / "flash")
    assert not nvs.load().is_set_up
    stored = Stored(name="lamp", network="home", server="ws://127.0.0.1/ws", token="secret")
    nvs.save(stored)
    assert Nvs(tmp_path / "flash").load() == stored
    assert (tmp_path / "flash").stat().st_mode & 0o077 == 0
    nvs.erase()
    assert not nvs.load().is_set_up


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"token": 5}', b"\xff" * 9_000])
def test_damaged_flash_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "flash").write_bytes(content)
    assert not Nvs(tmp_path / "flash").load().is_set_up


def test_faults_come_in_the_order_of_time() -> None:
    assert parse("stall@4s, drop@2.5s") == (Fault("drop", 2.5), Fault("stall", 4.0))
    assert parse("") == ()


@pytest.mark.parametrize("text", ["fire@2s", "drop", "drop@", "drop@-1s", "drop@2"])
def test_a_fault_that_is_none_is_told_with_examples(text: str) -> None:
    with pytest.raises(WrongFault, match=r"write drop@2\.5s"):
        parse(text)


def test_the_watchdog_bites_within_ten_seconds_unless_it_is_fed() -> None:
    assert WATCHDOG_S < 10
    watchdog = Watchdog(0.0)
    watchdog.feed(5.0)
    assert not watchdog.bites(12.9)
    assert watchdog.bites(13.0)

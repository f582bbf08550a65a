"""The person's hand wins. Their display lies inside another one, whose test events are physical in
it; what Sayso makes inside is not."""

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

from sayso.client.desktop.x11.connection import Connection
from tests.client.desktop import rig
from tests.client.desktop.rig import Desktop, effect, hands, problem

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed")]

LONG = "The quick brown fox jumps over the lazy dog. " * 60


@pytest.fixture(scope="module")
def inner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    rig.system_has("gtk", "gir1.2-gtk-3.0 python3-gi")
    with rig.desktop(tmp_path_factory.mktemp("inner"), hand=True) as running:
        yield running


class Hand:
    """The person's, at the outer display."""

    def __init__(self, display: str) -> None:
        self._connection = Connection(display)

    def close(self) -> None:
        self._connection.close()

    def press(self, keysym: int) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        display = self._connection.display
        code = display.keysym_to_keycode(keysym)
        xtest.fake_input(display, X.KeyPress, code)
        xtest.fake_input(display, X.KeyRelease, code)
        display.sync()

    def move(self, x: int, y: int) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        xtest.fake_input(self._connection.display, X.MotionNotify, x=x, y=y)
        self._connection.display.sync()


@pytest.mark.parametrize("how", ["key", "mouse"])
async def test_a_physical_key_or_move_stops_typing_at_once(
    how: str, inner: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = inner.open_gtk(f"Hand {how}")
    hand = Hand(inner.outer)
    hand.move(300, 300)
    async with hands(inner, monkeypatch) as at:
        await at.act("focus", window=app.title)
        await asyncio.sleep(0.7)  # the hand rests
        typing = asyncio.create_task(at.act("write", text=LONG, window=app.title))
        await _until(lambda: len(app.state.get("text", "")) > 10)
        began = time.monotonic()
        if how == "key":
            hand.press(0xFFE1)
        else:
            hand.move(320, 310)
        told = await typing
        took = time.monotonic() - began
        assert effect(told) == "unconfirmed"
        assert "took over" in problem(told)
        assert len(app.state["text"]) < len(LONG)
        again = await at.act("write", text="more", window=app.title)
        assert effect(again) == "refused"
        at.turn += 1  # the person has spoken since
        await asyncio.sleep(0.7)
        assert effect(await at.act("write", text="x", window=app.title)) == "confirmed"
    assert took < 1.0
    hand.close()
    app.close()


async def test_what_sayso_types_is_nobodys_hand(
    inner: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = inner.open_gtk("Own")
    async with hands(inner, monkeypatch) as at:
        await asyncio.sleep(0.7)
        told = await at.act("write", text=LONG[:200], window="Own")
        assert effect(told) == "confirmed"
    assert app.state["text"] == LONG[:200]
    app.close()


async def test_a_newer_attempt_or_a_cut_stops_what_is_typed(
    inner: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = inner.open_gtk("Cut")
    async with hands(inner, monkeypatch) as at:
        await asyncio.sleep(0.7)
        typing = asyncio.create_task(at.act("write", text=LONG, window="Cut"))
        await _until(lambda: len(app.state.get("text", "")) > 10)
        at.process.stop()
        told = await typing
        assert effect(told) == "unconfirmed"
        assert len(app.state["text"]) < len(LONG)
    app.close()


async def test_focus_that_is_stolen_stops_what_is_typed(
    inner: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = inner.open_gtk("First")
    other = inner.open_gtk("Thief", 500, 40)
    async with hands(inner, monkeypatch) as at:
        await asyncio.sleep(0.7)
        typing = asyncio.create_task(at.act("write", text=LONG, window="First"))
        await _until(lambda: len(app.state.get("text", "")) > 10)
        _steal(inner, "Thief")
        told = await typing
    assert effect(told) == "unconfirmed"
    assert "Another window has the keys" in problem(told)
    assert other.state["text"] == ""
    app.close()
    other.close()


def _steal(here: Desktop, title: str) -> None:
    from sayso.client.desktop.x11.windows import Windows

    connection = Connection(here.display)
    windows = Windows(connection)
    thief = next(each for each in windows.all() if each.title == title)
    windows.activate(thief)
    connection.close()


async def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)

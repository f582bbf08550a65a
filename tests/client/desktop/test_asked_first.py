"""Ways to press what has consequences without a click: each is asked about, or refused."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from sayso.client.desktop.accessibility.parts import FOCUSABLE, MULTI_LINE, SENSITIVE, Part
from sayso.client.desktop.errors import Refused
from sayso.client.desktop.hands.acting import Acts
from sayso.client.desktop.process import Told
from sayso.client.desktop.x11.windows import Place, Window
from tests.client.desktop.rig import Desktop, Hands, effect, hands, problem


def asks(told: Told) -> str:
    return str(told.message["data"].get("asks", ""))


@pytest.fixture
async def at(
    here: Desktop, allowed: object, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Hands]:
    async with hands(here, monkeypatch) as made:
        yield made


async def _to_button(at: Hands, title: str, number: int) -> None:
    """Move the keys to the button Show, or one after it."""
    for keys in ("ctrl+tab", *["tab"] * (number + 1)):
        assert not asks(await at.act("press", keys=keys, window=title))


@pytest.mark.slow
async def test_pressing_and_letting_go_at_one_place_is_a_click(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Drag")
    told = await at.act("drag", target="Send", to="Send", window="Drag")
    assert effect(told) == "refused"
    assert asks(told) == "Press 'Send'?"
    told = await at.act("drag", target="Show", to="Send", window="Drag")
    assert asks(told) == "Press 'Send'?"
    told = await at.act("drag", target="Send", to="Send", window="Drag", approved=[asks(told)])
    assert effect(told) == "refused"
    assert "the same" in problem(told)
    assert app.state["pressed"] == []
    app.close()


@pytest.mark.slow
async def test_a_blank_for_a_button_is_asked_about(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Blank")
    await _to_button(at, "Blank", 1)
    told = await at.act("write", text=" ", window="Blank")
    assert effect(told) == "refused"
    assert "button 'Send'" in asks(told)
    assert app.state["pressed"] == []
    app.close()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\t ", "\t\n"])
async def test_what_a_tab_led_to_is_not_pressed(text: str, here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Tab")
    await _to_button(at, "Tab", 0)
    asked = asks(await at.act("write", text=text, window="Tab"))
    assert "button 'Show'" in asked
    told = await at.act("write", text=text, window="Tab", approved=[asked])
    assert effect(told) == "unconfirmed"
    assert not asks(told)  # a yes would begin from the start
    assert "button 'Send'" in problem(told)
    assert app.state["pressed"] == []
    app.close()


@pytest.mark.slow
async def test_a_button_is_not_filled(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Button")
    told = await at.act("fill", target="Send", text=" ", window="Button")
    assert effect(told) == "refused"
    assert app.state["pressed"] == []
    app.close()


@pytest.mark.slow
async def test_a_stop_reaches_what_waits_for_the_process(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Early")
    for attempt in ((at.turn, 0), None):
        typing = asyncio.create_task(at.act("write", text="x", window="Early"))
        await asyncio.sleep(0)
        assert at.process.pid == 0
        at.process.stop(attempt)
        assert effect(await typing) == "refused"
        await at.process.close()
    assert app.state["text"] == ""
    app.close()


def test_a_line_that_keys_would_have_to_fill_takes_no_end_of_a_line() -> None:
    """It would send the form."""
    window = Window(1, "fixture", "fixture", 2, "Form", Place(0, 0, 9, 9), True, False)
    states = 1 << SENSITIVE | 1 << FOCUSABLE
    part = Part(("a", "b"), ("", ""), "entry", "Name", states, frozenset())
    area = Part(("a", "c"), ("", ""), "text", "Text", states | 1 << MULTI_LINE, frozenset())
    begun: list[str] = []

    def acting(*_: object) -> None:
        begun.append("acting")
        raise Refused("here keys would be pressed")

    screen: Any = SimpleNamespace(
        hand=SimpleNamespace(acting=acting),
        person=SimpleNamespace(),
        windows=SimpleNamespace(all=list),
        tree=SimpleNamespace(focus=lambda _: True),
        chosen=lambda *_: window,
        check_pages=lambda *_: None,
        parts=lambda _: [part, area],
        lines=lambda *_: [],
    )
    acts = Acts(screen, frozenset(["fixture"]), frozenset())
    for text in ("Anna\n", "Anna\r", "Anna\t "):
        with pytest.raises(Refused, match="One line"):
            acts.fill({"target": "Name", "text": text})
    assert not begun
    with pytest.raises(Refused, match="keys would be pressed"):
        acts.fill({"target": "Text", "text": "two\nlines"})

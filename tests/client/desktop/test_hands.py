"""What the process at a screen sees and does, in real programs, by what they themselves tell."""

import io
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from sayso.client.desktop.permission import DesktopPermission, write_permission
from sayso.client.desktop.process import DesktopGone
from sayso.protocol.home import Home
from tests.client.desktop.rig import Desktop, Hands, effect, hands, problem, until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed")]


@pytest.fixture
async def at(here: Desktop, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hands]:
    async with hands(here, monkeypatch) as made:
        yield made


def named(text: str, words: str) -> str:
    """What the part with these words is called."""
    line = next(each for each in text.splitlines() if words in each and each.startswith("[e"))
    return line[1:].split(" ")[0]


async def test_a_window_is_read_as_text_with_names(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Read")
    text = await at.view(window="Read")
    assert 'text "Name"' in text
    assert 'button "Show"' in text
    assert "Nothing was pressed" in text
    app.close()


async def test_a_button_is_pressed_without_the_pointer(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Press")
    told = await at.act("click", target="Show", window="Press")
    assert effect(told) == "confirmed"
    assert "pressed Show 1" in "".join(told.message["data"]["new"])
    assert app.state["pressed"] == ["Show"]
    app.close()


async def test_what_is_ambiguous_or_stale_is_refused(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Unclear")
    told = await at.act("click", target="Twice", window="Unclear")
    assert effect(told) == "refused"
    assert "2 things could be meant" in problem(told)
    name = named(await at.view(window="Unclear"), '"Show"')
    app.close()
    until(lambda: app.process.poll() is not None, "it has ended")
    told = await at.act("click", target=name)
    assert effect(told) == "refused"


async def test_two_windows_that_could_be_meant_are_refused(here: Desktop, at: Hands) -> None:
    apps = [here.open_gtk("One"), here.open_gtk("Other", 500, 40)]
    told = await at.act("click", target="Show", window="O")
    if effect(told) == "refused":
        assert "windows could be meant" in problem(told)
    assert [app.state["pressed"] for app in apps].count(["Show"]) <= 1
    for app in apps:
        app.close()


async def test_a_field_is_filled_and_read_back(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Fill")
    told = await at.act("fill", target="Name", text="Grüße €5 日本 🎉", window="Fill")
    assert effect(told) == "confirmed"
    assert app.state["entry"] == "Grüße €5 日本 🎉"
    app.close()


async def test_text_is_typed_exactly(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Type")
    text = "Hello… Grüße {}[]|\\~@# €5 日本語 naïve “quoted” 🎉\nsecond line"
    told = await at.act("write", text=text, window="Type")
    until(lambda: app.state["text"] == text, f"it is typed: {app.state['text']!r}", 5)
    assert effect(told) == "confirmed"
    app.close()


async def test_passwords_are_neither_written_nor_read(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Secret")
    text = await at.view(window="Secret")
    name = named(text, "password")
    assert "(secret)" in text
    for do in ("fill", "click"):
        told = await at.act(do, target=name, text="x", window="Secret")
        if do == "fill":
            assert effect(told) == "refused"
    told = await at.act("write", text="typed", window="Secret")
    assert effect(told) == "refused"
    assert "no passwords" in problem(told)
    assert app.state["secret"] == ""
    app.close()


async def test_what_has_consequences_is_asked_first(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Send")
    told = await at.act("click", target="Send", window="Send")
    asked = told.message["data"]["asks"]
    assert effect(told) == "refused"
    assert "Send" in asked
    assert app.state["pressed"] == []
    told = await at.act("click", target="Send", window="Send", approved=[asked])
    assert effect(told) == "confirmed"
    assert app.state["pressed"] == ["Send"]
    app.close()


async def test_only_windows_of_the_lease_are_read_and_worked_in(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Closed")
    at.apps = ("other",)
    for told in (
        await at("look", window="Closed"),
        await at.act("click", target="Show", window="Closed"),
        await at.act("write", text="x", window="Closed"),
    ):
        assert effect(told) == "refused"
    windows = (await at("windows")).message["data"]["windows"]
    assert "Closed" not in str(windows)
    assert any(each["app"] == "fixture" for each in windows)
    assert app.state["pressed"] == []
    assert app.state["text"] == ""
    app.close()


async def test_a_picture_shows_nothing_else(here: Desktop, at: Hands) -> None:
    mine = here.open_gtk("Mine", 40, 40)
    red = here.start("xmessage", "-bg", "red", "-geometry", "+100+80", "  SECRET  " * 8)
    until(lambda: _has_window(here, "xmessage"), "the other window is there")
    told = await at("look", window="Mine", picture=True, most_width=2000, most_height=2000)
    picture = Image.open(io.BytesIO(told.pictures[0])).convert("RGB")
    colours = {colour for _, colour in picture.getcolors(2**24) or []}
    assert (255, 0, 0) not in colours
    assert (128, 128, 128) in colours
    assert len(colours) > 3  # and of its own it shows something
    red.terminate()
    red.wait()
    mine.close()


def _has_window(here: Desktop, app: str) -> bool:
    listed = subprocess.run(
        ["xprop", "-root", "_NET_CLIENT_LIST"],
        env=here.environment,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    ids = [each.strip(" ,") for each in listed.split("#")[-1].split()]
    return any(
        app
        in subprocess.run(
            ["xprop", "-id", each, "WM_CLASS"],
            env=here.environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for each in ids
        if each.startswith("0x")
    )


async def test_places_count_in_frames_and_what_changed_is_refused(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Frame", 60, 60)
    told = await at("look", window="Frame", picture=True, most_width=400, most_height=400)
    data = told.message["data"]
    width, height = Image.open(io.BytesIO(told.pictures[0])).size
    assert (data["width"], data["height"]) == (width, height)
    outside = await at.act("click", frame=data["frame"], x=width + 5, y=3)
    assert effect(outside) == "refused"
    name = named(await at.view(window="Frame"), '"Show"')
    await at.act("click", target=name)  # the label above it changes
    stale = await at.act("click", frame=data["frame"], x=width // 2, y=6)
    assert effect(stale) == "refused"
    assert "changed" in problem(stale)
    old = await at.act("click", frame=999, x=1, y=1)
    assert "look again" in problem(old)
    app.close()


async def test_the_pointer_hits_what_a_frame_shows(here: Desktop, at: Hands) -> None:
    app = here.open_gtk("Point", 200, 90)
    before = app.state["checked"]
    y = 150
    while app.state["checked"] == before:  # the check button is somewhere below, at the left
        told = await at("look", window="Point", picture=True, most_width=300, most_height=300)
        data = told.message["data"]
        y += 5
        assert y < data["height"]
        await at.act("click", frame=data["frame"], x=10, y=y)
    app.close()


async def test_the_clipboard_is_read_and_written(here: Desktop, at: Hands) -> None:
    told = await at("clipboard", do="write", text="Grüße 🎉")
    assert effect(told) == "confirmed"
    assert (await at("clipboard", do="read")).message["data"]["text"] == "Grüße 🎉"


async def test_nothing_is_done_that_the_owner_did_not_allow(
    here: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_permission(Home.find(), DesktopPermission(look=True))
    app = here.open_gtk("Looked")
    async with hands(here, monkeypatch) as made:
        assert effect(await made("look", window="Looked")) == "confirmed"
        for told in (
            await made.act("click", target="Show", window="Looked"),
            await made("clipboard", do="read"),
            await made("open", app="x"),
        ):
            assert effect(told) == "refused"
            assert "sayso desktop allow" in problem(told)
    assert app.state["pressed"] == []
    app.close()


async def test_the_keyboard_means_the_same_after_the_process_was_killed(
    here: Desktop, at: Hands, tmp_path: Path
) -> None:
    before = _keymap(here)
    app = here.open_gtk("Killed")
    await at.act("write", text="日本", window="Killed")
    assert _keymap(here) != before
    until(lambda: _keymap(here) == before, "it is given back")
    # A process that dies in the middle leaves what it wrote down beforehand.
    os.kill(at.process.pid, signal.SIGSTOP)
    borrowed = here.folder / "sayso" / f"keys-{here.display[1:]}.json"
    spare = next(code for code, row in before.items() if not row)
    borrowed.parent.mkdir(exist_ok=True)
    borrowed.write_text(f"[{spare}]")
    _remap(here, spare)
    assert _keymap(here) != before
    os.kill(at.process.pid, signal.SIGKILL)
    with pytest.raises(DesktopGone):
        await at("windows")
    told = await at("windows")  # another is started, and puts it right
    assert effect(told) == "confirmed"
    assert _keymap(here) == before
    app.close()


def _remap(here: Desktop, code: int) -> None:
    command = ["xmodmap", "-e", f"keycode {code} = U65E5"]
    subprocess.run(command, env=here.environment, check=True)


def _keymap(here: Desktop) -> dict[int, str]:
    told = subprocess.run(
        ["xmodmap", "-pke"], env=here.environment, capture_output=True, text=True, check=True
    ).stdout
    rows = (line.removeprefix("keycode").partition("=") for line in told.splitlines())
    return {int(code): meaning.strip() for code, _, meaning in rows}

"""A person signs in by hand, in a window of Sayso's browser on a real display, and nobody else has
a hold on it meanwhile."""

import asyncio
import os
import secrets
import shutil
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sayso.server.capabilities.browser.chromium import find_chromium
from sayso.server.capabilities.browser.display import (
    SOCKETS,
    Display,
    DisplayError,
    find_display,
    with_cookie,
)
from sayso.server.capabilities.browser.errors import RefusedError
from sayso.server.capabilities.browser.profile import prepare, take
from sayso.server.capabilities.browser.window import BrowserWindow
from tests.capabilities.browser.rig import bubblewrap, driven, small_web
from tests.machine import needed
from tests.server.running_server import until

COOKIE = bytes(range(16))


@asynccontextmanager
async def display(folder: Path) -> AsyncIterator[Display]:
    """A real one, that lets nobody in without its cookie."""
    needed("Xvfb")
    number = 60 + secrets.randbelow(900)
    keys = folder / "keys"
    keys.write_bytes(_key(str(number), COOKIE))
    started = await asyncio.create_subprocess_exec(
        str(shutil.which("Xvfb")), f":{number}", "-screen", "0", "1400x900x24", "-auth", str(keys),
        "-nolisten", "tcp", stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await until((SOCKETS / f"X{number}").is_socket)
        yield find_display({"DISPLAY": f":{number}", "XAUTHORITY": str(keys)})
    finally:
        started.terminate()
        await started.wait()


def _key(number: str, cookie: bytes) -> bytes:
    fields = (socket.gethostname().encode(), number.encode(), b"MIT-MAGIC-COOKIE-1", cookie)
    return struct.pack(">H", 256) + b"".join(struct.pack(">H", len(one)) + one for one in fields)


@pytest.mark.browser
@pytest.mark.thorough
async def test_who_signs_in_by_hand_is_signed_in_when_sayso_uses_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XAUTHORITY", str(tmp_path / "keys"))
    async with small_web() as web, display(tmp_path) as shown:
        web.pages["/login"] = "<title>in</title>signed in"
        web.heads["/login"] = "Set-Cookie: lasting=1; Max-Age=9999\r\nSet-Cookie: session=2\r\n"
        folder = tmp_path / "person"
        lock = take(folder)
        chromium = find_chromium()
        assert chromium
        window = await BrowserWindow.open(
            chromium, bubblewrap(), folder, shown, address=web.at("/login"), whereabouts=web
        )
        try:
            await until(lambda: any("/login" in line for _, line, _ in web.asked))
            closing = asyncio.create_task(window.until_closed())
            async with driven(tmp_path, web) as browser:
                with pytest.raises(RefusedError, match="window is open"):
                    await browser("open", url=web.at())
            await asyncio.sleep(1)
            _close_windows(shown)
            async with asyncio.timeout(20):
                assert not await closing
        finally:
            await window.close()
            os.close(lock)
        web.pages["/"] = "<p id=p>none</p><script>p.innerText = document.cookie</script>"
        async with driven(tmp_path, web) as browser:
            told = await browser("open", url=web.at("/"))
            assert "lasting=1" in told
            assert "session=2" in told
            assert (await browser("tabs")).count("\n") == 1  # and what was open stays closed


def _close_windows(shown: Display) -> None:
    """As a person does at a window's cross."""
    from Xlib import X
    from Xlib.display import Display as Connection
    from Xlib.protocol import event

    ours = Connection(f":{shown.socket.name[1:]}")
    protocols, delete = (ours.intern_atom(name) for name in ("WM_PROTOCOLS", "WM_DELETE_WINDOW"))
    for window in ours.screen().root.query_tree().children:
        if window.get_wm_name() or window.get_wm_class():
            data = (32, [delete, X.CurrentTime, 0, 0, 0])
            window.send_event(event.ClientMessage(window=window, client_type=protocols, data=data))
    ours.flush()
    ours.close()


def test_a_display_is_found_with_its_key_and_no_other_is_taken(tmp_path: Path) -> None:
    with pytest.raises(DisplayError, match="no display here"):
        find_display({})
    for name in ("there:0", "localhost:10.0", "192.0.2.1:0"):
        with pytest.raises(DisplayError, match="another machine"):
            find_display({"DISPLAY": name})
    with pytest.raises(DisplayError, match="no display :9"):
        find_display({"DISPLAY": ":99999"})


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_key_is_put_in_on_the_way(order: str) -> None:
    letter = b"l" if order == "<" else b"B"
    setup = letter + b"\0" + struct.pack(f"{order}HHHHH", 11, 0, 4, 8, 0)
    sent = with_cookie(setup, COOKIE)
    assert sent[:2] == letter + b"\0"
    assert struct.unpack(f"{order}HHHHH", sent[2:12]) == (11, 0, 18, 16, 0)
    assert sent[12:] == b"MIT-MAGIC-COOKIE-1\0\0" + COOKIE
    assert with_cookie(setup, b"")[6:] == bytes(6)


def test_a_profile_is_prepared_without_following_what_a_page_may_have_left(tmp_path: Path) -> None:
    folder, precious = tmp_path / "person", tmp_path / "precious"
    (precious / "Sessions").mkdir(parents=True)
    (precious / "Sessions" / "kept").write_text("x")
    folder.mkdir()
    profile = prepare(folder)
    shutil.rmtree(profile / "Default")
    (profile / "Default").symlink_to(precious)
    prepare(folder)
    assert (precious / "Sessions" / "kept").exists()
    (profile / "Default").unlink()
    sessions = profile / "Default" / "Sessions"
    sessions.mkdir(parents=True)
    (sessions / "Tabs_1").write_text("x")
    prepare(folder)
    assert not list(sessions.iterdir())


def test_one_profile_is_taken_by_one_at_a_time(tmp_path: Path) -> None:
    lock = take(tmp_path / "person")
    with pytest.raises(RefusedError, match="in use"):
        take(tmp_path / "person")
    os.close(lock)
    os.close(take(tmp_path / "person"))

"""A real browser with a microphone made of a file, for tests of the page."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from tests.machine import needed
from tests.planted_secrets import TOLD
from tests.pulse import SoundCard
from tests.repository.tree import ROOT
from tests.rig import SAYSO, Server

PATIENCE_MS = 60_000
"""For what a busy machine does: start a kernel, transcribe, answer."""


def chromium() -> str:
    """Debian's chromium; the browser builds that playwright fetches are not used."""
    return needed("chromium")


SCREENSHOTS = ROOT / "artefacts" / "screenshots"
"""Kept for whoever wants to see what the tests saw."""

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

SIZES = ((320, 640), (390, 844), (768, 1024), (1280, 800))


@contextmanager
def page(
    microphone: Path | SoundCard,
    width: int = 390,
    height: int = 844,
    *,
    flags: Iterable[str] = ("--use-fake-ui-for-media-stream", "--no-proxy-server"),
    before: str = "",
    complains: bool = False,
    scale: float = 1.0,
) -> Iterator[Page]:
    """A fresh browser of a phone's size, which has never been here.

    `microphone`: a recording that it hears, once, from when it is opened on; or a sound card.
    `flags`: for who may use the microphone, and the way to the network; `before`: a script that
    runs before the page's own; `complains`: it is expected to fail; `scale`: dots for each of its
    pixels.
    """
    card = microphone.environment if isinstance(microphone, SoundCard) else {}
    expect.set_options(timeout=PATIENCE_MS)
    all_flags = [
        *flags,
        "--no-sandbox",  # tests may run as root
        *([] if isinstance(microphone, SoundCard) else _recorded(microphone)),
        "--autoplay-policy=no-user-gesture-required",
        # A browser calls its maker by itself; here it can't.
        "--host-resolver-rules=MAP insecure.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        own |= card
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=all_flags,
            env={**os.environ, **own},
            ignore_default_args=["--mute-audio"] if card else [],
        )
        size: ViewportSize = {"width": width, "height": height}
        context = browser.new_context(viewport=size, device_scale_factor=scale)
        if before:
            context.add_init_script(before)
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE_MS)
        complaints: list[str] = []
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        try:
            yield opened
        finally:
            browser.close()
        assert bool(complaints) == complains, complaints


def _recorded(microphone: Path) -> list[str]:
    return [
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={microphone}%noloop",
    ]


@contextmanager
def pairing(server: Server, *options: str) -> Iterator[str]:
    """`sayso pair` on the server's machine; gives the code, as the page's address takes it."""
    process = subprocess.Popen(
        [SAYSO, "pair", "--server", server.url, *options],
        env=server.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    said = ""
    try:
        for line in process.stdout:
            said += line
            if found := re.search(r"#pair=([\w-]+)", said):
                TOLD.note(found[1], "a pairing code")
                yield f"http://127.0.0.1:{server.port}/{found[0]}"
                break
        else:
            raise AssertionError(f"sayso pair showed no address: {said}")
        process.wait(timeout=PATIENCE_MS / 1_000)
    finally:
        process.kill()
        process.communicate()


def is_paired(opened: Page, server: Server, *options: str) -> None:
    """By the address that the server's owner is shown."""
    with pairing(server, *options) as address:
        opened.goto(address)
        expect(opened.locator("#state")).to_have_text("Ready")
    assert "pair=" not in opened.url


def ask(opened: Page, text: str) -> None:
    """Type it."""
    opened.fill("#words", text)
    opened.press("#words", "Enter")


def press(opened: Page, name: str) -> None:
    """Press a button of a question, once it lives."""
    button = opened.get_by_role("button", name=name, exact=True)
    button.scroll_into_view_if_needed()
    expect(button).to_have_attribute("aria-disabled", "false")
    box = button.bounding_box()
    assert box
    # `click` would scroll once more, and what moves is not pressed.
    opened.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def approve(opened: Page) -> None:
    """Read the question to its end and say yes."""
    press(opened, "Approve")


def hold(opened: Page, seconds: float) -> None:
    """Hold the button and let go."""
    box = opened.locator("#talk").bounding_box()
    assert box
    opened.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.mouse.down()
    opened.wait_for_timeout(1_000 * seconds)
    opened.mouse.up()


def is_fine(opened: Page, name: str, *, shots: bool = True) -> None:
    """For everybody: no rule of accessibility is broken, nothing sticks out."""
    for scheme in SCHEMES:
        opened.emulate_media(color_scheme=scheme)
        found = Axe().run(opened, options={"resultTypes": ["violations"]}).response["violations"]
        assert not [(each["id"], each["nodes"][0]["html"]) for each in found], name
    before = opened.viewport_size
    assert before
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for width, height in SIZES if shots else ():
        opened.set_viewport_size({"width": width, "height": height})
        wide = opened.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= width, f"{name} is {wide} wide"
        for scheme in SCHEMES:
            opened.emulate_media(color_scheme=scheme)
            opened.screenshot(path=SCREENSHOTS / f"{name}-{width}-{scheme}.png")
    opened.set_viewport_size(before)

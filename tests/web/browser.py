"""A real browser with a microphone made of a file, for tests of the page."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.rig import SAYSO, Server

PATIENCE_MS = 60_000
"""For what a busy machine does: start a kernel, transcribe, answer."""


def chromium() -> str:
    """Debian's chromium; the browser builds that playwright fetches are not used."""
    found = shutil.which("chromium")
    if found:
        return found
    if os.environ.get("SAYSO_TEST_EVERYTHING"):
        pytest.fail("chromium is missing: apt install chromium", pytrace=False)
    pytest.skip("chromium is not installed")


@contextmanager
def page(microphone: Path, width: int = 390, height: int = 844) -> Iterator[Page]:
    """A fresh browser of a phone's size, which has never been here."""
    expect.set_options(timeout=PATIENCE_MS)
    flags = [
        "--no-sandbox",  # tests may run as root
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={microphone}%noloop",
        "--autoplay-policy=no-user-gesture-required",
        # A browser calls its maker by itself; here it can't.
        "--no-proxy-server",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ]
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        own = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=flags, env={**os.environ, **own}
        )
        context = browser.new_context(viewport={"width": width, "height": height})
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE_MS)
        complaints: list[str] = []
        opened.on("pageerror", lambda error: complaints.append(str(error)))
        try:
            yield opened
        finally:
            browser.close()
        assert not complaints


@contextmanager
def pairing(server: Server) -> Iterator[str]:
    """`sayso pair` on the server's machine; gives the address with its code."""
    process = subprocess.Popen(
        [SAYSO, "pair", "--server", server.url],
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
            if found := re.search(r"http://\S+#pair=\S+", said):
                yield found[0]
                break
        else:
            raise AssertionError(f"sayso pair showed no address: {said}")
        process.wait(timeout=PATIENCE_MS / 1_000)
    finally:
        process.kill()
        process.communicate()

"""The page over TLS, opened for the first time: it starts, always."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.kernels import lend_kernels
from tests.rig import Server, free_port
from tests.scripted_model import ScriptedModel
from tests.web.browser import PATIENCE_MS, chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.thorough,
    pytest.mark.browser,
    pytest.mark.timeout(600),
]

VISITS = 100
AT_ONCE = 5
"""Browsers at once: more connections than strangers of one address have places."""

BUSY = "while True: pass"

ALONE = (
    "--no-sandbox",  # tests may run as root
    "--no-proxy-server",
    # A browser calls its maker by itself; here it can't.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@contextmanager
def network_address(home: Path) -> Iterator[str]:
    """Where a server with its usual bounds is reached over TLS."""
    home.mkdir()
    lend_kernels(home)
    port = free_port()
    flags = ("--network", "127.0.0.1", "--set=listen.announce=no")
    ports = (f"--set=listen.network_port={port}", f"--set=listen.trust_port={free_port()}")
    with ScriptedModel(key="a-key-for-tests") as model, Server(home, model, (*flags, *ports)):
        yield f"https://127.0.0.1:{port}/"


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """So many processes that take all time there is."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def visit(browser: Browser, address: str, count: int) -> None:
    """So many people open the page at once, each for the first time, and see it start."""
    contexts = [browser.new_context(ignore_https_errors=True) for _ in range(count)]
    pages = [context.new_page() for context in contexts]
    for page in pages:  # each begins to load, and nobody waits for another
        page.goto(address, wait_until="commit", timeout=PATIENCE_MS)
    for page in pages:
        expect(page.locator("#pairing")).to_be_visible(timeout=PATIENCE_MS)
        expect(page.locator("#stuck")).to_be_hidden()
    for context in contexts:
        context.close()


@contextmanager
def fresh_browser(home: Path) -> Iterator[Browser]:
    """A browser that has never been anywhere."""
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=ALONE, env={**os.environ, **own}
        )
        yield browser
        browser.close()


@pytest.mark.parametrize("busy", [0, 4], ids=["idle", "busy cores"])
@pytest.mark.parametrize("at_once", [1, AT_ONCE], ids=["alone", "several at once"])
def test_a_first_visit_of_the_page_over_tls_always_starts(
    tmp_path: Path, at_once: int, busy: int
) -> None:
    with network_address(tmp_path / "server") as address, busy_cores(busy):
        for number in range(VISITS // at_once // 4):
            with fresh_browser(tmp_path / str(number)) as browser:
                visit(browser, address, at_once)

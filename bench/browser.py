"""Measures the page in a browser: how fast a press reaches the wire, and what listening costs."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import expect

from sayso.audio.wav import write
from tests.scripted_server import scripted_server
from tests.web.browser import page
from tests.web.measuring import cpu_share, press_to_wire_ms

SILENCE_S = 30.0
"""What the microphone hears."""
LISTENS_S = 10.0


@dataclass(frozen=True, slots=True)
class Browsing:
    """What a real browser took."""

    press_to_wire: list[float]
    """Milliseconds."""
    cpu_percent: float
    """Of one core, for the browser with all its processes, while it listens and sends."""


def missing() -> str:
    """Why it can't be measured here; empty if it can."""
    return "" if shutil.which("chromium") else "chromium is not installed"


def browsing(presses: int) -> Browsing:
    """Runs Chromium with a file as its microphone, against a scripted server."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as name:
        folder = Path(name)
        microphone = folder / "silence.wav"
        write(microphone, bytes(2 * int(16_000 * SILENCE_S)), 16_000)
        with scripted_server(folder / "server") as server:
            known = f"localStorage.setItem('sayso.token', '{server.token}')"
            with page(microphone, before=known) as opened:
                opened.goto(f"http://127.0.0.1:{server.port}/")
                expect(opened.locator("#state")).to_have_text("Ready")
                took = press_to_wire_ms(opened, presses)
                opened.locator("#talk").press("Enter")
                expect(opened.locator("#state")).to_have_text("Listening")
                share = cpu_share(opened, microphone, LISTENS_S)
        return Browsing(took, round(100 * share, 1))

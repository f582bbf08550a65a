"""Measures latency and resources of clients: one on a laptop, and 200 small ones.

Real clients in processes of their own, and a server with scripted recognition, model and voice, so
that no figure depends on a model's speed. The network between them is watched, delayed and cut
(`bench.support.network_delay`).
"""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from bench import browser
from bench.laptop import AtTheDesk, at_the_desk, bare_start, gaps, resumes
from bench.support.figures import Spread, spread
from bench.wheels import megabytes
from sayso.firmware_sim.fleet import Fleet, FleetReport, run_fleet
from sayso.firmware_sim.hardware.nvs import Stored
from sayso.firmware_sim.program.capture import FRAME_SAMPLES
from tests.pulse import missing
from tests.scripted_server import TALKS, scripted_server
from tests.speech.sounds import voice

DEVICES = 200
FLEET_S = 60.0
"""Longest time for all of them to be answered."""
SPOKEN_S = 3.0


class Figures(TypedDict):
    """What `--json` prints. None: it could not be measured here, and `table` says why."""

    press_to_wire_ms: Spread | None
    browser_press_to_wire_ms: Spread | None
    browser_listening_cpu_percent: float | None
    """Of one core."""
    arrival_to_played_ms: Spread | None
    gaps_50ms_jitter: int
    """The most in one answer of half a minute."""
    gaps_150ms_jitter: int
    resume_ms: Spread
    talk_start_ms: Spread | None
    bare_start_ms: Spread
    """A Python that does nothing, in the same run: how busy this machine is."""
    fleet_devices: int
    fleet_lost_frames: int
    fleet_control_p95_ms: float
    client_rss_mb: float | None
    client_wheels_mb: float | None


def measure(presses: int, answers: int, devices: int = DEVICES) -> Figures:
    """Everything, one after the other."""
    desk = None if missing() else asyncio.run(at_the_desk(presses, starts=5))
    page = None if browser.missing() else browser.browsing(presses)
    away = asyncio.run(resumes(answers))
    bare = asyncio.run(bare_start(5))
    fleet = _fleet(devices)
    return Figures(
        press_to_wire_ms=_of(desk, lambda found: found.press_to_wire),
        browser_press_to_wire_ms=spread(page.press_to_wire) if page else None,
        browser_listening_cpu_percent=page.cpu_percent if page else None,
        arrival_to_played_ms=_of(desk, lambda found: found.arrival_to_played),
        gaps_50ms_jitter=max(asyncio.run(gaps(0.05, answers))),
        gaps_150ms_jitter=max(asyncio.run(gaps(0.15, answers))),
        resume_ms=spread(away),
        talk_start_ms=_of(desk, lambda found: found.start),
        bare_start_ms=spread(bare),
        fleet_devices=fleet.connected,
        fleet_lost_frames=fleet.lost_samples // FRAME_SAMPLES,
        fleet_control_p95_ms=round(fleet.control_p95_ms, 1),
        client_rss_mb=round(desk.rss_mb, 1) if desk else None,
        client_wheels_mb=megabytes(),
    )


BOUNDS = {
    "press_to_wire_ms": 30,
    "browser_press_to_wire_ms": 80,
    "browser_listening_cpu_percent": 10,
    "arrival_to_played_ms": 60,
    "gaps_50ms_jitter": 0,
    "gaps_150ms_jitter": 1,
    "resume_ms": 1_000,
    "talk_start_ms": 500,
    "fleet_lost_frames": 0,
    "fleet_control_p95_ms": 50,
    "client_rss_mb": 80,
    "client_wheels_mb": 60,
}
"""What each must not exceed, on a machine of two cores that does nothing else; of times the 95th
percentile."""

WITHOUT = {
    "client_wheels_mb": "the package index was not reached",
    "browser_press_to_wire_ms": "not measured: chromium is not installed",
    "browser_listening_cpu_percent": "not measured: chromium is not installed",
}


def table(figures: Figures) -> str:
    """For people."""
    lines = [f"{'':24}{'median':>10}{'p95':>10}{'bound':>10}"]
    for name, value in figures.items():
        lines.append(_row(name, value))
    return "\n".join(lines)


def _row(name: str, value: object) -> str:
    bound = BOUNDS.get(name)
    limit = "" if bound is None else f"{bound:>10}"
    match value:
        case None:
            why = WITHOUT.get(name, f"not measured: {missing()}")
            return f"{name:24}{why}"
        case {"median": float(median), "p95": float(p95)}:
            return f"{name:24}{median:>10}{p95:>10}{limit}{_told(p95, bound)}"
        case int() | float():
            return f"{name:24}{'':10}{value:>10}{limit}{_told(value, bound)}"
        case _:
            return f"{name:24}{value}"


def _told(value: float, bound: float | None) -> str:
    return "   too much" if bound is not None and value > bound else ""


def _of(desk: AtTheDesk | None, values: Callable[[AtTheDesk], list[float]]) -> Spread | None:
    return spread(values(desk)) if desk else None


def _fleet(devices: int) -> FleetReport:
    """All of them connected, ten of them talking, in this process; the server in its own."""
    with (
        tempfile.TemporaryDirectory(prefix="sayso-") as folder,
        scripted_server(Path(folder)) as server,
    ):
        stored = Stored("small device", server=server.url, token=server.token)
        fleet = Fleet(devices, len(TALKS), voice(SPOKEN_S), FLEET_S, TALKS)
        report = asyncio.run(run_fleet(stored, fleet))
    if report.connected < devices or report.answered < report.talking:
        raise SystemExit(report.summary)
    return report

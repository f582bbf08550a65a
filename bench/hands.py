"""Measures Sayso's own browser: how soon it is there, what a look and an act take, and how many
tasks of MiniWoB++ are solved by a script that knows what is wanted and has the model's tools."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from bench.miniwob.tasks import TASKS
from bench.miniwob.things import Solve
from sayso.server.capabilities.browser.errors import BrowserError
from tests.capabilities.browser.rig import Driven, driven, small_web

Figures = Mapping[str, float | int | str]

SEEDS: Final = 5
_LOST: Final = (LookupError, ValueError, TypeError, AttributeError, StopIteration, RuntimeError)
"""How a script ends that does not find what it looks for."""
_ACTS: Final = frozenset({"click", "fill", "select", "press", "scroll"})
LOOKS: Final = 20
REWARD_S: Final = 3.0

_PAGE: Final = (
    "<title>t</title>"
    + "".join(f"<p>Line {number} <a href=#{number}>link {number}</a></p>" for number in range(200))
    + "<input aria-label=Name>"
    "<button onclick='this.dataset.n=1+(+this.dataset.n||0)'>Press</button>"
)


def measure(miniwob: Path | None = None) -> Figures:
    """Take all figures. `miniwob`: the folder `html` of the package miniwob, if it is here."""
    return asyncio.run(_measure(miniwob))


async def _measure(miniwob: Path | None) -> Figures:
    with tempfile.TemporaryDirectory() as scratch:
        async with small_web(miniwob) as web, driven(Path(scratch), web) as browser:
            browser.browser.place.leases.grant("site.example")
            began = time.perf_counter()
            await browser.browser.up()
            started = time.perf_counter() - began
            await browser.show(_PAGE)
            looks = [await _timed(browser("read")) for _ in range(LOOKS)]
            acts = []
            for number in range(LOOKS):
                acts.append(await _timed(browser("click", target="Press")))
                acts.append(await _timed(browser("fill", target="Name", text=f"n{number}")))
            solved = await miniwob_solved(browser) if miniwob else {}
        return {
            "browser_start_s": round(started, 2),
            "snapshot_ms": round(1_000 * statistics.median(looks), 1),
            "act_ms": round(1_000 * statistics.median(acts), 1),
            "act_p95_ms": round(1_000 * sorted(acts)[int(0.95 * len(acts))], 1),
            **solved,
        }


async def _timed(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


class _Timed:
    """A browser, and how long each act in it took."""

    def __init__(self, browser: Driven) -> None:
        self._browser = browser
        self.seconds: list[float] = []

    async def __call__(self, name: str, **given: str) -> str:
        began = time.perf_counter()
        try:
            return await self._browser(name, **given)
        finally:
            if name in _ACTS:
                self.seconds.append(time.perf_counter() - began)


async def miniwob_solved(browser: Driven, tasks: Iterable[str] = ()) -> Figures:
    """How many episodes end with a reward, of the tasks that the script knows, or of these."""
    failed: list[str] = []
    chosen = {name: TASKS[name] for name in (tasks or TASKS)}
    timed = _Timed(browser)
    for task, solve in chosen.items():
        for seed in range(SEEDS):
            try:
                reward = await _episode(browser, timed, task, seed, solve)
                why = "no reward"
            except (*_LOST, BrowserError) as problem:
                reward, why = 0.0, f"{type(problem).__name__}: {problem}"
            if reward <= 0:
                failed.append(f"{task}/{seed}: {why}"[:200])
    episodes = len(chosen) * SEEDS
    acts = sorted(timed.seconds) or [0.0]
    return {
        "miniwob_tasks": len(chosen),
        "miniwob_episodes": episodes,
        "miniwob_solved": round((episodes - len(failed)) / episodes, 3),
        "miniwob_acts": len(acts),
        "miniwob_act_ms": round(1_000 * statistics.median(acts), 1),
        "miniwob_act_p95_ms": round(1_000 * acts[int(0.95 * len(acts))], 1),
        "miniwob_failed": "; ".join(failed),
    }


async def _evaluate(browser: Driven, expression: str) -> Any:  # noqa: ANN401 - JSON
    page = await browser.browser.page()
    told = await page.cdp.ask(
        "Runtime.evaluate", page.session, expression=expression, returnByValue=True
    )
    return told["result"].get("value")


async def _episode(browser: Driven, timed: _Timed, task: str, seed: int, solve: Solve) -> float:
    await browser("open", url=browser.web.at(f"/miniwob/{task}.html"))
    await _evaluate(
        browser, f"Math.seedrandom({seed}); core.EPISODE_MAX_TIME = 600000; core.startEpisodeReal()"
    )
    wanted = str(await _evaluate(browser, "document.getElementById('query').innerText"))
    await browser("read")
    await solve(timed, " ".join(wanted.split()))
    deadline = time.monotonic() + REWARD_S
    while not await _evaluate(browser, "WOB_DONE_GLOBAL"):
        if time.monotonic() > deadline:
            return 0.0
        await asyncio.sleep(0.05)
    return float(await _evaluate(browser, "WOB_RAW_REWARD_GLOBAL"))


def table(figures: Figures) -> str:
    """The figures, a line each."""
    return "\n".join(f"{name:18}{value}" for name, value in figures.items())

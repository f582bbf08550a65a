"""Measures Sayso's own browser: how soon it is there, what a look and an act take, and how many
tasks of MiniWoB++ are solved by a script that knows what is wanted and has the model's tools."""

import asyncio
import re
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from sayso.server.capabilities.browser.errors import BrowserError
from tests.capabilities.browser.rig import Driven, driven, small_web

Figures = Mapping[str, float | int | str]

SEEDS: Final = 5
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


async def miniwob_solved(browser: Driven) -> Figures:
    """How many episodes end with a reward, of the tasks that the script knows."""
    failed: list[str] = []
    for task, solve in TASKS.items():
        for seed in range(SEEDS):
            try:
                reward = await _episode(browser, task, seed, solve)
            except (BrowserError, LookupError, AttributeError) as problem:
                reward = 0.0
                failed.append(f"{task}/{seed}: {problem}"[:200])
            if reward <= 0:
                failed.append(f"{task}/{seed}")
    episodes = len(TASKS) * SEEDS
    lost = len({each.partition(":")[0] for each in failed})
    return {
        "miniwob_tasks": len(TASKS),
        "miniwob_episodes": episodes,
        "miniwob_solved": round((episodes - lost) / episodes, 3),
        "miniwob_failed": "; ".join(failed),
    }


async def _evaluate(browser: Driven, expression: str) -> Any:  # noqa: ANN401 - JSON
    page = await browser.browser.page()
    told = await page.cdp.ask(
        "Runtime.evaluate", page.session, expression=expression, returnByValue=True
    )
    return told["result"].get("value")


async def _episode(
    browser: Driven, task: str, seed: int, solve: Callable[[Driven, str], Awaitable[None]]
) -> float:
    await browser("open", url=browser.web.at(f"/miniwob/{task}.html"))
    await _evaluate(
        browser, f"Math.seedrandom({seed}); core.EPISODE_MAX_TIME = 600000; core.startEpisodeReal()"
    )
    wanted = str(await _evaluate(browser, "document.getElementById('query').innerText"))
    await browser("read")
    await solve(browser, " ".join(wanted.split()))
    deadline = time.monotonic() + REWARD_S
    while not await _evaluate(browser, "WOB_DONE_GLOBAL"):
        if time.monotonic() > deadline:
            return 0.0
        await asyncio.sleep(0.05)
    return float(await _evaluate(browser, "WOB_RAW_REWARD_GLOBAL"))


def _quoted(wanted: str) -> list[str]:
    return re.findall(r'"([^"]*)"', wanted)


async def _click_quoted(browser: Driven, wanted: str) -> None:
    for words in _quoted(wanted):
        same = re.findall(rf'\[([a-z]+\d+) \w+ "{re.escape(words)}"', await browser("read"))
        await browser("click", target=same[0] if same else words)


async def _click_one(browser: Driven, _: str) -> None:
    await browser("click", target="ONE")


async def _first_button(browser: Driven, _: str) -> None:
    await browser("click", target=_ref(await browser("read"), "button"))


async def _first_field(browser: Driven, _: str) -> None:
    await browser("click", target=_ref(await browser("read"), "textbox"))


def _ref(told: str, role: str, number: int = 0) -> str:
    return str(re.findall(rf"\[([a-z]+\d+) {role}", told)[number])


async def _close_dialog(browser: Driven, wanted: str) -> None:
    words = _quoted(wanted)[0] if "labeled" in wanted else "x"
    await browser("click", target="Close" if words == "x" else words)


async def _nth_field(browser: Driven, wanted: str) -> None:
    number = int(re.findall(r"(\d+)(?:st|nd|rd|th)", wanted)[0])
    await browser("click", target=_ref(await browser("read"), "textbox", number - 1))


async def _enter_text(browser: Driven, wanted: str) -> None:
    await browser("fill", target=_ref(await browser("read"), "textbox"), text=_quoted(wanted)[0])
    await browser("click", target="Submit")


async def _enter_case(browser: Driven, wanted: str) -> None:
    text = _quoted(wanted)[0]
    text = text.upper() if "upper case" in wanted else text.lower()
    await browser("fill", target=_ref(await browser("read"), "textbox"), text=text)
    await browser("click", target="Submit")


def _named(wanted: str) -> list[str]:
    names = re.sub(r"^Select | and click Submit.*$|\.$", "", wanted)
    return [] if names == "nothing" else [each.strip() for each in names.split(",") if each.strip()]


async def _check(browser: Driven, wanted: str) -> None:
    for name in _named(wanted):
        await browser("click", target=name)
    await browser("click", target="Submit")


async def _choose(browser: Driven, wanted: str) -> None:
    name = re.findall(r"Select (.*) from the list", wanted)[0]
    await browser("select", target=_ref(await browser("read"), "combobox"), text=name)
    await browser("click", target="Submit")


async def _date(browser: Driven, wanted: str) -> None:
    month, day, year = re.findall(r"(\d+)/(\d+)/(\d+)", wanted)[0]
    field = _ref(await browser("read"), "textbox")
    await browser("fill", target=field, text=f"{year}-{int(month):02}-{int(day):02}")
    await browser("click", target="Submit")


async def _time(browser: Driven, wanted: str) -> None:
    hour, minute, half = re.findall(r"(\d+):(\d+) ?([AP]M)", wanted)[0]
    hours = int(hour) % 12 + (12 if half == "PM" else 0)
    field = _ref(await browser("read"), "textbox")
    await browser("fill", target=field, text=f"{hours:02}:{minute}")
    await browser("click", target="Submit")


async def _one_two(browser: Driven, _: str) -> None:
    await browser("click", target="ONE")
    await browser("click", target="TWO")


async def _tab(browser: Driven, wanted: str) -> None:
    (number,) = re.findall(r"#(\d+)", wanted)
    await browser("click", target=f"Tab #{number}")


async def _sum(browser: Driven, _: str) -> None:
    told = await browser("read")
    left, sign, right = re.findall(r"(\d+)\s*([-+x])\s*(\d+)\s*=", told)[0]
    value = {"+": int(left) + int(right), "-": int(left) - int(right), "x": int(left) * int(right)}
    await browser("fill", target=_ref(told, "textbox"), text=str(value[sign]))
    await browser("click", target="Submit")


async def _algebra(browser: Driven, _: str) -> None:
    told = await browser("read")
    left, sign, right, result = re.findall(r"(\w+)\s*([-+])\s*(\w+)\s*=\s*(-?\d+)", told)[0]
    known = int(right) if left == "x" else int(left)
    if sign == "+":
        value = int(result) - known
    else:
        value = int(result) + known if left == "x" else known - int(result)
    await browser("fill", target=_ref(told, "textbox"), text=str(value))
    await browser("click", target="Submit")


async def _section(browser: Driven, _: str) -> None:
    await browser("click", target=re.findall(r"Section #\d+", await browser("read"))[0])
    await browser("click", target="Submit")


TASKS: Final[Mapping[str, Callable[[Driven, str], Awaitable[None]]]] = {
    "click-test": _first_button,
    "click-test-transfer": _first_button,
    "click-test-2": _click_one,
    "click-button": _click_quoted,
    "click-button-sequence": _one_two,
    "click-link": _click_quoted,
    "click-dialog": _close_dialog,
    "click-dialog-2": _close_dialog,
    "focus-text": _first_field,
    "focus-text-2": _nth_field,
    "enter-text": _enter_text,
    "enter-text-dynamic": _enter_text,
    "enter-text-2": _enter_case,
    "unicode-test": _click_quoted,
    "click-checkboxes": _check,
    "click-checkboxes-large": _check,
    "click-checkboxes-transfer": _check,
    "click-option": _check,
    "choose-list": _choose,
    "enter-date": _date,
    "enter-time": _time,
    "click-tab": _tab,
    "simple-arithmetic": _sum,
    "simple-algebra": _algebra,
    "click-collapsible": _section,
    "click-collapsible-nodelay": _section,
}


def table(figures: Figures) -> str:
    """The figures, a line each."""
    return "\n".join(f"{name:18}{value}" for name, value in figures.items())

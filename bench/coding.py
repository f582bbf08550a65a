"""Measures what a model's hands on code cost: a patch that is tried, the map of a project, and how
often an edit that was written a little wrong ends in another place than was meant."""

import asyncio
import os
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from bench.helpers import helpers_parallel_ratio
from sayso.protocol.home import Home
from sayso.server.capabilities.coding.inside.folders import Folders
from sayso.server.capabilities.coding.inside.patch_plan import plan
from sayso.server.capabilities.coding.inside.patch_write import write
from sayso.server.capabilities.coding.program import PROGRAM
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment, ensure
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport, find_sandbox
from tests.capabilities.coding.repairs import cases

Figures = Mapping[str, float | int | str]

PATCHED: Final = 20
"""Files of one patch."""
MAPPED: Final = 1_400
"""Files of the project: as many as Python's own library has."""
TRIES: Final = 15


def measure() -> Figures:
    """Take all figures."""
    return asyncio.run(_measure())


async def _measure() -> Figures:
    environment = await asyncio.to_thread(ensure, Home.find())
    report = await find_sandbox()
    if report.sandbox is None:
        raise SystemExit(f"There is no sandbox to measure, because {report.reason}.")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["SAYSO_HOME"] = f"{scratch}/home"
        for name in ("patched", "mapped", "edited", "helped"):
            (Path(scratch) / name).mkdir()
        tried, wrong = await asyncio.to_thread(misapplied, Path(scratch) / "edited")
        files = await asyncio.to_thread(_project, Path(scratch) / "mapped", MAPPED)
        return {
            "sandbox": report.sandbox.kind,
            "patch_ms": await patch_ms(environment, report, Path(scratch) / "patched"),
            **await map_s(environment, report, Path(scratch) / "mapped"),
            "mapped_files": files,
            "edits_tried": tried,
            "misapplied": wrong,
            "helpers_parallel_ratio": await helpers_parallel_ratio(
                environment, Path(scratch) / "helped"
            ),
        }


async def patch_ms(environment: KernelEnvironment, report: SandboxReport, folder: Path) -> float:
    """Milliseconds for which a patch of 20 files is tried in the sandbox, in the median."""
    parts = []
    for number in range(PATCHED):
        lines = [f"line {line} of file {number}" for line in range(300)]
        (folder / f"f{number}.py").write_text("\n".join(lines) + "\n")
        hunk = f" {lines[149]}\n-{lines[150]}\n+another\n {lines[151]}\n"
        parts.append(f"*** Update File: f{number}.py\n{hunk}")
    request = {"do": "plan", "patch": f"*** Begin Patch\n{''.join(parts)}*** End Patch"}
    runner = CodeRunner(folder, environment, report)
    times = []
    try:
        for _ in range(TRIES + 1):
            began = time.perf_counter()
            answer = await runner.programs.look(PROGRAM, request)
            times.append(time.perf_counter() - began)
            assert not answer["problems"], answer
    finally:
        await runner.close()
    return round(statistics.median(times[1:]) * 1_000, 1)  # the first starts the program


async def map_s(
    environment: KernelEnvironment, report: SandboxReport, folder: Path
) -> Mapping[str, float]:
    """Seconds for the first map of a project, its program's start included, and for the next."""
    runner = CodeRunner(folder, environment, report)
    try:
        times = []
        for about in ("", "", "json decoder"):
            began = time.perf_counter()
            answer = await runner.programs.look(PROGRAM, {"do": "repo_map", "about": about}, 120)
            times.append(round(time.perf_counter() - began, 3))
            assert "|" in answer["text"], answer
    finally:
        await runner.close()
    return {
        "repo_map_cold_s": times[0],
        "repo_map_warm_s": times[1],
        "repo_map_other_words_s": times[2],
        "repo_map_chars": len(answer["text"]),
    }


def misapplied(folder: Path) -> tuple[int, int]:
    """How many edits were tried, and how many of them did not what was meant."""
    tried = wrong = 0
    file = folder / "file"
    for case in cases():
        file.write_bytes(case.before)
        folders = Folders([str(folder)])
        made = plan(case.patch, folders, {})
        if made.fits:
            write(made.changes, folders)
        folders.close()
        tried += 1
        wrong += file.read_bytes() != (case.after if made.fits else case.before)
    return tried, wrong


def _project(folder: Path, most: int) -> int:
    """A project of so many files: Python's own library, copied."""
    library = Path(sysconfig.get_path("stdlib"))
    found = (path for path in sorted(library.rglob("*.py")) if "site-packages" not in path.parts)
    count = 0
    for path in islice(found, most):
        target = folder / path.relative_to(library)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
        count += 1
    return count


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:24}{value:>12}" for name, value in figures.items())

"""Finds and runs a project's own tests, and counts how they came out.

What the tests print is theirs. The counts are taken from a report that the runner writes to a file,
where it can write one.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .folders import Folders, PlaceError

FAILURES_TOLD = 5
FAILURE_LINES = 20
LINE_CHARS = 300
OUTPUT_CHARS = 200_000
"""Of what tests print, as much as is kept of its end."""
REPORT_BYTES = 16 * 1024**2
NAMES_MOST = 2_000


@dataclass(slots=True)
class Command:
    """How a project's tests are run."""

    argv: list[str]
    report: Path | None = None
    """Where it writes what came of each test."""
    lacks: str = ""
    """What is missing to run it, with what to do about it."""


@dataclass(slots=True)
class Outcome:
    """How they came out."""

    passed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    """Names, and the last lines of why."""
    skipped: list[str] = field(default_factory=list)
    counted: bool = False


def run_tests(request: Mapping[str, Any], folders: Folders) -> Iterator[Mapping[str, Any]]:
    """What the tests print, and at the end how they came out."""
    place = folders.find(str(request.get("path") or "."))
    folder = Path(folders.roots[place.root], place.path)
    if not folders.is_folder(place):
        folder = folder.parent
    with tempfile.TemporaryDirectory() as scratch:
        command = _command(folder, request, Path(scratch) / "report.xml")
        if command.lacks:
            yield {"end": True, "refused": command.lacks}
            return
        began, printed = time.monotonic(), ""
        with subprocess.Popen(
            command.argv,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"},
        ) as process:
            stream = process.stdout
            while stream and (piece := stream.read1(32_768)):  # type: ignore[attr-defined]
                text = piece.decode(errors="replace")
                printed = (printed + text)[-OUTPUT_CHARS:]
                yield {"out": text}
        outcome = _outcome(command, printed)
        yield {
            "end": True,
            "command": shlex.join(_shown(command)),
            "code": process.returncode,
            "seconds": round(time.monotonic() - began, 2),
            "counted": outcome.counted,
            "passed": outcome.passed,
            "failed": [name for name, _ in outcome.failed][:NAMES_MOST],
            "skipped": outcome.skipped[:NAMES_MOST],
            "why": [f"{name}\n{why}" for name, why in outcome.failed[:FAILURES_TOLD]],
            "last": _last_lines(printed),
        }


def find_tests(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """The command that runs a project's tests, as a person is shown it."""
    place = folders.find(str(request.get("path") or "."))
    folder = Path(folders.roots[place.root], place.path)
    command = _command(folder if folders.is_folder(place) else folder.parent, request, Path("-"))
    if command.lacks:
        raise PlaceError(command.lacks)
    return {"command": shlex.join(_shown(command))}


def _shown(command: Command) -> list[str]:
    left_out = ("--junitxml", "-p", "no:cacheprovider", "-o", "junit_family")
    shown = [part for part in command.argv if not part.startswith(left_out)]
    return ["python", *shown[1:]] if shown[:1] == [sys.executable] else shown


def _command(folder: Path, request: Mapping[str, Any], report: Path) -> Command:
    names = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    only = [str(each) for each in request.get("only") or []]
    if given := str(request.get("command") or ""):
        return _given(shlex.split(given), report)
    if _is_python(folder, names):
        return _python(folder, names, report, only)
    if "package.json" in names and _has_script(folder):
        return _program("npm", ["npm", "test", "--silent", "--", *only], "~/.nvm")
    if "Cargo.toml" in names:
        return _program("cargo", ["cargo", "test", *only], "~/.cargo", "~/.rustup")
    if "go.mod" in names:
        return _program("go", ["go", "test", "-json", *(only or ["./..."])], "~/go")
    for name in ("Makefile", "makefile", "GNUmakefile"):
        if name in names and (target := _target(folder / name)):
            return _program("make", ["make", target])
    raise PlaceError(
        "No tests were found there: give the command that runs them, or the folder of the project."
    )


def _given(argv: list[str], report: Path) -> Command:
    if not argv:
        raise PlaceError("The command is empty.")
    runs_pytest = argv[0] == "pytest" or argv[1:3] == ["-m", "pytest"]
    if shutil.which(argv[0]) is None and not Path(argv[0]).exists():
        return _program(argv[0], argv)
    added = _reporting(report) if runs_pytest else []
    return Command([*argv, *added], report if runs_pytest else None)


def _reporting(report: Path) -> list[str]:
    return ["-p", "no:cacheprovider", "-o", "junit_family=xunit2", f"--junitxml={report}"]


def _is_python(folder: Path, names: set[str]) -> bool:
    if names & {"pytest.ini", "conftest.py", "tox.ini", "setup.py", "setup.cfg", "pyproject.toml"}:
        return True
    inner = [folder, folder / "tests", folder / "test"]
    return any(
        each.name.startswith("test_") or each.name.endswith("_test.py")
        for place in inner
        if place.is_dir()
        for each in place.glob("*.py")
    )


def _python(folder: Path, names: set[str], report: Path, only: list[str]) -> Command:
    for name in (".venv", "venv", "env"):
        own = folder / name / "bin" / "python"
        if name in names and (own.exists() or own.is_symlink()):
            asked = "import importlib.util as u; print(bool(u.find_spec('pytest')))"
            try:
                done = subprocess.run(
                    [str(own), "-c", asked], capture_output=True, text=True, timeout=30, check=False
                )
            except OSError:
                target = own.resolve()
                home = re.match(r"(/(?:home/[^/]+|root|Users/[^/]+)/[^/]+)", str(target))
                where = home[1] if home else str(target.parent.parent)
                return Command([], lacks=(
                    f"The project's own Python, {name}/bin/python, leads to {target}, which code"
                    f" can't see: ask for access once, with `read {where}`."
                ))  # fmt: skip
            if done.stdout.strip() == "True":
                argv = [str(own), "-m", "pytest", "-q", *_reporting(report), *only]
                return Command(argv, report)
            return Command([str(own), "-m", "unittest", *(only or ["discover"])])
    if importlib.util.find_spec("pytest"):
        argv = [sys.executable, "-m", "pytest", "-q", *_reporting(report), *only]
        return Command(argv, report)
    return Command([sys.executable, "-m", "unittest", *(only or ["discover"])])


def _program(name: str, argv: list[str], *places: str) -> Command:
    if shutil.which(name):
        return Command(argv)
    asking = " and ".join(f"`read {place}`" for place in places)
    how = f" If it is installed there, ask for access once, with {asking}." if places else ""
    return Command(argv, lacks=f"{name} is not there for code.{how}")


def _has_script(folder: Path) -> bool:
    try:
        script = json.loads((folder / "package.json").read_text()).get("scripts", {}).get("test")
    except (OSError, ValueError, AttributeError):
        return False
    return bool(script) and "no test specified" not in str(script)


def _target(makefile: Path) -> str:
    text = makefile.read_text(errors="replace")
    for name in ("test", "tests", "check"):
        if re.search(rf"^{name}\s*:", text, re.MULTILINE):
            return name
    return ""


def _outcome(command: Command, printed: str) -> Outcome:
    if command.report and command.report.exists():
        return _of_report(command.report)
    if command.argv[:2] == ["go", "test"]:
        return _of_go(printed)
    return Outcome()


def _of_report(report: Path) -> Outcome:
    if report.stat().st_size > REPORT_BYTES:
        return Outcome()
    try:
        cases = list(ET.parse(report).getroot().iter("testcase"))  # noqa: S314
    except ET.ParseError:
        return Outcome()
    outcome = Outcome(counted=True)
    for case in cases:
        name = f"{case.get('classname', '')}::{case.get('name', '')}".lstrip(":")[:LINE_CHARS]
        failed = [case.find("failure"), case.find("error")]
        wrong = next((each for each in failed if each is not None), None)
        if wrong is not None:
            outcome.failed.append((name, _last_lines(wrong.text or wrong.get("message") or "")))
        elif case.find("skipped") is not None:
            outcome.skipped.append(name)
        else:
            outcome.passed += 1
    return outcome


def _of_go(printed: str) -> Outcome:
    outcome, said = Outcome(), dict[str, list[str]]()
    for line in printed.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if not isinstance(event, dict) or "Test" not in event:
            continue
        outcome.counted = True
        name = f"{event.get('Package', '')}.{event['Test']}"
        match event.get("Action"):
            case "output":
                said.setdefault(name, []).append(str(event.get("Output", "")))
            case "pass":
                outcome.passed += 1
            case "fail":
                outcome.failed.append((name, _last_lines("".join(said.get(name, [])))))
            case "skip":
                outcome.skipped.append(name)
            case _:
                pass
    return outcome


def _last_lines(text: str) -> str:
    lines = text.strip("\n").splitlines()[-FAILURE_LINES:]
    return "\n".join(line[:LINE_CHARS] for line in lines)

"""What the repository says of itself is true."""

import argparse
import ast
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sayso.client.background.service_files import HEADLESS_UNIT
from sayso.firmware_sim.command import parser as simulator_parser
from tests.repository.tree import ROOMS, ROOT, files

LONGEST_FILE = 400
CODE = {".py", ".sh", ".js", ".html", ".css"}

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
EXTRAS = PROJECT["project"]["optional-dependencies"]

DOCUMENTS = [path for path in files() if path.suffix == ".md"]
SCRIPTS = [
    path
    for path in files()
    if path.parent.name in {"scripts", ".ci"} and path.suffix in {"", ".sh"}
]


def names(lines: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in lines}


OF_EVERYONE = names(PROJECT["project"]["dependencies"])
WITHOUT_A_KEY = OF_EVERYONE | names(EXTRAS["hands-free"])
OF_THE_CLIENT = OF_EVERYONE | names(EXTRAS["pi"] + EXTRAS["hotkey"] + EXTRAS["desktop"])
OF_THE_SERVER = OF_EVERYONE | names(EXTRAS["server"] + EXTRAS["pocket"] + EXTRAS["ocr"])
OF_DEVELOPERS = (
    OF_THE_SERVER | WITHOUT_A_KEY | names([line for line in GROUPS["dev"] if isinstance(line, str)])
)


IN_THE_KERNELS_PYTHON = (
    "server/runtimes/languages/python_kernel.py",
    "server/capabilities/coding/inside/",
)
"""Runs there alone, and the server never imports it."""


def kernel_wishes() -> set[str]:
    """What the kernels' Python has."""
    text = (ROOT / "server/runtimes/kernels/kernel.in").read_text()
    return names(re.findall(r"^[\w.-]+[^#\n]*", text, re.MULTILINE))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ── Code ─────────────────────────────────────────────────────────────────────────────────────────


def test_no_file_of_code_is_longer_than_a_head_holds() -> None:
    code = [path for path in files() if path.suffix in CODE or path in SCRIPTS]
    lengths = {relative(path): len(path.read_text().splitlines()) for path in code}
    assert lengths
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


@pytest.mark.slow
def test_every_file_of_python_says_what_it_is_for() -> None:
    silent = [
        relative(path)
        for path in files()
        if path.suffix == ".py" and path.read_text() and not ast.get_docstring(parse(path))
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("protocol", OF_EVERYONE),
        ("audio", WITHOUT_A_KEY),
        ("client", OF_THE_CLIENT),
        ("firmware-sim", OF_EVERYONE),
        ("server", OF_THE_SERVER),
        ("bench", OF_DEVELOPERS),
        ("tests", OF_DEVELOPERS | {"packaging", "starlette", "uvicorn"}),  # others bring these
    ],
)
def test_what_is_imported_is_a_declared_dependency(folder: str, allowed: set[str]) -> None:
    packages = packages_distributions()
    own = {"sayso", "tests", "bench", "_typeshed"} | set(sys.stdlib_module_names)
    for path in files(folder):
        if path.suffix == ".py":
            for module in imported(path) - own:
                makers = {canonicalize_name(name) for name in packages.get(module, [module])}
                inside = relative(path).startswith(IN_THE_KERNELS_PYTHON)
                there = kernel_wishes() if inside else allowed
                assert makers & there, f"{relative(path)} imports {module}"


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imported(path: Path) -> set[str]:
    """The top-level names of all modules that a file imports."""
    modules: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
    return {module.partition(".")[0] for module in modules}


def test_every_room_is_under_the_import_contracts() -> None:
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == set(ROOMS.values())


# ── Scripts ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("script", SCRIPTS, ids=relative)
def test_a_script_is_sound(script: Path) -> None:
    text = script.read_text()
    subprocess.run(["bash", "-n", str(script)], check=True)
    if script.suffix == ".sh":
        assert "Sourced, never run." in text
    else:
        assert text.startswith("#!/usr/bin/env bash\n")
        assert "\nset -euo pipefail\n" in text
        assert script.stat().st_mode & 0o111, "it can be executed"


@pytest.mark.parametrize(
    "script", [path for path in SCRIPTS if path.parent.name != ".ci"], ids=relative
)
def test_a_script_runs_with_the_tools_of_macos(script: Path) -> None:
    """Its bash is 3.2, and its tools have no GNU options; CI's own runs on Debian."""
    code = re.sub(r"^\s*#.*", "", script.read_text(), flags=re.MULTILINE)
    newer = {
        "arrays that are read or associative": r"\b(mapfile|readarray|declare -A|local -A)\b",
        "case in expansions": r"\$\{\w+(\^|,)",
        "both streams at once": r"&>>|\|&",
        "GNU only": r"\b(readlink -f|realpath|sed -i|grep -P|date -d|stat -c|nproc|timeout \d)",
        "not there": r"\b(sha256sum|md5sum|flock|setsid)\b",
    }
    for what, pattern in newer.items():
        found = re.search(pattern, code)
        assert not found, f"{what}: {found.group()}"


# ── Documents ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("document", DOCUMENTS, ids=relative)
def test_every_link_to_a_file_leads_somewhere(document: Path) -> None:
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:|#", target):
            path = document.parent / target.partition("#")[0]
            assert path.exists(), f"{relative(document)} links to {target}"


def console_lines() -> list[tuple[Path, str]]:
    """Every command in a ```console block, without its comment and prompt."""
    found = []
    for document in DOCUMENTS:
        text = document.read_text()
        for block in re.findall(r"(?ms)^ *```console\n(.*?)^ *```", text):
            for line in block.splitlines():
                command = re.sub(r"(^|\s)#.*", "", line).strip().removeprefix("$ ")
                if command:
                    found.append((document, command))
    return found


@pytest.mark.parametrize(
    ("document", "command"), console_lines(), ids=lambda value: str(value)[-60:]
)
def test_a_command_in_the_documents_is_one_that_exists(document: Path, command: str) -> None:
    """Each kind of command is checked by its own judge; a command that no judge knows fails."""
    words = shlex.split(command)
    while words and re.match(r"[A-Z_]+=", words[0]):
        words.pop(0)
    judge = JUDGES.get("scripts/" if words[0].startswith("scripts/") else words[0])
    assert judge, f"{relative(document)}: no judge for {command}"
    judge(words)


def judge_script(words: list[str]) -> None:
    script = ROOT / words[0]
    assert script in SCRIPTS
    usage = script.read_text()
    for word in words[1:]:
        if word.startswith("--") and words[0] in {"scripts/check", "scripts/lock"}:
            assert word in usage
        if word.startswith("tests/"):
            assert (ROOT / word.partition("::")[0]).exists()
    if words[0] == "scripts/run":
        judge_sayso(["sayso", "serve", *(word for word in words[1:] if word != "--for-good")])
    if words[0] == "scripts/bench":
        helped = [sys.executable, "-m", "bench", words[1], "--help"]
        said = subprocess.run(helped, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert all(word in said for word in words[2:] if word.startswith("--"))


def judge_sayso(words: list[str]) -> None:
    (entry,) = entry_points(group="sayso.commands", name=words[1])
    command = entry.load()
    parser = argparse.ArgumentParser(prog=f"sayso {entry.name}", exit_on_error=False)
    command.add_arguments(parser)
    parser.parse_args(words[2:])


def judge_simulator(words: list[str]) -> None:
    simulator_parser().parse_args(words[1:])


def judge_apt(words: list[str]) -> None:
    assert words[1:3] in (["apt", "install"], ["loginctl", "enable-linger"])
    if words[1] == "apt":
        known = "".join((ROOT / "scripts" / name).read_text() for name in ("lib.sh", "pi"))
        assert all(package in known for package in words[3:] if package != "git")


def judge_pip(words: list[str]) -> None:
    assert words[:2] == ["pip", "install"]
    for word in words[2:]:
        extras = re.findall(r"\[(.*)\]", word)
        assert all(extra in EXTRAS for names in extras for extra in names.split(","))


def judge_pytest(words: list[str]) -> None:
    assert words[:3] == ["python", "-m", "pytest"] or words[:2] == ["python", "-m"]


def judge_git(words: list[str]) -> None:
    assert words[1] in {"clone", "commit", "config", "pull"}


def judge_shell(words: list[str]) -> None:
    assert words in (["source", ".venv/bin/activate"], ["cd", "sayso"])


def judge_systemctl(words: list[str]) -> None:
    assert "sayso" in words
    assert words[:2] == ["systemctl", "--user"]


def judge_journal(words: list[str]) -> None:
    assert words == ["journalctl", "-u", HEADLESS_UNIT]


JUDGES = {
    "journalctl": judge_journal,
    "scripts/": judge_script,
    "sayso": judge_sayso,
    "sayso-sim": judge_simulator,
    "sudo": judge_apt,
    "pip": judge_pip,
    "python": judge_pytest,
    "git": judge_git,
    "source": judge_shell,
    "cd": judge_shell,
    "systemctl": judge_systemctl,
}


# ── Licences ─────────────────────────────────────────────────────────────────────────────────────


def test_every_dependency_is_accounted_for() -> None:
    """docs/dependencies.md has a row for each: why this one, and under which licence."""
    rows = (ROOT / "docs/dependencies.md").read_text()
    told = {canonicalize_name(name) for name in re.findall(r"^\| `([\w.-]+)`", rows, re.MULTILINE)}
    assert (OF_DEVELOPERS | kernel_wishes() | names(GROUPS["build"])) - told == set()

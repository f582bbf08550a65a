"""Shows what git knows of a folder: status, log, diff and show, and nothing that could write.

A repository's settings can name programs for git to start: a monitor of files, filters, other ways
to show a difference, a pager, hooks, checks of signatures. None of them is started here: they are
switched off by settings that go before the repository's own. Nothing is fetched, and submodules are
not entered. The sandbox, which can write nothing and has no network, bounds it all once more.
"""

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .folders import Folders, PlaceError

SECONDS: Final = 20.0
CHARS: Final = 24_000
"""That are told: six pages."""
LOG_USUAL, LOG_MOST = 20, 200
DRIVERS_MOST: Final = 100
"""Filters in a repository's settings, each of which is switched off by its name."""

_REVISION: Final = re.compile(r"(?!-)[\w./@{}^~:+!-]{1,200}")
"""Names, ranges and `REVISION:PATH`; nothing that git could take for an option."""

_SETTINGS: Final = {
    "color.ui": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.packedGitLimit": "256m",
    "core.packedGitWindowSize": "16m",
    "core.pager": "cat",
    "core.preloadIndex": "false",
    "core.quotePath": "false",
    "core.sshCommand": "false",
    "core.untrackedCache": "false",
    "diff.external": "",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "log.showSignature": "false",
    "pack.threads": "1",
    "safe.bareRepository": "explicit",
    "safe.directory": "*",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
}

_WITHOUT_PROGRAMS: Final = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")


class GitLookError(Exception):
    """It can't be shown; the message is a sentence that says why."""


def git_look(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """What git says."""
    program = shutil.which("git")
    if program is None:
        raise GitLookError("git is not installed here.")
    place = folders.find(str(request.get("path") or "."), missing=True)
    whole = Path(folders.roots[place.root], place.path)
    is_folder = folders.is_folder(place)
    folder = whole if is_folder else whole.parent
    if not folder.is_dir():
        raise PlaceError(f"{folder} is not there.")
    paths = [] if is_folder and not request.get("path") else ["." if is_folder else whole.name]
    arguments = _arguments(request, paths)
    settings = {**_SETTINGS, **_switched_off(program, folder)}
    said, cut, problem = _said([program, *arguments], folder, settings)
    if problem:
        raise GitLookError(problem)
    text = said.rstrip("\n") or _nothing(request)
    if cut:
        text += f"\n[cut after {CHARS:,} characters; name a path or fewer commits]"
    return {"text": text}


def _arguments(request: Mapping[str, Any], paths: Sequence[str]) -> list[str]:
    command, revision = str(request["command"]), str(request.get("revision") or "")
    if revision and not _REVISION.fullmatch(revision):
        raise GitLookError(f"{revision!r} is no revision: give a name, a range or REVISION:PATH.")
    revisions = [revision] if revision else []
    count = min(int(request.get("count") or LOG_USUAL), LOG_MOST)
    match command:
        case "status":
            return ["status", "--short", "--branch", "--ignore-submodules=dirty", "--", *paths]
        case "log":
            form = "--format=%h %ad %an%d %s"
            return ["log", form, "--date=short", f"-n{count}", *revisions, "--", *paths]
        case "diff":
            staged = ["--cached"] if request.get("staged") else []
            shown = ["--patch-with-stat", *_WITHOUT_PROGRAMS]
            return ["diff", *shown, *staged, *revisions, "--", *paths]
        case "show":
            if ":" in revision:
                return ["show", "--no-textconv", revision]
            shown = ["--patch-with-stat", "--date=iso", *_WITHOUT_PROGRAMS]
            return ["show", *shown, *(revisions or ["HEAD"]), "--", *paths]
        case _:
            raise GitLookError("git shows status, log, diff and show here; the rest is code.")


def _nothing(request: Mapping[str, Any]) -> str:
    if request["command"] != "diff":
        return "git says nothing."
    return "Nothing is staged." if request.get("staged") else "Nothing differs."


def _switched_off(program: str, folder: Path) -> dict[str, str]:
    """Settings by which the filters that the repository names start nothing."""
    named = ["config", "--null", "--name-only", "--get-regexp", r"^filter\..*"]
    said, cut, _ = _said([program, *named], folder, _SETTINGS)
    drivers = {name.rpartition(".")[0] for name in said.split("\0") if name.count(".") > 1}
    if cut or len(drivers) > DRIVERS_MOST:
        raise GitLookError("The repository's settings name too many filters to be looked at.")
    off: dict[str, str] = {}
    for driver in drivers:
        off |= {f"{driver}.{what}": "" for what in ("clean", "smudge", "process")}
        off[f"{driver}.required"] = "false"
    return off


def _said(
    command: Sequence[str], folder: Path, settings: Mapping[str, str]
) -> tuple[str, bool, str]:
    """What it says, whether there was more, and what went wrong, as a sentence."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(SECONDS, stop)
        timer.start()
        try:
            out, err = process.stdout, process.stderr
            data = out.read(4 * CHARS + 1) if out else b""
            text = data.decode(errors="replace")
            cut = len(text) > CHARS
            if cut:
                process.kill()
            told = err.read(4_000).decode(errors="replace") if err else ""
            process.wait()
        finally:
            timer.cancel()
    if late.is_set():
        return "", False, f"git took longer than {SECONDS:.0f} seconds and was stopped."
    if not cut and process.returncode not in (0, 1):
        lines = [line for line in told.splitlines() if line.strip()]
        return "", False, f"git says: {lines[0][:300] if lines else 'nothing, and failed'}."
    return text[:CHARS], cut, ""


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Without what could lead git elsewhere, and with these settings above those of any file."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    told = {
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }
    for number, (name, value) in enumerate(settings.items()):
        told[f"GIT_CONFIG_KEY_{number}"] = name
        told[f"GIT_CONFIG_VALUE_{number}"] = value
    return {**kept, **told}

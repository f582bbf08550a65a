"""What CONTRIBUTING tells a newcomer to do first works, step by step."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.tree import ROOMS, ROOT, copy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CHAPTER = (ROOT / "CONTRIBUTING.md").read_text().split("\n## ")[1]
STEPS = re.findall(r"(?ms)^```(console|diff)\n(.*?)^```", CHAPTER)


class Newcomer:
    """Works in a clone, with the environment that is there."""

    def __init__(self, folder: Path) -> None:
        self.clone = copy(folder / "sayso")
        packages = folder / "packages" / "sayso"
        packages.mkdir(parents=True)
        for room, package in ROOMS.items():
            (packages / package.rpartition(".")[2]).symlink_to(self.clone / room)
        who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
        who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
        self._variables = {**os.environ, **who, "PYTHONPATH": str(packages.parent)}
        for words in ("git init --quiet", "git add --all", "git commit --quiet -m All"):
            assert self.does(*shlex.split(words)) == 0

    def does(self, *words: str, given: str | None = None) -> int:
        done = subprocess.run(
            words, cwd=self.clone, env=self._variables, input=given, text=True, check=False
        )
        return done.returncode

    def follows(self, command: str) -> int | None:
        """What became of a command; none of one that a test of its own runs."""
        words = shlex.split(command)
        match words:
            case ["scripts/test", *arguments]:
                return self.does(sys.executable, "-m", "pytest", *arguments)
            case ["scripts/check"]:
                return None
            case ["git", *_]:
                return self.does(*words)
        raise AssertionError(f"Nobody knows how to follow {command}")


def test_the_first_change_fails_and_passes_as_it_is_told(tmp_path: Path) -> None:
    newcomer = Newcomer(tmp_path)
    became: list[int | str | None] = []
    for kind, text in STEPS:
        if kind == "diff":
            assert newcomer.does("git", "apply", "--unidiff-zero", given=text) == 0, text
            became.append("changed")
        else:
            became += [newcomer.follows(line) for line in text.splitlines()]
    assert became == [0, "changed", 1, "changed", 0, None, 0]
    assert newcomer.does("git", "diff", "--quiet", "HEAD") == 0

"""Git's rules are read as git reads them, and bounded however they are written."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.server.undo.git.ignore_rules import IgnoreRules, Rule, read_rules
from tests.git import git

RULES = """
# a comment
*.log
!kept.log
/top
build/
docs/*.txt
**/deep/x
a/**/z
end/**
**/any
\\#hash
\\!bang
trailing\\\x20
[a-c]at
[!x]y
[^p]q
sp ace
foo/*
!foo/keep
*.[oa]
**
!*/
!*.md
!*.log
!b*
!d*
!f*
"""

PATHS = (
    "a.log",
    "kept.log",
    "x/kept.log",
    "top",
    "x/top",
    "build",
    "x/build",
    "docs/a.txt",
    "docs/x/a.txt",
    "deep/x",
    "q/deep/x",
    "a/z",
    "a/b/c/z",
    "end",
    "end/x",
    "any",
    "q/r/any",
    "#hash",
    "!bang",
    "trailing ",
    "bat",
    "dat",
    "xy",
    "ay",
    "pq",
    "aq",
    "sp ace",
    "foo/drop",
    "foo/keep",
    "m.o",
    "m.c",
    "x/y/z.md",
    "foobar",
)


def ours(rules: str, path: str, *, folder: bool = False) -> bool:
    read = read_rules(rules)
    return IgnoreRules(lambda where: () if where else read, ()).ignores(path, folder=folder)


def gits(folder: Path, rules: str, paths: tuple[str, ...]) -> set[str]:
    (folder / ".gitignore").write_text(rules)
    asked = "\0".join(paths)
    said = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        cwd=folder,
        input=asked.encode(),
        capture_output=True,
        check=False,
    )
    return {path for path in said.stdout.decode().split("\0") if path}


@pytest.mark.needs("git")
@pytest.mark.parametrize("lines", [RULES.split("\n"), *([line] for line in RULES.split("\n"))])
def test_the_rules_mean_what_they_mean_to_git(tmp_path: Path, lines: list[str]) -> None:
    git("init", "-q", folder=tmp_path)
    rules = "\n".join(lines) + "\n"
    paths = tuple(path for path in PATHS if path not in ("build", "x/build"))
    assert {path for path in paths if ours(rules, path)} == gits(tmp_path, rules, paths)


@pytest.mark.needs("git")
def test_a_folder_takes_what_is_in_it_along(tmp_path: Path) -> None:
    assert ours("build/\n", "build", folder=True)
    assert not ours("build/\n", "build")
    assert ours("build/\n!build/kept\n", "build/kept")
    assert ours("*\n!kept/\n", "other/kept/x")


def test_deeper_rules_come_before_those_above_and_the_settings_last() -> None:
    rules = {"": read_rules("*.log\n"), "inner": read_rules("!mine.log\n")}

    def rules_in(folder: str) -> list[Rule]:
        return list(rules.get(folder, ()))

    all_rules = IgnoreRules(rules_in, read_rules("own\n"))
    assert all_rules.ignores("mine.log", folder=False)
    assert not all_rules.ignores("inner/mine.log", folder=False)
    assert all_rules.ignores("inner/other.log", folder=False)
    assert all_rules.ignores("x/own", folder=False)


def test_no_rule_takes_long() -> None:
    rules = "*a" * 40 + "b\n" + "**/a/" * 60 + "b\n" + "[" * 50 + "\n" + "a?" * 200
    began = time.process_time()
    assert not ours(rules, "/".join(["a" * 200] * 60))
    assert time.process_time() - began < 2


def test_after_many_looks_nothing_more_is_ignored() -> None:
    """What is not looked at is told."""
    rules = read_rules("\n".join(f"x{number}" for number in range(1_999)) + "\ny")
    known = IgnoreRules(lambda where: () if where else rules, ())
    assert known.ignores("y", folder=False)
    for number in range(1_100):
        known.ignores(f"z{number}", folder=False)
    assert not known.ignores("a/y", folder=False)


_SIGNS = st.text(st.sampled_from("ab*?[]!^-/\\. "), max_size=12)


@pytest.mark.slow
@pytest.mark.needs("git")
@settings(max_examples=300, deadline=None)
@given(
    rules=st.lists(_SIGNS, max_size=4),
    paths=st.lists(
        st.from_regex(r"[ab.]{1,2}(/[ab.]{1,2}){0,2}", fullmatch=True),
        min_size=1,
        max_size=4,
        unique=True,
    ),
)
def test_any_rules_mean_what_they_mean_to_git(
    tmp_path_factory: pytest.TempPathFactory, rules: list[str], paths: list[str]
) -> None:
    asked = tuple(p for p in paths if not {".", ".."} & set(p.split("/")))
    folder = tmp_path_factory.mktemp("any")
    git("init", "-q", folder=folder)
    text = "\n".join(rules) + "\n"
    said = gits(folder, text, asked) if asked else set()
    mine = {path for path in asked if ours(text, path)}
    assert mine <= said, (text, mine - said)

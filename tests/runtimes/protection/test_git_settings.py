"""Git's settings are read as git reads them, and a setting that runs a program is not kept."""

import os
import re
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sayso.server.runtimes.protection.git_config import Setting, UnreadableConfig, parse
from sayso.server.runtimes.protection.git_settings import harmless_part

PIECES = (
    "[core]", "[CORE] ", '[core "a\\"b"]', "[core.x]", "[user]", "[branch]", "[remote \"o\"]",
    "[core", "[", "]", "fsmonitor", "FsMonitor=evil", "hooksPath", "abbrev", "name", "url", "=",
    " = ", "evil", "ext::sh -c evil", "7", "a b", "\n", "\n", "\n", "\r\n", "\r", "\t", " ", '"',
    "\\", "\\n", "\\t", "\\x", "#", ";", "\ufeff", "é", "\x0b", "-", ".", "[core] hooksPath = x\n",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join).map(str.encode)


def as_git_reads(text: bytes) -> list[tuple[bytes, bytes | None]] | None:
    """Names and values; None if git refuses the text."""
    said = subprocess.run(
        ["git", "config", "--file", "-", "--list", "--null"],
        input=text,
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
    )
    if said.returncode:
        return None
    found = (entry.partition(b"\n") for entry in said.stdout.split(b"\0")[:-1])
    return [(name, value if end else None) for name, end, value in found]


def as_read(text: bytes) -> list[tuple[bytes, bytes | None]] | None:
    try:
        return [(_name(each), _bytes(each.value)) for each in parse(text)]
    except UnreadableConfig:
        return None


def _name(setting: Setting) -> bytes:
    if not setting.section and setting.subsection is None:
        return setting.name.encode()
    parts = (setting.section, setting.subsection, setting.name)
    return _bytes(".".join(part for part in parts if part is not None)) or b""


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode(errors="surrogateescape")


def without_blanks(
    found: list[tuple[bytes, bytes | None]] | None,
) -> list[tuple[bytes, bytes | None]] | None:
    """Versions of git differ in which blanks within a value they keep."""
    if found is None:
        return None
    return [(name, value and re.sub(rb"[ \t\r]+", b" ", value)) for name, value in found]


@settings(max_examples=150, deadline=None)
@given(TEXTS)
@example(b"[core] hooksPath = x")
@example(b'[core "a\\"b"]\nx')
@example(b'[core]\nx = "a;b" c # d\\\n')
@example(b"[core]\nx = a\\\n b\n")
@example(b"\xef\xbb\xbf[core]\nx = \xff\n")
def test_settings_are_read_as_git_reads_them(text: bytes) -> None:
    assert without_blanks(as_read(text)) == without_blanks(as_git_reads(text))


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_git_reads_no_setting_that_it_would_run_in_what_is_kept(text: bytes) -> None:
    kept = harmless_part(text, lambda _: False)
    assert harmless_part(kept, lambda _: False) == kept
    read = as_git_reads(kept)
    assert read is not None
    for name, value in read:
        assert name.lower() not in (b"core.fsmonitor", b"core.hookspath")
        assert not (value or b"").startswith(b"ext::")
    both = set(without_blanks(as_git_reads(text)) or ())
    assert set(without_blanks(read) or ()) <= both


@pytest.mark.parametrize(
    "line",
    [
        "[gc] recentObjectsHook = evil",
        "[include] path = evil",
        '[includeIf "gitdir:/"] path = evil',
        "[alias] st = !evil",
        '[filter "x"] clean = evil',
        '[diff "x"] textconv = evil',
        '[merge "x"] driver = evil',
        "[core] sshCommand = evil",
        "[core] gitProxy = evil",
        "[core] attributesFile = evil",
        "[core] worktree = /home/me",
        '[remote "o"] uploadpack = evil',
        '[remote "o"] url = ext::evil',
        '[remote "o"] url = --upload-pack=evil',
        '[branch "b"] remote = ext::evil',
        '[branch "b"] mergeOptions = -s evil',
        '[submodule "s"] update = !evil',
        '[hook "h"] command = evil',
        "[credential] helper = !evil",
        "[pull] twohead = evil",
        '[core "fsmonitor\0"]\n\tx = evil',
    ],
)
def test_a_setting_that_runs_something_is_not_kept(line: str) -> None:
    text = f"[user]\n\tname = kept\n{line}\n".encode()
    kept = harmless_part(text, lambda _: False)
    assert b"evil" not in kept
    assert b"/home/me" not in kept
    if b"\0" not in text:
        assert as_git_reads(kept) == [(b"user.name", b"kept")]


def test_what_does_no_harm_stays_as_it_is_written() -> None:
    text = (
        b"# mine\n[core]\n\trepositoryformatversion = 0 ; always\n\tbare = false\n"
        b'[remote "origin"]\n\turl = git@example.org:a/b.git\n'
        b"\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
        b'[branch "main"]\r\n\tremote = origin\r\n\tmerge = refs/heads/main\n'
    )
    assert harmless_part(text, lambda _: False) == text

"""Which of git's settings of a repository are only data, so that nothing runs for them. Pure."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from sayso.server.runtimes.protection.git_config import Setting, UnreadableConfig, parse, write

_ANY: Final = frozenset({"*"})

_HARMLESS: Final[Mapping[str, frozenset[str]]] = {
    "core": frozenset({
        "abbrev", "autocrlf", "bare", "bigfilethreshold", "commentchar", "compression", "eol",
        "filemode", "fscache", "ignorecase", "logallrefupdates", "longpaths", "precomposeunicode",
        "preloadindex", "quotepath", "repositoryformatversion", "safecrlf", "sparsecheckout",
        "sparsecheckoutcone", "splitindex", "symlinks", "untrackedcache", "whitespace", "worktree",
    }),
    "extensions": frozenset({
        "compatobjectformat", "noop", "objectformat", "partialclone", "preciousobjects",
        "refstorage", "relativeworktrees", "worktreeconfig",
    }),
    "user": frozenset({"email", "name", "useconfigonly"}),
    "author": frozenset({"email", "name"}),
    "committer": frozenset({"email", "name"}),
    "remote": frozenset({
        "fetch", "mirror", "partialclonefilter", "promisor", "prune", "push", "pushurl", "tagopt",
        "url",
    }),
    "branch": frozenset({
        "autosetupmerge", "autosetuprebase", "description", "merge", "pushremote", "rebase",
        "remote", "sort",
    }),
    "submodule": frozenset({"active", "branch", "fetchjobs", "ignore", "recurse", "url"}),
    "advice": _ANY, "color": _ANY, "column": _ANY,
    "fetch": frozenset({
        "fsckobjects", "output", "parallel", "prune", "prunetags", "recursesubmodules",
        "writecommitgraph",
    }),
    "gc": frozenset({
        "auto", "autodetach", "autopacklimit", "packrefs", "pruneexpire", "reflogexpire",
        "reflogexpireunreachable", "worktreepruneexpire", "writecommitgraph",
    }),
    "index": frozenset({"skiphash", "sparse", "threads", "version"}),
    "lfs": frozenset({"repositoryformatversion"}),
    "log": frozenset({"abbrevcommit", "date", "decorate", "follow", "graphcolors"}),
    "pack": frozenset({"compression", "depth", "threads", "window", "windowmemory"}),
    "pull": frozenset({"ff", "rebase"}),
    "push": frozenset({"autosetupremote", "default", "followtags"}),
    "receive": frozenset({"denycurrentbranch", "denydeletes", "denynonfastforwards"}),
    "rerere": frozenset({"autoupdate", "enabled"}),
    "stash": frozenset({"showpatch", "showstat"}),
    "status": frozenset({
        "aheadbehind", "branch", "relativepaths", "renames", "short", "showstash",
        "showuntrackedfiles", "submodulesummary",
    }),
    "diff": frozenset({"algorithm", "colormoved", "context", "mnemonicprefix", "renames"}),
    "init": frozenset({"defaultbranch"}),
    "merge": frozenset({"conflictstyle", "ff", "log", "renames", "stat"}),
    "rebase": frozenset({"autosquash", "autostash", "updaterefs"}),
    "tag": frozenset({"sort"}),
}  # fmt: skip
"""By section, the names whose values are never run, nor lead to more settings."""

_PLACES: Final = frozenset({
    "branch.pushremote", "branch.remote", "remote.pushurl", "remote.url", "submodule.url",
})  # fmt: skip
"""Settings that say where git connects to: a program's name before two colons is one to run."""

_RUNS_A_PROGRAM: Final = re.compile(r"-|[\w.+-]+::")

_SECTION: Final = re.compile(r'\[[A-Za-z0-9-]+(?: "(?:[^"\\]|\\["\\])*")?\] *(?:[#;].*)?')
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_VALUE: Final = re.compile(r'[^"\\#;]*(?:[#;].*)?|"(?:[^"\\]|\\["\\])*"')
"""What every reader of git's settings takes for the same thing."""

_UNPRINTABLE: Final = re.compile(r"[\0-\x08\x0a-\x1f\x7f]")

Worktree = Callable[[str], bool]
"""Tells whether a working folder that settings name is one that code could write to anyway."""


def is_harmless(setting: Setting, worktree: Worktree) -> bool:
    """Whether nothing runs for it, and nothing is written elsewhere."""
    names = _HARMLESS.get(setting.section, frozenset())
    if "*" not in names and setting.name not in names:
        return False
    value = setting.value or ""
    if _UNPRINTABLE.search(value) or _UNPRINTABLE.search(setting.subsection or ""):
        return False
    named = f"{setting.section}.{setting.name}"
    if named == "core.worktree":
        return worktree(value)
    return named not in _PLACES or not _RUNS_A_PROGRAM.match(value)


def harmless_part(text: bytes, worktree: Worktree) -> bytes:
    """What is left of settings that are known to do no harm; the very text, if all of it is."""
    try:
        settings = parse(text)
    except UnreadableConfig:
        return b""
    harmless = [setting for setting in settings if is_harmless(setting, worktree)]
    if len(harmless) == len(settings) and _is_plain(text):
        return text
    return write(setting for setting in harmless if setting.section)


def _is_plain(text: bytes) -> bool:
    """Whether other readers than git, and other versions of it, could not understand it
    otherwise."""
    try:
        lines = text.decode().split("\n")
    except UnicodeDecodeError:
        return False
    return all(map(_is_plain_line, lines))


def _is_plain_line(line: str) -> bool:
    line = line.removesuffix("\r").replace("\t", " ").strip(" ")
    if _UNPRINTABLE.search(line):
        return False
    if not line or line[0] in "#;":
        return True
    if line[0] == "[":
        return _SECTION.fullmatch(line) is not None
    name, _, value = line.partition("=")
    return bool(_NAME.fullmatch(name.rstrip(" ")) and _VALUE.fullmatch(value.strip(" ")))

"""Which of git's settings of a repository are only data, so that nothing runs for them. Pure."""

import re
from collections.abc import Mapping
from typing import Final

_ANY: Final = frozenset({"*"})

_HARMLESS: Final[Mapping[str, frozenset[str]]] = {
    "core": frozenset({
        "abbrev", "autocrlf", "bare", "bigfilethreshold", "commentchar", "compression", "eol",
        "filemode", "fscache", "ignorecase", "logallrefupdates", "longpaths", "precomposeunicode",
        "preloadindex", "quotepath", "repositoryformatversion", "safecrlf", "sharedrepository",
        "sparsecheckout", "sparsecheckoutcone", "splitindex", "symlinks", "untrackedcache",
        "whitespace", "worktree",
    }),
    "extensions": frozenset({"objectformat", "partialclone", "refstorage", "worktreeconfig"}),
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
    "advice": _ANY, "color": _ANY, "column": _ANY, "fetch": _ANY, "gc": _ANY, "index": _ANY,
    "log": _ANY, "pack": _ANY, "pull": _ANY, "push": _ANY, "receive": _ANY, "rerere": _ANY,
    "stash": _ANY, "status": _ANY,
    "diff": frozenset({"algorithm", "colormoved", "context", "mnemonicprefix", "renames"}),
    "init": frozenset({"defaultbranch"}),
    "merge": frozenset({"conflictstyle", "ff", "log", "renames", "stat"}),
    "rebase": frozenset({"autosquash", "autostash", "updaterefs"}),
    "tag": frozenset({"sort"}),
}  # fmt: skip
"""By section, the names whose values are never run, nor lead to more settings."""

_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*(?:[#;].*)?')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=.*)?")
_NOTHING = re.compile(r"\s*(?:[#;].*)?")


def harmless_part(text: str) -> str:
    """The lines that are known to do no harm; all of them, if that is so."""
    kept = []
    section = ""
    for line in text.splitlines(keepends=True):
        plain = line.rstrip("\r\n")
        if header := _SECTION.fullmatch(plain):
            section = header[1].partition(".")[0].lower()
            known = section in _HARMLESS
        elif plain.lstrip().startswith("["):
            section, known = "", False
        elif setting := _SETTING.fullmatch(plain):
            names = _HARMLESS.get(section, frozenset())
            known = "*" in names or setting[1].lower() in names
        else:
            known = _NOTHING.fullmatch(plain) is not None
        if known and not plain.endswith("\\"):  # it would go on in the next line
            kept.append(line)
    return "".join(kept)

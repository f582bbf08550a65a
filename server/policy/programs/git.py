"""Finds the programs that git is told to start: by settings, options, an address, or directly."""

from typing import Final

from sayso.server.policy.actions import UNKNOWN
from sayso.server.policy.findings import Finder, Words

_COMMANDS: Final = frozenset(
    (
        "--upload-pack", "--receive-pack", "--exec", "--extcmd", "--open-files-in-pager",
        "--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd", "--header-cmd",
    )
)  # fmt: skip
_SHORTEST: Final = len("--up")
"""Long options may be cut to what is still not another one."""
_STARTERS: Final = frozenset(
    (
        "citool", "credential", "cvsimport", "daemon", "difftool", "filter-repo", "for-each-repo",
        "gui", "hook", "http-backend", "instaweb", "maintenance", "mergetool", "p4", "send-email",
        "shell", "svn", "web--browse",
    )
)  # fmt: skip
"""Verbs that start other programs, or serve others over the network."""
_SHORT: Final = {
    "-u": frozenset(("clone", "fetch-pack", "ls-remote")),
    "-x": frozenset(("rebase", "difftool")),
    "-O": frozenset(("grep",)),
}
"""Options that name a program, by verb."""
_PLACES: Final = frozenset(("--exec-path", "--template", "--git-dir", "--work-tree"))
_QUIET: Final = (
    "user.", "color.", "advice.", "core.quotepath", "core.autocrlf", "init.defaultbranch",
    "pull.rebase", "push.default", "commit.gpgsign", "log.date", "http.postbuffer",
)  # fmt: skip
"""Settings that start nothing, for certain."""


def look(words: Words, finder: Finder) -> None:
    """Find what git would start."""
    rest = words[1:]
    verbs: set[str] = set()
    for at, word in enumerate(rest):
        following = rest[at + 1] if at + 1 < len(rest) else UNKNOWN
        name, equals, value = word.partition("=")
        _setting_of(word, following, finder)
        if _is_command(name) or (name.startswith("--") and name.endswith("-filter")):
            _starts(value if equals else following, finder)
        elif _SHORT.get(word[:2], frozenset()) & verbs:
            _starts(word[2:] or following, finder)
        elif name in _PLACES and (equals or "rev-parse" not in verbs):
            finder.doubt(f"gives git another place for {name[2:]}")
        elif word.startswith("ext::"):
            _starts(word.removeprefix("ext::"), finder)
        elif word in ("foreach", "run") and {"submodule", "bisect"} & verbs:
            _starts(" ".join(rest[at + 1 :]), finder)
        verbs.add(word)
    if (verb := _verb(rest)) in _STARTERS:
        finder.doubt(f"lets git start what {verb} starts")
    _config(rest, finder)


def _is_command(name: str) -> bool:
    return len(name) >= _SHORTEST and any(each.startswith(name) for each in _COMMANDS)


def _verb(rest: Words) -> str:
    """What git is to do: the first word that belongs to no option."""
    words = iter(rest)
    for word in words:
        if word in ("-C", "-c", *_PLACES):
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def _starts(code: str, finder: Finder) -> None:
    finder.doubt("lets git start what it is told to")
    finder.code(code)


def _setting_of(word: str, following: str, finder: Finder) -> None:
    """`-c name=value`, `-cname=value`, `--config name=value`, `--config-env=name=variable`."""
    name, equals, value = word.partition("=")
    if name in ("-c", "--config", "--config-env"):
        _setting(value if equals else following, finder)
    elif word.startswith("-c") and equals:
        _setting(word[2:], finder)


def _setting(setting: str, finder: Finder) -> None:
    name, _, value = setting.partition("=")
    if UNKNOWN not in name and name.lower().startswith(_QUIET):
        return
    finder.doubt(f"sets {name[:80] or 'something'} for git, which may start programs")
    if value:
        finder.code(value.removeprefix("!"))


def _config(rest: Words, finder: Finder) -> None:
    """`git config name value`."""
    if "config" not in rest:
        return
    given = [word for word in rest[rest.index("config") + 1 :] if not word.startswith("-")]
    given = [word for word in given if word not in ("set", "get", "list", "unset")]
    if given[1:]:
        _setting(f"{given[0]}={given[1]}", finder)

"""Reads code of any language, as far as there is a reader for it."""

import re
import shlex
from collections.abc import Iterator

from sayso.server.policy.actions import Actions, Command, Touched, hosts_in, is_path, normal, unique
from sayso.server.policy.analysis_budget import spent_on
from sayso.server.policy.languages import python, shell
from sayso.server.policy.programs.arguments import SHELLS

PYTHON = frozenset(("python", "py", "python3", "ipython"))
"""The names of the language that does what no word in it tells."""
_SHOWN = frozenset(("html", "markdown", "json", "text", "css"))
"""Nothing runs."""

_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_STARTS = re.compile(
    r"\b(?:exec|execSync|execFile|spawn|spawnSync|system|popen|shell|run)\b|`|%x|qx"
)
"""Words with which other languages start programs."""

_DELETES = re.compile(
    r"\b(?:rmSync|rmdirSync|rm|rmdir|removeSync|emptyDirSync|emptyDir|rimraf|rimrafSync"
    r"|rm_rf|rm_r|remove_dir_all|remove_entry_secure|remove_tree|rmtree)\s*\(?([^;\n]{0,400})"
)
_IN_LISTS = re.compile(r"\b(?:execFile|execFileSync|spawn|spawnSync|Popen)\s*\(([^;)]{0,400})")
_RECURSIVE = re.compile(r"recursive\W{0,4}true|^(?:remove|empty|rimraf|rm_|rmtree)", re.IGNORECASE)
_HOME = re.compile(r"^\(?\s*(?:os\.homedir\(\)|process\.env\.HOME|Dir\.home|ENV\[.HOME.\])\s*[,)]")


def read(language: str, code: str) -> Actions:
    """What code would do."""
    with spent_on(""):
        return _read(language.strip().lower(), code)


def _read(name: str, code: str) -> Actions:
    if name in PYTHON:
        return python.read(code)
    if name in SHELLS or name in ("shell", "console"):
        return shell.read(code, python.read)
    if name in _SHOWN:
        return Actions()
    return _by_its_texts(name, code)


def not_looked_into(language: str) -> str:
    """What is unclear about all code of a language that has no reader here."""
    return f"is {language}, which is not looked into closely"


def _by_its_texts(language: str, code: str) -> Actions:
    """Without a grammar, what stands between quotes may be a command, a place or an address."""
    texts = ["".join(found) for found in _QUOTED.findall(code[: shell.LONGEST])]
    found = Actions(
        paths=tuple(Touched(normal(text), "read") for text in texts if is_path(text)),
        hosts=tuple(host for text in texts for host in hosts_in(text)),
        unclear=(not_looked_into(language),),
    )
    found += unique(_deleted(code)) + unique(_started(code))
    if _STARTS.search(code):
        commands = (shell.read(text, python.read) for text in texts if " " in text.strip())
        return found + unique(commands)
    return found


def _deleted(code: str) -> Iterator[Actions]:
    """Folders that other languages' own functions delete with all that is in them."""
    for found in _DELETES.finditer(code[: shell.LONGEST]):
        if not _RECURSIVE.search(found[0]):
            continue
        words = found[1].lstrip("( \t")
        if _HOME.match(words):
            yield Actions((Command(("rm", "-r", "~")),))
        elif (text := _QUOTED.match(words)) and words[text.end() :].lstrip()[:1] in ("", ",", ")"):
            yield Actions(
                (
                    Command(
                        ("rm", "-r", normal("".join(text.groups("")))),
                    ),
                )
            )
        else:
            yield Actions(traits=frozenset({"deletes without looking"}))


def _started(code: str) -> Iterator[Actions]:
    """Programs whose words stand each alone."""
    for found in _IN_LISTS.finditer(code[: shell.LONGEST]):
        words = ["".join(each) for each in _QUOTED.findall(found[1])]
        if words:
            yield shell.read(
                " ".join(w if w.startswith("~") else shlex.quote(w) for w in words), python.read
            )

"""Code of any language, read as far as we can."""

import re

from sayso.server.policy import python, shell
from sayso.server.policy.actions import Actions, Touched, hosts_in, is_path, normal, unique
from sayso.server.policy.effort import spent_on
from sayso.server.policy.programs import SHELLS

PYTHON = frozenset(("python", "py", "python3", "ipython"))
"""The names of the language that does what no word in it tells."""
_SHOWN = frozenset(("html", "markdown", "json", "text", "css"))
"""Nothing runs."""

_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`")
_STARTS = re.compile(
    r"\b(?:exec|execSync|execFile|spawn|spawnSync|system|popen|shell|run)\b|`|%x|qx"
)
"""Words with which other languages start programs."""


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


def _by_its_texts(language: str, code: str) -> Actions:
    """Without a grammar, what stands between quotes may be a command, a place or an address."""
    texts = ["".join(found) for found in _QUOTED.findall(code[: shell.LONGEST])]
    found = Actions(
        paths=tuple(Touched(normal(text), "read") for text in texts if is_path(text)),
        hosts=tuple(host for text in texts for host in hosts_in(text)),
        unclear=(f"is {language}, which is not looked into closely",),
    )
    if _STARTS.search(code):
        commands = (shell.read(text, python.read) for text in texts if " " in text.strip())
        return found + unique(commands)
    return found

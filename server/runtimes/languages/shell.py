"""Shells: bash, and zsh where it is; a shell that ends is replaced by one with the same state.

A block is sourced from its file, so it is as if it were typed: variables, functions, folder and
options last. `exit`, a failure under `set -e` and an interrupt end the shell itself. On its way out
it writes down its state, and the next one takes it up; where the block has put a trap of its own in
the way of that, the state from before the block is taken. What is lost then are background jobs'
numbers and open descriptors.
"""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

from sayso.server.runtimes.language import Place
from sayso.server.runtimes.languages.driver import ORDERS, REPORTS
from sayso.server.runtimes.languages.driving import driven
from sayso.server.runtimes.languages.plan import Plan
from sayso.server.runtimes.persistent_runtime import PersistentRuntime
from sayso.server.runtimes.sandbox.sandbox import SEARCH_PATH

_SAVED: Final = ("saved-at-exit", "saved-before")

_SAYSO: Final = Path(__file__).parents[1].joinpath("calls", "preloaded", "sayso.sh")
"""The shell's own command for calls out of code: a function, so that what the shell starts has
none."""

_HERE: Final = f"{{ builtin printf '\\n{{\"here\":1}}\\n' >&{REPORTS}; }} 2>/dev/null\n"

_REPORT: Final = f'builtin printf \'\\n{{"done":%d}}\\n\' "$?" >&{REPORTS}'


def _bash() -> Plan:
    def save(name: str) -> str:
        # The options come last: from there on they count.
        parts = (
            "declare -p", "declare -f", "export -fp", "alias -p",
            "printf 'builtin cd -- %q\\n' \"$PWD\"", "umask -p", "trap -p", "shopt -p", "set +o",
        )  # fmt: skip
        written = " ".join(f"builtin {part};" for part in parts)
        return f"{{ {written} }} >|{{folder}}/{name} 2>/dev/null || builtin :"

    at_exit, before = _SAVED
    trap = f"builtin trap {shlex.quote(save(at_exit))} EXIT"
    # The kernel tells who calls, where there is /proc.
    calls = sys.platform == "linux"
    command = _SAYSO.read_text("utf-8") if calls else ""
    # What the shell is told besides the code is not to be seen in `set -x`.
    return Plan(
        argv=["bash", "--noprofile", "--norc", f"/dev/fd/{ORDERS}"],
        restore="{ . {state}; } >/dev/null 2>&1\n",
        begin=f"{{ BASH_ARGV0=bash; {trap};\n{command}}} 2>/dev/null\n",
        order=f"{{ sayso_word={{word}}; }} 2>/dev/null\n. {{file}}\n"
        f"{{ {_REPORT}; {save(before)}; }} 2>/dev/null\n",
        here=_HERE,
        suffix=".sh",
        saved=list(_SAVED),
        line="shell_line" if calls else "",
    )


def _zsh() -> Plan:
    # Only what the code itself has made: zsh ends at the first parameter that it may not set.
    made = "${(k)parameters[(R)^*(local|special|readonly|hide)*]}"
    parts = (
        'print -r -- "builtin cd -- ${(q)PWD}"', 'print -r -- "export PATH=${(q)PATH}"',
        f"typeset -p -- {made}", "functions", "alias -L",
    )  # fmt: skip
    written = " ".join(f"builtin {part};" for part in parts)
    of_code = f"() {{ builtin emulate -L zsh -o extendedglob; {written} }}"
    named = 'builtin print -r -- "umask $(builtin umask)"; builtin set +o'

    def save(name: str) -> str:
        return f"{{ {of_code}; {named}; }} >|{{folder}}/{name} 2>/dev/null || builtin :"

    at_exit, before = _SAVED
    report = f'builtin print -r -l -u {REPORTS} -- "" "{{\\"done\\":$?}}"'
    trap = f"builtin trap -- {shlex.quote(save(at_exit))} EXIT"
    # zsh says nothing of its state when a signal ends it; so an interrupt lets it exit.
    return Plan(
        argv=["zsh", "-f", f"/dev/fd/{ORDERS}"],
        restore="{ . {state}; } >/dev/null 2>&1\n",
        begin=f"{{ builtin zmodload zsh/parameter; {trap}; builtin trap -- 'exit 130' INT; }}"
        " 2>/dev/null\n",
        order=f". {{file}}\n{{ {report}; {save(before)}; }} 2>/dev/null\n",
        here=_HERE,
        suffix=".zsh",
        saved=list(_SAVED),
    )


class Bash:
    """The shell that models write best."""

    name = "bash"
    aliases = ("sh", "shell")

    def runtime(self, place: Place) -> PersistentRuntime:
        return driven(self.name, _bash(), place)


class Zsh:
    """The shell of macOS; it stands in for bash where that is missing."""

    name = "zsh"
    aliases = ("sh", "shell")

    def runtime(self, place: Place) -> PersistentRuntime:
        return driven(self.name, _zsh(), place)


def installed(program: str) -> Path | None:
    """Where a program is that code in the sandbox can run, if it is."""
    found = shutil.which(program, path=":".join(SEARCH_PATH))
    return Path(found) if found else None

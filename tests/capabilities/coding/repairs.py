"""Files, edits of them, and the ways in which a model gets an edit a little wrong.

Of each edit it is known what the file is to be afterwards; of each way of getting it wrong, whether
it can still be told what was meant.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["applied", "refused", "either"]
"""`either`: applied as it was meant, or refused; anything else is a misapplied edit."""


@dataclass(frozen=True)
class Edit:
    """One edit: lines that go, lines that come, and the file."""

    name: str
    before: str
    old: str
    new: str

    @property
    def after(self) -> str:
        assert self.before.count(self.old) == 1, self.name
        return self.before.replace(self.old, self.new)


_PYTHON = '''\
"""Counts things."""

import os
import sys


class Counter:
    """A counter."""

    def __init__(self, start=0):
        self.value = start
        self.name = "the counter's name"

    def add(self, amount):
        if amount < 0:
            raise ValueError("no less than nothing")
        self.value += amount
        return self.value

    def reset(self):
        self.value = 0
        return self.value


class Other:
    def add(self, amount):
        for each in range(amount):
            if each % 2:
                print("odd - really")
        return None

    def reset(self):
        self.value = 0
        return self.value


def main():
    counter = Counter()
    counter.add(len(sys.argv))
    print(os.getcwd(), counter.value)
'''

_TABS = """\
package main

import "fmt"

func greet(name string) string {
\tif name == "" {
\t\tname = "nobody"
\t}
\treturn fmt.Sprintf("hello, %s", name)
}

func main() {
\tfor _, name := range []string{"a", "b"} {
\t\tfmt.Println(greet(name))
\t}
}
"""

_YAML = """\
server:
  host: localhost
  port: 8080
  paths:
    - /a
    - /b
client:
  host: localhost
  port: 9090
  retries:
    most: 3
    wait: "1s"
"""

_PROSE = """\
# The title

A first paragraph that isn't long, and says little.

- one thing
- another thing, with \u201cquotes\u201d and a dash \u2014 here

The end isn't near.
"""

EDITS = (
    Edit(
        "a condition",
        _PYTHON,
        '        if amount < 0:\n            raise ValueError("no less than nothing")\n',
        '        if amount <= 0:\n            raise ValueError("more than nothing")\n',
    ),
    Edit(
        "a loop's body",
        _PYTHON,
        '            if each % 2:\n                print("odd - really")\n',
        '            if each % 2 == 0:\n                print("even")\n                continue\n',
    ),
    Edit(
        "the last function",
        _PYTHON,
        "    counter.add(len(sys.argv))\n    print(os.getcwd(), counter.value)\n",
        "    counter.add(1)\n    if counter.value:\n        print(counter.value)\n",
    ),
    Edit("the imports", _PYTHON, "import os\nimport sys\n", "import os\nimport re\nimport sys\n"),
    Edit(
        "a name",
        _PYTHON,
        '        self.name = "the counter\'s name"\n',
        '        self.name = "a name"\n        self.kind = None\n',
    ),
    Edit(
        "a block with tabs",
        _TABS,
        '\tif name == "" {\n\t\tname = "nobody"\n\t}\n',
        '\tif name == "" {\n\t\tif quiet {\n\t\t\treturn ""\n\t\t}\n\t\tname = "nobody"\n\t}\n',
    ),
    Edit(
        "a loop with tabs",
        _TABS,
        '\tfor _, name := range []string{"a", "b"} {\n\t\tfmt.Println(greet(name))\n',
        "\tfor _, name := range names {\n\t\tfmt.Println(greet(name), name)\n",
    ),
    Edit("a setting", _YAML, "  port: 8080\n  paths:\n", "  port: 80\n  secure: true\n  paths:\n"),
    Edit("a deep setting", _YAML, '    most: 3\n    wait: "1s"\n', "    most: 5\n"),
    Edit(
        "a paragraph",
        _PROSE,
        "A first paragraph that isn't long, and says little.\n",
        "A paragraph.\n\nAnd a second one.\n",
    ),
    Edit(
        "a list",
        _PROSE,
        "- another thing, with \u201cquotes\u201d and a dash \u2014 here\n\nThe end isn't near.\n",
        "- another thing\n- a third\n\nThe end is near.\n",
    ),
)

Patch = Callable[[str, str, str], str]
"""Writes an edit of a path as a patch."""


def as_v4a(path: str, old: str, new: str) -> str:
    removed = "".join(f"-{line}\n" for line in old.splitlines())
    added = "".join(f"+{line}\n" for line in new.splitlines())
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{removed}{added}*** End Patch\n"


def as_blocks(path: str, old: str, new: str) -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def as_unified(path: str, old: str, new: str) -> str:
    removed = "".join(f"-{line}\n" for line in old.splitlines())
    added = "".join(f"+{line}\n" for line in new.splitlines())
    return f"--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,3 @@\n{removed}{added}"


FORMS: dict[str, Patch] = {"v4a": as_v4a, "blocks": as_blocks, "unified": as_unified}


@dataclass(frozen=True)
class Case:
    """One edit, got wrong in one way, in one form."""

    name: str
    before: bytes
    patch: str
    after: bytes
    """What the file is to be if the patch is applied."""
    outcome: Outcome
    whitespace: bool
    """Only blanks differ from what stands in the file."""


def _each_line(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(
        change(line) + "\n" if line.strip() else line + "\n" for line in text.splitlines()
    )


def _spaces(line: str) -> str:
    return line.replace("\t", "    ")


def _tabs(line: str) -> str:
    bare = line.lstrip(" ")
    levels, rest = divmod(len(line) - len(bare), 4)
    return "\t" * levels + " " * rest + bare


def _less(line: str) -> str:
    return line[4:] if line.startswith("    ") else line.removeprefix("\t")


WRONG: dict[str, tuple[Callable[[str], str], Outcome, bool]] = {
    "as it is": (str, "applied", False),
    "blanks at line ends": (_each_line(lambda line: line + "  "), "applied", True),
    "a level too deep": (_each_line(lambda line: f"    {line}"), "either", True),
    "a level too shallow": (_each_line(_less), "either", True),
    "tabs for spaces": (_each_line(_tabs), "either", True),
    "spaces for tabs": (_each_line(_spaces), "applied", True),
    "curly quotes": (
        lambda text: text.replace("'", "\u2019").replace('"', "\u201c"),
        "either",
        False,
    ),
    "straight quotes": (
        lambda text: text.replace("\u201c", '"').replace("\u201d", '"').replace("\u2014", "-"),
        "applied",
        False,
    ),
    "a word that is not there": (lambda text: text.replace("e", "ee", 1), "refused", False),
    "one line too many": (lambda text: text + "a line that was never there\n", "refused", False),
    "stale lines": (
        lambda text: text.replace("amount", "value").replace("port", "gate").replace("name", "n"),
        "either",
        False,
    ),
}
"""What becomes of the lines that are to go; and whether only blanks are others."""

FILES: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "a mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no last newline": lambda text: text.removesuffix("\n").encode(),
}


def cases() -> Iterator[Case]:
    """The battery."""
    for edit in EDITS:
        for wrong, (spoil, outcome, whitespace) in WRONG.items():
            for form, write in FORMS.items():
                for kind, put in FILES.items():
                    if kind != "plain" and wrong not in ("as it is", "blanks at line ends"):
                        continue
                    spoiled = spoil(edit.old)
                    same = spoiled == edit.old
                    indented = whitespace and wrong != "blanks at line ends"
                    yield Case(
                        f"{edit.name}, {wrong}, {form}, {kind}",
                        put(edit.before),
                        write("file", spoiled, spoil(edit.new) if indented else edit.new),
                        put(edit.after),
                        "applied" if same else outcome,
                        whitespace and not same,
                    )

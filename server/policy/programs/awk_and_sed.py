"""Reads what `awk` and `sed` are told in their own languages, as far as it runs or writes.

What is not known for certain to do neither is said to be in doubt.
"""

import re
from collections.abc import Iterator
from typing import Final

from sayso.server.policy.actions import UNKNOWN
from sayso.server.policy.findings import Finder, Words
from sayso.server.policy.programs.options import values

_AWK: Final = frozenset(("awk", "gawk", "mawk", "nawk", "original-awk", "goawk"))
_SED: Final = frozenset(("sed", "gsed"))

_AWK_TOKEN = re.compile(
    r'"((?:[^"\\\n]|\\.)*+)"|#[^\n]*|(\|\||&&)|([A-Za-z_]\w*)|([|>@/])|(\s+)|(.)', re.DOTALL
)
_AWK_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*+/")
_AWK_STARTS = re.compile(r"\bsystem\b|\bgetline\b|@|\|")
_BEFORE_REGEX: Final = frozenset("(,~!&|{};\n=")

LONGEST: Final = 20_000
"""Characters of one script."""


def look(words: Words, finder: Finder) -> None:
    """Find what a script in a program's words does."""
    if words[0] in _AWK:
        _awk(words, finder)
    elif words[0] in _SED:
        _sed(words, finder)


def _scripts(words: Words, valued: str, given: tuple[str, ...]) -> Iterator[str]:
    """What stands in the place of a script: each `given` option's value, or the first operand."""
    said = list(values(words, given))
    if said:
        yield from said
        return
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            yield next(rest, "")
            return
        if word.startswith("-") and len(word) > 1:
            if not word.startswith("--") and word[-1] in valued:
                next(rest, "")
            continue
        yield word
        return


def _awk(words: Words, finder: Finder) -> None:
    if any(values(words, ("-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"))):
        finder.doubt("runs an awk file that is not looked into")
        return
    for script in _scripts(words, "Fv", ("-e", "--source")):
        _awk_script(script, finder)


def _awk_script(script: str, finder: Finder) -> None:
    if UNKNOWN in script or len(script) > LONGEST:
        finder.doubt("runs awk code that is put together as it goes")
        return
    texts: list[str] = []
    starts = prints = redirects = divides = False
    at, before = 0, "\n"
    while match := _AWK_TOKEN.match(script, at):
        text, _, name, sign, blank, _ = match.groups()
        if sign == "/" and before in _BEFORE_REGEX and (regex := _AWK_REGEX.match(script, at)):
            at, before = regex.end(), "/"
            continue
        divides |= sign == "/"
        at = match.end()
        if text is not None:
            texts.append(_unquoted(text))
            if redirects:
                finder.touch(texts[-1], "write")
        elif redirects and not blank:
            finder.touch(UNKNOWN, "write")
        starts |= name in ("system", "getline") or sign in ("|", "@")
        prints = (prints or name in ("print", "printf")) and match[0] not in (";", "}", "\n")
        redirects = prints and (sign == ">" or (redirects and bool(blank)))
        if not blank or "\n" in blank:
            before = "\n" if blank else match[0][-1]
    # What was taken for a division may have been an expression with a quote in it.
    if starts or (divides and _AWK_STARTS.search(script)):
        finder.doubt("starts programs from awk")
        for text in dict.fromkeys([*texts, "".join(texts)]):
            finder.code(text)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


# --- sed ---

_SED_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*+/[IM]*|\\(.)(?:(?!\1)[^\n])*\1[IM]*)"
_SED_PREFIX = re.compile(
    rf"[\s;]*+(?:{_SED_ADDRESS}(?:\s*,\s*[+~]?{_SED_ADDRESS.replace('1', '2')})?)?\s*+!*\s*+"
)
_SED_SIMPLE: Final = frozenset("{}=dDgGhHnNpPxzFl")
_SED_FLAGS = re.compile(r"([gpiIMm\d]*+)([ew]?)")
_SED_LABEL = re.compile(r"[^;\n]*")
_SED_LINE = re.compile(r"(?:[^\n\\]|\\.|\\\n)*+", re.DOTALL)


def _sed(words: Words, finder: Finder) -> None:
    if any(values(words, ("-f", "--file"))):
        finder.doubt("runs a sed file that is not looked into")
    if "--sandbox" in words:
        return
    for script in _scripts(words, "l", ("-e", "--expression")):
        if UNKNOWN in script or len(script) > LONGEST or not _sed_script(script, finder):
            finder.doubt("runs a sed script that cannot be read for certain")


def _sed_script(script: str, finder: Finder) -> bool:
    """Whether it was read to its end."""
    at = 0
    while at < len(script):
        prefix = _SED_PREFIX.match(script, at)
        at = prefix.end() if prefix else at
        if at >= len(script):
            return True
        command, at = script[at], at + 1
        if command in _SED_SIMPLE or command in "qQL":
            at = _after(_LINE_NUMBER, script, at)
        elif command in "sy":
            end = _substituted(command, script, at, finder)
            if end < 0:
                return False
            at = end
        elif command in ":btT#":
            at = _after(_SED_LINE if command == "#" else _SED_LABEL, script, at)
        elif command in "aicrRwWe":
            line = _SED_LINE.match(script, at)
            argument, at = (line[0].strip() if line else ""), _after(_SED_LINE, script, at)
            _sed_argument(command, argument, finder)
        else:
            return False
    return True


_LINE_NUMBER = re.compile(r"\s*\d*")


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _sed_argument(command: str, argument: str, finder: Finder) -> None:
    if command in "wW":
        finder.touch(argument, "write")
    elif command in "rR":
        finder.touch(argument, "read")
    elif command == "e":
        finder.doubt("starts programs from sed")
        finder.code(argument)


def _substituted(command: str, script: str, at: int, finder: Finder) -> int:
    """Where `s/this/that/flags` ends; less than nothing if it does not."""
    if at >= len(script) or script[at] in "\\\n":
        return -1
    sign, at = script[at], at + 1
    parts: list[str] = []
    begun = at
    while at < len(script) and not parts[1:]:
        if script[at] == "\\":
            at += 1
        elif script[at] == sign:
            parts.append(script[begun:at])
            begun = at + 1
        at += 1
    if not parts[1:]:
        return -1
    if command == "y":
        return at
    flags = _SED_FLAGS.match(script, at)
    at = flags.end() if flags else at
    if flags and flags[2]:
        line = _SED_LINE.match(script, at)
        _sed_argument(
            flags[2], parts[1] if flags[2] == "e" else (line[0].strip() if line else ""), finder
        )
        return _after(_SED_LINE, script, at)
    if script[at : at + 1] not in ("", ";", "\n", "}", " ", "\t", "#"):
        return -1
    return at

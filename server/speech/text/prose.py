"""Extracts the speakable prose from a reply while it streams in as markdown. Pure.

Code, tables and formulas are for the screen: each is replaced by one short phrase. Headings, lists,
quotes, emphasis, links and tags lose their marks. A fence that opens in one delta and closes ten
later makes no difference: the text alone decides, character by character.
"""

import re
from typing import Literal

from sayso.server.speech.text.inline_markdown import Inline

CODE_PHRASE = "The code is on your screen."
TABLE_PHRASE = "The table is on your screen."
FORMULA_PHRASE = "The formula is on your screen."

MAX_KEPT_LINE = 400
"""Characters of a line inside of a fence or table that are looked at; the rest can't close it."""

MAX_UNDECIDED = 400
"""Characters of a line that are waited for to tell what it begins with; then that is decided. Each
is a look at all that came before it: models that go astray draw lines without an end."""

FENCE = re.compile(r"(`{3,}|~{3,})(.*)", re.DOTALL)
HEADING = re.compile(r"#{1,6}(?=\s)\s*")
BULLET = re.compile(r"[-*+\u2022]\s+(\[[ xX]\]\s+)?")
NUMBER = re.compile(r"(\d{1,9})[.)]\s+")
RULE = re.compile(r"([-*_=]\s*){3,}|=+|-+")
TABLE_RULE = re.compile(r"[\s:|]*+-[\s:-]*+\|[\s:|-]*+")
UNDECIDED = re.compile(
    r"#+|[-*_+=:\u2022][-*_+=:|\s\u2022]*|[-*+\u2022]\s+(\[([ xX](\]\s*)?)?)?|\d{1,9}([.)]\s*)?"
)
"""Lines that the next character may still turn into a heading, a rule, a bullet or a number."""

Mode = Literal["line start", "text", "fence", "table", "formula", "skip line"]


class Prose:
    """Feed it markdown as it comes; it gives the prose as soon as it is certain."""

    def __init__(self) -> None:
        self._mode: Mode = "line start"
        self._line = ""
        """What has come of the present line, while it is not known what it is."""
        self._heading = False
        self._fence = ""
        self._closing = ""
        """What ends the formula."""
        self._inline = Inline()
        self._out: list[str] = []
        self._phrase = ""
        """The last phrase said in place of something, if no prose came since."""

    def feed(self, delta: str) -> str:
        """More markdown; gives the prose that is certain by now."""
        for character in delta.replace("\r", ""):
            self._take(character)
        return self._given()

    def finish(self) -> str:
        """No more will come: the rest."""
        if self._mode == "table" and "|" not in self._line:
            self._mode = "line start"
        if self._mode == "line start" and self._line.strip():
            self._begin_line(self._line, complete=True)
        if self._mode == "text":
            self._emit(self._inline.finish())
        return self._given()

    def _given(self) -> str:
        given = "".join(self._out)
        self._out.clear()
        return given

    def _take(self, character: str) -> None:
        match self._mode:
            case "line start":
                self._at_line_start(character)
            case "text":
                self._in_text(character)
            case "fence" | "table":
                self._in_block(character)
            case "formula":
                self._in_formula(character)
            case "skip line":
                if character == "\n":
                    self._mode = "line start"

    def _at_line_start(self, character: str) -> None:
        if character != "\n":
            self._line += character
            self._begin_line(self._line, complete=len(self._line) > MAX_UNDECIDED)
        elif self._line.strip():
            self._begin_line(self._line, complete=True)
            if self._mode != "line start":
                self._take("\n")
        else:
            self._line = ""
            self._break()

    def _in_text(self, character: str) -> None:
        if character == "\n":
            self._emit(self._inline.finish() + " ")
            self._mode = "line start"
            if self._heading:
                self._heading = False
                self._break()
            if self._inline.fence:
                self._start_fence(self._inline.fence)
            self._inline = Inline()
            return
        self._emit(self._inline.feed(character))
        if self._inline.formula:
            self._start_formula(self._inline.formula)
            self._inline = Inline()

    # What does this line begin with?

    def _begin_line(self, line: str, *, complete: bool) -> None:
        """Decide what the line is, if that can be told yet."""
        text = line.lstrip(" \t>")
        if not complete and _may_become_more(text):
            return
        if fence := FENCE.match(text):
            self._open_fence(fence)
        elif text.startswith("|") or TABLE_RULE.fullmatch(text):
            self._line = text
            self._say(TABLE_PHRASE)
            self._mode = "table"
        elif text.startswith(("$$", "\\[")):
            self._start_formula("$$" if text.startswith("$$") else "\\]")
            for character in text[2:]:
                self._take(character)
        elif RULE.fullmatch(text):
            self._line = ""
            self._break()
            self._mode = "skip line"
        elif mark := BULLET.match(text) or NUMBER.match(text):
            self._break()
            if mark.re is NUMBER:
                self._emit(f"{mark[1]}: ")
            self._line = text[mark.end() :]
            self._begin_line(self._line, complete=complete)
        else:
            self._begin_text(text)

    def _begin_text(self, text: str) -> None:
        self._line = ""
        self._mode = "text"
        if mark := HEADING.match(text):
            self._heading = True
            self._break()
            text = text[mark.end() :]
        for character in text:
            self._take(character)

    def _open_fence(self, fence: re.Match[str]) -> None:
        if fence[1][0] in fence[2]:  # ```inline code``` on one line
            self._begin_text(fence[0].replace("`" * 3, "`"))
            return
        self._start_fence(fence[1])

    def _start_fence(self, fence: str) -> None:
        self._line = ""
        self._fence = fence
        self._say(CODE_PHRASE)
        self._mode = "fence"

    def _start_formula(self, closing: str) -> None:
        self._line = ""
        self._closing = closing
        self._say(FORMULA_PHRASE)
        self._mode = "formula"

    # Inside of what is not read aloud.

    def _in_block(self, character: str) -> None:
        if character != "\n":
            self._line = (self._line + character)[:MAX_KEPT_LINE]
            return
        line, self._line = self._line.strip(" \t>"), ""
        if self._mode == "fence":
            if line.startswith(self._fence) and not line.strip(self._fence[0]):
                self._mode = "line start"
        elif "|" not in line:  # the table is over, and this is what comes after it
            self._mode = "line start"
            for kept in f"{line}\n":
                self._take(kept)

    def _in_formula(self, character: str) -> None:
        self._line = (self._line + character)[-len(self._closing) :]
        if self._line == self._closing:
            self._line = ""
            self._mode = "text"
            self._inline = Inline()

    # What comes out.

    def _emit(self, text: str) -> None:
        if text.strip():
            self._phrase = ""
        self._out.append(text)

    def _break(self) -> None:
        self._out.append("\n")

    def _say(self, phrase: str) -> None:
        """The phrase instead of what is on the screen; once for things that follow each other."""
        if self._phrase != phrase:
            self._out.append(f"\n{phrase}\n")
            self._phrase = phrase


def _may_become_more(text: str) -> bool:
    """Could the next character still change what this line begins with?"""
    return (
        text in ("", "`", "``", "~", "~~", "$", "\\")
        or FENCE.match(text) is not None  # the whole line tells a fence from ```inline code```
        or UNDECIDED.fullmatch(text) is not None
    )

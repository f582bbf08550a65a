"""A fence: how text is put into one, how it opens, which lines are its code, and when it closes."""

import re
from dataclasses import dataclass, field
from typing import Final

FENCE_SIZE: Final = 3
"""Backticks or tildes that make a fence."""

_LABEL: Final = re.compile(r"\s*\{?\.?([\w+#-]*)")
_ATTRIBUTES: Final = re.compile(r"""\{[^"']*\}|\}|:\S+|\.\w+.*|[\w-]+=["'{].*|[\w./-]+\.\w+""")


def fenced(language: str, text: str) -> str:
    """The text between fences that nothing in it can close."""
    fence = "`" * FENCE_SIZE
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def read_info(info: str) -> tuple[str, str]:
    """The label of a fence, and what follows it if that looks like code already."""
    found = _LABEL.match(info)
    label, rest = (found.group(1), info[found.end() :]) if found else ("", info)
    extra = rest.strip()
    return label.lower(), "" if _ATTRIBUTES.fullmatch(extra) else extra


@dataclass(slots=True)
class Fence:
    """A block whose lines come in one after the other."""

    mark: str
    size: int
    indent: int
    """Characters of white space before the fence, which its lines lose as well."""
    language: str | None
    """None: to be run only if the block turns out to be a printed call."""
    written: list[str]
    """As the model wrote it, so far, in pieces."""
    code: list[str] = field(default_factory=list)
    """Line by line."""
    _quotes: dict[str, int] = field(default_factory=lambda: {'"""': 0, "'''": 0})
    """How often each stands in the lines that were counted."""
    _counted: int = 0
    _end: re.Pattern[str] = field(init=False)
    _strict_end: re.Pattern[str] = field(init=False)
    _end_of_line: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        marks = f"{self.mark}{{{self.size},}}"
        self._end = re.compile(rf"\s*{marks}(?:\s.*)?")
        self._strict_end = re.compile(rf"\s*{marks}\s*")
        # Weak models forget the line break; a quote before the marks means that they are data.
        self._end_of_line = re.compile(rf"(.*[^\s\"'\\{self.mark}])\s*{marks}\s*")

    def ends_with(self, line: str) -> bool:
        """Whether a block that is only shown ends with this line."""
        return self._strict_end.fullmatch(line) is not None

    def take(self, line: str) -> bool:
        """Take the next line, its break included if it has one; tell whether it closes."""
        text = line.removesuffix("\n")
        if not self._inside_text():
            if self._end.fullmatch(text):
                self.written.append(text)
                return True
            found = self._end_of_line.fullmatch(text)
            if found is not None:
                self.written.append(text)
                self.code.append(self._dedented(found.group(1)))
                return True
        self.written.append(line)
        # What remains of a closing fence when the stream ends in the middle of it.
        if line.endswith("\n") or set(text.strip()) != {self.mark}:
            self.code.append(self._dedented(line))
        return False

    def _dedented(self, line: str) -> str:
        spaces = len(line) - len(line.lstrip(" \t"))
        return line[min(spaces, self.indent) :]

    def _inside_text(self) -> bool:
        """Whether Python's code so far ends within a long string, where fences are data."""
        if self.language != "python":
            return False
        for line in self.code[self._counted :]:
            for quotes in self._quotes:
                self._quotes[quotes] += line.count(quotes)
        self._counted = len(self.code)
        return any(count % 2 for count in self._quotes.values())

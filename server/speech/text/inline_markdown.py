"""Marks inside of a line of markdown, taken off while it streams in. Pure.

At each place the text either goes on as it is, or a construct begins that must be seen to its end
before anything can be said of it: `[text](address)`, a code span, a tag, an entity.
"""

import html
import re

MAX_HELD = 400
"""Characters that are held back for a construct to be closed; then its marks are taken as text."""

SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
FENCE_AT_END = re.compile(r"(`{3,})[\w+#.-]*\s*")
LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]*+\](?:\([^()]*+\))?+)*+)\]\((?:[^()]|\([^()]*+\))*+\)"
)
"""Nothing that was read is given back: of a row of links within brackets each could be read in two
ways, and thirty of them would take for ever."""
REFERENCE = re.compile(r"!?\[((?:[^\[\]])*)\](?!\()(\[[^\[\]]*\])?")
NOTE_MARK = re.compile(r"\^.*|\d+")
TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
ADDRESS = re.compile(r"<((?:https?://|mailto:)?[^<>\s]+[.@][^<>\s]+)>")
ENTITY = re.compile(r"&(#?\w{1,10});")
ENTITY_SO_FAR = re.compile(r"&(#?\w{0,10})")
ESCAPABLE = set("\\`*_{}[]#+-.!|<>~$&\"'/:;,=?@^%")


class Inline:
    """Feed it the characters of one line; it gives the text without marks."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        """The character before what is held, as written."""
        self.formula = ""
        """If a formula begins here: what will end it."""
        self.fence = ""
        """If the line ends with the beginning of a fence: its marks."""

    def feed(self, text: str) -> str:
        """More of the line; gives what is certain."""
        self._held += text
        return self._resolve(final=False)

    def finish(self) -> str:
        """The line is complete: the rest."""
        rest = self._resolve(final=True)
        self._before = ""
        return rest

    def _resolve(self, *, final: bool) -> str:
        out: list[str] = []
        while self._held and not self.formula:
            final_here = final or len(self._held) > MAX_HELD
            step = self._step(self._held, final=final_here)
            if step is None:
                break
            taken, text = step
            self._before = self._held[taken - 1]
            self._held = self._held[taken:]
            out.append(text)
        return "".join(out)

    def _step(self, held: str, *, final: bool) -> tuple[int, str] | None:
        """How many characters are done with, and their text; None if it takes more to tell."""
        match held[0]:
            case "`":
                return self._code(held, final=final)
            case "*" | "_" | "~":
                return self._emphasis(held, final=final)
            case "[" | "!":
                return _link(held, final=final)
            case "<":
                return _tag(held, final=final)
            case "&":
                return _entity(held, final=final)
            case "\\":
                return self._escape(held, final=final)
            case "$":
                return self._dollar(held, final=final)
        return 1, held[0]

    def _code(self, held: str, *, final: bool) -> tuple[int, str] | None:
        span = SPAN.match(held)
        if span is not None and (final or span.end() < len(held)):
            return span.end(), span[2].strip()
        if final and (fence := FENCE_AT_END.fullmatch(held)):
            self.fence = fence[1]
            return len(held), ""
        return (1, "") if final else None

    def _emphasis(self, held: str, *, final: bool) -> tuple[int, str] | None:
        """`*`, `_`, `~`: marks, unless they are arithmetic or part of a name."""
        run = len(held) - len(held.lstrip(held[0]))
        if run == len(held) and not final:
            return None
        after = held[run : run + 1]
        within = self._before.isalnum() and after.isalnum()
        alone = not self._before.strip() and not after.strip()
        match held[0]:
            case "_":
                keep = within or alone
            case "*":
                keep = (within and run == 1) or alone or (self._before + after).isdigit()
            case _:
                keep = run == 1
        return run, held[:run] if keep else ""

    def _escape(self, held: str, *, final: bool) -> tuple[int, str] | None:
        if len(held) == 1:
            return (1, held) if final else None
        if held[1] == "[":
            self.formula = "\\]"
            return 2, ""
        if held[1] in "()":
            return 2, ""
        return (2, held[1]) if held[1] in ESCAPABLE else (1, held[0])

    def _dollar(self, held: str, *, final: bool) -> tuple[int, str] | None:
        if len(held) == 1 and not final:
            return None
        if held.startswith("$$"):
            self.formula = "$$"
            return 2, ""
        return 1, "$"


def without_marks(text: str) -> str:
    """A whole piece of text without its marks."""
    return Inline().feed(text + "\n").rstrip("\n") if text else ""


def _link(held: str, *, final: bool) -> tuple[int, str] | None:
    if held[0] == "!" and (len(held) > 1 or final) and held[1:2] != "[":
        return 1, "!"
    if link := LINK.match(held):
        return link.end(), without_marks(link[1])
    reference = REFERENCE.match(held)
    if reference is not None and (final or reference.end() < len(held)):
        inner = without_marks(reference[1])
        return reference.end(), "" if NOTE_MARK.fullmatch(inner) else inner
    return (1, "") if final else None


def _tag(held: str, *, final: bool) -> tuple[int, str] | None:
    if address := ADDRESS.match(held):
        return address.end(), address[1].removeprefix("mailto:")
    if tag := TAG.match(held):
        return tag.end(), " " if held.lower().startswith(("<br", "<p", "</p", "<li", "<hr")) else ""
    if final or (len(held) > 1 and not (held[1].isalpha() or held[1] in "/!")):
        return 1, "<"
    return None


def _entity(held: str, *, final: bool) -> tuple[int, str] | None:
    if entity := ENTITY.match(held):
        return entity.end(), html.unescape(entity[0])
    so_far = ENTITY_SO_FAR.match(held)
    if final or so_far is None or so_far.end() < len(held):
        return 1, "&"
    return None

"""A text model's answer, read as it streams: what is said, what is shown, what is to be run.

Pure: text in, pieces out. However the text is cut into deltas, the pieces add up to the same. Text
is held back only while it is undecided, which is at most from a backtick to the end of its line,
or while code is being written. Reading ends at the code that is to be run. Which that is depends on
the model: of a weak one the first, since what it writes after it, it only imagines; of others the
fence that ends the answer, or that an imagined output follows, so that they may show code, too.

What counts as code to be run:
- a fence with the label of a language that is meant to run, or with none (then it is Python),
  on lines of its own, opened at the end of a line of prose, or all on one line; unfinished too;
- a call printed instead of made: `{"language": …, "code": …}`, `functions.execute(…)`,
  `<tool_call>{…}`, bare or in a JSON fence;
- a fence with the label of a tool, around what that tool takes for a call.
Every other fence is text, shown as it is. What a model thinks aloud at the beginning, between
`<think>` tags, is neither said nor run.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sayso.server.agent.parsing.fences import FENCE_SIZE, Fence, read_info
from sayso.server.agent.parsing.printed_calls import CALL_KEYS, CallScanner, read_printed
from sayso.server.agent.prompt.language_names import Languages

_CALL_OPENERS: Final = ("{", "functions.execute(", "execute(", "<tool_call>")
_TAG: Final = "<tool_call>"
_THINK: Final = "<think>"
_THOUGHT: Final = "</think>"
_OBJECT: Final = re.compile(r"""\{\s*["']?([A-Za-z_]+)["']?\s*:""")
_OBJECT_PERHAPS: Final = re.compile(r"""\{\s*+["']?[A-Za-z_]*+["']?\s*+""")
_CALL_LABELS: Final = frozenset({"json", "json5", "tool_call"})
_PLAIN: Final = re.compile(r"[^\n`]+")
_TICKS: Final = re.compile(r"`+")

_UNDECIDED_CHARS: Final = 2_000
"""What a line begins with is decided within so many characters: each that comes is another look at
all of them, and models that go astray write lines without an end."""

_MOST_MARKS: Final = 100
"""Backticks or tildes in a row that are looked at as one."""


@dataclass(frozen=True, slots=True)
class Prose:
    """To be said and shown."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Neither said nor shown."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """To be run. The last piece of all."""

    language: str
    code: str
    written: str
    """As the model wrote it, fences and all."""


Piece = Prose | Thought | Code

Fences = Literal["run", "run last", "show", "nothing runs"]
"""`run`: the first; `run last`: the one that ends the answer. `show`: only printed calls are run,
for models that have a tool to run code with."""

_State = Literal["start", "thought", "prose", "shown", "code", "after", "call", "over"]

_IMAGINED: Final = re.compile(
    r"(?:```+|~~~+)[ \t]*(?:output|text|stdout|console|result)?[ \t]*(?:\n|$)"
    r"|\W{0,4}(?:the )?(?:output|result)\b[^\n]{0,20}[:=]"
    r"|\W{0,4}(?:this|it|which) (?:prints|outputs|gives|returns|printed)\b",
    re.IGNORECASE,
)
"""How the line after code begins in which a model makes up what came of it."""


class MarkdownReader:
    """Reads one answer."""

    def __init__(self, languages: Languages, fences: Fences = "run") -> None:
        self._languages = languages
        self._fences = fences
        self._state: _State = "start"
        self._held = ""
        self._indent: str | None = ""
        """The line so far if it is white space, None once there is more in it."""
        self._fence = Fence("`", FENCE_SIZE, 0, None, [])
        self._call = CallScanner()
        self._in_line: list[Code] = []
        self._closed: Code | None = None
        """Code in a fence, of which it is not decided whether it ends the answer."""
        self._pieces: list[Piece] = []
        self._steps: Mapping[_State, Callable[[bool], bool]] = {
            "start": self._read_start,
            "thought": self._read_thought,
            "prose": self._read_prose,
            "shown": self._read_shown,
            "code": self._read_code,
            "after": self._read_after,
            "call": self._read_call,
        }

    @property
    def over(self) -> bool:
        """Whether there is code to be run, so that nothing more is read."""
        return self._state == "over"

    def feed(self, text: str) -> list[Piece]:
        """Read the next piece of the stream."""
        return self._read(text, final=False)

    def finish(self) -> list[Piece]:
        """The stream has ended: decide what is undecided."""
        return self._read("", final=True)

    def _read(self, text: str, *, final: bool) -> list[Piece]:
        self._held += text
        while self._state != "over" and self._steps[self._state](final):
            pass
        pieces, self._pieces = self._pieces, []
        return pieces

    @property
    def _runs(self) -> bool:
        return self._fences in ("run", "run last")

    # Each step reads what it can and says whether there may be more to read at once.

    def _read_start(self, final: bool) -> bool:
        beginning = self._held.lstrip()
        if not final and len(beginning) < len(_THINK) and _THINK.startswith(beginning):
            return False
        self._state = "thought" if beginning.startswith(_THINK) else "prose"
        return True

    def _read_thought(self, final: bool) -> bool:
        end = self._held.find(_THOUGHT)
        if end < 0 and not final:
            return False
        length = len(self._held) if end < 0 else end + len(_THOUGHT)
        self._pieces.append(Thought(self._cut(length)))
        self._state = "prose"
        return True

    def _read_prose(self, final: bool) -> bool:
        at, state = 0, self._state
        while state == "prose" and at < len(self._held):
            verdict = self._judge(at, final)
            if verdict is None:
                break
            at, state = verdict
        self._say(self._cut(at))
        if state == "prose":
            return False
        self._state = state
        if state == "over":
            self._pieces.extend(self._in_line)
        elif state in ("code", "shown"):
            opening = self._cut(sum(map(len, self._fence.written)))
            if state == "shown":
                self._say(opening)
        return True

    def _judge(self, at: int, final: bool) -> tuple[int, _State] | None:
        """How far the prose goes from here, and what follows; None if that is undecided."""
        character = self._held[at]
        if character == "\n":
            self._indent = ""
            return at + 1, "prose"
        if character == "`" or (character == "~" and self._indent is not None):
            return self._judge_marks(at, final)
        if self._indent is None:
            plain = _PLAIN.match(self._held, at)
            return (plain.end() if plain else at + 1), "prose"
        if character.isspace():
            self._indent += character
            return at + 1, "prose"
        return self._judge_opener(at, final)

    def _judge_marks(self, at: int, final: bool) -> tuple[int, _State] | None:
        held, mark = self._held, self._held[at]
        end = at
        while end < len(held) and held[end] == mark and end - at <= _MOST_MARKS:
            end += 1
        if end - at > _MOST_MARKS:
            return self._plainly(end)
        if end == len(held) and not final:
            return None
        if end - at < FENCE_SIZE:
            return self._plainly(end)
        longest = at + _UNDECIDED_CHARS
        line_end = held.find("\n", end, longest)
        stop = line_end if line_end >= 0 else min(len(held), longest)
        too_long = line_end < 0 and len(held) > longest
        if mark == "`" and "`" in held[end:stop]:
            return self._judge_one_line(at, end, stop, final or too_long or line_end >= 0)
        if too_long:
            return self._plainly(end)
        if line_end < 0 and not final:
            return None
        line_end = len(held) if line_end < 0 else line_end + 1
        return self._judge_fence(at, end, line_end)

    def _judge_fence(self, at: int, end: int, line_end: int) -> tuple[int, _State]:
        mark = self._held[at]
        label, extra = read_info(self._held[end:line_end])
        language = self._languages.resolve(label)
        may_be_call = self._fences != "nothing runs" and (
            self._may_label_call(label) or (not label and self._fences == "show")
        )
        known = may_be_call or language is not None
        # In the middle of a line three backticks are a fence only if they can be nothing else, and
        # tildes without a label are an underline.
        if (self._indent is None and (extra or not known)) or (
            mark == "~" and not (label and known)
        ):
            return self._plainly(end)
        indent = len(self._indent or "")
        self._fence = Fence(
            mark, end - at, indent, None if may_be_call else language, [self._held[at:line_end]]
        )
        if extra:
            self._fence.code.append(f"{extra}\n")
        shown = not may_be_call and (language is None or not self._runs)
        self._indent = ""
        return at, "shown" if shown else "code"

    def _judge_one_line(
        self, at: int, end: int, stop: int, complete: bool
    ) -> tuple[int, _State] | None:
        """Backticks with more backticks on the line: code in one line, or a quotation."""
        held = self._held
        for ticks in _TICKS.finditer(held, end, stop):
            if ticks.end() == len(held) and not complete:
                return None
            if ticks.end() - ticks.start() >= end - at:
                code = self._code_in_line(held[end : ticks.start()], held[at : ticks.end()])
                if code is None:
                    return self._plainly(ticks.end())
                self._in_line = [code]
                return at, "over"
        return self._plainly(end) if complete else None

    def _code_in_line(self, body: str, written: str) -> Code | None:
        if self._fences == "nothing runs":
            return None
        label, extra = read_info(body)
        printed = extra if self._may_label_call(label) else body.strip()
        if printed.startswith(_CALL_OPENERS):
            wanted = read_printed(printed, self._languages)
            return Code(wanted.language, wanted.code, written) if wanted else None
        language = self._languages.resolve(label) if label and self._runs else None
        return Code(language, extra, written) if language and extra else None

    def _judge_opener(self, at: int, final: bool) -> tuple[int, _State] | None:
        """The first character of a line: does a call begin here?"""
        if self._fences == "nothing runs":
            return self._plainly(at + 1)
        rest = self._held[at : at + _UNDECIDED_CHARS]
        begun = rest.removeprefix(_TAG).lstrip() if rest.startswith(_TAG) else rest
        found = _OBJECT.match(begun)
        if found is not None and found.group(1).lower() in CALL_KEYS:
            return self._begin_call(at)
        if begun.startswith(("functions.execute(", "execute(")):
            return self._begin_call(at)
        undecided = any(opener.startswith(begun) for opener in _CALL_OPENERS) or (
            _OBJECT_PERHAPS.fullmatch(begun) is not None
        )
        wait = undecided and not final and len(rest) < _UNDECIDED_CHARS
        return None if wait else self._plainly(at + 1)

    def _begin_call(self, at: int) -> tuple[int, _State]:
        self._call = CallScanner()
        return at, "call"

    def _plainly(self, at: int) -> tuple[int, _State]:
        self._indent = None
        return at, "prose"

    def _read_call(self, final: bool) -> bool:
        end = self._call.find_end(self._held)
        if end is None and not final:
            return False
        written = self._held if end is None else self._held[:end]
        wanted = read_printed(written, self._languages)
        if wanted is not None and wanted.code.strip():
            self._pieces.append(Code(wanted.language, wanted.code, written))
            self._state = "over"
            return False
        # Not a call after all. If it never closed, what follows its first character is read anew.
        self._say(self._cut(1 if end is None else end))
        self._indent = None
        self._state = "prose"
        return True

    def _read_code(self, final: bool) -> bool:
        at, closed = 0, False
        while not closed and (line_end := self._held.find("\n", at) + 1):
            closed = self._fence.take(self._held[at:line_end])
            at = line_end - 1 if closed else line_end
        rest = self._held[at:]
        if not closed and final and rest:
            self._fence.take(rest)
            at = len(self._held)
        self._cut(at)
        if closed or final:
            self._close_fence()
        return closed or final

    def _close_fence(self) -> None:
        fence, written = self._fence, "".join(self._fence.written)
        code = "".join(fence.code).removesuffix("\n")
        arguments = fence.language in self._languages.tools
        if code.lstrip().startswith(_CALL_OPENERS) and not arguments:
            wanted = read_printed(code, self._languages)
            if wanted is not None and wanted.code.strip():
                self._finish_with(Code(wanted.language, wanted.code, written))
                return
        label = read_info(written.lstrip(f"{fence.mark} \t").partition("\n")[0])[0]
        is_call = self._languages.perhaps.get(label)
        if is_call and is_call(label, code):
            self._finish_with(Code(label, code, written))
            return
        if fence.language is not None and code.strip():
            self._closed = Code(fence.language, code, written)
            if arguments or self._fences == "run":
                self._finish_with(self._closed)
            else:
                self._state = "after"
            return
        self._say(written)
        self._indent = None
        self._state = "prose"

    def _read_after(self, final: bool) -> bool:
        """What follows a fence decides whether it was to be run, or only shown."""
        code, rest = self._closed, self._held.lstrip()
        waits = "\n" not in rest and len(self._held) <= _UNDECIDED_CHARS
        if code is None or (waits and not final):
            return False
        gone_on = len(self._held) - len(rest) <= _UNDECIDED_CHARS
        if not rest or not gone_on or _IMAGINED.match(rest):
            self._finish_with(code)
            return False
        self._say(code.written)
        self._closed, self._indent, self._state = None, None, "prose"
        return True

    def _may_label_call(self, label: str) -> bool:
        return label in _CALL_LABELS or label in self._languages.perhaps

    def _finish_with(self, code: Code) -> None:
        self._pieces.append(code)
        self._state = "over"

    def _read_shown(self, final: bool) -> bool:
        line_end = self._held.find("\n")
        line = self._held if line_end < 0 else self._held[: line_end + 1]
        start = line.lstrip()
        may_close = self._indent is not None and (not start or start[0] == self._fence.mark)
        if not line or (line_end < 0 and may_close and not final):
            return False
        if self._indent is not None and self._fence.ends_with(line):
            self._state = "prose"
        self._say(self._cut(len(line)))
        self._indent = "" if line_end >= 0 else None
        return True

    def _say(self, text: str) -> None:
        if text:
            self._pieces.append(Prose(text))

    def _cut(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return text

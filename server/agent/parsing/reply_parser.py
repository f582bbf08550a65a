"""One reply of the model, taken in as it streams: text to say at once, code to run at the end."""

import re
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json
from sayso.server.agent.llm.model import Delta, TextDelta, ToolCallDelta, Usage
from sayso.server.agent.parsing.fences import FENCE_SIZE
from sayso.server.agent.parsing.markdown_reader import Code, Fences, MarkdownReader, Piece, Prose
from sayso.server.agent.tools.toolbox import Toolbox
from sayso.server.store.records import Answered, Call

_OPENS: Final = re.compile(r"```\w")
"""A fence that opens; one that closes has no label."""

_LAST_FENCE: Final = re.compile(
    r"(?:\A|\n)[ \t]*(?P<written>(?P<mark>`{3,}|~{3,})[ \t]*(?P<label>[\w+#-]+)[ \t]*\n"
    r"(?P<code>(?:(?![ \t]*(?P=mark)).*\n)*)[ \t]*(?P=mark)[ \t]*)\s*\Z"
)
"""One with which a text ends."""

_RAW_CHARS: Final = 2_000
"""Of a call that was written wrong, for the model to see what it wrote."""

_NAME_CHARS: Final = 64
"""Of a tool's name, as long as providers take one."""
_NAMELESS: Final = "(no name)"

_CIRCLE_CHARS: Final = range(20, 200)
_CIRCLES: Final = 4
_LETTERS_OF_A_SENTENCE: Final = 8
"""What is said four times in a row, is as long as a sentence, and has as many different letters:
"ha ha ha" and the rule of a table are meant."""


@dataclass(slots=True)
class _ToolCall:
    """A tool call, as far as it has come in."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class ReplyParser:
    """Listens to one reply."""

    def __init__(self, tools: Toolbox, fences: Fences, begun: str = "") -> None:
        """`begun`: text with which the reply was begun for the model."""
        self._tools = tools
        self._runs_fences = fences in ("run", "run last")
        self._begun = begun
        self._held = ""
        self._reader = MarkdownReader(tools.languages, fences)
        self._gathered: dict[int, _ToolCall] = {}
        self._text = ""
        self._code: Code | None = None
        self._usage: Usage | None = None
        self.characters = 0
        """How long the reply is so far."""

    @property
    def usage(self) -> Usage | None:
        """What the reply took, if its provider said so."""
        return self._usage

    @property
    def over(self) -> bool:
        """Whether there is nothing more to listen to: the code is written."""
        return self._reader.over

    @property
    def in_circles(self) -> bool:
        """Whether the model says the same sentence again and again, as small ones do for ever."""
        return any(
            self._text.endswith(unit * _CIRCLES) and len(set(unit)) >= _LETTERS_OF_A_SENTENCE
            for unit in (self._text[-length:] for length in _CIRCLE_CHARS)
        )

    def take(self, delta: Delta) -> str:
        """Take the next delta; return what is to be said."""
        match delta:
            case TextDelta(text=text):
                self.characters += len(text)
                return self._take_text(text)
            case ToolCallDelta():
                self.characters += len(delta.arguments)
                gathered = self._gathered.setdefault(delta.index, _ToolCall())
                gathered.id = gathered.id or delta.id or ""
                gathered.name = gathered.name or delta.name or ""
                gathered.arguments += delta.arguments
            case Usage():
                self._usage = delta
        return ""

    def finish(self) -> str:
        """The reply has ended; return what is still to be said."""
        said = self._take_text("", final=True)
        return said + self._take_pieces(self._reader.finish())

    def answer(self, used_ids: Callable[[str], bool]) -> Answered:
        """All of it, for the history."""
        calls = tuple(self._calls(used_ids))
        last = _LAST_FENCE.search(self._text) if self._runs_fences and not calls else None
        language = self._tools.languages.resolve_last(last["label"]) if last else None
        if last is None or language is None:
            return Answered(text=self._text, calls=calls)
        code = last["code"].removesuffix("\n")
        call = Call(_new_id(), language, code, written=last["written"])
        return Answered(self._text[: last.start("written")], (call,))

    def cut(self) -> Answered:
        """What was said before the stream ended too early, and no code, which may be half."""
        return Answered(self._text, whole="cut")

    def _take_text(self, text: str, *, final: bool = False) -> str:
        """Servers differ in whether a continued message comes back from its beginning or from where
        it is continued: one that opens a fence of its own is whole.
        """
        if self._begun:
            self._held += text
            if not final and len(self._held) <= FENCE_SIZE:
                return ""
            whole = _OPENS.match(self._held) is not None
            text = self._held if whole else self._begun + self._held
            self._begun = ""
        return self._take_pieces(self._reader.feed(text))

    def _take_pieces(self, pieces: Sequence[Piece]) -> str:
        said = ""
        for piece in pieces:
            if isinstance(piece, Prose):
                said += piece.text
            elif isinstance(piece, Code):
                self._code = piece
        # White space before the first word says nothing.
        said = said if self._text else said.lstrip()
        self._text += said
        return said

    def _calls(self, used_ids: Callable[[str], bool]) -> Sequence[Call]:
        calls: list[Call] = []
        for _, gathered in sorted(self._gathered.items()):
            wanted = self._tools.read_call(gathered.name, gathered.arguments)
            # Some servers give every call the same id; then ours is used.
            used = used_ids(gathered.id) or any(call.given_id == gathered.id for call in calls)
            given = "" if used else gathered.id
            raw = "" if wanted.text and _is_json(gathered.arguments) else gathered.arguments
            called = "" if self._tools.offers(gathered.name) else gathered.name or _NAMELESS
            call = Call(
                _new_id(),
                wanted.label,
                wanted.text,
                given,
                raw=raw[:_RAW_CHARS],
                called=called[:_NAME_CHARS],
            )
            calls.append(call)
        # A model that makes a call and prints it as well wants it once.
        if self._code is not None and not calls:
            wanted = self._tools.read_fence(self._code.language, self._code.code)
            written = self._code.written
            calls.append(Call(_new_id(), wanted.label, wanted.text, written=written))
        return calls


def _is_json(arguments: str) -> bool:
    """Whether arguments of a call are an object, as they should be."""
    try:
        return isinstance(read_json(arguments or "{}", control_characters=True), dict)
    except UntrustedJsonError:
        return False


def _new_id() -> str:
    """Nine letters and digits: what the strictest provider takes for the id of a call."""
    return uuid.uuid4().hex[:9]

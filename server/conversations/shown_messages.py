"""What of a turn stood on screens, in its order and bounded, for screens that come later."""

import json
from typing import Any, Final

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode

REPLY_CHARS: Final = 48_000
CODE_CHARS: Final = 24_000
OUTPUT_CHARS: Final = 32_000
"""Of one text each: more than anybody scrolls through in what is over."""

TURN_CHARS: Final = 240_000
TURN_MESSAGES: Final = 240
"""Of one turn. What comes beyond is counted, and not kept."""

LEFT_OUT: Final = "More was shown here than is kept: {count} pieces."

Shown = m.ReplyDelta | m.ApprovalDone | m.CodeStart | m.CodeOut | m.CodeEnd | m.Announce | m.Error


class ShownMessages:
    """Of one turn."""

    def __init__(self) -> None:
        self._kept: list[Shown] = []
        self._characters = 0
        self._left_out = 0
        self._unended: set[str] = set()
        """Of what is kept: what began, and has not ended."""

    def add(self, message: m.FromServer) -> None:
        """Keep it, if it is what a later screen shows, too."""
        match message:
            case m.Announce(priority="low") | m.Announce(asks=True):
                return
            case m.ReplyDelta() | m.ApprovalDone() | m.CodeStart() | m.CodeOut():
                pass
            case m.CodeEnd() | m.Announce() | m.Error():
                pass
            case _:
                return
        if self._joined(message):
            return
        # Without its end, a run that is shown would seem to go on.
        ends = isinstance(message, m.CodeEnd) and message.id in self._unended
        full = self._characters > TURN_CHARS or len(self._kept) >= TURN_MESSAGES
        if full and not ends:
            self._left_out += 1
            return
        kept = _cut(message)
        self._characters += _length(kept)
        self._kept.append(kept)
        match message:
            case m.CodeStart(id=run):
                self._unended.add(run)
            case m.CodeEnd(id=run):
                self._unended.discard(run)

    def runs(self) -> list[str]:
        """Those that began."""
        return [one.id for one in self._kept if isinstance(one, m.CodeStart)]

    def replace_output(self, run: str, outputs: list[m.CodeOut], whole: str | None) -> None:
        """Show these pieces of a run that is over instead of its text alone."""
        kept: list[Shown] = []
        for one in self._kept:
            match one:
                case m.CodeOut(id=name) if name == run and outputs:
                    continue
                case m.CodeEnd(id=name) if name == run:
                    kept += outputs
                    end = m.CodeEnd(run, one.status, one.seconds, one.detail, one.changes, whole)
                    kept.append(end)
                case _:
                    kept.append(one)
        self._kept = kept

    def as_sent(self) -> list[dict[str, Any]]:
        """In the shape in which devices were told."""
        kept: list[Shown] = list(self._kept)
        if self._left_out:
            kept.append(m.Announce(LEFT_OUT.format(count=self._left_out), "low"))
        return [json.loads(encode(Envelope(one))) for one in kept]

    def _joined(self, message: Shown) -> bool:
        """Whether it goes on where the last one of its kind stopped."""
        last = self._kept[-1] if self._kept else None
        match last, message:
            case m.ReplyDelta(text=first), m.ReplyDelta(text=more):
                self._kept[-1] = m.ReplyDelta(_grown(first, more, REPLY_CHARS))
            case m.CodeOut(file=None, mime="text/plain"), m.CodeOut(file=None, mime="text/plain"):
                if (last.id, last.kind) != (message.id, message.kind):
                    return False
                text = _grown(last.text, message.text, OUTPUT_CHARS)
                self._kept[-1] = m.CodeOut(last.id, last.kind, text=text)
            case _:
                return False
        self._characters += _length(message)
        return True


def _grown(text: str, more: str, most: int) -> str:
    """A text that is cut says so."""
    if text.endswith(CUT):
        return text
    return _short(text + more, most)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + CUT


CUT: Final = "\n[…]"


def _cut(message: Shown) -> Shown:
    match message:
        case m.ReplyDelta(text=text):
            return m.ReplyDelta(_short(text, REPLY_CHARS))
        case m.CodeStart(id=run, language=language, code=code):
            return m.CodeStart(run, language, _short(code, CODE_CHARS))
        case m.CodeOut(id=run, kind=kind, mime=mime, text=text, file=file):
            return m.CodeOut(run, kind, mime, _short(text, OUTPUT_CHARS), file)
        case _:
            return message


def _length(message: Shown) -> int:
    match message:
        case m.ReplyDelta(text=text) | m.CodeOut(text=text) | m.CodeStart(code=text):
            return len(text)
        case _:
            return 0

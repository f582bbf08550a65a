"""A conversation's last turns as screens showed them: a fold of the log's records. Pure.

What a model is told of a conversation is another fold (history.py): it leaves out what was answered
without a model, what was said by itself, and who said yes.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sayso.protocol import messages as m
from sayso.server.agent.events import changes_shown
from sayso.server.agent.prompt.server_notes import LOST_WHILE_RUNNING
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    Asked,
    ConversationReset,
    CutOff,
    Failed,
    Record,
    RunIntended,
    RunReported,
    Uttered,
    Withdrawn,
)
from sayso.server.store.steering import SaidBeside, Steered

TURNS: Final = 20
"""What a person scrolls back to."""


@dataclass(slots=True)
class ScreenTurn:
    """What a person said, and all that was shown about it."""

    said: str
    shown: list[m.FromServer] = field(default_factory=list)
    """In order. Of outputs there is the text alone; files lie with the outputs."""


def screen_turns(records: Iterable[Record]) -> Sequence[ScreenTurn]:
    """The last turns that the log tells of."""
    fold = _Fold()
    for record in records:
        fold.apply(record)
    return fold.finish()


class _Fold:
    def __init__(self) -> None:
        self._turns: deque[ScreenTurn] = deque(maxlen=TURNS)
        self._runs: dict[str, ScreenTurn] = {}
        """Those that began: the turn in which each did."""
        self._draft = ""

    def finish(self) -> Sequence[ScreenTurn]:
        self._keep_draft()
        for run, turn in self._runs.items():
            turn.shown.append(m.CodeEnd(run, "unknown", detail=LOST_WHILE_RUNNING))
        return tuple(self._turns)

    def apply(self, record: Record) -> None:
        match record:
            case Asked() | SaidBeside() | Steered() | Withdrawn() | ConversationReset():
                self._say(record)
            case Uttered() | Answered() | CutOff() | Failed():
                self._answer(record)
            case ApprovalClosed() | RunIntended() | RunReported():
                self._run(record)
            case _:
                pass

    def _say(self, record: Asked | SaidBeside | Steered | Withdrawn | ConversationReset) -> None:
        match record:
            case Asked(text=text):
                self._begin(text)
            case SaidBeside(text=text, asked=asked):
                if asked:
                    self._begin(asked)
                self._show(m.ReplyDelta(text) if asked else m.Announce(text))
            case Steered(text=text) if self._turns:
                self._turns[-1].said += f"\n{text}"
            case Withdrawn(text=text) if self._turns and self._turns[-1].said == text:
                self._turns.pop()
                self._draft = ""
            case ConversationReset():
                self._turns.clear()
                self._draft = ""
            case _:
                pass

    def _answer(self, record: Uttered | Answered | CutOff | Failed) -> None:
        match record:
            case Uttered(text=text):
                self._draft += text
            case Answered(text=text):
                self._draft = ""
                if text:
                    self._show(m.ReplyDelta(text))
            case CutOff():
                self._keep_draft()
            case Failed(message=message):
                self._keep_draft()
                self._show(m.Error("model_failed", message))

    def _begin(self, said: str) -> None:
        self._keep_draft()
        self._turns.append(ScreenTurn(said))

    def _keep_draft(self) -> None:
        if self._draft:
            self._show(m.ReplyDelta(self._draft))
        self._draft = ""

    def _show(self, message: m.FromServer) -> None:
        if not self._turns:
            self._turns.append(ScreenTurn(""))
        self._turns[-1].shown.append(message)

    def _run(self, record: ApprovalClosed | RunIntended | RunReported) -> None:
        match record:
            case ApprovalClosed(id=name, decision=decision, by=by):
                self._show(m.ApprovalDone(name, decision, by))
            case RunIntended(run=run, language=language, code=code):
                self._show(m.CodeStart(run, language, code))
                self._runs[run] = self._turns[-1]
            case RunReported(run=run) if run in self._runs:
                shown = self._runs.pop(run).shown
                if record.output:
                    shown.append(m.CodeOut(run, "stdout", text=record.output))
                changes = changes_shown(record.changes)
                end = m.CodeEnd(run, record.status, record.seconds, record.detail, changes)
                shown.append(end)

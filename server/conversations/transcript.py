"""Keeps the last turns of a conversation, from which snapshots for devices are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sayso.protocol import messages as m
from sayso.server.agent.record.history import Act, Exchange

TURNS = 20
"""What a person scrolls back to."""
RUNS = 12
"""Kept of each turn, the latest: as many as a request may usually have."""
TEXT_CHARS = 4_000
"""Kept of each text, from its beginning: a screen or two; a welcome holds a few such turns."""


@dataclass(slots=True)
class _Run:
    id: str
    language: str
    code: str
    status: str = "running"


@dataclass(slots=True)
class _Turn:
    number: int
    said: str
    reply: str = ""
    runs: list[_Run] = field(default_factory=list)


def _run(act: Act) -> _Run:
    code = act.intended.code if act.intended else act.call.code
    status = act.report.status if act.report else "running"
    return _Run(act.call.id, act.call.language, code[:TEXT_CHARS], status)


class Transcript:
    """Follows what is asked and told. Bounded: old turns and the ends of long texts fall away."""

    def __init__(self) -> None:
        self._turns: dict[int, _Turn] = {}

    @classmethod
    def of(cls, exchanges: Sequence[Exchange]) -> Self:
        """What was told before the conversation was closed, as the log has it. It counts as its
        first turns."""
        past = cls()
        for number, exchange in enumerate(exchanges[-TURNS:], 1):
            reply = "".join(step.text + step.unheard for step in exchange.steps)
            ran = [_run(act) for step in exchange.steps for act in step.acts if act.intended]
            past._turns[number] = _Turn(
                number, "\n".join(exchange.said)[:TEXT_CHARS], reply[:TEXT_CHARS], ran[-RUNS:]
            )
        return past

    @property
    def next_turn(self) -> int:
        """The number of the turn that comes next."""
        return max(self._turns, default=0) + 1

    def asked(self, turn: int, text: str) -> None:
        """A request, or more words of the same one."""
        self._turns[turn] = _Turn(turn, text[:TEXT_CHARS])
        while len(self._turns) > TURNS:
            del self._turns[next(iter(self._turns))]

    def steered(self, turn: int, text: str) -> None:
        """The person said more about a request that is worked on."""
        if known := self._turns.get(turn):
            known.said = f"{known.said}\n{text}"[:TEXT_CHARS]

    def told(self, turn: int, message: m.FromServer) -> None:
        """Something was told about a turn."""
        known = self._turns.get(turn)
        if known is None:
            return
        match message:
            case m.ReplyDelta(text=text):
                known.reply = (known.reply + text)[:TEXT_CHARS]
            case m.CodeStart(id=name, language=language, code=code):
                known.runs.append(_Run(name, language, code[:TEXT_CHARS]))
                del known.runs[:-RUNS]
            case m.CodeEnd(id=name, status=status):
                for run in known.runs:
                    run.status = status if run.id == name else run.status
            case _:
                pass

    @property
    def last_reply(self) -> str:
        """What was answered last; empty if nothing was."""
        replies = (turn.reply.strip() for turn in reversed(self._turns.values()))
        return next((reply for reply in replies if reply), "")

    @property
    def turns(self) -> tuple[Mapping[str, Any], ...]:
        """The turns, oldest first, in the shape of `Snapshot.turns`."""
        return tuple(
            {
                "turn": turn.number,
                "said": turn.said,
                "reply": turn.reply,
                "code": [
                    {"language": run.language, "code": run.code, "status": run.status}
                    for run in turn.runs
                ],
            }
            for turn in self._turns.values()
        )

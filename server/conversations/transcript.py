"""Keeps the last turns of a conversation, from which snapshots for devices are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from sayso.protocol import messages as m
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.record.screen_turns import TURNS, ScreenTurn
from sayso.server.conversations.files.artifacts import ConversationArtifacts
from sayso.server.conversations.shown_messages import ShownMessages

PLAIN_TEXT: Final = "text/plain; charset=utf-8"
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
    shown: ShownMessages = field(default_factory=ShownMessages)


class Transcript:
    """Follows what is asked and told. Bounded: old turns and the ends of long texts fall away."""

    def __init__(self) -> None:
        self._turns: dict[int, _Turn] = {}
        self._unread: list[str] = []
        """Runs from before it was opened, whose plots and tables lie on the disk."""

    @classmethod
    def of(cls, shown: Sequence[ScreenTurn]) -> Self:
        """What was told before the conversation was closed, as the log has it. It counts as its
        first turns."""
        past = cls()
        for number, turn in enumerate(shown[-TURNS:], 1):
            past.asked(number, turn.said)
            for message in turn.shown:
                past.told(number, message)
        past._unread = [run for turn in past._turns.values() for run in turn.shown.runs()]
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

    def told(self, turn: int, message: m.FromServer) -> str:
        """Something was told about a turn. Returns what Sayso said by itself, which no answer
        holds."""
        is_own = isinstance(message, m.Announce) and message.priority != "low" and not message.asks
        known = self._turns.get(turn)
        if known is None:
            if not is_own:
                return ""
            self.asked(turn, "")  # before anybody said anything
            known = self._turns[turn]
        known.shown.add(message)
        match message:
            case m.ReplyDelta(text=text):
                known.reply = (known.reply + text)[:TEXT_CHARS]
            case m.CodeStart(id=name, language=language, code=code):
                known.runs.append(_Run(name, language, code[:TEXT_CHARS]))
                del known.runs[:-RUNS]
            case m.CodeEnd(id=name, status=status):
                for run in known.runs:
                    run.status = status if run.id == name else run.status
            case m.Announce(text=text) if is_own:
                return text
            case _:
                pass
        return ""

    async def past(
        self, outputs: RunOutputs, artifacts: ConversationArtifacts
    ) -> Sequence[Mapping[str, Any]]:
        """The turns with all that was shown of each, in the shape of `turns` with `shown`."""
        unread, self._unread = self._unread, []
        for run, kept in (await outputs.results(unread)).items():
            pieces = []
            for one in kept:
                path = outputs.file(one.file)
                file = artifacts.put_file(one.mime, path) if one.file and path else None
                pieces.append(m.CodeOut(run, one.kind, one.mime, one.text, file))
            path = outputs.whole(run)
            whole = artifacts.put_file(PLAIN_TEXT, path) if path else None
            for turn in self._turns.values():
                turn.shown.replace_output(run, pieces, whole)
        return [{**told, "shown": self._turns[told["turn"]].shown.as_sent()} for told in self.turns]

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

"""A conversation as the model is to see it: the fold of the log's records. Pure.

Nothing in here can break the pairing of calls and results, because a call and its result are one
entry: what the log does not tell is "unknown", never missing.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from sayso.server.agent.record.heard_text import cut_to_heard
from sayso.server.agent.record.interjections import Objection, Steer
from sayso.server.store.jobs import JobDetached
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    ConversationBegan,
    ConversationReset,
    CutOff,
    Failed,
    Heard,
    InterpretersEnded,
    Interrupted,
    MadeAgain,
    Record,
    RunIntended,
    RunReported,
    Situation,
    SpeechBegan,
    SpokenOut,
    TakenBack,
    Uttered,
    Withdrawn,
)
from sayso.server.store.steering import SentBack, Steered
from sayso.server.store.testing import Tested

HELD_CHARS: Final = 480_000
"""Of what was said and done, held in memory: four times what any model is told, notes included."""

REQUEST_CHARS: Final = 200
"""Of a request that may be undone, held as long as the conversation: its beginning is known."""


@dataclass(slots=True)
class Act:
    """A call, and what came of it."""

    call: Call
    intended: RunIntended | None = None
    report: RunReported | None = None
    detached: JobDetached | None = None  # on in the background, as the model was told
    renewed: bool = False
    """It began in new interpreters, which the model had not been told."""

    @property
    def edited(self) -> bool:
        """Whether the person changed the code before it ran."""
        ran = self.intended
        return ran is not None and ran.code != self.call.code and not ran.prepared


@dataclass(slots=True)
class Step:
    """One reply of the model."""

    text: str
    acts: list[Act]
    unheard: str = ""
    """What it said beyond `text`, after the person had heard enough: it stood on screens."""


@dataclass(frozen=True, slots=True)
class JobNews:
    """How a run in the background ended."""

    job: str
    report: RunReported


News = TakenBack | MadeAgain | JobNews


@dataclass(slots=True)
class Exchange:
    """A request, and all that was done about it."""

    asked: str
    steps: list[Step] = field(default_factory=list)
    steers: list[Steer] = field(default_factory=list)
    objections: list[Objection] = field(default_factory=list)
    tested: list[Tested] = field(default_factory=list)
    places: tuple[str, ...] = ()
    """What the person named of their own, as whole paths."""
    cut: bool = False
    """The person did not hear all of the answer."""
    interrupted: bool = False
    """The person stopped the work."""
    cut_off: bool = False
    """The server ended in the middle of it."""
    failed: bool = False
    """The model or the disk failed over it, which the person was told: it is over."""
    state_lost: bool = False
    """Since the request before it, the interpreters have ended, and variables are gone."""
    taken_back: bool = False
    """What it did to files was undone; the model is not told of it any more."""
    news: tuple[News, ...] = ()
    """What was taken back, done again, or ended in the background, since the request before it."""
    situation: Situation | None = None
    """The circumstances that the model is told of with it."""
    pictures: tuple[str, ...] = ()
    """Names of files with the pictures that it names."""
    told_with: str = ""
    """What of the person's own the model is told with it, and of the folder."""

    @property
    def untold(self) -> Sequence[Steer]:
        """What was said meanwhile that the model was not told yet."""
        return [steer for steer in self.steers if steer.after is None]

    @property
    def said(self) -> Sequence[str]:
        """All that the person said of it."""
        return [self.asked, *(steer.text for steer in self.steers)]

    @property
    def characters(self) -> int:
        """How much it is to hold."""
        acts = [act for step in self.steps for act in step.acts]
        code = sum(
            len(act.call.code) + len(act.report.output if act.report else "") for act in acts
        )
        said = sum(map(len, (*self.said, self.told_with, *(one.why for one in self.objections))))
        return said + sum(len(step.text + step.unheard) for step in self.steps) + code

    def act(self, call: str) -> Act:
        """What came of a call."""
        return next(act for step in self.steps for act in step.acts if act.call.id == call)


@dataclass(slots=True)
class Request:
    """A request, for what it did to files."""

    asked: str
    """How it began."""
    runs: list[str] = field(default_factory=list)


class History:
    """What was said and done, in order; the oldest of it is let go."""

    def __init__(self, records: Iterable[Record] = (), held_chars: int = HELD_CHARS) -> None:
        self.exchanges: list[Exchange] = []
        self.instructions = ""
        """What the program that set the conversation up wants the model to keep to."""
        self._held_chars = held_chars
        self._characters = 0
        """Of all exchanges but the last, which still grows."""
        self._acts: dict[str, Act] = {}
        self._ran = False
        """Code has run in the interpreters that there are."""
        self._state_lost = False
        self.unfinished = False
        """Whether the last request is still being worked on, as far as the log tells."""
        self.speaks_to = ""
        """The device at which the last answer is still being said, as far as the log tells."""
        self._draft = ""
        """What was said of a reply that has not ended."""
        self._detached: dict[str, str] = {}
        """Runs in the background, and the jobs that they are."""
        self._news: dict[tuple[str, ...], News] = {}
        """By the runs that it is about."""
        self.requests: list[Request] = []
        """Those for which anything ran, the first one first, and the latest one, even if nothing
        ran. A reset forgets nothing of them."""
        for record in records:
            self.apply(record)

    def apply(self, record: Record) -> None:
        """Something happened."""
        self._follow(record)
        self._follow_background(record)
        match record:
            case Asked() | Steered() | SentBack():
                self._hear(record)
            case Answered() if self.exchanges:
                self._told(self.exchanges[-1], record.steers)
                acts = [Act(call) for call in record.calls]
                self._acts.update((act.call.id, act) for act in acts)
                self.exchanges[-1].steps.append(Step(record.text, acts))
            case RunIntended() | RunReported() if record.run in self._acts:
                self._run(self._acts[record.run], record)
            case Heard(text=text) if self.exchanges:
                self._cut(self.exchanges[-1], text)
            case Interrupted() if self.exchanges:
                self.exchanges[-1].interrupted = True
            case Withdrawn(text=text) if self.exchanges and self.exchanges[-1].asked == text:
                self._withdraw(self.exchanges.pop())
            case TakenBack() | MadeAgain():
                self._mark(record)
            case InterpretersEnded():
                self._state_lost, self._ran = self._ran or self._state_lost, False
            case ConversationReset():
                self.exchanges.clear()
                self._acts.clear()
                self._news.clear()
                self._characters = 0
                self._state_lost = self._ran = False
            case _:
                pass

    def _follow(self, record: Record) -> None:
        """How far the last request is."""
        match record:
            case Asked() | SentBack():
                self.unfinished, self._draft = True, ""
            case Failed() if self.exchanges and self.unfinished:
                self.exchanges[-1].failed = True
                self._keep_draft()
            case (
                Answered(calls=(), whole="whole")
                | Failed()
                | Interrupted()
                | Withdrawn()
                | ConversationReset()
            ):
                self.unfinished, self._draft = False, ""
            case Answered():
                self._draft = ""
            case Uttered(text=text):
                self._draft += text
            case ConversationBegan(instructions=instructions):
                self.instructions = instructions
            case CutOff() if self.exchanges:
                self.exchanges[-1].cut_off = True
                self._keep_draft()
            case _:
                pass
        match record:
            case SpeechBegan(to=device):
                self.speaks_to = device
            case (
                SpokenOut()
                | Heard()
                | Asked()
                | Interrupted()
                | Withdrawn()
                | CutOff()
                | ConversationReset()
            ):
                self.speaks_to = ""
            case _:
                pass

    def _keep_draft(self) -> None:
        """The last request is over, and so much of an answer was said."""
        if self._draft:
            self.exchanges[-1].steps.append(Step(self._draft, []))
        self.unfinished, self._draft = False, ""

    def _follow_background(self, record: Record) -> None:
        match record:
            case Tested() if self.exchanges:
                self.exchanges[-1].tested.append(record)
            case JobDetached(id=job, run=run):
                self._detached[run] = job
                if act := self._acts.get(run):
                    act.detached = record
            case RunReported(run=run) if run in self._detached:
                self._news[(run,)] = JobNews(self._detached.pop(run), record)
            case _:
                pass

    def _run(self, act: Act, record: RunIntended | RunReported) -> None:
        if isinstance(record, RunReported):
            act.report = record
        else:
            act.intended = record
            told = self.exchanges[-1].situation
            act.renewed = self._state_lost and not (told and told.renewed)
            self._ran, self._state_lost = True, False
            self.requests[-1].runs.append(record.run)

    @staticmethod
    def _told(exchange: Exchange, steers: int) -> None:
        """The model had been told so many of the person's words when it replied."""
        for steer in exchange.steers[:steers]:
            if steer.after is None:
                steer.after = len(exchange.steps)

    def _hear(self, said: Asked | Steered | SentBack) -> None:
        if isinstance(said, Asked):
            self._ask(said)
        elif self.exchanges and isinstance(said, Steered):
            self.exchanges[-1].steers.append(Steer(said.text))
        elif self.exchanges and isinstance(said, SentBack):
            exchange = self.exchanges[-1]
            exchange.objections.append(Objection(said.hook, said.why, len(exchange.steps)))

    def _ask(self, asked: Asked) -> None:
        news, lost = tuple(self._news.values()), self._state_lost
        if self.exchanges:
            self._characters += self.exchanges[-1].characters
        exchange = Exchange(
            asked.text,
            places=asked.places,
            state_lost=lost,
            news=news,
            situation=asked.situation,
            pictures=asked.pictures,
            told_with=asked.told_with,
        )
        self.exchanges.append(exchange)
        if self.requests and not self.requests[-1].runs:
            self.requests.pop()
        self.requests.append(Request(asked.text[:REQUEST_CHARS]))
        self._news.clear()
        self._state_lost = False
        if self._characters > self._held_chars:
            self._let_go()

    def _let_go(self) -> None:
        """Of the older half, at once: what models are told begins the same for long."""
        sizes = [exchange.characters for exchange in self.exchanges[:-1]]
        first, self._characters = 0, sum(sizes)
        while self._characters > self._held_chars // 2:
            self._characters -= sizes[first]
            self._drop_acts(self.exchanges[first])
            first += 1
        del self.exchanges[:first]

    def _mark(self, record: TakenBack | MadeAgain) -> None:
        for exchange in self.exchanges:
            if any(act.call.id in record.runs for step in exchange.steps for act in step.acts):
                exchange.taken_back = isinstance(record, TakenBack)
        before = self._news.pop(record.runs, None)
        if before is None or type(before) is type(record):
            self._news[record.runs] = record

    @property
    def told(self) -> Sequence[Exchange]:
        """What the model is told of: not what was taken back."""
        return [exchange for exchange in self.exchanges if not exchange.taken_back]

    @property
    def state_may_be_lost(self) -> bool:
        """Whether code has run whose variables are not known to be gone."""
        return self._ran

    @property
    def open_acts(self) -> Sequence[Act]:
        """Calls that have no result yet, and are waited for."""
        return [act for act in self._acts.values() if not (act.report or act.detached)]

    @property
    def latest_calls(self) -> Set[str]:
        """Of the latest request, by our ids."""
        steps = self.exchanges[-1].steps if self.exchanges else ()
        return {act.call.id for step in steps for act in step.acts}

    def find(self, call: str) -> Act | None:
        """What came of a call, by our id or by a beginning of it that no other has."""
        found = [act for name, act in self._acts.items() if name.startswith(call)]
        return self._acts.get(call) or (found[0] if len(found) == 1 else None)

    def knows_call(self, given_id: str) -> bool:
        """Whether a provider's id for a call has been used before."""
        return any(act.call.given_id == given_id for act in self._acts.values())

    @property
    def said(self) -> Sequence[str]:
        """What the person was told about the last request, step by step."""
        return [step.text for step in self.exchanges[-1].steps] if self.exchanges else []

    def _withdraw(self, exchange: Exchange) -> None:
        """It was half a request; the whole one follows."""
        self._state_lost = self._state_lost or exchange.state_lost
        self._news.update({_about(news): news for news in exchange.news})
        if self.exchanges:
            self._characters -= self.exchanges[-1].characters
        self._drop_acts(exchange)

    def _drop_acts(self, exchange: Exchange) -> None:
        for act in (act for step in exchange.steps for act in step.acts):
            self._acts.pop(act.call.id, None)

    @staticmethod
    def _cut(exchange: Exchange, heard: str) -> None:
        kept = cut_to_heard([step.text for step in exchange.steps], heard)
        exchange.cut = kept != [step.text for step in exchange.steps]
        for step, text in zip(exchange.steps, kept, strict=True):
            step.text, step.unheard = text, step.text[len(text) :] + step.unheard


def _about(news: News) -> tuple[str, ...]:
    """The runs that news is about."""
    return (news.report.run,) if isinstance(news, JobNews) else news.runs

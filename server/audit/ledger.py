"""The log as an account: one entry for each piece of code, for each undo, and for each time that a
device came, left, was refused, paired or revoked. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

from sayso.server.store.access import (
    AccessRecord,
    AccessRefused,
    DeviceConnected,
    DeviceDisconnected,
    DevicePaired,
    DeviceRevoked,
    in_words,
)
from sayso.server.store.changes import NO_CHANGES, Changes
from sayso.server.store.decisions import (
    HostAsked,
    InstructionsAnswered,
    ModeChanged,
    ModelChosen,
    NetworkUsed,
    ReachGranted,
    ReachTakenBack,
    WorkspaceChosen,
)
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    Event,
    MadeAgain,
    RunIntended,
    RunReported,
    TakenBack,
)
from sayso.server.store.redaction import redacted
from sayso.server.store.steering import Steered
from sayso.server.store.testing import Untested

Decided = Literal["grant", "mode", "model", "folder", "instructions"]
"""By a person, apart from any run."""

Access = Literal["connected", "disconnected", "refused", "paired", "revoked"]
"""Of devices, and in no conversation."""

Kind = Literal["run", "undo", "redo"] | Decided | Access


ACCESS: Final[Mapping[type, Access]] = {
    DeviceConnected: "connected",
    DeviceDisconnected: "disconnected",
    AccessRefused: "refused",
    DevicePaired: "paired",
    DeviceRevoked: "revoked",
}


@dataclass(frozen=True, slots=True)
class Approval:
    """How the person's approval was asked for and given."""

    decision: Literal["yes", "no", "edit", "expired", "cancelled", "open", "not asked", "covered"]
    """`not asked`: the mode or a rule let it run. `covered`: a yes to an earlier run of the same
    request covers it, too. `open`: no answer is in the log."""
    by: str = ""
    """The device that decided."""
    asked_at: float = 0.0
    decided_at: float = 0.0
    may_touch: tuple[str, ...] = ()
    """What the person was told that it could touch."""
    warnings: tuple[str, ...] = ()
    """What the person was warned of."""
    binding: str = ""
    """The hash that the approval was bound to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of code, one undo, or one change of what runs unasked."""

    kind: Kind
    time: float
    """Unix seconds: when it was wanted."""
    conversation: str
    run: str = ""
    request: str = ""
    """What the person had asked for."""
    asked_by: str = ""
    """The device on which it was asked, undone or changed."""
    language: str = ""
    code: str = ""
    """As it ran; as it was wanted, if it did not run."""
    where: str = ""
    binding: str = ""
    """Hash of code, language, folder and permissions, as it ran."""
    approval: Approval = Approval("not asked")
    started: float = 0.0
    """Zero if it never did."""
    status: str = "not run"
    """How it ended; `not run` if the log tells nothing of it."""
    seconds: float = 0.0
    detail: str = ""
    changes: Changes = NO_CHANGES
    network: tuple[str, ...] = ()
    """Each connection that was tried, and what came of it."""
    granted: tuple[str, ...] = ()
    """What more could be reached from then on."""
    for_good: bool = False
    """It was granted for good."""
    runs: tuple[str, ...] = ()
    """Of an undo or redo: the runs that it was about."""
    left: tuple[str, ...] = ()
    """Of an undo or redo: what could not be put back."""


def ledger(events: Iterable[Event]) -> list[Entry]:
    """All entries, in the order in which they came up."""
    book = _Book()
    for event in events:
        book.take(event)
    return list(book.entries.values())


class _Book:
    """The fold."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._asked: dict[str, Asked] = {}
        self._questions: dict[str, str] = {}
        """The last about each run: after a restart it is put again, and the first withdrawn."""

    def take(self, event: Event) -> None:
        record = event.record
        match record:
            case Asked() | Steered():
                self._ask(event.conversation, record)
            case Answered(calls=calls):
                for call in calls:
                    self._want(event, call.id, call.language, call.code)
            case ApprovalOpened(run=run):
                self._questions[run] = record.id
                self._note(run, approval=_opened(event, record), where=record.where)
            case ApprovalClosed(run=run):
                self._close(event, record)
            case RunIntended(run=run):
                self._start(event, record)
            case RunReported(run=run):
                self._note(
                    run,
                    status=record.status,
                    seconds=record.seconds,
                    detail=record.detail,
                    changes=record.changes,
                )
            case TakenBack() | MadeAgain():
                self._take_back(event, record)
            case (
                DeviceConnected()
                | DeviceDisconnected()
                | AccessRefused()
                | DevicePaired()
                | DeviceRevoked()
            ):
                self._take_access(event, ACCESS[type(record)], record)
            case _:
                self._take_reach(event)

    def _ask(self, conversation: str, said: Asked | Steered) -> None:
        before = self._asked.get(conversation)
        if isinstance(said, Steered):
            text = f"{before.text}\n{said.text}" if before else said.text
            said = Asked(text, before.by if before else said.by)
        self._asked[conversation] = said

    def _take_access(self, event: Event, kind: Access, record: AccessRecord) -> None:
        by = getattr(record, "by", record.device)
        self.entries[f"event {event.id}"] = Entry(
            kind, event.time, event.conversation, asked_by=by, status="ok", detail=in_words(record)
        )

    def _take_reach(self, event: Event) -> None:
        """What could be reached, what was, and what ran unasked."""
        match record := event.record:
            case NetworkUsed(run=run) if run in self.entries:
                self._note(run, network=(*self.entries[run].network, _connection(record)))
            case HostAsked(run=run) if run in self.entries:
                self._note(run, network=(*self.entries[run].network, _asked_again(record)))
            case ReachGranted(run=run, what=what, lasting=lasting):
                self._note(run, granted=what, for_good=lasting)
            case ReachTakenBack(what=what, by=by):
                self._decide(event, "grant", by, f"Taken back: {', '.join(what)}.")
            case ModeChanged(mode=mode, by=by):
                self._decide(event, "mode", by, f"The mode is {mode}.")
            case ModelChosen(name=name, by=by):
                self._decide(event, "model", by, f"{name or 'The usual model'} answers.")
            case WorkspaceChosen(path=path, by=by):
                self._decide(event, "folder", by, f"Code runs in {path or 'its own folder'}.")
            case InstructionsAnswered(by=by):
                followed = "followed" if record.follow else "not followed"
                followed += " for good" if record.lasting else ""
                detail = f"{record.name} of {record.folder} ({record.digest[:12]}) is {followed}."
                self._decide(event, "instructions", by, detail)
            case Untested(run=run, told=told) if run in self.entries:
                self._note(run, detail=f"{self.entries[run].detail} {told}".strip())
            case _:
                pass

    def _decide(self, event: Event, kind: Decided, by: str, detail: str) -> None:
        """Something was decided apart from any run."""
        self.entries[f"event {event.id}"] = Entry(
            kind, event.time, event.conversation, asked_by=by, status="ok", detail=detail
        )

    def _want(self, event: Event, run: str, language: str, code: str) -> None:
        asked = self._asked.get(event.conversation, Asked(""))
        self.entries[run] = Entry(
            "run", event.time, event.conversation, run, asked.text, asked.by, language, code
        )

    def _note(self, run: str, **more: Any) -> None:  # noqa: ANN401 (fields of one record)
        if run in self.entries:
            self.entries[run] = replace(self.entries[run], **more)

    def _close(self, event: Event, closed: ApprovalClosed) -> None:
        entry = self.entries.get(closed.run)
        if entry and self._questions.get(closed.run) == closed.id:
            approval = replace(
                entry.approval,
                decision=closed.decision,
                by=closed.by,
                decided_at=event.time,
                binding=closed.binding or entry.approval.binding,
            )
            self._note(closed.run, approval=approval)

    def _start(self, event: Event, intended: RunIntended) -> None:
        self._note(
            intended.run,
            language=intended.language,
            code=intended.code,
            where=intended.where,
            binding=intended.binding,
            started=event.time,
            status="unknown",
        )
        if before := self.entries.get(intended.under):
            self._note(intended.run, approval=Approval("covered", before.approval.by))

    def _take_back(self, event: Event, record: TakenBack | MadeAgain) -> None:
        changes = Changes(changed=record.restored, deleted=record.removed)
        self.entries[f"event {event.id}"] = Entry(
            "undo" if isinstance(record, TakenBack) else "redo",
            event.time,
            event.conversation,
            asked_by=record.by,
            status="ok",
            changes=changes,
            runs=record.runs,
            left=record.left,
        )


def _opened(event: Event, record: ApprovalOpened) -> Approval:
    return Approval(
        "open",
        asked_at=event.time,
        may_touch=record.may_touch,
        binding=record.binding,
        warnings=record.warnings,
    )


def _asked_again(asked: HostAsked) -> str:
    by = f" on {asked.by}" if asked.by else ""
    return f"{asked.host} asked about: {asked.decision}{by}. {asked.why}"


def _connection(used: NetworkUsed) -> str:
    told = f"{used.host}:{used.port} {used.verdict}"
    if used.verdict != "passed":
        return told
    return f"{told}, {used.sent} bytes sent, {used.received} received"


def as_json(entry: Entry) -> dict[str, Any]:
    """An entry for programs: dates as ISO 8601 in UTC, secrets left out, empty fields too."""
    approval = entry.approval
    told: dict[str, Any] = {
        **asdict(entry),
        "time": _date(entry.time),
        "started": _date(entry.started),
        "approval": _full(
            {
                **asdict(approval),
                "asked_at": _date(approval.asked_at),
                "decided_at": _date(approval.decided_at),
            }
        ),
        "changes": _full(asdict(entry.changes)),
    }
    if entry.kind != "run":
        del told["approval"]
    return redacted_json(_full(told))


def redacted_json(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same without secrets and without halves of characters."""
    return dict(_redacted(fields))


def _full(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", (), [], {}, 0)}


def _redacted(value: Any) -> Any:  # noqa: ANN401 (JSON)
    match value:
        case str():
            return redacted(value.encode("utf-8", "replace").decode())
        case Mapping():
            # Hashes and ids are no secrets, however they look.
            return {
                name: part if name in {"binding", "run", "runs"} else _redacted(part)
                for name, part in value.items()
            }
        case list() | tuple():
            return [_redacted(part) for part in value]
        case _:
            return value


def _date(seconds: float) -> str:
    return (
        datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds") if seconds else ""
    )

"""Records to JSON and back, by their own field types. Nothing is kept that cannot be read again."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Final, cast

from sayso.protocol.decoding import Mismatch, decoder_for
from sayso.server.store.access import (
    AccessRefused,
    DeviceConnected,
    DeviceDisconnected,
    DevicePaired,
    DeviceRevoked,
)
from sayso.server.store.decisions import (
    CodeQuestioned,
    ConversationPinned,
    HostAsked,
    InstructionsAnswered,
    ModeChanged,
    ModelChosen,
    NetworkUsed,
    ReachGranted,
    ReachTakenBack,
    ToolIntended,
    ToolReported,
    WorkspaceChosen,
)
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import JobBegan, JobDetached, JobEnded, JobProgressed, JobTold
from sayso.server.store.plans import PlanChanged
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    ConversationBegan,
    ConversationNamed,
    ConversationReset,
    CutOff,
    DeviceEntered,
    DevicePreferred,
    Failed,
    Heard,
    InterpretersEnded,
    Interrupted,
    MadeAgain,
    Record,
    RunIntended,
    RunReported,
    SpeechBegan,
    SpokenOut,
    TakenBack,
    Unread,
    Uttered,
    Withdrawn,
)
from sayso.server.store.reminders import (
    ListAdded,
    ListTaken,
    ReminderCancelled,
    ReminderSet,
    ReminderTold,
)
from sayso.server.store.steering import DayExtended, Explained, SaidBeside, SentBack, Steered
from sayso.server.store.testing import Tested, Untested

_KINDS: Final[Mapping[str, type]] = {
    "asked": Asked,
    "steered": Steered,
    "explained": Explained,
    "sent.back": SentBack,
    "said.beside": SaidBeside,
    "answered": Answered,
    "approval.opened": ApprovalOpened,
    "approval.closed": ApprovalClosed,
    "reach.granted": ReachGranted,
    "reach.taken_back": ReachTakenBack,
    "mode.changed": ModeChanged,
    "model.chosen": ModelChosen,
    "workspace.chosen": WorkspaceChosen,
    "conversation.pinned": ConversationPinned,
    "network.used": NetworkUsed,
    "host.asked": HostAsked,
    "instructions.answered": InstructionsAnswered,
    "code.questioned": CodeQuestioned,
    "tool.intended": ToolIntended,
    "tool.reported": ToolReported,
    "tested": Tested,
    "untested": Untested,
    "plan.changed": PlanChanged,
    "run.intended": RunIntended,
    "run.reported": RunReported,
    "job.began": JobBegan,
    "job.detached": JobDetached,
    "job.progressed": JobProgressed,
    "job.ended": JobEnded,
    "job.told": JobTold,
    "taken.back": TakenBack,
    "made.again": MadeAgain,
    "uttered": Uttered,
    "cut.off": CutOff,
    "speech.began": SpeechBegan,
    "spoken.out": SpokenOut,
    "heard": Heard,
    "interrupted": Interrupted,
    "withdrawn": Withdrawn,
    "failed": Failed,
    "reminder.set": ReminderSet,
    "reminder.told": ReminderTold,
    "reminder.cancelled": ReminderCancelled,
    "list.added": ListAdded,
    "list.taken": ListTaken,
    "device.entered": DeviceEntered,
    "device.preferred": DevicePreferred,
    "conversation.began": ConversationBegan,
    "conversation.named": ConversationNamed,
    "conversation.reset": ConversationReset,
    "interpreters.ended": InterpretersEnded,
    "day.extended": DayExtended,
    "device.connected": DeviceConnected,
    "device.disconnected": DeviceDisconnected,
    "access.refused": AccessRefused,
    "device.paired": DevicePaired,
    "device.revoked": DeviceRevoked,
}
_NAMES: Final[Mapping[type, str]] = {kind: name for name, kind in _KINDS.items()}


def kind_of(record_type: type[Record]) -> str:
    """The name under which records of this type are kept."""
    return _NAMES[record_type]


def encode(record: Record) -> tuple[str, str]:
    """The record's kind and its payload."""
    if isinstance(record, Unread):
        raise StoreError(f"A record of the unknown kind {record.kind} cannot be written.")
    # JSON's own escapes, because lone surrogates (from undecodable file names) are not UTF-8.
    return _NAMES[type(record)], json.dumps(dataclasses.asdict(record), separators=(",", ":"))


def decode(kind: str, payload: str) -> Record:
    """The record again. A missing field takes its default; one that does not fit is an error."""
    record_type = _KINDS.get(kind)
    if record_type is None:
        return Unread(kind)
    try:
        return cast(Record, decoder_for(record_type)(json.loads(payload)))
    except (ValueError, Mismatch) as problem:
        raise StoreError(f"The log holds a damaged record of the kind {kind}.") from problem

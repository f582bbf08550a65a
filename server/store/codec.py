"""Records to JSON and back, by their own field types. Nothing is kept that cannot be read again."""

import dataclasses
import json
import types
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from sayso.server.store.access import (
    AccessRefused,
    DeviceConnected,
    DeviceDisconnected,
    DevicePaired,
    DeviceRevoked,
)
from sayso.server.store.decisions import (
    CodeQuestioned,
    HostAsked,
    ModeChanged,
    ModelChosen,
    NetworkUsed,
    ReachGranted,
    ReachTakenBack,
    WorkspaceChosen,
)
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import JobBegan, JobEnded, JobProgressed
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    ConversationBegan,
    ConversationNamed,
    ConversationReset,
    CutOff,
    DayExtended,
    DevicePreferred,
    Failed,
    Heard,
    InterpretersEnded,
    Interrupted,
    MadeAgain,
    Record,
    ReminderCancelled,
    ReminderSet,
    ReminderTold,
    RunIntended,
    RunReported,
    SpeechBegan,
    SpokenOut,
    TakenBack,
    Unread,
    Uttered,
    Withdrawn,
)

_KINDS: Final[Mapping[str, type]] = {
    "asked": Asked,
    "answered": Answered,
    "approval.opened": ApprovalOpened,
    "approval.closed": ApprovalClosed,
    "reach.granted": ReachGranted,
    "reach.taken_back": ReachTakenBack,
    "mode.changed": ModeChanged,
    "model.chosen": ModelChosen,
    "workspace.chosen": WorkspaceChosen,
    "network.used": NetworkUsed,
    "host.asked": HostAsked,
    "code.questioned": CodeQuestioned,
    "run.intended": RunIntended,
    "run.reported": RunReported,
    "job.began": JobBegan,
    "job.progressed": JobProgressed,
    "job.ended": JobEnded,
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
        return cast(Record, _read(record_type, json.loads(payload)))
    except (ValueError, TypeError) as problem:
        raise StoreError(f"The log holds a damaged record of the kind {kind}.") from problem


@cache
def _field_types(record_type: type) -> Mapping[str, object]:
    return get_type_hints(record_type)


def _read(expected: object, value: object) -> object:
    if isinstance(expected, type) and dataclasses.is_dataclass(expected):
        return _read_record(expected, value)
    origin, arguments = get_origin(expected), get_args(expected)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], part) for part in value)
    if origin in (types.UnionType, Union):  # only ever "something or None"
        return None if value is None else _read(arguments[0], value)
    if origin is Literal and value in arguments:
        return value
    if expected is float and type(value) in (int, float):
        return float(cast(float, value))
    if type(value) is expected:
        return value
    raise TypeError(f"{value!r:.40} does not fit")


def _read_record(expected: type, value: object) -> object:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r:.40} is not an object")
    known = _field_types(expected)
    return expected(**{name: _read(known[name], value[name]) for name in value if name in known})

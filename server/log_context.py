"""The ids that log lines carry: which device, conversation, turn, run or job a line belongs to.

They are bound where work begins and follow it into the tasks and threads that it starts. Ids name
things and nothing more: no word that was said, and no secret, is ever bound.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

Ids = Mapping[str, str]

NO_IDS: Final[Ids] = MappingProxyType({})

LONGEST_ID: Final = 80
"""Characters: a name of a device or a conversation, and no more of whatever calls itself so."""

_NAMELESS: Final = re.compile(r"main|\d{4}-\d\d-\d\d(-\d+)?")
"""Ids of conversations in which there is nothing that a person said or typed."""

_bound: ContextVar[Callable[[], Ids]] = ContextVar("ids of log lines", default=lambda: NO_IDS)


def current_ids() -> Ids:
    """What a line that is logged here and now carries."""
    return _bound.get()()


def conversation_ids() -> Ids:
    """The same without what is over sooner than the conversation."""
    return {name: text for name, text in current_ids().items() if name == "conversation"}


@contextmanager
def log_ids(**ids: str) -> Iterator[None]:
    """Within this, and in what is started within it, lines carry these ids, too; an empty one
    changes nothing."""
    together = {**current_ids(), **{name: text[:LONGEST_ID] for name, text in ids.items() if text}}
    with log_ids_by(lambda: together):
        yield


@contextmanager
def no_log_ids() -> Iterator[None]:
    """For what is started on somebody's behalf, and serves all from then on."""
    with log_ids_by(lambda: NO_IDS):
        yield


@contextmanager
def log_ids_by(source: Callable[[], Ids]) -> Iterator[None]:
    """For what outlives the work that started it: lines carry what `source` says at that time."""
    before = _bound.set(source)
    try:
        yield
    finally:
        _bound.reset(before)


def conversation_id(conversation: str) -> str:
    """How lines name a conversation. An id that was made of a name that a person gave is told by
    its hash, so that no log and no bundle for a helper holds the name."""
    if not conversation or _NAMELESS.fullmatch(conversation):
        return conversation
    return "c-" + hashlib.sha256(conversation.encode("utf-8", "surrogatepass")).hexdigest()[:12]

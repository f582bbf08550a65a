"""Observes what a model is told with a request: when it is, what code may do, what goes on, and
what is to be seen."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.named_pictures import NamedPicture, named_pictures
from sayso.server.agent.record.picture_words import told_of
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.store.records import Situation


def local_time() -> datetime:
    """The time where the server is."""
    return datetime.now().astimezone()


@dataclass(frozen=True, slots=True)
class Observed:
    """What is to be seen when a request begins."""

    situation: Situation | None
    """Its circumstances; without a clock there are none."""
    pictures: tuple[str, ...]
    """The names of those that it names, which are kept."""
    words: str
    """What is written in them, for a model that sees none."""


class RequestSituation:
    """Of one conversation."""

    def __init__(
        self,
        record: ConversationRecord,
        permissions: Permissions,
        code_runner: CodeRunner,
        *,
        sees: bool,
    ) -> None:
        """`sees`: whether the model can look at pictures; else it is told the words in them."""
        self._record = record
        self._sees = sees
        self._permissions = permissions
        self._code_runner = code_runner

    async def observed(self, text: str, by: str) -> Observed:
        """What is to be seen when a request begins. `by`: the device it was asked from."""
        clock = self._record.clock
        now = self._now(clock(), by) if clock else None
        folder, known = Path(self._code_runner.where), self._code_runner.identity
        found = await asyncio.to_thread(named_pictures, text, folder, known)
        words = "" if self._sees else await told_of(found, self._record.words_in)
        return Observed(now, await self._kept(found), words)

    def _now(self, now: datetime, by: str) -> Situation:
        journal, reach = self._record.journal, self._permissions.reach
        place = self._record.place(by)
        lost = journal.history.state_may_be_lost
        return Situation(
            day=f"{now:%A}, {now.day} {now:%B %Y}",
            time=f"{now:%H:%M}",
            zone=_zone(now),
            mode="" if self._code_runner.refusal else self._permissions.mode,
            granted=self._permissions.granted.lines,
            running=tuple(f"job {job.id}: {job.title}" for job in journal.jobs.running),
            renewed=lost and self._code_runner.reach.needs_new_kernel(reach),
            device=place.device,
            person=place.person,
        )

    async def _kept(self, found: Sequence[NamedPicture]) -> tuple[str, ...]:
        try:
            return await self._record.outputs.keep_pictures(found)
        except OSError:  # a full disk: the person sees them, and the model does not
            return ()


def _zone(now: datetime) -> str:
    offset = f"{now:%z}"
    return f"{now:%Z}, UTC{offset[:3]}:{offset[3:5]}" if offset else ""

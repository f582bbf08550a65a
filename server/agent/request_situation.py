"""Observes what a model is told with a request: when it is, what code may do, what goes on, and
what is to be seen."""

import asyncio
from datetime import datetime
from pathlib import Path

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.named_pictures import named_pictures
from sayso.server.agent.tools.run_code import CodeRunner
from sayso.server.store.records import Situation


def local_time() -> datetime:
    """The time where the server is."""
    return datetime.now().astimezone()


class RequestSituation:
    """Of one conversation."""

    def __init__(
        self, record: ConversationRecord, permissions: Permissions, code_runner: CodeRunner
    ) -> None:
        self._record = record
        self._permissions = permissions
        self._code_runner = code_runner

    async def observed(self, text: str, by: str) -> tuple[Situation | None, tuple[str, ...]]:
        """The circumstances of a request that begins now, and the pictures that it names, which
        are kept. `by`: the device it was asked from."""
        clock = self._record.clock
        return self._now(clock(), by) if clock else None, await self._pictures(text)

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

    async def _pictures(self, text: str) -> tuple[str, ...]:
        folder, known = Path(self._code_runner.where), self._code_runner.identity
        found = await asyncio.to_thread(named_pictures, text, folder, known)
        try:
            return await self._record.outputs.keep_pictures(found)
        except OSError:  # a full disk: the person sees them, and the model does not
            return ()


def _zone(now: datetime) -> str:
    offset = f"{now:%z}"
    return f"{now:%Z}, UTC{offset[:3]}:{offset[3:5]}" if offset else ""

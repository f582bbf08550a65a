"""`/jobs`: what goes on that lasts, in all of a person's conversations; and `/background`.

A person's jobs are shown to that person alone. Who may manage devices sees that others' go on, and
may stop them, and is told nothing of what they are about.
"""

import time
from collections.abc import Iterator
from typing import Final

from sayso.server.agent.jobs.job import Job
from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.conversations.registry import called
from sayso.server.slash.command import Command
from sayso.server.turn.events import Interrupted

_STATES: Final = {
    "running": "goes on",
    "done": "done",
    "failed": "failed",
    "cancelled": "stopped",
    "unknown": "outcome unknown",
}
_MINUTE_S: Final = 60
_HOUR_S: Final = 3_600
_NONE: Final = "No job goes on."
_HOW: Final = "`/jobs ID` shows one, `/jobs stop ID` stops it."


async def _jobs(context: CommandContext) -> CommandResult:
    match context.text.split():
        case []:
            return CommandResult(_list(context))
        case ["stop", wanted]:
            return await _stop(context, wanted)
        case [wanted]:
            found = _find(_own(context), wanted)
            return CommandResult(_shown(*found)) if found else _no_such(wanted)
        case _:
            return CommandResult(_HOW, ok=False)


async def _background(context: CommandContext) -> CommandResult:
    why = context.here.agent.use_time("background")
    return CommandResult(why or "It goes on in the background.", ok=not why)


async def _stop(context: CommandContext, wanted: str) -> CommandResult:
    everybodys = [*_own(context), *(_others(context) if context.may_admin else ())]
    found = _find(everybodys, wanted)
    if found is None or found[1].state != "running":
        return _no_such(wanted)
    here, job = found
    if not await here.agent.runs.stop(job.id):
        here.conversation.happened(Interrupted(context.device, None, 0))
    return CommandResult(f"{job.id} is stopped.")


def _no_such(wanted: str) -> CommandResult:
    return CommandResult(
        f"There is no job {wanted[:40]}; `/jobs` lists those that there are.", ok=False
    )


def _own(context: CommandContext) -> list[tuple[OpenConversation, Job]]:
    return list(_of(context, theirs=True))


def _others(context: CommandContext) -> list[tuple[OpenConversation, Job]]:
    return list(_of(context, theirs=False))


def _of(context: CommandContext, *, theirs: bool) -> Iterator[tuple[OpenConversation, Job]]:
    for here in context.conversations.open.values():
        if (here.about.owner == context.person) is theirs:
            jobs = here.agent.jobs
            yield from ((here, job) for job in (*jobs.recent, *jobs.running))


def _find(
    there: list[tuple[OpenConversation, Job]], wanted: str
) -> tuple[OpenConversation, Job] | None:
    """By its id, or by a beginning of it that no other has."""
    found = [one for one in there if one[1].id.startswith(wanted)]
    same = [one for one in found if one[1].id == wanted]
    return same[-1] if same else found[0] if len(found) == 1 else None


def _list(context: CommandContext) -> str:
    own = sorted(_own(context), key=lambda one: one[1].began)
    lines = [_line(here, job, is_here=here is context.here) for here, job in own]
    if context.may_admin:
        others = [job for _, job in _others(context) if job.state == "running"]
        lines += [f"{job.id}  {_state(job)}  (another person's)" for job in others]
    return "\n".join([*lines, _HOW] if lines else [_NONE])


def _line(here: OpenConversation, job: Job, *, is_here: bool) -> str:
    place = "" if is_here else f"  ({called(here.about)})"
    text = f": {job.text}" if job.text else ""
    return f"{job.id}  {_state(job)}  {job.title}{text}{place}"


def _state(job: Job) -> str:
    share = "" if job.fraction is None or job.state != "running" else f", {job.fraction:.0%}"
    beside = ", in the background" if job.where == "background" and job.state == "running" else ""
    took = _duration((job.over or time.time()) - job.began)
    return f"{_STATES[job.state]}, {took}{share}{beside}"


def _shown(here: OpenConversation, job: Job) -> str:
    fence = "~" * 8
    output = f"\n{fence}\n{job.output.replace(fence, '~')}\n{fence}" if job.output.strip() else ""
    return f"{_line(here, job, is_here=True)}{output}"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE_S:
        return f"{max(0, seconds):.0f} s"
    if seconds < _HOUR_S:
        return f"{seconds / _MINUTE_S:.0f} min"
    return f"{seconds / _HOUR_S:.1f} h"


JOBS = (
    Command("jobs", "what goes on that lasts; ID shows one, stop ID stops it", _jobs, "talk"),
    Command("background", "let what runs go on in the background", _background, "talk"),
)

"""What was said and done here before, as text: `/past`, and below the answer to `/resume`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sayso.server.conversations.command_context import CommandContext, CommandResult
from sayso.server.slash.command import Command

TURNS: Final = 5
"""Of the last, where nobody says how many."""

OUTPUT_LINES: Final = 12
CODE_LINES: Final = 12
"""Of each run, from its beginning."""

TEXT_CHARS: Final = 14_000
"""All that a command's answer holds, with room for what stands above it."""

_ENDED: Final[Mapping[str, str]] = {
    "ok": "done",
    "error": "failed",
    "interrupted": "stopped",
    "died": "ended; its variables are lost",
    "refused": "not run",
    "unknown": "nobody knows how it ended",
}
_DECIDED: Final[Mapping[str, str]] = {
    "yes": "approved",
    "edit": "approved with changes",
    "no": "denied",
    "expired": "not answered in time",
    "cancelled": "taken back",
}


def in_words(turns: Sequence[Mapping[str, Any]], most: int = TURNS) -> str:
    """The last turns, oldest first, as much of them as one answer holds."""
    told: list[str] = []
    room = TEXT_CHARS
    for turn in reversed(turns[len(turns) - min(most, len(turns)) :]):
        text = "\n".join(_lines(turn))
        room -= len(text)
        if room < 0:
            told.append("… what was before is too long to be shown here.")
            break
        told.append(text)
    return "\n\n".join(reversed(told))


def _lines(turn: Mapping[str, Any]) -> Iterator[str]:
    if turn["said"]:
        yield f"> {turn['said']}"
    for message in turn["shown"]:
        match message["t"]:
            case "reply.delta":
                yield message["text"].strip()
            case "code.start":
                yield from _cut(f"[{message['language']}]\n{message['code']}", CODE_LINES)
            case "code.out":
                yield from _cut(_output(message), OUTPUT_LINES)
            case "code.end":
                words = f"{_ENDED[message['status']]} {message.get('detail', '')}".strip()
                yield f"  [{words}]"
            case "approval.done":
                by = f" on {message['by']}" if message.get("by") else ""
                yield f"  [{_DECIDED[message['decision']]}{by}]"
            case "announce":
                yield message["text"]
            case "error":
                yield message["message"]


def _output(message: Mapping[str, Any]) -> str:
    if "file" in message:
        return f"[{message['mime']}: {message.get('text') or 'a screen shows it'}]"
    return str(message.get("text", ""))


def _cut(text: str, most: int) -> Iterator[str]:
    lines = text.rstrip("\n").split("\n")
    yield from (f"  {line}" for line in lines[:most])
    if len(lines) > most:
        yield f"  … {len(lines) - most} more lines"


async def _past(context: CommandContext) -> CommandResult:
    wanted = context.text.strip()
    if wanted and not wanted.isdecimal():
        return CommandResult("`/past` shows the last turns, `/past 20` the last twenty.", ok=False)
    past = await context.here.past()
    text = in_words(past["turns"], int(wanted) if wanted else TURNS)
    return CommandResult(text or "Nothing was said here before.")


LOOKING_BACK = (Command("past", "what was said here before; a number may follow", _past, "talk"),)

"""A page of a run's output, from what was kept of it."""

from typing import Final

from sayso.server.agent.record.history import History
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.tools.read_output import read_line
from sayso.server.store.redaction import LONGEST_SECRET, redacted_part

PAGE_CHARS: Final = 8_000
"""At most so many at once: as many as a run's output is given."""

_UNREADABLE: Final = "This can't be read: give the output's name and two numbers."


async def read_page(line: str, history: History, outputs: RunOutputs) -> str:
    """What the model is given for `ID FROM TO`."""
    page = read_line(line)
    if page is None:
        return _UNREADABLE
    act = history.find(page.run)
    if act is None or act.report is None:
        return f"There is no output {page.run} in this conversation."
    whole = await outputs.read(act.call.id)
    text = act.report.output if whole is None else whole
    end = min(page.end, page.start + PAGE_CHARS, len(text))
    if page.start >= end:
        return f"There is nothing: output {page.run} has {len(text)} characters."
    note = f"[characters {page.start} to {end} of {len(text)}]"
    return f"{note}\n{_without_secrets(text, page.start, end)}"


def _without_secrets(text: str, start: int, end: int) -> str:
    first = max(0, start - LONGEST_SECRET)
    return redacted_part(text[first : end + LONGEST_SECRET], start - first, end - first)

"""The tool `output`: reads a page of a run's output, from what was kept of it."""

from collections.abc import AsyncIterator
from typing import Final

from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.tools.output_page_syntax import PAGE, Page, read_arguments, read_line
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, ToolContext, WrittenCall
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.redaction import LONGEST_SECRET, redacted_part

PAGE_CHARS: Final = 8_000
"""At most so many at once: as many as a run's output is given."""

_UNREADABLE: Final = "This can't be read: give the output's name and two numbers."
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "from": {"type": "integer"},
        "to": {"type": "integer"},
    },
    "required": ["id", "from", "to"],
}


class ReadOutput(Tool):
    """Reads what was left out of a long output; the conversation holds it already."""

    name = PAGE
    use = "Read characters that were left out of a long output."
    schema = _SCHEMA
    undo = ""
    kind = "reads"
    outside = False

    def read_call(self, arguments: str) -> WrittenCall | None:
        page = read_arguments(arguments)
        return WrittenCall(PAGE, page.line) if page else None

    def read_fence(self, label: str, text: str) -> WrittenCall | None:
        page = read_line(text)
        return WrittenCall(PAGE, page.line) if page else None

    def as_call(self, label: str, text: str) -> tuple[str, str] | None:
        page = read_line(text)
        return (PAGE, page.arguments) if page else None

    def read(self, label: str, text: str) -> Arguments:
        page = read_line(text)
        if page is None:
            raise ArgumentsError(_UNREADABLE)
        return {"id": page.run, "from": page.start, "to": page.end}

    def write(self, arguments: Arguments) -> str:
        return Page(arguments["id"], arguments["from"], arguments["to"]).line

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return ()

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        page = await read_page(self.write(arguments), context.history, context.outputs)
        yield Output("result", page)
        yield Ending("ok", 0.0)


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

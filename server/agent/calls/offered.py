"""What the code of a run may call: Sayso's own functions, and tools."""

from collections.abc import Callable, Sequence

from sayso.server.agent.calls.ask import Ask
from sayso.server.agent.calls.background import Background
from sayso.server.agent.calls.tell import Tell
from sayso.server.agent.calls.tool_function import ToolDesk
from sayso.server.agent.jobs.run_progress import RunProgress
from sayso.server.agent.tools.tool import Tool
from sayso.server.runtimes.calls.function import CallFunction


def offered(
    desk: ToolDesk,
    tools: Sequence[Tool],
    code: str,
    progress: RunProgress,
    leave: Callable[[], str],
) -> Sequence[CallFunction]:
    """The functions for the run of this code. Where nobody could answer, it cannot ask. `leave`
    lets it go on in the background, and returns why it cannot be, in a sentence."""
    own = Tell(progress.tell), Background(leave)
    questions = desk.approvals.of_code
    if not questions.answerable:
        return (*own, *desk.functions(tools, code))
    left = desk.context.left
    ask = Ask(questions, desk.journal, desk.reckoning, desk.attention, desk.emit, left)
    return (*own, ask, *desk.functions(tools, code))

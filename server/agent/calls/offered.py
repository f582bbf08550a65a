"""What the code of a run may call: Sayso's own functions, and tools."""

from collections.abc import Callable, Sequence

from sayso.server.agent.calls.ask import Ask
from sayso.server.agent.calls.background import Background
from sayso.server.agent.calls.tell import Tell
from sayso.server.agent.calls.tool_function import CallServices
from sayso.server.agent.jobs.run_progress import RunProgress
from sayso.server.agent.tools.tool import Tool
from sayso.server.runtimes.calls.function import CallFunction


def offered(
    services: CallServices,
    tools: Sequence[Tool],
    code: str,
    progress: RunProgress,
    leave: Callable[[], str],
) -> Sequence[CallFunction]:
    """The functions for the run of this code. Where nobody could answer, it cannot ask. `leave`
    lets it go on in the background, and returns why it cannot be, in a sentence."""
    own = Tell(progress.tell), Background(leave)
    questions = services.approvals.of_code
    if not questions.answerable:
        return (*own, *services.functions(tools, code))
    left, emit = services.context.left, services.emit
    ask = Ask(questions, services.journal, services.reckoning, services.attention, emit, left)
    return (*own, ask, *services.functions(tools, code))

"""The tools for git of one conversation."""

from collections.abc import Callable, Sequence

from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.tools.tool import Tool
from sayso.server.capabilities.git.commit import Commit, Former
from sayso.server.capabilities.git.publish import Publish
from sayso.server.runtimes.code_runner import CodeRunner


def git_tools(
    history: Callable[[], History],
    code_runner: Callable[[], CodeRunner],
    former: Former,
    trailer: Callable[[], str],
    *,
    guest: bool,
) -> Sequence[Tool]:
    """Committing; and sending on, which is done with the owner's passwords and keys."""
    commit = Commit(history, code_runner, former, trailer)
    return (commit,) if guest else (commit, Publish(code_runner))

"""Builds the agent of one conversation with what only this conversation uses: its journal, its
approvals, its interpreters and its checkpoints.
"""

from collections.abc import Awaitable, Callable, Sequence

from sayso.server.agent.llm.backend import Backend, Backends
from sayso.server.agent.loop import Agent
from sayso.server.agent.record.conversation_undo import ConversationUndo
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.workspace import Workspace
from sayso.server.store.records import ConversationReset, InterpretersEnded


class ConversationAgent:
    """Renews, moves and closes together what works for one conversation."""

    def __init__(
        self,
        agent: Agent,
        journal: Journal,
        undo: ConversationUndo,
        *,
        workspace: Workspace,
        make_code_runner: Callable[[Workspace], CodeRunner],
        backends: Backends,
        lost: Sequence[str] = (),
        end_tools: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`end_tools`: ends what tools of this conversation alone have started."""
        self.agent = agent
        self.journal = journal
        self.undo_requests = undo.undo_requests
        self.lost = lost
        """What held before the conversation was closed and holds no more, in sentences."""
        self._undo = undo
        self._workspace = workspace
        self._make_code_runner = make_code_runner
        self._backends = backends
        self._end_tools = end_tools
        self.os_mode: Callable[[bool], str] | None = None
        """Lets the model take over the person's screen, or no longer, and says so."""

    @property
    def code_runner(self) -> CodeRunner:
        """Where code runs now."""
        return self._undo.code_runner

    async def think_with(self, name: str, *, anywhere: bool) -> Backend:
        """Let another language model answer from the next request on, if it can be had; without a
        name, the one of the settings. `anywhere`: it need not be one that was fetched here.
        """
        backend = await self._backends.named(name, anywhere=anywhere)
        if not backend.missing:
            self.agent.use_model(backend)
        return backend

    async def reset(self) -> None:
        """Begin anew: the model is told nothing of before, what was granted here is closed, what
        lies in the workspace counts as the person's, and the interpreters are new. To be called
        while nothing works. Raises StoreError.
        """
        await self.journal.note("person", ConversationReset())
        self.agent.permissions.forget()
        await self._undo.accept()
        if self._end_tools:
            await self._end_tools()
        await self._replace_interpreters()

    async def move(self, workspace: Workspace) -> None:
        """Let code run in another folder; variables are gone. To be called while nothing works.
        Raises StoreError.
        """
        self._workspace = workspace
        await self._replace_interpreters()
        await self.journal.note("server", InterpretersEnded())

    async def _replace_interpreters(self) -> None:
        await self.agent.runs.close()
        await self.code_runner.close()
        await self._undo.move(self._make_code_runner(self._workspace))
        self.agent.use_code_runner(self.code_runner)
        self.code_runner.prepare()

    async def close(self) -> None:
        """End the interpreters, and finish what was begun to be undone."""
        await self.agent.runs.close()
        if self._end_tools:
            await self._end_tools()
        await self.code_runner.close()
        await self._undo.close()

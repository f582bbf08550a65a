"""Opens the agents of helpers: each with a copy, a log and a budget of its own."""

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.server.agent.conversation_agent import ConversationAgent
from sayso.server.agent.instructions.instruction_files import InstructionFile
from sayso.server.agent.limits import RequestLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.agent.tools.tool import Tool
from sayso.server.capabilities.git.identity import variables
from sayso.server.capabilities.helpers.take_over import TakeOver
from sayso.server.capabilities.helpers.tool import Helpers, Results
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.runtimes.workspace import Workspace
from sayso.server.settings import Settings
from sayso.server.store.event_log import EventLog

if TYPE_CHECKING:
    from sayso.server.assembly.agent import AgentOptions, AgentParts

_GIT = {"user.name": "helper", "user.email": "helper@localhost", "safe.directory": "*"}


def helper_tools(
    parts: "AgentParts",
    options: "AgentOptions",
    code_runner: Callable[[], CodeRunner],
    backend: Callable[[], Backend],
    followed: Callable[[], Sequence[InstructionFile]],
    at_once: int,
) -> Sequence[Tool]:
    """The tools for helpers of one conversation; none where a folder for copies is not given."""
    if options.helpers is None:
        return ()
    results = Results()
    opened = partial(_opened, parts, options, options.helpers, backend, code_runner, followed)
    return (
        Helpers(lambda: Path(code_runner().where), opened, results, at_once),
        TakeOver(code_runner, results),
    )


def sweep_copies(copies: Path) -> None:
    """Remove what helpers of an ended server have left; to be called before any begins."""
    with suppress(OSError):
        for left in list(copies.iterdir()):
            shutil.rmtree(left, ignore_errors=True)


@asynccontextmanager
async def _opened(
    parts: "AgentParts",
    options: "AgentOptions",
    copies: Path,
    backend: Callable[[], Backend],
    code_runner: Callable[[], CodeRunner],
    followed: Callable[[], Sequence[InstructionFile]],
    source: Path,
    limits: RequestLimits,
) -> AsyncIterator[ConversationAgent]:
    """An agent that may read a folder, work in a copy, and nothing else; all of it is gone
    afterwards."""
    from sayso.server.assembly.agent import open_agent

    name = f"helper-{secrets.token_hex(6)}"
    own = copies / name
    await asyncio.to_thread(_made, own)
    log = await EventLog.open(own / "events.sqlite")
    try:
        agent = await open_agent(
            replace(
                parts, log=log, tools=(), standing=None, settings=_with(parts.settings, limits)
            ),
            replace(
                options,
                conversation=name,
                workspace=Workspace(own / "copy"),
                outputs=own / "outputs",
                undo=own / "undo",
                guest=True,
                neighbours=None,
                mode="workspace",
                tools=(),
                variables=lambda: variables(_GIT),
                helpers=None,
                browser=None,
                screens=None,
            ),
        )
        try:
            agent.agent.use_model(backend())
            agent.agent.permissions.instructions.given = tuple(followed())
            # By what the folder is recognised: another may be in its place by now, or a link.
            read = Grants(folders=(Folder(source, "read", code_runner().identity),))
            agent.agent.permissions.restore(ConversationSettings(read))
            agent.agent.permissions.change_mode("workspace", at_console=False)
            await agent.agent.permissions.settle(agent.code_runner)
            yield agent
        finally:
            await agent.close()
    finally:
        await log.close()
        await asyncio.to_thread(shutil.rmtree, own, ignore_errors=True)


def _made(own: Path) -> None:
    (own / "copy").mkdir(mode=0o700, parents=True)


def _with(settings: Settings, limits: RequestLimits) -> Settings:
    """The same settings, with a share of the budget."""
    shared = replace(
        settings.agent,
        steps=limits.steps,
        seconds=limits.seconds,
        tokens=limits.tokens,
        usd=limits.usd,
    )
    return replace(
        settings,
        agent=shared,
        undo=replace(settings.undo, total_mb=0),
        hooks=replace(settings.hooks, at_end=()),  # what a helper answers, the person never hears
    )

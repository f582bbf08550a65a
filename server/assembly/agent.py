"""Builds the agent of one conversation, for the server and for Sayso from Python alike."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from sayso.protocol.home import Home
from sayso.server.agent.conversation_agent import ConversationAgent
from sayso.server.agent.instructions.folder_instructions import FolderInstructions
from sayso.server.agent.instructions.trusted_instructions import TrustedInstructions
from sayso.server.agent.limits import Budget, JobLimits, RequestLimits
from sayso.server.agent.llm.backend import Backends
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import MOST_BYTES, Approvals
from sayso.server.agent.permissions.hooks import Hooks, NoHooks
from sayso.server.agent.permissions.permissions import Mode, Neighbours, Permissions
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.agent.record.conversation_record import ConversationRecord, Place
from sayso.server.agent.record.conversation_settings import taken_back
from sayso.server.agent.record.conversation_undo import ConversationUndo
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.picture_words import WordsIn, read_nothing
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.request_situation import local_time
from sayso.server.agent.spending import DailyLimits, DailySpending
from sayso.server.agent.tools.plan import Plan
from sayso.server.agent.tools.tool import Tool, ToolSet
from sayso.server.assembly.browser import open_browser
from sayso.server.assembly.desktop import DeviceScreens, open_desktop
from sayso.server.assembly.helpers import helper_tools
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.capabilities.git.identity import variables_for_code
from sayso.server.capabilities.git.tools import git_tools
from sayso.server.capabilities.hooks.person_hooks import PersonHooks
from sayso.server.capabilities.skills.tools import Skills
from sayso.server.capabilities.web.tools import WebTools
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.resources.usage import machine
from sayso.server.runtimes.workspace import Workspace
from sayso.server.settings import Settings
from sayso.server.store.decisions import ModeChanged
from sayso.server.store.event_log import EventLog

SMALL_MACHINE_BYTES: Final = 5 * 1024**3
"""Below it, as on most Raspberry Pis, several interpreters at work are too many."""


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What the agents of all conversations have in common."""

    settings: Settings
    log: EventLog
    backends: Backends
    code_runner: Callable[[Path, Grants, Identity | None], CodeRunner]
    """Sets up a place for code to run in a folder, by which that is recognised."""
    day: DailySpending
    policy: Policy
    standing: StandingGrants | None = None
    """What the owner granted for good."""
    tools: Iterable[Tool] = ()
    """What a model can do besides Sayso's own. They act outside of the sandbox, so they are the
    owner's alone."""
    clock: Callable[[], datetime] | None = local_time
    """What time it is for models; without one they are not told of a request's circumstances."""
    place: Callable[[str], Place] = lambda _: Place()
    """Where a device is, by its id: models are told."""
    skills: Skills | None = None
    """The owner's skills."""
    instructions: TrustedInstructions | None = None
    """Which folders' instructions the owner wants followed; none: nobody's are."""
    hooks: Path = field(default_factory=lambda: Home.find().config / "hooks")
    """The folder with the programs of the person's hooks."""
    words_in: WordsIn = read_nothing
    """Reads what is written in a picture, for models that see none."""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """What one conversation's agent has for itself."""

    conversation: str
    workspace: Workspace
    outputs: Path
    """The folder for whole outputs and pictures of its runs."""
    undo: Path
    """The folder for checkpoints."""
    guest: bool = False
    """The machine's folders are not this person's to grant."""
    neighbours: Neighbours | None = None
    """Other conversations whose code may write where this one's does."""
    mode: Mode | None = None
    """What a program wants to be asked about, whatever was chosen here before; None is what the
    settings and the person chose."""
    tools: Iterable[Tool] = ()
    """What its model can do besides, for whosever conversation it is."""
    question_bytes: float = MOST_BYTES
    """The longest question that can be shown."""
    variables: Callable[[], Mapping[str, str]] | None = None
    """The environment of its code, in place of the person's name for git."""
    helpers: Path | None = None
    """The folder for the copies that helpers work in; none: it has no helpers."""
    browser: Path | None = None
    """The person's folder for their browser's profile; none: it has no browser."""
    screens: DeviceScreens | None = None
    """The screens of the devices that take part; none: no device can be asked for one."""


async def open_agent(parts: AgentParts, options: AgentOptions) -> ConversationAgent:
    """Open a conversation's journal and put together what works for it. Raises StoreError."""
    settings = parts.settings
    journal = await Journal.open(parts.log, options.conversation, parts.day.saw)
    approvals = Approvals(journal, settings.approvals.expire_s, most_bytes=options.question_bytes)
    hooks = _hooks(parts, options, lambda: undo.code_runner)
    permissions, lost = await _permissions(parts, options, journal, hooks)
    backend = await parts.backends.named(journal.terms.model, anywhere=not options.guest)
    if backend.missing and journal.terms.model:
        usual = parts.backends.usual
        lost.append(f"{backend.missing} {usual.model.name} answers instead.")
        backend = usual

    def make_code_runner(workspace: Workspace) -> CodeRunner:
        runner = parts.code_runner(workspace.path, permissions.reach, workspace.identity)
        if options.variables or not options.guest:  # or commits would bear the owner's name
            variables = options.variables or partial(variables_for_code, workspace.path)
            runner.give_variables(variables)
        return runner

    browser = open_browser(
        options.browser,
        permissions,
        journal,
        lambda: undo.code_runner,
        lambda: agent.backend,
    )
    desktop = open_desktop(None if options.guest else options.screens, permissions)
    code_runner = make_code_runner(options.workspace)
    undo = ConversationUndo(options.undo, settings.undo, journal, code_runner)
    if recovered := await undo.recover():
        lost.append(recovered)

    def trailer() -> str:
        return settings.git.trailer.replace("{model}", agent.model_name)

    agent = Agent(
        backend,
        code_runner,
        approvals,
        ConversationRecord(
            journal, RunOutputs(options.outputs), parts.clock, parts.place, parts.words_in
        ),
        permissions=permissions,
        checkpointer=undo.checkpointer,
        budget=Budget(request_limits(settings), parts.day, job_limits(settings)),
        tools=ToolSet(
            (Plan(),),
            coding_tools(),
            git_tools(
                lambda: journal.history,
                lambda: undo.code_runner,
                undo.former,
                trailer,
                guest=options.guest,
            ),
            WebTools(settings.web.search),
            helper_tools(
                parts,
                options,
                lambda: undo.code_runner,
                lambda: agent.backend,
                lambda: permissions.instructions.followed,
                job_limits(settings).at_once,
            ),
            browser.tools if browser else (),
            desktop.tools if desktop else (),
            options.tools,
            () if options.guest else parts.tools,
            ()
            if options.guest or parts.skills is None
            else parts.skills.beside(permissions.instructions),
        ),
    )

    async def end_tools() -> None:
        for each in (browser, desktop):
            if each:
                await each.close()

    code_runner.prepare()
    conversation = ConversationAgent(
        agent,
        journal,
        undo,
        workspace=options.workspace,
        make_code_runner=make_code_runner,
        backends=parts.backends,
        lost=lost,
        end_tools=end_tools,
    )
    conversation.os_mode = desktop.os_mode if desktop else None
    return conversation


def _hooks(
    parts: AgentParts, options: AgentOptions, code_runner: Callable[[], CodeRunner]
) -> Hooks:
    """The person's hooks, for one conversation."""
    named = parts.settings.hooks
    if not (named.before_run or named.after_change or named.before_commit or named.at_end):
        return NoHooks()
    return PersonHooks(named, parts.hooks, options.conversation, code_runner)


async def _permissions(
    parts: AgentParts, options: AgentOptions, journal: Journal, hooks: Hooks
) -> tuple[Permissions, list[str]]:
    """What runs unasked and what code may reach, as it was when the conversation was closed; and
    what holds no more, in sentences."""
    standing = None if options.guest else parts.standing
    terms = replace(journal.terms, mode="") if options.mode else journal.terms
    permissions = Permissions(
        parts.policy,
        options.mode or parts.settings.approvals.mode,
        standing,
        guest=options.guest,
        neighbours=options.neighbours,
        instructions=FolderInstructions(None if options.guest else parts.instructions),
        hooks=hooks,
    )
    lost = [*(standing.take_losses() if standing else ()), *permissions.restore(terms)]
    for part in permissions.take_closed():
        await journal.note("server", taken_back(part, "", lasting=False))
    if terms.mode not in ("", permissions.mode):  # told once, not at each start
        await journal.note("server", ModeChanged(permissions.mode))
    return permissions, lost


def day_limits(settings: Settings) -> DailyLimits:
    """How far one day may go, as the settings have it."""
    limits = settings.agent
    return DailyLimits(
        steps=limits.day_steps,
        seconds=limits.day_seconds,
        tokens=limits.day_tokens,
        usd=limits.day_usd,
    )


def job_limits(settings: Settings) -> JobLimits:
    """How much may go on in the background, as the settings have it."""
    usual = 1 if machine().whole < SMALL_MACHINE_BYTES else JobLimits().at_once
    return JobLimits(settings.jobs.at_once or usual, settings.jobs.hours)


def request_limits(settings: Settings) -> RequestLimits:
    """How far one request may go, as the settings have it."""
    limits = settings.agent
    return RequestLimits(
        steps=limits.steps,
        seconds=limits.seconds,
        tokens=limits.tokens,
        usd=limits.usd,
        output_chars=limits.output_chars,
    )

"""A connected device: it takes part in one conversation at a time, and may move to another."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace

from sayso.protocol import messages as m
from sayso.protocol.frames import PictureFrame
from sayso.server.conversations.command_context import CommandContext, CommandResult, Commands
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.conversations.registry import ConversationRegistry, NoSuchConversation, called
from sayso.server.gateway.host import Outlet
from sayso.server.log_context import conversation_id, log_ids
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Conversation as About
from sayso.server.trust.principal import THIS_MACHINE, Principal
from sayso.server.turn.events import Event, Interrupted, Joined, Typed

log = logging.getLogger(__name__)

LONGEST_ANSWER: int = 16_000
"""Characters of a command's answer: it must fit one frame of any client."""


class Participant:
    """Stands for whichever conversation its device takes part in now.

    It hands on what the gateway brings rather than giving it the conversation itself: a device may
    move to another conversation while its connection stays, and keeps its queue and its session.
    """

    def __init__(
        self,
        conversations: ConversationRegistry,
        commands: Commands,
        here: OpenConversation,
        *,
        who: Principal = THIS_MACHINE,
        missing: str = "",
    ) -> None:
        """`missing`: the conversation that was wanted, and is not there."""
        self._conversations = conversations
        self._commands = commands
        self._here = here
        self._who = who
        self._missing = missing
        self._device: Joined | None = None
        self._outlet: Outlet | None = None
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def take(
        cls,
        conversations: ConversationRegistry,
        commands: Commands,
        wanted: str = "",
        who: Principal = THIS_MACHINE,
    ) -> "Participant":
        """In the conversation that is wanted, else in its device's. Raises StoreError."""
        missing = ""
        try:
            about = await conversations.find(wanted, who.person) if wanted else None
        except NoSuchConversation:
            missing, about = wanted, None
        if about:
            await conversations.entered(who, about)
        about = about or await conversations.of_device(who)
        here = await conversations.enter(about)
        return cls(conversations, commands, here, who=who, missing=missing)

    # --- what the gateway uses ---

    @property
    def id(self) -> str:
        return self._here.conversation.id

    def join(self, device: Joined, outlet: Outlet) -> None:
        self._device, self._outlet = device, outlet
        if self._missing:  # told before anything can be asked here
            here = called(self.about)
            sentence = f'There is no conversation {self._missing}; you are in "{here}" instead.'
            outlet.tell(m.Error("forbidden", sentence), self._here.conversation.ticket)
        self._here.conversation.join(device, outlet)
        for notice in () if self._who.person else self._conversations.take_notices():
            outlet.tell(m.Announce(notice), self._here.conversation.ticket)
        self._conversations.arrived()

    def leave(self, device: str) -> None:
        self._outlet = None
        self._here.conversation.leave(device)

    def away(self, device: str) -> None:
        self._here.conversation.away(device)

    def back(self, device: Joined) -> None:
        self._device = replace(device, returns=False)
        self._here.conversation.back(device)

    def snapshot(self) -> m.Snapshot:
        return self._here.conversation.snapshot()

    def happened(self, event: Event) -> None:
        self._here.conversation.happened(event)

    def acted(self, device: str, result: m.ActResult) -> None:
        self._here.conversation.device_requests.answered(device, result)

    def pictured(self, device: str, piece: PictureFrame) -> None:
        self._here.conversation.device_requests.pictured(device, piece)

    def cancel_job(self, device: str, job: str) -> None:
        conversation, agent = self._here.conversation, self._here.agent
        found = agent.jobs.get(job)
        if found is None or found.state != "running":
            return
        if found.where == "background" or found.kind == "helper":
            self._begin(agent.runs.end(job), "task.cancel")
        else:
            conversation.happened(Interrupted(device, None, 0))

    def put(self, device: str, piece: m.FilePut) -> None:
        self._begin(self._put(device, piece), "file.put")

    async def _put(self, device: str, piece: m.FilePut) -> None:
        got = await self._here.upload(device, piece)
        if self._outlet:
            self._outlet.tell(got, self._here.conversation.ticket)

    def command(self, device: str, name: str, text: str) -> None:
        self._begin(self._obey(device, name, text), f"/{name}")

    def _begin(self, work: Coroutine[None, None, None], name: str) -> None:
        with log_ids(conversation=conversation_id(self._here.about.id)):
            task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- what commands use ---

    @property
    def about(self) -> About:
        """The conversation that the device takes part in."""
        return self._here.about

    async def move(self, about: About) -> None:
        """Take part in another conversation from here on. Raises StoreError."""
        there = await self._conversations.enter(about)
        await self._conversations.entered(self._who, about)
        device, outlet, before = self._device, self._outlet, self._here.conversation
        if device is None or outlet is None or there is self._here:
            return
        before.leave(device.device)
        self._here = there
        outlet.tell(m.Conversation(about.id, about.name), there.conversation.ticket)
        there.conversation.join(device, outlet)
        self._conversations.arrived()

    async def _obey(self, device: str, name: str, text: str) -> None:
        async with self._one_at_a_time:
            may_approve = self._device is not None and self._device.may_approve
            context = CommandContext(
                self._conversations,
                self._here,
                self.move,
                device,
                self._who.person,
                text,
                may_approve,
                may_admin=self._device is not None and self._device.may_admin,
                at_console=self._device is not None and self._device.at_console,
            )
            try:
                result = await self._commands.run(name, context)
            except (StoreError, NoSuchConversation) as problem:
                result = CommandResult(str(problem), ok=False)
            except Exception:
                # The root of the task: a command that breaks must not leave the person waiting.
                log.exception("/%s failed", name)
                result = CommandResult("Something went wrong inside Sayso over that.", ok=False)
            if result.asks:
                self._here.conversation.happened(Typed(device, result.asks))
            elif self._outlet:
                done = m.CommandDone(
                    name,
                    result.ok,
                    result.text[:LONGEST_ANSWER],
                    result.file,
                    result.file_name,
                )
                self._outlet.tell(done, self._here.conversation.ticket)

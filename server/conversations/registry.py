"""The registry of all conversations, and of the few that are open.

An open conversation has its memory, its interpreters and its turn machine at hand. One that nobody
takes part in is closed after a while (`idle_closing.py`), and opened from the log when somebody
comes back to it.
"""

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from sayso.server.agent.record.conversation_settings import seen_at
from sayso.server.conversations.deletion import NotDeleted
from sayso.server.conversations.device_conversations import DeviceConversations
from sayso.server.conversations.driver import ConversationDriver as TurnConversation
from sayso.server.conversations.idle_closing import IDLE_S, IdleClosing, RoomFor, by_memory
from sayso.server.conversations.job_ends import LATELY_S, JobEnds, untold
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.log_context import conversation_id, log_ids, no_log_ids
from sayso.server.store.decisions import ConversationPinned
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobBegan, JobDetached, JobTold
from sayso.server.store.records import (
    Answered,
    Asked,
    Conversation,
    ConversationBegan,
    ConversationNamed,
    Event,
)
from sayso.server.trust.devices import plain_name
from sayso.server.trust.principal import THIS_DEVICE, Principal
from sayso.server.turn.events import Announced

log = logging.getLogger(__name__)

ASKS_UNSEEN: Final = (
    "Something waits for your yes in {name}, where no device shows it; here `/resume {name}` does."
)

FIRST: Final = "main"
"""The conversation that there is when there is none yet."""

ID_BYTES: Final = 4
"""Of chance in the id of a guest's conversation."""

LONGEST_NAME: Final = 80
"""Characters: a line of a list."""

OpenOne = Callable[[Conversation], Awaitable[OpenConversation]]


class NoSuchConversation(Exception):
    """The text says so."""


class StillUsed(Exception):
    """The text says by whom."""


class ConversationRegistry:
    """Its `run` is a task, until cancelled; `close` ends all that are open."""

    def __init__(
        self,
        event_log: EventLog,
        open_one: OpenOne,
        wipe: Callable[[Conversation], Awaitable[None]],
        *,
        idle_s: float = IDLE_S,
        room_for: RoomFor = by_memory,
    ) -> None:
        self._log = event_log
        self._open_one = open_one
        self._wipe = wipe
        self._open: dict[str, OpenConversation] = {}
        self._idle_closing = IdleClosing(self._open, idle_s, room_for)
        self._owners: dict[str, str] = {}
        """Whose each conversation is."""
        self._devices = DeviceConversations(event_log)
        self._one_device_at_a_time = asyncio.Lock()
        self._notices: list[str] = []
        self._job_ends = JobEnds(self.tell, event_log.append)
        self._arrival = asyncio.Event()
        """Set when the next device takes part."""
        self._one_at_a_time = asyncio.Lock()

    # --- which there are ---

    async def all(self, person: str = "") -> list[Conversation]:
        """A person's conversations, the latest first; nobody sees another one's."""
        there = await self._log.conversations()
        self._owners.update({one.id: one.owner for one in there})
        return [one for one in there if one.owner == person]

    async def find(self, wanted: str, person: str = "") -> Conversation:
        """By id, by name, or by its number in the list; the latest, if none is named. Begins none.
        Raises NoSuchConversation."""
        wanted = plain_name(wanted, LONGEST_NAME)
        there = await self.all(person)
        if there and not wanted:
            return there[0]
        plain = wanted.casefold()
        for one in there:
            if one.id == wanted or one.name.casefold() == plain:
                return one
        if wanted.isdecimal() and 0 < int(wanted) <= len(there):
            return there[int(wanted) - 1]
        for one in there:
            if plain and plain in f"{one.name} {one.title}".casefold():
                return one
        raise NoSuchConversation(
            f"There is no conversation {wanted}; /conversations lists those that there are."
        )

    async def latest(self) -> Conversation:
        """The owner's that was talked in last; the first of all is begun here."""
        there = await self.all()
        return there[0] if there else await self._begin(FIRST, ConversationBegan())

    async def of_device(self, who: Principal) -> Conversation:
        """Where a device takes part that wants none by name: where it was last; at its first visit
        one of its own. Raises StoreError."""
        async with self._one_device_at_a_time:  # A device that comes twice at once has one.
            about = await self._devices.last(who, await self.all(who.person))
            if about is None and who.device == THIS_DEVICE:
                return await self._begin(FIRST, ConversationBegan())
            about = about or await self.begin(who.name, who.person, device=who.device)
            if who.device != THIS_DEVICE:
                await self._devices.entered(who, about)
            return about

    async def entered(self, who: Principal, about: Conversation) -> None:
        """A person took their device there. Raises StoreError."""
        await self._devices.entered(who, about)

    async def begin(
        self,
        name: str = "",
        person: str = "",
        workspace: str = "",
        *,
        device: str = "",
        instructions: str = "",
    ) -> Conversation:
        """A new one. `device`: whose own it is; `instructions`: what a program wants its model to
        keep to."""
        name = plain_name(name, LONGEST_NAME)
        taken = {one.id for one in await self._log.conversations()}
        stem = slug(name) or datetime.now().astimezone().strftime("%Y-%m-%d")
        if person:  # Whether another person's is called so, a counted name would tell.
            stem = f"{stem}-{secrets.token_hex(ID_BYTES)}"
        number, unique = 2, stem
        while unique in taken:
            unique, number = f"{stem}-{number}", number + 1
        seen = await asyncio.to_thread(seen_at, Path(workspace)) if workspace else ()
        began = ConversationBegan(name, person, workspace, seen, device, instructions)
        return await self._begin(unique, began)

    async def tell_past(self, about: Conversation, past: Iterable[tuple[str, str]]) -> None:
        """What was asked and answered elsewhere, before it is entered. Raises StoreError."""
        for asked, answered in past:
            await self._log.append(Event(about.id, "person", Asked(asked)))
            await self._log.append(Event(about.id, "model", Answered(answered)))

    async def rename(self, conversation: str, name: str) -> None:
        """Call it so from now on."""
        record = ConversationNamed(plain_name(name, LONGEST_NAME))
        await self._log.append(Event(conversation, "person", record))

    async def pin(self, conversation: str, *, on: bool) -> None:
        """Let it stay at the top of the list, or no more. Raises StoreError."""
        await self._log.append(Event(conversation, "person", ConversationPinned(on)))

    async def _begin(self, name: str, record: ConversationBegan) -> Conversation:
        await self._log.append(Event(name, "person", record))
        return next(one for one in await self._log.conversations() if one.id == name)

    def owner(self, conversation: str) -> str:
        """Whose it is; nobody's in particular where it is not known."""
        return self._owners.get(conversation, "")

    # --- the open ones ---

    @property
    def open(self) -> Mapping[str, OpenConversation]:
        """Those that are open now, by id."""
        return self._open

    @property
    def devices(self) -> int:
        """How many take part in any."""
        return sum(len(here.conversation.devices) for here in self._open.values())

    async def enter(self, conversation: Conversation) -> OpenConversation:
        """Open it, if it is not. Raises StoreError."""
        async with self._one_at_a_time:
            self._idle_closing.used(conversation.id)
            here = self._open.get(conversation.id)
            if here is None:
                with no_log_ids(), log_ids(conversation=conversation_id(conversation.id)):
                    here = self._open[conversation.id] = await self._open_one(conversation)
                self._owners[conversation.id] = conversation.owner
                here.conversation.asks_unseen = partial(self._ask_elsewhere, here)
                self._job_ends.follow(here.journal)
                while name := self._idle_closing.beyond():
                    await self._close(name)
            return here

    async def open_for_jobs(self) -> None:
        """Open those with jobs whose end is to be told. Raises StoreError."""
        since = time.time() - LATELY_S
        events = await self._log.of_types(JobBegan, JobDetached, JobTold, since=since)
        owed = untold(events)
        for one in await self._log.conversations():
            if one.id in owed:
                await self.enter(one)

    async def reset(self, conversation: str) -> None:
        """Begin anew: the model is told nothing of before, and the interpreters are new."""
        await self._open[conversation].reset()

    async def forget(self, about: Conversation) -> None:
        """Nothing of it stays: not in memory, not in the log, not on the disk. Raises StillUsed
        while somebody takes part in it, and NotForgotten and StoreError.

        The log comes last: what it still holds can be asked to be forgotten once more, whatever
        went wrong and whenever the machine went out."""
        async with self._one_at_a_time:
            here = self._open.get(about.id)
            if here and here.conversation.devices:
                raise StillUsed("Another device takes part in it; it must leave first.")
            if here:
                await self._close(about.id)
            await self._job_ends.forget(about.id)
            await self._wipe(about)
            await self._log.forget(about.id)
            self._owners.pop(about.id, None)

    async def forget_before(self, when: float) -> int:
        """Forget those that nobody took up since then (Unix seconds); returns how many."""
        old = [one for one in await self._log.conversations() if one.last < when]
        forgotten = 0
        for one in old:
            try:
                await self.forget(one)
            except StillUsed:
                continue
            except NotDeleted as problem:
                log.warning("%s", problem)
                continue
            forgotten += 1
        await self._log.forget_access(before=when)
        return forgotten

    async def last_talk(self) -> float:
        """When somebody last took part in any of all people's (Unix seconds); now, if there is none
        yet. Raises StoreError."""
        return max((one.last for one in await self._log.conversations()), default=time.time())

    def notice(self, text: str) -> None:
        """Tell this to the owner's device that takes part next."""
        self._notices.append(text)

    def take_notices(self) -> list[str]:
        """What the owner is to be told, once."""
        notices, self._notices = self._notices, []
        return notices

    def arrived(self) -> None:
        """A device takes part in one of them."""
        arrivals, self._arrival = self._arrival, asyncio.Event()
        arrivals.set()

    async def tell(
        self,
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float] | None = None,
    ) -> None:
        """Say this to the one person whose conversation it is, as soon as they are there: where the
        device is, else where it was asked for, else wherever they are. Returns when it is on its
        way, with the words that are right by then. With a tone before the words, which is as loud
        as is right by then, they are there when a loudspeaker is.
        """
        while not (there := self._attended(conversation, aloud=tone is not None)):
            await self._arrival.wait()
        announced = Announced(words(), device, tone() if tone else 0.0)
        for place in there:
            if device in place.devices:
                place.happened(announced)
                return
        for place in [place for place in there if place.id == conversation] or there:
            place.happened(announced)

    def _attended(self, conversation: str, *, aloud: bool) -> list[TurnConversation]:
        """Where the person takes part whose conversation it is, with a loudspeaker if `aloud`."""
        owner = self.owner(conversation)
        theirs = (one.conversation for one in self._open.values() if one.about.owner == owner)
        return [one for one in theirs if (one.loudspeakers if aloud else one.devices)]

    def _ask_elsewhere(self, asking: OpenConversation) -> None:
        """Show the person's other screens that something waits for a yes which no device where it
        was asked for shows."""
        text = ASKS_UNSEEN.format(name=called(asking.about))
        for here in self._open.values():
            if here.about.owner == asking.about.owner and here is not asking:
                here.conversation.show(text)

    async def run(self) -> None:
        """Close those that are idle."""
        while True:
            await asyncio.sleep(self._idle_closing.look_every_s)
            async with self._one_at_a_time:
                while name := self._idle_closing.idle():
                    await self._close(name)

    def halt(self) -> None:
        """All go no further, from here on; to be closed."""
        for here in self._open.values():
            here.halt()

    async def close(self) -> None:
        """Close all."""
        async with self._one_at_a_time:
            await self._job_ends.close()
            await asyncio.gather(*(here.close() for here in self._open.values()))
            self._open.clear()

    async def _close(self, name: str) -> None:
        with log_ids(conversation=conversation_id(name)):
            log.info("a conversation is idle and closed")
            await self._open.pop(name).close()
        self._idle_closing.closed(name)


def slug(name: str) -> str:
    """A name as it may stand in a path."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")[:40]


def called(about: Conversation) -> str:
    """How a person knows it."""
    return about.name or about.title or about.id

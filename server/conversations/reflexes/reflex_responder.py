"""Answers simple requests (reflexes) without a language model, for all conversations."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol, Self

from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.clock import MACHINE_CLOCKS, Clocks
from sayso.server.reflexes.context.follow_ups import FollowUps
from sayso.server.reflexes.home.home_actions import HomeActions
from sayso.server.reflexes.household.list_actions import ListActions
from sayso.server.reflexes.household.lists import Lists
from sayso.server.reflexes.language_set import USUAL, LanguageSet, Understood, shipped_languages
from sayso.server.reflexes.memory.memories import Memories
from sayso.server.reflexes.memory.memory_actions import MemoryActions
from sayso.server.reflexes.reflex import (
    Cancel,
    Elsewhere,
    IfKnown,
    Need,
    No,
    Reflex,
    Stop,
    StopAfter,
    Yes,
)
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.reflexes.reminders.reminders import Reminders
from sayso.server.reflexes.reminders.ringing import Ringing
from sayso.server.reflexes.reminders.time_actions import TimeActions
from sayso.server.store.event_log import EventLog
from sayso.server.turn.events import Meaning

MOST_CONVERSATIONS: Final = 256
"""Whose last asker is remembered: many times over those that are open."""


class Announcer(Protocol):
    """Says something as soon as its person is there, in the words that are right by then; returns
    when it is told. Takes the device and the conversation in which it was asked for, and how loud a
    tone comes before the words: then it waits for somebody who can hear it."""

    async def __call__(
        self,
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float] | None = None,
    ) -> None: ...


class ReflexResponder:
    """Made by `load`; its `run` is a task, until cancelled."""

    def __init__(
        self,
        languages: LanguageSet,
        reminders: Reminders,
        ringing: Ringing,
        lists: Lists,
        clocks: Clocks,
        memories: Memories,
    ) -> None:
        self.languages = languages
        self.undo_answers = languages.answers(USUAL).undoing
        """What is shown when changes were taken back by a command."""
        self.reminders = reminders
        self.lists = lists
        self.serves: Callable[[Need], bool] = lambda _: False
        """Whether there is something that home, music or the web can be asked of."""
        self._ringing = ringing
        self.now = clocks.now
        self._askers: OrderedDict[str, Asker] = OrderedDict()
        """By conversation: who asked last."""
        self._time_actions = TimeActions(languages.answers, reminders, ringing, clocks.now)
        self._list_actions = ListActions(languages.answers, lists)
        self.memories = memories
        self._memory_actions = MemoryActions(languages.answers, memories, lists.owner)
        self._follow_ups = FollowUps(clocks.steady)
        self.at_home = HomeActions(languages.answers, clocks.steady)

    @classmethod
    async def load(
        cls,
        log: EventLog,
        announce: Announcer,
        owner: Callable[[str], str],
        folder: Path,
        clocks: Clocks = MACHINE_CLOCKS,
        languages: LanguageSet | None = None,
    ) -> Self:
        """Load the phrases, the reminders that wait, and the lists. `owner`: whose a conversation
        is. `folder`: where lies what persons have remembered. `languages`: others than all that
        are shipped. Raises StoreError."""
        if languages is None:
            languages = await asyncio.to_thread(shipped_languages)

        async def due(reminder: Reminder) -> None:
            await responder.tell(reminder, announce)

        reminders = await Reminders.open(log, due, clocks.wall, clocks.steady, owner)
        ringing = Ringing(announce, owner, clocks.wall)
        lists = await Lists.open(log, owner, clocks.wall)
        memories = Memories(folder, lambda: clocks.now().date().isoformat())
        responder = cls(languages, reminders, ringing, lists, clocks, memories)
        return responder

    async def run(self) -> None:
        """Tell reminders when their time comes."""
        await self.reminders.run()

    async def tell(self, reminder: Reminder, announce: Announcer) -> None:
        """Tell a reminder or ring an alarm whose time has come."""
        if reminder.kind == "alarm":
            await self._ringing.ring(reminder, partial(self._time_actions.rings, reminder))
            return
        words = partial(self._time_actions.due, reminder)
        await announce(words, reminder.device, reminder.conversation)

    def asker(self, conversation: str) -> Asker:
        """Who asked last in a conversation, in one of the languages that are there."""
        asker = self._askers.get(conversation, Asker("", conversation))
        return replace(asker, language=self.languages.code(asker.language))

    def forget(self, conversation: str) -> None:
        """What was to be told of a conversation is told to nobody, and its lists are gone."""
        self.reminders.forget(conversation)
        self.lists.forget(conversation)
        owner = self.lists.owner(conversation)
        self.memories.forget_all(self.memories.of_folder(conversation, owner))

    def silence(self, conversation: str) -> bool:
        """Stop what rings for the person whose conversation this is; returns whether any did."""
        return bool(self._ringing.stop(conversation))

    def meaning(self, text: str, language: str) -> Meaning:
        """What these words mean for the turn, to somebody who speaks this language (BCP 47)."""
        match self.languages.match(text, language):
            case Understood(Yes()):
                return "yes"
            case Understood(No()):
                return "no"
            case Understood(Stop() | Cancel()):
                return "stop"
            case Understood(StopAfter()):
                return "stop_after"
            case _:
                return "request"

    def is_reflex(self, text: str, asker: Asker) -> bool:
        """Whether these words need no language model, after what was said before them."""
        return self._meant(text, asker) is not None

    def is_for_the_house(self, text: str, asker: Asker) -> bool:
        """Whether these words are for lights, heating or music, whatever a house makes of them."""
        match self._meant(text, asker):
            case Understood(Elsewhere(needs=needs)):
                return needs in ("home", "music")
            case _:
                return False

    def understand(self, text: str, asker: Asker) -> tuple[Reflex, Asker] | None:
        """What these words ask for, and in which language they are; None is for the language
        model. `asker.language`: what the person speaks (BCP 47)."""
        self._askers[asker.conversation] = asker
        if len(self._askers) > MOST_CONVERSATIONS:
            self._askers.popitem(last=False)
        meant = self._meant(text, asker)
        if meant is None:
            self._follow_ups.interrupt(asker.device)
            return None
        reflex = self._follow_ups.completed(meant.reflex, asker.device)
        if reflex is None or (isinstance(reflex, Elsewhere) and self.serves(reflex.needs)):
            return None
        return reflex, Asker(asker.device, asker.conversation, meant.language)

    def _meant(self, text: str, asker: Asker) -> Understood | None:
        """The likeliest meaning that goes with what was said before, and with what is there."""
        for understood in self.languages.meanings(text, asker.language):
            reflex = understood.reflex
            if isinstance(reflex, IfKnown):
                reflex = reflex.reflex
                here = replace(asker, language=understood.language)
                if not any(
                    actions.knows(reflex, here)
                    for actions in (self._time_actions, self._list_actions, self._memory_actions)
                ):
                    continue
            if self._follow_ups.fits(reflex, asker.device):
                return Understood(reflex, understood.language)
        return None

    async def answer(self, reflex: Reflex, asker: Asker) -> str | None:
        """Do it and say so; None if it is about the turn or the voice, or for the model."""
        actions = self._time_actions, self._list_actions, self._memory_actions
        for answer in (each.answer for each in actions):
            if said := await answer(reflex, asker):
                return said
        return self.languages.answers(asker.language).plain.answer(reflex, self.now())

"""Answers simple requests (reflexes) without a language model."""

import asyncio
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Protocol, Self

from sayso.server.agent.record.undo import UndoRequests
from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.matching import Reflexes
from sayso.server.reflexes.reflex import Cancel, No, Redo, Stop, Undo, Yes
from sayso.server.reflexes.reminder import Reminder
from sayso.server.reflexes.reminders import Reminders
from sayso.server.reflexes.time_actions import TimeActions
from sayso.server.store.event_log import EventLog
from sayso.server.turn.events import Meaning

LANGUAGE = "en"
"""What is shipped with every phrase; speech in other languages goes to the model."""

REMEMBERED = 64
"""Texts whose meaning is known already: a turn asks for it two or three times, and more than a few
turns at once there are not."""


class OnDue(Protocol):
    """Says something as soon as its person is there, in the words that are right by then; returns
    when it is told. Takes the device and the conversation in which it was asked for."""

    async def __call__(self, words: Callable[[], str], device: str, conversation: str) -> None: ...


class ReflexResponder:
    """Made by `load`; its `run` is a task, until cancelled."""

    def __init__(
        self, reflexes: Reflexes, time_actions: TimeActions, reminders: Reminders, answers: Answers
    ) -> None:
        self.undo_answers = answers.undoing
        """What is said when changes were taken back."""
        self._match = lru_cache(REMEMBERED)(reflexes.match)
        self._time_actions = time_actions
        self._reminders = reminders

    @classmethod
    async def load(cls, log: EventLog, on_due: OnDue, owner: Callable[[str], str]) -> Self:
        """Load the phrases, and the reminders that wait. `owner`: whose a conversation is. Raises
        StoreError."""
        reflexes, answers = await asyncio.to_thread(_load)

        async def due(reminder: Reminder) -> None:
            words = partial(time_actions.due, reminder)
            await on_due(words, reminder.device, reminder.conversation)

        reminders = await Reminders.open(log, due, owner=owner)
        time_actions = TimeActions(answers, reminders)
        return cls(reflexes, time_actions, reminders, answers)

    async def run(self) -> None:
        """Tell reminders when their time comes."""
        await self._reminders.run()

    def forget(self, conversation: str) -> None:
        """What was to be told of a conversation is told to nobody."""
        self._reminders.forget(conversation)

    def meaning(self, text: str) -> Meaning:
        """What these words mean for the turn."""
        match self._match(text):
            case Yes():
                return "yes"
            case No():
                return "no"
            case Stop() | Cancel():
                return "stop"
            case _:
                return "request"

    async def answer(
        self, text: str, device: str, conversation: str, undo_requests: UndoRequests, refusal: str
    ) -> str | None:
        """Answer what needs no language model; None for what does. `refusal`: what is said where
        the device may not decide; empty where it may."""
        match self._match(text):
            case None:
                return None
            case Undo() | Redo() if refusal:
                return refusal
            case Undo():
                return self.undo_answers.undone(await undo_requests.undo(device))
            case Redo():
                return self.undo_answers.redone(await undo_requests.redo(device))
            case reflex:
                return await self._time_actions.answer(reflex, device, conversation)


def _load() -> tuple[Reflexes, Answers]:
    reflexes = Reflexes.load(LANGUAGE)
    reflexes.warm()
    return reflexes, Answers.load(LANGUAGE)

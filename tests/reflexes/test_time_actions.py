"""From what is said to what is said in answer, with all parts of the room at work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.clock import HERE, Clocks
from sayso.server.reflexes.reminders.reminders import MAX_OPEN
from sayso.server.store.event_log import EventLog

pytestmark = pytest.mark.virtual_time(limit_s=1e6)

Say = Callable[..., Awaitable[str | None]]


class Kitchen:
    """A device that is spoken to, on a Tuesday at 18:00."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spoken: list[str] = []
        self.tones: list[float] = []
        """How loud a tone came before each."""
        self._spoke = asyncio.Event()
        self.began = datetime(2026, 3, 3, 18, 0, tzinfo=HERE).timestamp()
        self.log: EventLog
        self.responder: ReflexResponder

    def wall(self) -> float:
        return self.began + asyncio.get_running_loop().time()

    async def announce(
        self,
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float] | None = None,
    ) -> None:
        self.spoken.append(f"{device}: {words()}")
        self.tones.append(tone() if tone else 0.0)
        self._spoke.set()

    async def speaks(self) -> None:
        """Wait until it says something again."""
        self._spoke.clear()
        await self._spoke.wait()

    @asynccontextmanager
    async def on(self, language: str = "en") -> AsyncIterator[Say]:
        self.log = await EventLog.open(self.path)
        clocks = Clocks(
            self.wall,
            asyncio.get_running_loop().time,
            lambda: datetime.fromtimestamp(self.wall(), HERE),
        )
        self.responder = await ReflexResponder.load(
            self.log,
            self.announce,
            lambda conversation: conversation,
            self.path.with_name("memory"),
            clocks,
        )

        async def say(
            text: str, device: str = "kitchen", conversation: str = "family"
        ) -> str | None:
            asker = Asker(device, conversation, language)
            understood = self.responder.understand(text, asker)
            return await self.responder.answer(*understood) if understood else None

        running = asyncio.create_task(self.responder.run())
        try:
            yield say
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await self.log.close()


@pytest.fixture
def kitchen(tmp_path: Path) -> Kitchen:
    return Kitchen(tmp_path / "log.sqlite")


async def test_an_evening_in_the_kitchen(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        assert await say("What time is it?") == "It's six o'clock."
        assert await say("What timers do I have?") == "No timer is running."
        assert await say("Set a timer for ten minutes.") == "Timer set for ten minutes."
        assert await say("Set a pizza timer for 12 minutes.") == (
            "Pizza timer set for twelve minutes."
        )
        assert await say("Remind me at seven to call Mum, please.") == (
            "I'll remind you today at seven o'clock in the evening: call Mum."
        )
        assert await say("Wake me up tomorrow at half past six.") == (
            "The alarm will ring tomorrow at half past six in the morning."
        )
        await asyncio.sleep(60)
        assert await say("How long is left on the pizza timer?") == (
            "The pizza timer has eleven minutes left."
        )
        assert await say("How long is left on the egg timer?") == (
            "There is no such timer, but there is the timer for ten minutes and the pizza timer."
        )
        assert await say("Cancel the timer.") == (
            "There are two timers: the timer for ten minutes and the pizza timer. Which one?"
        )
        assert await say("Cancel the ten minute timer.") == (
            "The timer for ten minutes is cancelled."
        )
        await asyncio.sleep(3600)
    assert kitchen.spoken == [
        "kitchen: Your pizza timer is done.",
        "kitchen: Here is your reminder: call Mum.",
    ]


async def test_a_night_without_power(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Remind me tomorrow morning at seven to take the bins out.")
        await say("Set a timer for five minutes.")
    await asyncio.sleep(14 * 3600)
    async with kitchen.on() as say:
        await asyncio.sleep(1)
        assert await say("What are my reminders?") == "There are no reminders."
    assert kitchen.spoken == [
        "kitchen: Your timer for five minutes was done thirteen hours and fifty-five minutes ago.",
        "kitchen: Here is a reminder that was due one hour ago: take the bins out.",
    ]


async def test_a_german_household(kitchen: Kitchen) -> None:
    async with kitchen.on("de") as say:
        assert await say("Erinnere mich um halb acht an die Wäsche.") == (
            "Ich erinnere dich heute um neunzehn Uhr dreißig: die Wäsche."
        )
        assert await say("Stell bitte einen Timer auf eine halbe Stunde.") == (
            "Der Timer läuft dreißig Minuten."
        )
        assert await say("Wie lange läuft der Timer noch?") == (
            "Der Timer auf dreißig Minuten läuft noch dreißig Minuten."
        )
        assert await say("Alle Timer löschen.") == "Der Timer auf dreißig Minuten ist gelöscht."
        await asyncio.sleep(2 * 3600)
    assert kitchen.spoken == ["kitchen: Ich soll dich erinnern: die Wäsche."]


async def test_what_cannot_be_promised_is_refused_in_words(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        assert await say("Remind me today at nine in the morning to wake up.") == (
            "That time has already gone by."
        )
        assert await say("Remind me in 60 weeks to renew the contract.") == (
            "That is too far ahead: I can keep it in mind for a year."
        )
        for _ in range(MAX_OPEN):
            await say("Set a timer for an hour.")
        assert await say("Set a timer for an hour.") == (
            "I already keep one hundred timers and reminders; cancel some first."
        )
        assert await say("Cancel all timers.") == "All timers are cancelled."
        assert await say("Set a timer for an hour.") == "Timer set for one hour."
        await kitchen.log.close()
        assert await say("Set a timer for an hour.") == (
            "I could not keep that in mind; look at the disk of this machine and ask again."
        )


async def test_reminders_are_called_off_by_what_they_are_about(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Remind me in an hour to call Mum.")
        await say("Remind me in an hour to call Anna about the meeting.")
        assert await say("Cancel the reminder about the meeting.") == (
            "I won't remind you of this any more: call Anna about the meeting."
        )
        assert await say("Delete all my reminders.") == (
            "I won't remind you of this any more: call Mum."
        )
        assert await say("Delete all my reminders.") == "There are no reminders."


async def test_people_see_only_what_was_asked_in_their_own_conversation(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        await say("Set a timer for an hour.")
        told = await say("What timers do I have?", "phone", "someone else")
        assert told == "No timer is running."


async def test_what_is_about_the_turn_is_left_to_the_turn(kitchen: Kitchen) -> None:
    async with kitchen.on() as say:
        for text in ("Stop.", "Yes.", "Undo that.", "Louder."):
            assert await say(text) is None

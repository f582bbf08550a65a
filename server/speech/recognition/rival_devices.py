"""Lets one device act when several have heard the same words, without a key: which heard best.

    kitchen   wake word ── "what time is it?" ──▶ 31 dB over the room ──▶ acts
    hall      wake word ── "what time is it?" ──▶ 14 dB over the room ──▶ says that another one does

Who heard alone waits for nothing, and neither does who heard best: the others wait for its words,
to know whether they are the same. Words that settle something where they were heard, as a "stop"
where an answer is being said, count there at once, however well another device heard them.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final

from sayso.audio.pcm import level

APART_S: Final = 1.0
"""Voices that begin so close together may be one voice: lines and detectors differ by less."""

WAIT_S: Final = 2.0
"""How long a device that has its words waits for those of one that heard a voice better. Whoever
comes later is silent."""

KEPT_S: Final = 10.0
"""How long it is remembered what a device has heard: longer than any recogniser takes."""

ALIKE: Final = 0.6
"""Of the words, so many stand in both in the same order: the farther device misses some."""

QUIETEST_DB: Final = -70.0
"""A room's noise is not taken for less: digital silence would make any voice the best."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


@dataclass(eq=False, slots=True)
class Voice:
    """One voice, as one device hears it."""

    device: str
    conversation: str
    began: float
    addressed: bool = True
    """The wake word was said, as far as is known."""
    levels: list[float] = field(default_factory=list)
    """Of each piece of its sound, in decibels."""
    text: str | None = None
    """What it said; None while that is not known."""
    acts: bool = False

    def feed(self, pcm: bytes) -> None:
        """Take the next samples."""
        self.levels.append(level(pcm).rms)

    @property
    def rank(self) -> tuple[bool, float]:
        """Whose call was heard goes first; then how far it stands out of its room, in decibels."""
        return self.addressed, self._clearness

    @property
    def _clearness(self) -> float:
        if not self.levels:
            return 0.0
        by_level = sorted(max(QUIETEST_DB, one) for one in self.levels)
        tenth = len(by_level) // 10
        return by_level[-1 - tenth] - by_level[tenth]


class RivalDevices:
    """Of a server; each person's devices by themselves, so that nobody's device silences another
    person's."""

    def __init__(self) -> None:
        self._voices: dict[str, list[Voice]] = {}
        """By person: bounded, because each device says one thing at a time."""
        self._changed = asyncio.Event()

    def of(self, person: str, conversation: str) -> "Rivals":
        """As one conversation sees them."""
        return Rivals(self, person, conversation)

    def add(self, person: str, voice: Voice) -> None:
        """A voice begins."""
        here = self._voices.get(person, ())
        kept = [one for one in here if voice.began - one.began < KEPT_S or one.text is None]
        self._voices[person] = [*kept, voice]

    def remove(self, person: str, voice: Voice) -> None:
        """It held no words."""
        if voice in (here := self._voices.get(person, [])):
            here.remove(voice)
            self.changed()

    def changed(self) -> None:
        """Wake those who wait for others."""
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    async def wait(self) -> None:
        """Return at the next change."""
        await self._changed.wait()

    def beside(self, person: str, voice: Voice) -> list[Voice]:
        """What other devices heard at the same time."""
        return [
            one
            for one in self._voices.get(person, ())
            if one.device != voice.device and abs(one.began - voice.began) <= APART_S
        ]


class Rivals:
    """Of the devices in one conversation."""

    def __init__(self, everywhere: RivalDevices, person: str, conversation: str) -> None:
        self._everywhere = everywhere
        self._person = person
        self._conversation = conversation
        self.is_busy: Callable[[], bool] = lambda: False
        """Whether something goes on here that a word can settle."""

    def began(self, device: str, *, addressed: bool = True) -> Voice:
        """A device begins to hear a voice."""
        now = asyncio.get_running_loop().time()
        voice = Voice(device, self._conversation, now, addressed)
        self._everywhere.add(self._person, voice)
        return voice

    def drop(self, voice: Voice) -> None:
        """It held no words."""
        self._everywhere.remove(self._person, voice)

    async def is_heard_best(self, voice: Voice, text: str, *, settles: bool) -> bool:
        """Whether this device is the one that acts on these words. `settles`: they may be a yes, a
        no or a stop."""
        if not text:
            self.drop(voice)
            return True
        voice.text = text
        self._everywhere.changed()
        here = settles and self.is_busy()
        if not here:
            await self._wait_for_others(voice, all_of_them=settles)
        alike = [one for one in self._beside(voice) if one.text and _alike(one.text, text)]
        if here:
            taken = any(one.acts and one.conversation == self._conversation for one in alike)
        else:
            rank = voice.rank
            taken = any(one.acts or one.rank > rank for one in alike)
        voice.acts = not taken
        return not taken

    async def _wait_for_others(self, voice: Voice, *, all_of_them: bool) -> None:
        """Of those that heard it better; of `all_of_them` if something may be settled there."""

        def is_waited_for(one: Voice) -> bool:
            return one.text is None and (all_of_them or one.rank > voice.rank)

        try:
            async with asyncio.timeout(WAIT_S):
                while any(is_waited_for(one) for one in self._beside(voice)):
                    await self._everywhere.wait()
        except TimeoutError:
            pass

    def _beside(self, voice: Voice) -> list[Voice]:
        return self._everywhere.beside(self._person, voice)


def _alike(one: str, other: str) -> bool:
    pair = (_WORD.findall(one.lower()), _WORD.findall(other.lower()))
    return SequenceMatcher(None, *pair, autojunk=False).ratio() >= ALIKE

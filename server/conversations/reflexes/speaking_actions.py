"""Performs reflexes about the voice: slower, louder, another one, say that again."""

from collections.abc import Callable
from typing import Final

from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.transcript import Transcript
from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.reflex import (
    ChangeVoice,
    Faster,
    Louder,
    NormalSpeed,
    Quieter,
    Reflex,
    Repeat,
    SetVolume,
    Slower,
)
from sayso.server.speech.synthesis.loudness import LEAST_PERCENT, MOST_PERCENT
from sayso.server.speech.synthesis.session import SpeechSynthesis
from sayso.server.turn.events import Preferred

SPEED_STEP: Final = 1.15
"""Heard as a step, and not as another speaker."""
SLOWEST: Final = 0.5
FASTEST: Final = 2.0
"""As on the wire: beyond it nobody follows."""

VOLUME_STEP: Final = 10
"""Percent: about three decibels, which are heard as a step."""


class SpeakingActions:
    """Of one conversation."""

    def __init__(
        self,
        synthesis: SpeechSynthesis,
        preferences: Preferences,
        answers: Callable[[str], Answers],
        transcript: Transcript,
    ) -> None:
        self._synthesis = synthesis
        self._preferences = preferences
        self._answers = answers
        self._transcript = transcript

    async def answer(self, reflex: Reflex, asker: Asker) -> str | None:
        """Do it and say so; None if this reflex is about something else."""
        match reflex:
            case Repeat():
                return (
                    self._transcript.last_reply
                    or self._answers(asker.language).speaking.nothing_said
                )
            case Slower():
                return self._change_speed(1 / SPEED_STEP, asker)
            case Faster():
                return self._change_speed(SPEED_STEP, asker)
            case NormalSpeed():
                normal = Preferred(asker.device, speed=self._synthesis.speed)
                self._preferences.note(normal, asker.conversation)
                return self._answers(asker.language).speaking.normal
            case Louder():
                return self._change_volume(VOLUME_STEP, asker)
            case Quieter():
                return self._change_volume(-VOLUME_STEP, asker)
            case SetVolume(percent):
                return self._set_volume(percent, asker)
            case ChangeVoice(name):
                return await self._change_voice(name, asker)
            case _:
                return None

    def _change_speed(self, factor: float, asker: Asker) -> str:
        phrases = self._answers(asker.language).speaking
        speed = self._preferences.style(asker.device).speed or self._synthesis.speed
        wanted = min(FASTEST, max(SLOWEST, round(speed * factor, 2)))
        if wanted == speed:
            return phrases.slowest if factor < 1 else phrases.fastest
        preferred = Preferred(asker.device, speed=wanted)
        self._preferences.note(preferred, asker.conversation)
        return phrases.slower if factor < 1 else phrases.faster

    def _change_volume(self, step: int, asker: Asker) -> str:
        phrases = self._answers(asker.language).speaking
        volume = self._preferences.volume(asker.device)
        wanted = min(MOST_PERCENT, max(LEAST_PERCENT, volume + step))
        if wanted == volume:
            return phrases.loudest if step > 0 else phrases.quietest
        self._preferences.note_volume(asker.device, wanted, asker.conversation)
        return phrases.louder if step > 0 else phrases.quieter

    def _set_volume(self, percent: int, asker: Asker) -> str:
        wanted = min(MOST_PERCENT, max(LEAST_PERCENT, percent))
        self._preferences.note_volume(asker.device, wanted, asker.conversation)
        phrases = self._answers(asker.language).speaking
        return phrases.volume.format(percent=wanted, name="")

    async def _change_voice(self, name: str, asker: Asker) -> str:
        phrases = self._answers(asker.language).speaking
        wanted: str | None = name.casefold().strip().replace(" ", "_")
        if not wanted:
            spoken = self._preferences.style(asker.device).voice
            wanted = await self._synthesis.another_voice(spoken, asker.language)
            if wanted is None:
                return phrases.no_other_voice
        elif not await self._synthesis.has_voice(wanted):
            return phrases.no_voice.format(name=name, percent="")
        self._preferences.note(Preferred(asker.device, voice=wanted), asker.conversation)
        return phrases.voice.format(name=name, percent="")

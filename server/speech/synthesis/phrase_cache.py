"""Keeps what lasts from reply to reply: the sound of short chunks, and which remarks were made."""

from collections import OrderedDict
from typing import Final

from sayso.server.speech.synthesis.synthesizer import Sound

LONGEST_KEPT: Final = 48
"""Characters of a chunk whose sound is kept: "Okay.", "One moment.", "May I run this?"."""

MOST_KEPT: Final = 64
"""Sounds that are kept, the latest used: ten megabytes at most."""


class Kept:
    """Sounds of short chunks, by voice, speed and words."""

    def __init__(self) -> None:
        self._sounds: OrderedDict[tuple[str, float, str], Sound] = OrderedDict()

    def get(self, voice: str, speed: float, words: str) -> Sound | None:
        key = (voice, speed, words)
        if key in self._sounds:
            self._sounds.move_to_end(key)
        return self._sounds.get(key)

    def put(self, voice: str, speed: float, words: str, sound: Sound) -> None:
        if len(words) <= LONGEST_KEPT:
            self._sounds[voice, speed, words] = sound
            if len(self._sounds) > MOST_KEPT:
                self._sounds.popitem(last=False)


class PhraseCache:
    """What lasts from reply to reply."""

    def __init__(self) -> None:
        self.kept = Kept()
        self._remarked: set[str] = set()

    def is_news(self, remark: str) -> bool:
        """Was this never remarked before?"""
        news = remark not in self._remarked
        self._remarked.add(remark)
        return news

"""Decides when a person has finished speaking, frame by frame, from two signs: is there voice in
the frame, and what has been understood so far. Pure: time is counted in frames.

    "what's the weather in"          "… Berlin?"
    voice ▁▁████████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██████▁▁▁▁▁▁▁▁
          waiting speaking  └ 900 ms: goes on ┘     └ 400 ms ┘ ended

    "remind me at six to"            "… call Anna."
    voice ▁▁████████████▁▁▁▁▁▁▁▁ … ▁▁▁▁▁▁██████▁▁▁▁▁▁▁▁
          waiting speaking  └ up to 3.2 s ┘         └ 400 ms ┘ ended

    "remind me"  … "in 20 minutes to" is not understood yet
    voice ▁▁████████████▁▁▁▁▁▁▁▁ … ▁▁▁▁▁▁██████▁▁▁▁▁▁▁▁
          waiting speaking  └ until it is, up to 3.2 s ┘

    (a cough)                     "what's the time?"
    voice ▁▁██▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁██████████▁▁▁▁▁▁▁▁
            └ 600 ms ┘ waiting    speaking  └ 400 ms ┘ ended

`AdaptiveSilence` waits the longer the less finished the words sound, and after a sound that was no
word for as long as it had patience anyway. A model that judges turns (by sound or by text) would be
another `Endpointing`.
"""

import re
from collections.abc import Mapping
from typing import Literal, Protocol

from sayso.audio.pcm import FRAME_MS

Stage = Literal["waiting", "speaking", "ended", "timeout"]
"""`waiting`: nothing was said yet. `timeout`: and nothing will be. `ended`: what was said is it."""


class Endpointing(Protocol):
    """Judges one utterance; a new one needs a new judge."""

    def take(self, voice: bool, text: str | None, *, behind: bool = False) -> Stage:
        """Takes 20 ms: whether they hold a voice, and all that has been understood until now.

        `behind`: the text does not reach up to the latest voice yet, so it may lack the last words.
        The text is empty when all that was heard until now holds no words, and None while that is
        not known. After `ended` and `timeout` nothing changes any more.
        """
        ...


FINISHED_MS = 400
"""Silence after words that end like a sentence. Pauses within a clause are mostly under 300 ms."""
USUAL_MS = 600
"""Silence after words that may be finished or not, and while nothing was understood yet."""
OPEN_MS = 900
"""Silence after words that ask for more: "in", "um", a comma."""
HELD_MS = 3_200
"""Silence after words that nobody ends a sentence with: "remind me in 20 minutes to …". People who
look for the next one take one to three seconds. Also the longest that words are waited for which
are still being worked out: where nothing is said after them, that work is the final pass anyway."""
BEGINNING_MS = 80
"""So much voice within the window below begins an utterance; a cough's flicker is shorter."""
BEGINNING_WINDOW_MS = 200
PATIENCE_MS = 6_000
"""How long nobody may begin: finding words takes a few seconds after a wake word."""
NO_NEWS_MS = 5_000
"""Voice without a new word for so long is noise that sounds like one. Partials come every 0.4 s, on
a busy machine every two."""
NO_WORDS_MS = 12_000
"""The same while not a single word was understood: the first pass takes longest, and where partials
are turned off nobody may be cut short in mid-sentence."""
LONGEST_MS = 60_000
"""An utterance's cap in this protocol."""

_ENGLISH = """
and or but nor so because since although though while if unless until when whenever where whether
than as which who whose about across against along among at before below beneath beside between
beyond by despite during except for from in into of onto per to toward towards under upon via with
within without a an the my your his her its our their every neither another very quite is are was
were am be been being has had does did can could will would shall should may might must let let's
i i'm i'd i'll you're we're um uh er erm hm hmm well actually maybe
"""
_GERMAN = """
und oder aber denn sondern weil da dass ob wenn als wie während bevor nachdem damit obwohl an auf
aus bei bis durch für gegen hinter in im ins mit nach neben ohne seit über um unter von vom vor zu
zum zur zwischen der die das den dem des ein eine einen einem einer eines mein meine meinen dein
deine sein seine ihr ihre unser unsere jeder jede jedes dieser diese dieses ist sind hat kann soll
muss will bitte sehr äh ähm hm also naja vielleicht
"""
UNFINISHED: Mapping[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
}
"""Words that rarely end what a person wants to say, by language: conjunctions, prepositions,
articles, verbs that ask for more, fillers. What often ends a command ("turn it off", "undo that",
"yes, please", "okay") is not among them. In other languages punctuation alone tells."""

_ENGLISH_HELD = """
and or but because than the a an my your our their every to of for with from
"""
_GERMAN_HELD = """
und oder aber sondern weil dass ob den dem des ein eine einen einer mein meine
meinen dein deine zum zur im ins vom beim für
"""
HELD: Mapping[str, frozenset[str]] = {
    "en": frozenset(_ENGLISH_HELD.split()),
    "de": frozenset(_GERMAN_HELD.split()),
}
"""Those of them after which a sentence is plainly not finished, unless it is a question ("What is
it made of?")."""

MISHEARD_HELD: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(r"\bremind (?:me|us)\b.* (?:too|two|2)$"),
}
"""Such a word as it is heard where nothing follows yet: "remind me in 20 minutes, too."."""

_WORD = re.compile(r"[\w'\u2019]+")
_CLOSING = "\"'\u201d\u2019\u00bb)"
_GOES_ON = (",", ";", ":", "-", "\u2013", "\u2014", "\u2026", "...", "\u3001", "\uff0c", "\uff1b")
_ASKED = ("?", "\uff1f")
_FINISHED = (".", "!", "?", "\u3002", "\uff01", "\uff1f", "\u0964")


class AdaptiveSilence:
    """Ends after a silence that fits the words, and never because of steady noise alone."""

    def __init__(self, language: str = "en", *, patience_ms: int = PATIENCE_MS) -> None:
        code = language.partition("-")[0].lower()
        self._unfinished = UNFINISHED.get(code, frozenset())
        self._held = HELD.get(code, frozenset())
        self._misheard = MISHEARD_HELD.get(code)
        self._patience_ms = patience_ms
        self._stage: Stage = "waiting"
        self._window = 0
        """The last frames, a bit for each: 1 is voice."""
        self._passed_ms = 0
        self._silent_ms = 0
        self._no_news_ms = 0
        self._text = ""

    def take(self, voice: bool, text: str | None, *, behind: bool = False) -> Stage:
        if self._stage in {"ended", "timeout"}:
            return self._stage
        self._passed_ms += FRAME_MS
        words = plain_words(text or "")
        news, self._text = words != self._text, words
        self._no_news_ms = 0 if news else self._no_news_ms + FRAME_MS
        self._silent_ms = 0 if voice else self._silent_ms + FRAME_MS
        needed_ms = HELD_MS if behind else self.silence_ms(text or "")
        self._stage = self._judge(voice=voice, needed_ms=needed_ms, wordless=text == "")
        return self._stage

    def _judge(self, *, voice: bool, needed_ms: int, wordless: bool) -> Stage:
        if self._stage == "waiting":
            self._window = (self._window << 1 | voice) & _WINDOW_MASK
            if self._window.bit_count() * FRAME_MS >= BEGINNING_MS or self._text:
                self._no_news_ms = 0
                return "speaking"
            return "timeout" if self._passed_ms >= self._patience_ms else "waiting"
        if self._passed_ms >= LONGEST_MS:
            return self._over
        if self._silent_ms >= needed_ms:
            if wordless and self._passed_ms < self._patience_ms:
                self._window = 0
                return "waiting"  # It was a cough. What the person wants to say is yet to come.
            # A voice without a transcript may be one that was too quick for the first
            # partial: the final pass decides.
            return "ended"
        if self._no_news_ms >= (NO_NEWS_MS if self._text else NO_WORDS_MS):
            return self._over
        return "speaking"

    @property
    def _over(self) -> Stage:
        return "ended" if self._text else "timeout"

    def silence_ms(self, text: str) -> int:
        """How much silence these words need behind them."""
        text = text.rstrip().rstrip(_CLOSING)
        words = _WORD.findall(text.lower())
        if not words:
            return USUAL_MS
        misheard = self._misheard is not None and self._misheard.search(" ".join(words))
        if (words[-1] in self._held or misheard) and not text.endswith(_ASKED):
            return HELD_MS
        if text.endswith(_GOES_ON) or words[-1].replace("\u2019", "'") in self._unfinished:
            return OPEN_MS
        return FINISHED_MS if text.endswith(_FINISHED) else USUAL_MS


_WINDOW_MASK = (1 << BEGINNING_WINDOW_MS // FRAME_MS) - 1


def plain_words(text: str) -> str:
    """The words alone: a transcript that only moves its commas says nothing new."""
    return " ".join(_WORD.findall(text.lower()))

"""When not to believe Whisper: it loops, it invents, and it hears "Thank you." in silence.

Pure: a pass goes in, a verdict comes out.

    believe   take the text
    nothing   nobody spoke: the text is an invention
    again     a loop or a guess: run once more with all 30 seconds of context
"""

import math
import re
import zlib
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["believe", "nothing", "again"]

MAX_COMPRESSION = 2.4
"""Text that zlib shrinks further than this repeats itself (the value of Whisper's own decoder)."""

NO_SPEECH = 0.6
"""Probability of no speech above which an unsure text is an invention (Whisper's own value)."""

SURELY_NO_SPEECH = 0.8
"""Above it any text is an invention. Measured with tiny.en and base.en: recorded words in noise as
loud as themselves stay under 0.75; fans, keys, hiss and silence lie above 0.8 with tiny.en."""

UNSURE = -1.0
"""Mean log-probability of a token below which a text is a guess (Whisper's own value)."""

HESITANT = -0.45
"""Mean log-probability below which a final text is looked for among more candidates, and the
likelier one taken. With tiny.en on 103 recordings, clean and in two noises, one in six is below."""

HOPELESS = -1.3
"""Mean log-probability below which a guess at the full context is worth nothing: of recorded words
that were this unsure, none was right."""

PHANTOM_NO_SPEECH = 0.38
PHANTOM_UNSURE = -1.2
"""A well-known phantom is believed only within these: a recorded "Thank you.", alone or in noise,
has 0.0 to 0.36 and -1.14 to -0.4; the phantoms of noises are beyond one of the two."""

MAX_SAME_WORD = 4
"""As often may a word follow itself before it counts as a loop: people do say "no, no, no, no"."""

MAX_SAME_PHRASE = 3
"""As often may a phrase of several words follow itself."""

LONGEST_PHRASE = 16
"""Words of the longest phrase that is looked for."""

SENTENCE_LOOP = 4
"""Words. A phrase this long that goes round and round was said by nobody; a shorter one ("stop,
stop, stop …") may have been, and is kept once."""

REPEATED_END = 6
"""Words with which a text ends and that it had before: when somebody is cut off in the first word
of a sentence, Whisper likes to say the sentence before once more."""

MOST_REPEATED = 4
"""Words from before a seam that Whisper was seen to say again after it."""

PHANTOMS = frozenset(
    {
        "you",
        "you you",
        "thank you",
        "thank you very much",
        "thank you so much",
        "thanks for watching",
        "thank you for watching",
        "thanks for listening",
        "please subscribe",
        "please subscribe to my channel",
        "subscribe",
        "bye",
        "bye bye",
        "okay",
        "ok",
        "so",
        "oh",
        "hmm",
        "mm",
        "uh",
        "um",
        "the",
        "and",
        "i",
        "i'm sorry",
        "i'm going to go",
        "the end",
        "silence",
        "music",
        "applause",
        "laughter",
        "beep",
        "blank audio",
        "subtitles by the amara org community",
        "untertitel der amara org community",
        "untertitel im auftrag des zdf fur funk 2017",
        "vielen dank",
        "sous titres realises par la communaute d'amara org",
        "merci",
        "gracias",
        "subtitulos realizados por la comunidad de amara org",
        "ご視聴ありがとうございました",
        "谢谢观看",
        "시청해주셔서 감사합니다",
    }
)
"""What Whisper writes when it hears nothing, without punctuation."""


URGENT = frozenset(
    {
        "stop",
        "stop it",
        "stop that",
        "please stop",
        "cancel",
        "cancel that",
        "never mind",
        "be quiet",
        "quiet",
        "stopp",
        "halt",
        "hör auf",
        "abbrechen",
        "sei still",
    }
)
"""What ends something, in so few words that Whisper is always unsure of them: it is not heard a
second time, since nobody waits for it gladly, and what is ended by mistake is asked for again."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of the model over one piece of audio."""

    text: str
    log_probability: float
    """Mean over the tokens."""
    no_speech: float
    """Probability that nobody speaks."""
    cut_short: bool = False
    """It wrote until it was stopped."""
    end: float = math.inf
    """Seconds into the audio at which it heard the last word end."""

    @property
    def loops(self) -> bool:
        """Does it say the same thing over and over?"""
        return compression(self.text) > MAX_COMPRESSION or loop_length(self.text) > 0


def judge(heard: Pass) -> Verdict:
    """What to do with a pass over a shortened context."""
    if not has_words(heard.text) or is_invention(heard):
        return "nothing"
    if heard.cut_short or heard.loops or heard.log_probability < UNSURE or doubled(heard.text):
        return "again"
    return "believe"


def surer(heard: Pass, other: Pass) -> Pass:
    """The likelier of a text and one that was found in another way."""
    good = judge_last(other) == "believe" and not other.loops
    return other if good and other.log_probability > heard.log_probability else heard


def judge_last(heard: Pass) -> Literal["believe", "nothing"]:
    """What to do with a pass over the full context, after which there is no other."""
    if not has_words(heard.text) or is_invention(heard):
        return "nothing"
    if heard.log_probability < HOPELESS or loop_length(heard.text) >= SENTENCE_LOOP:
        return "nothing"
    return "believe"


def is_urgent(heard: Pass) -> bool:
    """Is it one of those words, and was it heard?"""
    sure = heard.log_probability > HOPELESS and heard.no_speech <= NO_SPEECH
    return plain(heard.text) in URGENT and sure and not heard.cut_short


def is_invention(heard: Pass) -> bool:
    """Did nobody say this?"""
    if heard.no_speech > SURELY_NO_SPEECH:
        return True
    if heard.no_speech > NO_SPEECH and heard.log_probability < UNSURE:
        return True
    if not is_phantom(heard.text):
        return False
    return heard.no_speech > PHANTOM_NO_SPEECH or heard.log_probability < PHANTOM_UNSURE


def is_phantom(text: str) -> bool:
    """Is it one of those that Whisper likes to hear where nobody speaks?"""
    return plain(text) in PHANTOMS


def has_words(text: str) -> bool:
    """Is there anything to it but punctuation and notes about sounds, such as "(wind blowing)"?"""
    bare = re.sub(r"\([^)]*\)|\[[^\]]*\]|\*[^*]*\*|♪[^♪]*♪?", " ", text)
    return any(character.isalnum() for character in bare)


def compression(text: str) -> float:
    """How many times shorter zlib makes it."""
    raw = text.encode()
    return len(raw) / len(zlib.compress(raw)) if raw else 0.0


def loop_length(text: str) -> int:
    """Words of the phrase that follows itself more often than people say it; 0 if none does."""
    words = plain(text).split()
    for length in range(1, LONGEST_PHRASE + 1):
        run = 0
        for at in range(len(words) - length):
            run = run + 1 if words[at] == words[at + length] else 0
            if run >= _limit(length) * length:
                return length
    return 0


def doubled(text: str) -> bool:
    """Is a sentence said twice in a row, or does the text end with what it said before? Mostly it
    was not so, but a half word at the end; the full context tells."""
    words = plain(text).split()
    tail = words[-REPEATED_END:]
    if any(words[at : at + REPEATED_END] == tail for at in range(len(words) - REPEATED_END)):
        return True
    return any(
        words[at : at + length] == words[at + length : at + 2 * length]
        for length in range(SENTENCE_LOOP, LONGEST_PHRASE + 1)
        for at in range(len(words) - 2 * length + 1)
    )


def repeats(before: str, text: str) -> bool:
    """Does it begin with the words that were said last? That may come of the text which Whisper was
    given before it, not of the sound."""
    said, words = plain(before).split(), plain(text).split()
    most = min(MOST_REPEATED, len(said), len(words))
    return any(said[-count:] == words[:count] for count in range(1, most + 1))


def collapse(text: str) -> str:
    """A text that still loops, each loop said once: better than a page of one word."""
    words = text.split()
    kept: list[str] = []
    at = 0
    while at < len(words):
        step = _loop_at(words, at)
        kept += words[at : at + (step[0] if step else 1)]
        at += step[0] * step[1] if step else 1
    return " ".join(kept)


def _loop_at(words: list[str], at: int) -> tuple[int, int] | None:
    """Length of the phrase that loops from here, and how often it stands here."""
    for length in range(1, LONGEST_PHRASE + 1):
        phrase = [plain(word) for word in words[at : at + length]]
        times = 1
        while [
            plain(word) for word in words[at + times * length : at + (times + 1) * length]
        ] == phrase:
            times += 1
        if times > _limit(length):
            return length, times
    return None


def _limit(length: int) -> int:
    return MAX_SAME_WORD if length == 1 else MAX_SAME_PHRASE


def plain(text: str) -> str:
    """Lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w']+", " ", text.lower()).split())

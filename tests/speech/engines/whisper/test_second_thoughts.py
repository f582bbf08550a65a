"""A text that Whisper was unsure of costs no more time than it takes to see that it is clear."""

from collections.abc import Mapping

import pytest

from sayso.server.speech.engines.whisper.engine import FULL, LanguageGuess, Run, WhisperEngine
from sayso.server.speech.engines.whisper.options import DRAFT_FLOOR, FINAL_FLOOR
from sayso.server.speech.recognition.hallucinations import HESITANT, Pass
from sayso.server.speech.recognition.loudness import Samples, from_pcm
from tests.speech import sounds

UNSURE = HESITANT - 0.1
SURE = HESITANT + 0.1


class Scripted(WhisperEngine):
    """Hears in each context what it is told to, and remembers which ones were asked."""

    def __init__(self, like: WhisperEngine, texts: Mapping[float, tuple[str, float]]) -> None:
        self.__dict__.update(like.__dict__)
        self._texts = texts
        self.asked: list[float] = []

    def _run(self, samples: Samples, run: Run) -> tuple[Pass, LanguageGuess]:
        self.asked.append(run.floor)
        text, sure = self._texts[run.floor]
        return Pass(text, sure, 0.1), LanguageGuess("en", 1.0)


def heard(engine: Scripted, seconds: float = 2.0, *, draft: bool = False) -> str:
    return engine.transcribe(from_pcm(sounds.voice(seconds)), draft=draft).text


def test_what_it_is_sure_of_is_heard_once(whisper: WhisperEngine) -> None:
    engine = Scripted(whisper, {FINAL_FLOOR: ("Convert 12 miles.", SURE)})
    assert heard(engine) == "Convert 12 miles."
    assert engine.asked == [FINAL_FLOOR]


def test_what_a_shorter_context_hears_alike_is_clear(whisper: WhisperEngine) -> None:
    texts = {FINAL_FLOOR: ("Convert 12 miles.", UNSURE), DRAFT_FLOOR: ("convert 12 miles", UNSURE)}
    engine = Scripted(whisper, texts)
    assert heard(engine) == "Convert 12 miles."
    assert engine.asked == [FINAL_FLOOR, DRAFT_FLOOR]


@pytest.mark.parametrize(("sure", "text"), [(SURE, "Convert 12 miles."), (-0.9, "Convert miles.")])
def test_where_they_differ_the_likelier_of_the_full_context_counts(
    whisper: WhisperEngine, sure: float, text: str
) -> None:
    texts = {
        FINAL_FLOOR: ("Convert miles.", UNSURE),
        DRAFT_FLOOR: ("Convert twelve.", UNSURE),
        FULL: ("Convert 12 miles.", sure),
    }
    engine = Scripted(whisper, texts)
    assert heard(engine) == text
    assert engine.asked == [FINAL_FLOOR, DRAFT_FLOOR, FULL]


def test_where_a_shorter_context_would_be_the_same_one_the_full_one_is_asked(
    whisper: WhisperEngine,
) -> None:
    said = "This is said for so long that there is no shorter context to ask, is there any, or not"
    engine = Scripted(whisper, {FINAL_FLOOR: (said, UNSURE), FULL: (said, SURE)})
    assert heard(engine, 14.5) == said
    assert engine.asked == [FINAL_FLOOR, FULL]


def test_a_draft_has_no_second_thoughts(whisper: WhisperEngine) -> None:
    engine = Scripted(whisper, {DRAFT_FLOOR: ("Convert 12 miles.", UNSURE)})
    assert heard(engine, draft=True) == "Convert 12 miles."
    assert engine.asked == [DRAFT_FLOOR]

"""A text that Whisper was unsure of is looked for among more candidates, and costs little more."""

from collections.abc import Mapping
from typing import Any

import pytest

from sayso.server.speech.engines.whisper.earlier_drafts import EarlierDrafts
from sayso.server.speech.engines.whisper.engine import WIDER_BEAM, Run, WhisperEngine
from sayso.server.speech.engines.whisper.options import DRAFT_FLOOR, FINAL_FLOOR
from sayso.server.speech.recognition.hallucinations import HESITANT, Pass
from sayso.server.speech.recognition.loudness import Samples, from_pcm
from tests.speech import sounds

UNSURE = HESITANT - 0.1
SURE = HESITANT + 0.1


class Scripted(WhisperEngine):
    """Hears with each width of search what it is told to, and remembers what it did."""

    def __init__(self, like: WhisperEngine, texts: Mapping[int, tuple[str, float]]) -> None:
        self.__dict__.update(like.__dict__)
        self._earlier_drafts = EarlierDrafts()
        self._texts = texts
        self.encoded: list[float] = []
        self.searched: list[int] = []

    def _encode(self, samples: Samples, seconds: float) -> Any:  # noqa: ANN401 (a library without types)
        self.encoded.append(seconds)

    def _decode(self, encoded: Any, seconds: float, tongue: Any, run: Run, beam: int) -> Pass:  # noqa: ANN401
        self.searched.append(beam)
        text, sure = self._texts[beam]
        return Pass(text, sure, 0.1)


def heard(engine: Scripted, *, draft: bool = False) -> str:
    return engine.transcribe(from_pcm(sounds.voice(2.0)), draft=draft).text


def test_what_it_is_sure_of_is_heard_once(whisper: WhisperEngine) -> None:
    engine = Scripted(whisper, {1: ("Convert 12 miles.", SURE)})
    assert heard(engine) == "Convert 12 miles."
    assert (engine.encoded, engine.searched) == ([FINAL_FLOOR], [1])


@pytest.mark.parametrize(("sure", "text"), [(SURE, "Convert 12 miles."), (-0.9, "Convert miles.")])
def test_what_it_is_unsure_of_is_searched_wider_in_the_same_sound_and_the_likelier_counts(
    whisper: WhisperEngine, sure: float, text: str
) -> None:
    texts = {1: ("Convert miles.", UNSURE), WIDER_BEAM: ("Convert 12 miles.", sure)}
    engine = Scripted(whisper, texts)
    assert heard(engine) == text
    assert (engine.encoded, engine.searched) == ([FINAL_FLOOR], [1, WIDER_BEAM])


@pytest.mark.parametrize("word", ["Stop.", "Cancel.", "Stopp!"])
def test_an_urgent_word_has_no_second_thoughts(whisper: WhisperEngine, word: str) -> None:
    engine = Scripted(whisper, {1: (word, UNSURE)})
    assert heard(engine) == word
    assert engine.searched == [1]


def test_a_draft_has_no_second_thoughts(whisper: WhisperEngine) -> None:
    engine = Scripted(whisper, {1: ("Convert 12 miles.", UNSURE)})
    assert heard(engine, draft=True) == "Convert 12 miles."
    assert (engine.encoded, engine.searched) == ([DRAFT_FLOOR], [1])

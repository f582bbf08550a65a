"""What a draft has heard already is not looked for once more, where it is all that was said."""

import json
from pathlib import Path
from typing import Any

from sayso.server.speech.engines.piper.engine import PiperEngine
from sayso.server.speech.engines.whisper.earlier_drafts import EarlierDrafts
from sayso.server.speech.engines.whisper.engine import Run, WhisperEngine
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.recognition.hallucinations import Pass, plain
from sayso.server.speech.recognition.loudness import Samples
from sayso.server.speech.recognition.recognizer import HEARING_RATE
from tests.speech.spoken_recordings import spoken

COMMAND = "Show me all the files that are larger than a hundred megabytes."
OTHER = "What is the weather like today?"


class Counting(WhisperEngine):
    """Counts how often a text is looked for."""

    def __init__(self, like: WhisperEngine) -> None:
        self.__dict__.update(like.__dict__)
        self._earlier_drafts = EarlierDrafts()
        self.searches = 0

    def _decode(self, encoded: Any, seconds: float, tongue: Any, run: Run, beam: int) -> Pass:  # noqa: ANN401 (a library without types)
        self.searches += 1
        return super()._decode(encoded, seconds, tongue, run, beam)


def finals_after_a_draft(engine: WhisperEngine, draft: Samples, final: Samples) -> tuple[str, int]:
    """The final text, and for how many searches it took."""
    counting = Counting(engine)
    counting.transcribe(draft, draft=True)
    counting.searches = 0
    return plain(counting.transcribe(final).text), counting.searches


def test_what_a_draft_heard_up_to_the_end_is_the_final_text(
    whisper: WhisperEngine, piper: PiperEngine
) -> None:
    said = spoken(piper, COMMAND)
    text, searches = finals_after_a_draft(whisper, said[: -HEARING_RATE // 20], said)
    assert text == plain(Counting(whisper).transcribe(said).text)
    assert searches == 0


def test_half_a_draft_is_no_final_text(whisper: WhisperEngine, piper: PiperEngine) -> None:
    said = spoken(piper, COMMAND)
    whole = plain(Counting(whisper).transcribe(said).text)
    for share in (0.5, 0.8, 0.85, 0.9):
        begun = said[: int(share * len(said))]
        assert finals_after_a_draft(whisper, begun, said)[0] == whole


def test_a_draft_of_something_else_counts_for_nothing(
    whisper: WhisperEngine, piper: PiperEngine
) -> None:
    draft, said = spoken(piper, OTHER), spoken(piper, COMMAND)
    assert finals_after_a_draft(whisper, draft, said)[1] > 0


def test_a_model_that_cannot_be_asked_how_likely_a_text_is_looks_for_it(
    whisper_model: Path, piper: PiperEngine, tmp_path: Path
) -> None:
    for file in whisper_model.iterdir():
        (tmp_path / file.name).symlink_to(file.resolve())
    config = json.loads((whisper_model / "config.json").read_text())
    del config["alignment_heads"]
    (tmp_path / "config.json").unlink()
    (tmp_path / "config.json").write_text(json.dumps(config))
    said = spoken(piper, COMMAND)
    engine = WhisperEngine(tmp_path, WhisperOptions())
    text, searches = finals_after_a_draft(engine, said[: -HEARING_RATE // 20], said)
    assert "megabytes" in text
    assert searches > 0

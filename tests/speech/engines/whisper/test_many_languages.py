"""A Whisper model for many languages finds out, utterance by utterance, in which one is spoken.

No such model is among the starters, so its weights are scripted (`scripted_weights`); engine,
CTranslate2 and tokenizer are the real ones.
"""

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from sayso.protocol import messages as m
from sayso.server.speech.engines.whisper.engine import WhisperEngine
from sayso.server.speech.engines.whisper.options import WhisperOptions
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer
from sayso.server.speech.recognition.loudness import from_pcm
from sayso.server.turn.events import AudioHeard, ListenStarted, ListenStopped
from tests.server.running_server import running_server, until
from tests.speech import sounds
from tests.speech.engines.whisper import scripted_weights

SAID = "Wie spät ist es in Köln? Grüße!"
SECONDS = 1.5


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "german"
    return scripted_weights.make(folder, "de", SAID, SECONDS)


def utterance() -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    return from_pcm(sounds.voice(SECONDS))


def test_the_language_of_an_utterance_is_found_and_its_letters_are_whole(german: Path) -> None:
    heard = WhisperEngine(german, WhisperOptions()).transcribe(utterance())
    assert (heard.text, heard.language) == (SAID, "de")
    assert heard.language_sure > 0.9
    draft = WhisperEngine(german, WhisperOptions()).transcribe(utterance(), draft=True)
    assert (draft.text, draft.language) == (SAID, "de")


def test_a_language_that_is_told_is_not_found_out(german: Path) -> None:
    engine = WhisperEngine(german, WhisperOptions())
    assert engine.transcribe(utterance(), language="fr").language == "fr"
    assert engine.transcribe(utterance(), language="tlh").language == "de"
    fixed = WhisperEngine(german, WhisperOptions(language="it"))
    assert fixed.transcribe(utterance(), language="fr").language == "it"


def test_what_was_said_before_goes_along_without_harm(german: Path) -> None:
    heard = WhisperEngine(german, WhisperOptions()).transcribe(utterance(), prompt="Straße, ça va?")
    assert heard.language == "de"


@pytest.mark.slow
async def test_what_is_said_in_german_is_answered_in_german_and_the_next_in_what_it_is_in(
    tmp_path: Path,
) -> None:
    model = scripted_weights.make(tmp_path / "german", "de", "Wie viel Uhr ist es?", SECONDS)
    recognizer = WhisperRecognizer(model)
    await recognizer.start()
    try:
        async with running_server(tmp_path / "home", ears=recognizer) as server:
            desk = await server.device("desk")
            pcm = sounds.voice(SECONDS)
            desk.seat.happened(ListenStarted("desk", 1))
            desk.seat.happened(AudioHeard("desk", 1, 0, pcm))
            desk.seat.happened(ListenStopped("desk", 1, len(pcm) // 2))
            await until(lambda: desk.all(m.Metrics))
            answered = cast("list[m.ReplyDelta]", desk.all(m.ReplyDelta))
            assert answered[0].text.startswith("Es ist")
            assert (await desk.ask("What time is it?")).startswith("It's")
    finally:
        await recognizer.close()

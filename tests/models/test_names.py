"""What a person may call a model, and what is meant."""

import pytest

from sayso.server.models import NameUnknown
from sayso.server.models.names import GIGABYTE, SUGGESTED, WHISPER, best_fitting, understand


@pytest.mark.parametrize(
    ("name", "kind", "repository", "folder", "entry", "language"),
    [
        ("base.en", "ears", "Systran/faster-whisper-base.en", "", "", "en"),
        ("large-v3-turbo", "ears", "mobiuslabsgmbh/faster-whisper-large-v3-turbo", "", "", "many"),
        ("someone/my-whisper", "ears", "someone/my-whisper", "", "", "many"),
        (
            "en_US-lessac-medium",
            "voice",
            "rhasspy/piper-voices",
            "en/en_US/lessac/medium",
            "en_US-lessac-medium.onnx",
            "en",
        ),
        (
            "de_DE-thorsten_emotional-medium",
            "voice",
            "rhasspy/piper-voices",
            "de/de_DE/thorsten_emotional/medium",
            "de_DE-thorsten_emotional-medium.onnx",
            "de",
        ),
        (
            "qwen3-4b",
            "language_model",
            "unsloth/Qwen3-4B-Instruct-2507-GGUF",
            "",
            "Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
            "many",
        ),
        ("a/b:c/d.gguf", "language_model", "a/b", "c", "d.gguf", "many"),
    ],
)
def test_names_are_understood(
    name: str, kind: str, repository: str, folder: str, entry: str, language: str
) -> None:
    wanted = understand(name)

    assert wanted.name == name
    assert (wanted.kind, wanted.repository, wanted.folder) == (kind, repository, folder)
    assert (wanted.entry, wanted.language) == (entry, language)


def test_every_name_that_is_offered_is_understood() -> None:
    for name in (*WHISPER, *SUGGESTED):
        assert understand(name).name == name


def test_a_slip_is_answered_with_what_was_meant() -> None:
    with pytest.raises(NameUnknown, match=r"did you mean base\.en\?"):
        understand("bse.en")


@pytest.mark.parametrize("name", ["", "?", "a/b/c", "a/b:../c.gguf", "a/b:c.bin", "../x", "a b/c"])
def test_what_cannot_be_a_model_is_answered_with_what_can(name: str) -> None:
    with pytest.raises(NameUnknown, match="name a Whisper model"):
        understand(name)


@pytest.mark.parametrize(
    ("gigabytes", "name"),
    [
        (1, "qwen2.5-0.5b"),
        (4, "qwen2.5-1.5b"),
        (8, "qwen3-4b"),
        (16, "qwen2.5-7b"),
        (64, "qwen3-30b-a3b"),
    ],
)
def test_what_is_suggested_fits_the_memory(gigabytes: int, name: str) -> None:
    assert best_fitting(gigabytes * GIGABYTE) == name

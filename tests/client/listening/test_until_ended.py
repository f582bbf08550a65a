"""Listening without a key where there is no terminal: in a pipe, and as lines of JSON."""

from pathlib import Path

import pytest

from sayso.audio.pcm import RATE
from sayso.audio.wav import write
from tests.client.programs import events, give_token, named, sayso
from tests.client.server_double import Answer, Conversation, ServerDouble, tone


@pytest.fixture(autouse=True)
def token() -> Path:
    return give_token()


@pytest.mark.slow
@pytest.mark.parametrize("json", [False, True])
async def test_it_listens_and_writes_what_happens(tmp_path: Path, *, json: bool) -> None:
    question = tmp_path / "question.wav"
    write(question, tone(1.0), RATE)
    async with ServerDouble(Conversation(Answer())) as server:
        ended = await sayso(
            *("talk", "--hands-free", "--server", server.url),
            *(["--json"] if json else []),
            *("--mic", f"file:{question}", "--speaker", f"file:{tmp_path / 'a.wav'}"),
        )
    assert ended.code == 0, ended.told
    if json:
        assert [seen["state"] for seen in named(events(ended.out), "hands_free")] == ["waiting"]
    else:
        assert "Waiting for the wake word." in ended.told


async def test_where_any_voice_is_listened_to_it_does_not_speak_of_a_wake_word(
    tmp_path: Path,
) -> None:
    silent = tmp_path / "silent.wav"
    write(silent, bytes(RATE), RATE)
    async with ServerDouble(Conversation(Answer())) as server:
        ended = await sayso(
            *("talk", "--hands-free", "--wake", "none", "--server", server.url),
            *("--mic", f"file:{silent}", "--speaker", f"file:{tmp_path / 'a.wav'}"),
        )
    assert ended.code == 0, ended.told
    assert "Waiting for a voice." in ended.told
    assert "wake word" not in ended.told


async def test_a_server_that_does_not_let_it_in_is_told_of(tmp_path: Path) -> None:
    question = tmp_path / "question.wav"
    write(question, tone(0.2), RATE)
    ended = await sayso(
        *("talk", "--hands-free", "--server", "127.0.0.1:9"),
        *("--mic", f"file:{question}", "--speaker", f"file:{tmp_path / 'a.wav'}"),
    )
    assert ended.code != 0
    assert "write ws://127.0.0.1:9" in ended.sentence


async def test_without_a_microphone_it_says_why() -> None:
    async with ServerDouble() as server:
        ended = await sayso(
            *("talk", "--hands-free", "--json", "--server", server.url),
            *("--mic", "file:/nowhere/question.wav"),
        )
    assert ended.code != 0
    assert "cannot be read" in ended.sentence

"""A new search for cards stops what plays, so it is done only when the cards have changed."""

from pathlib import Path

import pytest

from sayso.audio.devices import sound_cards
from sayso.audio.devices.sound_cards import PortAudio
from sayso.audio.errors import NoPortAudio
from tests.machine import lacking


class Library:
    """PortAudio, as far as it is started again."""

    def __init__(self) -> None:
        self.starts = 0

    def _terminate(self) -> None:
        self.starts += 1

    def _initialize(self) -> None:
        pass


class Playing:
    """An open stream."""

    def close(self) -> None:
        """Playing it goes on in another one."""


def test_what_plays_goes_on_unless_a_card_came_or_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, now = tmp_path / "cards", [100.0]
    listed.write_text("0 [USB]")
    monkeypatch.setattr(sound_cards, "PLUGGED", listed)
    monkeypatch.setattr("sayso.audio.devices.sound_cards.time.monotonic", lambda: now[0])
    try:
        audio = PortAudio()
    except NoPortAudio as missing:
        lacking(str(missing))
    library = Library()
    monkeypatch.setattr(audio, "_library", library)
    audio.refresh(audio.looks)
    assert library.starts == 1, "nothing plays"
    monkeypatch.setattr(audio, "_open", [Playing()])
    audio.refresh(audio.looks)
    assert library.starts == 1
    listed.write_text("0 [USB]\n1 [HAT]")
    audio.refresh(audio.looks)
    now[0] += 1
    audio.refresh(audio.looks)
    assert library.starts == 3, "a new card takes a moment"
    now[0] += 10
    audio.refresh(audio.looks)
    assert library.starts == 3
    listed.unlink()
    audio.refresh(audio.looks)
    assert library.starts == 4, "what cannot be known is looked at"
    audio.refresh(audio.looks - 1)
    assert library.starts == 4, "somebody has looked already"

"""Less sound lies ahead in a loudspeaker behind a sound server, and only there."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from sayso.audio.devices.sound_cards import (
    CARD_LATENCY_SECONDS,
    SERVER_LATENCY_SECONDS,
    Device,
    PortAudio,
)


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a sound server would put its socket."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("PULSE_SERVER", raising=False)
    return tmp_path


def loudspeaker(monkeypatch: pytest.MonkeyPatch, name: str) -> Device:
    raw = {
        "index": 0,
        "name": name,
        "default_samplerate": 48_000.0,
        "max_input_channels": 0,
        "max_output_channels": 2,
    }
    library = SimpleNamespace(default=SimpleNamespace(device=(-1, 0)), query_devices=lambda: [raw])
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    return PortAudio().find("output")


def is_served(monkeypatch: pytest.MonkeyPatch, name: str) -> bool:
    found = loudspeaker(monkeypatch, name)
    latency = SERVER_LATENCY_SECONDS if found.served else CARD_LATENCY_SECONDS
    assert found.latency == latency
    return found.served


@pytest.mark.usefixtures("runtime")
def test_without_a_sound_server_the_default_is_a_bare_card(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_served(monkeypatch, "default")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert not is_served(monkeypatch, "default")


@pytest.mark.parametrize("socket", ["pulse/native", "pipewire-0"])
def test_the_default_leads_to_a_sound_server_that_runs(
    runtime: Path, socket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (runtime / socket).parent.mkdir(exist_ok=True)
    (runtime / socket).touch()
    assert is_served(monkeypatch, "default")
    assert not is_served(monkeypatch, "sysdefault"), "ALSA's own, past the sound server"
    assert not is_served(monkeypatch, "USB Audio: - (hw:1,0)")


@pytest.mark.usefixtures("runtime")
def test_a_sound_server_elsewhere_counts_and_so_does_one_that_is_chosen_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert is_served(monkeypatch, "pulse")
    assert is_served(monkeypatch, "pipewire")
    monkeypatch.setenv("PULSE_SERVER", "tcp:loudspeakers.local")
    assert is_served(monkeypatch, "default")

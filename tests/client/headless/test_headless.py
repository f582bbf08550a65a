"""A device without a screen, in parts: what its light shows, when it speaks, how it is paired."""

import asyncio
import contextlib
import json
import re
import stat
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPWMPin

from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.wav import parse
from sayso.client.background.service_files import headless_unit
from sayso.client.headless.announcements import Announcements
from sayso.client.headless.lights import LOOKS, Signs
from sayso.client.headless.options import NoWayToTalk, check
from sayso.client.headless.pairing_file import NotArrived, arrive
from sayso.client.headless.pins import GpioButton, GpioLight, NoPins, pins
from sayso.client.headless.sentences import FOLDER, TEXTS, sound
from sayso.client.identity.known_server import KnownServer, read, write_to
from sayso.client.session.backoff import AWAY_SECONDS
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import MicPressed, MicReleased, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.home import Home
from sayso.protocol.messages import ApprovalDone, ApprovalRequest, Error, TurnState
from tests.permissions import permissions_hold
from tests.repository.tree import ROOT

UP = LinkChange(LinkState.UP, session="first")
AGAIN = LinkChange(LinkState.UP, session="resumed")
AWAY = LinkChange(LinkState.WAITING, "No server.")
KNOWN = KnownServer("wss://192.168.1.5:8766/ws", "-----BEGIN…", "t" * 43, "kitchen")


@pytest.fixture
def board() -> Iterator[MockFactory]:
    """A Raspberry Pi's pins, pretended."""
    before, factory = Device.pin_factory, MockFactory(pin_class=MockPWMPin)
    Device.pin_factory = factory
    yield factory
    factory.reset()
    Device.pin_factory = before


def told(message: Error | TurnState | ApprovalRequest | ApprovalDone) -> Envelope:
    return Envelope(message, 1, 1, 0)


def test_the_light_tells_what_goes_on() -> None:
    signs = Signs()
    request = ApprovalRequest("a", "n", "python", "print(1)", "/work")
    story: tuple[tuple[Seen | None, str], ...] = (
        (None, "starting"),
        (AWAY, "connecting"),
        (UP, "ready"),
        (MicPressed(), "listening"),
        (MicReleased(), "ready"),
        (told(TurnState("committed", "idle", "silent")), "thinking"),
        (told(TurnState("idle", "awaiting_approval", "speaking")), "speaking"),
        (told(request), "asking"),
        (told(ApprovalDone("a", "yes", "you")), "speaking"),
        (told(TurnState("idle", "idle", "silent")), "ready"),
        (told(Error("broken", "It broke.")), "trouble"),
        (MicPressed(), "listening"),
        (MicReleased(), "ready"),
        (DeviceChange("microphone", "lost", "USB", "It is gone."), "deaf"),
        (DeviceChange("microphone", "back", "USB", "It is back."), "ready"),
        (LinkChange(LinkState.REFUSED, "Not you."), "unpaired"),
    )
    for seen, state in story:
        if seen is not None:
            signs.take(seen)
        assert signs.state == state, seen


def test_a_light_of_one_colour_tells_the_states_apart_and_the_document_says_how() -> None:
    looks = [
        (look.motion, look.on_s, look.off_s) if look.motion != "steady" else look.brightness
        for state, look in LOOKS.items()
        if state != "starting"
    ]
    assert len({*looks}) == len(looks)
    document = (ROOT / "docs/raspberry-pi.md").read_text()
    rows = re.findall(r"^\| (\w+) \| (.*?) \| (.*?) \| .*\|$", document, re.MULTILINE)
    assert {state for state, *_ in rows} & {*LOOKS} == {*LOOKS}
    for state, of_three, of_one in rows:
        if state in LOOKS:
            motion = LOOKS[state].motion
            assert (motion == "blinks") == ("blinks" in of_three) == ("blinks" in of_one), state
            assert (motion == "breathes") == ("breathes" in of_three) == ("breathes" in of_one)


async def test_a_button_and_both_kinds_of_light_are_driven_at_their_pins(
    board: MockFactory,
) -> None:
    happened: list[str] = []
    button = GpioButton("gpio:17", lambda: happened.append("down"), lambda: happened.append("up"))
    with contextlib.closing(button):
        board.pin(17).drive_low()
        board.pin(17).drive_high()
        await asyncio.sleep(0)
        assert happened == ["down", "up"]
    light = GpioLight("gpio:18")
    with contextlib.closing(light):
        light.show(LOOKS["listening"])
        assert board.pin(18).state == 1
        light.show(LOOKS["speaking"])
        assert board.pin(18).state == pytest.approx(0.3)
        light.show(LOOKS["asking"])
        light.show(LOOKS["ready"])
        assert board.pin(18).state == 0
    three = GpioLight("gpio:22,23,24")
    with contextlib.closing(three):
        three.show(LOOKS["listening"])
        assert [board.pin(number).state for number in (22, 23, 24)] == [0, 0, 1]


@pytest.mark.parametrize("name", ["17", "gpio:", "gpio:28", "gpio:1,2", "gpio:5,5,6", "gpio:x"])
def test_what_names_no_pins_is_told_in_a_sentence(name: str) -> None:
    with pytest.raises(NoPins, match=r"pins?.*\.$|There is no pin"):
        pins(name, (1, 3))


def test_a_device_that_nobody_could_talk_with_is_refused() -> None:
    with pytest.raises(NoWayToTalk, match="--button gpio:17"):
        check(Namespace(button="", hands_free=False))


@pytest.mark.virtual_time
async def test_it_speaks_of_what_lasts_and_not_of_a_hiccup() -> None:
    said: list[str] = []
    herald = Announcements(said.append)
    herald.take(UP)
    herald.take(AWAY)
    herald.take(AGAIN)
    await asyncio.sleep(AWAY_SECONDS * 2)
    assert said == ["ready"]
    herald.take(AWAY)
    await asyncio.sleep(AWAY_SECONDS + 1)
    herald.take(AWAY)
    await asyncio.sleep(AWAY_SECONDS + 1)
    herald.take(AGAIN)
    assert said == ["ready", "away", "back"]
    herald.take(AWAY)
    herald.take(LinkChange(LinkState.UP, session="anew"))
    herald.take(LinkChange(LinkState.REFUSED, "Turned out."))
    herald.take(LinkChange(LinkState.REFUSED, "Turned out."))
    await asyncio.sleep(AWAY_SECONDS * 2)
    assert said[3:] == ["anew", "refused"]
    herald.take(DeviceChange("microphone", "lost", "USB", "It is gone."))
    herald.take(DeviceChange("microphone", "fallback", "HAT", "It stands in."))
    herald.take(DeviceChange("loudspeaker", "lost", "Box", "It is gone."))
    herald.take(DeviceChange("loudspeaker", "back", "Box", "It is back."))
    assert said[5:] == ["microphone_gone", "microphone_back", "loudspeaker_back"]


def test_every_sentence_lies_in_the_package_and_is_short() -> None:
    for name in TEXTS:
        wav = parse((FOLDER / f"{name}.wav").read_bytes())
        assert (wav.kind, wav.channels, wav.rate) == ("i2", 1, 16_000)
        assert 0.4 < len(wav.data) / 32_000 < 4
        assert len(sound(name, "sentences", 48_000)) == pytest.approx(3 * len(wav.data), rel=0.01)
        assert 0 < len(sound(name, "earcons", 48_000)) < 48_000


# ── Paired by a file ─────────────────────────────────────────────────────────────────────────────


def test_a_file_on_the_boot_partition_pairs_once_and_does_not_stay(tmp_path: Path) -> None:
    home, place = Home.find(), tmp_path / "boot" / "sayso.json"
    assert arrive(home, (place,)) is None
    write_to(place, KNOWN)
    assert arrive(home, (tmp_path / "none", place)) == KNOWN
    assert not place.exists()
    assert read(home) == KNOWN
    kept = home.state / "server.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert arrive(home, (place,)) is None


def test_a_file_that_cannot_be_removed_is_emptied(tmp_path: Path) -> None:
    place = tmp_path / "boot" / "sayso.json"
    write_to(place, KNOWN)
    place.parent.chmod(0o500)
    with permissions_hold():
        assert arrive(Home.find(), (place,)) == KNOWN
        assert place.read_bytes() == b""
        assert arrive(Home.find(), (place,)) is None


@pytest.mark.parametrize("content", ["{", "[]", json.dumps({"url": "wss://x"}), '{"url": 1}'])
def test_a_damaged_file_is_told_and_pairs_nothing(tmp_path: Path, content: str) -> None:
    place = tmp_path / "sayso.json"
    place.write_text(content)
    with pytest.raises(NotArrived, match="is damaged: write it again"):
        arrive(Home.find(), (place,))
    assert read(Home.find()) is None


# ── Started by systemd ───────────────────────────────────────────────────────────────────────────


def test_the_unit_comes_back_whatever_happens_and_hands_a_pairing_over() -> None:
    unit = headless_unit(["/opt/python", "talk"], {"SAYSO_HOME": "/h", "KEY": "k"}, "pi")
    lines = unit.splitlines()
    for line in ("User=pi", "Restart=always", "StartLimitIntervalSec=0"):
        assert line in lines
    assert "WantedBy=multi-user.target" in lines
    assert 'Environment="SAYSO_HOME=/h"' in lines
    assert "KEY" not in unit
    (take,) = (line for line in lines if line.startswith("ExecStartPre=+"))
    assert "install -m 600 -o pi" in take
    assert "/boot/firmware/sayso.json" in take

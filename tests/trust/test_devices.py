"""The list of paired devices: hashes alone, whole or not at all, and refused when it is damaged."""

import json
import stat
from pathlib import Path

import pytest

from sayso.server.trust.devices import MOST_DEVICES, Devices, DevicesError
from sayso.server.trust.guess_delay import LONGEST_S, GuessDelay


def test_a_token_is_kept_as_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "devices.json"
    device, token = Devices(path).add("kitchen", "", ("approve", "talk"))
    assert token not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = Devices(path)
    assert again.all == (device,)
    who = again.with_token(token)
    assert who is not None
    assert (who.name, who.may("talk"), who.may("approve"), who.may("admin")) == (
        "kitchen",
        True,
        True,
        False,
    )
    assert again.with_token(token + "x") is None
    assert again.with_token("\ud800") is None


def test_names_are_plain_and_told_apart(tmp_path: Path) -> None:
    devices = Devices(tmp_path / "devices.json")
    names = ("Kitchen", "kitchen", "  a\x1b[31m\nb ", "", "x" * 99)
    made = [devices.add(name, "", ("talk",))[0].name for name in names]
    assert made == ["Kitchen", "kitchen 2", "a [31m b", "device", "x" * 40]


def test_a_revoked_device_is_a_stranger_at_once_and_later(tmp_path: Path) -> None:
    devices = Devices(tmp_path / "devices.json")
    gone: list[str] = []
    devices.on_revoked(lambda device: gone.append(device.name))
    _, token = devices.add("kitchen", "", ("talk",))
    devices.revoke("KITCHEN")
    assert gone == ["kitchen"]
    assert devices.with_token(token) is None
    assert not Devices(tmp_path / "devices.json").all
    with pytest.raises(DevicesError, match="sayso pair list"):
        devices.revoke("kitchen")


def test_a_name_is_the_same_however_its_accents_are_typed(tmp_path: Path) -> None:
    devices = Devices(tmp_path / "devices.json")
    made = [devices.add(name, "", ("talk",))[0].name for name in ("Cafe\u0301", "caf\u00e9")]
    assert made == ["Caf\u00e9", "caf\u00e9 2"]
    assert devices.revoke("cafe\u0301").name == "Caf\u00e9"


def test_nobody_is_two_persons_by_a_slip(tmp_path: Path) -> None:
    devices = Devices(tmp_path / "devices.json")
    people = ("Zo\u00eb", "zoe\u0308", " ZO\u00cb ", "Anna", "")
    made = [devices.add("phone", person, ("talk",))[0].person for person in people]
    assert made == ["Zo\u00eb", "Zo\u00eb", "Zo\u00eb", "Anna", ""]


def test_a_device_is_turned_out_even_if_the_list_can_not_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    devices = Devices(home / "devices.json")
    gone: list[str] = []
    devices.on_revoked(lambda device: gone.append(device.name))
    device, token = devices.add("phone", "", ("talk",))
    (home / "devices.json").unlink()
    home.rmdir()
    home.write_text("no folder any more")
    with pytest.raises(DevicesError, match="turned out until the server starts again"):
        devices.revoke("phone")
    assert gone == ["phone"]
    assert devices.with_token(token) is None
    assert not devices.still(device.who)
    home.unlink()
    assert devices.revoke("phone").id == device.id
    assert not Devices(home / "devices.json").all


def test_devices_are_bounded(tmp_path: Path) -> None:
    devices = Devices(tmp_path / "devices.json")
    for number in range(MOST_DEVICES):
        devices.add(str(number), "", ("talk",))
    with pytest.raises(DevicesError, match="revoke"):
        devices.add("one more", "", ("talk",))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}x",
        "[1]",
        '[{"id": "a"}]',
        json.dumps(
            [
                {
                    "id": "a",
                    "name": "b",
                    "person": "",
                    "scopes": ["all"],
                    "token_hash": "c",
                    "paired_at": 1,
                }
            ]
        ),
    ],
)
def test_a_damaged_list_lets_nobody_in_and_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "devices.json"
    path.write_text(content)
    with pytest.raises(DevicesError, match="pair them again"):
        Devices(path)
    assert path.read_text() == content


def test_a_list_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    devices = Devices(folder / "devices.json")
    folder.write_text("a file where a folder should be")
    with pytest.raises(DevicesError, match="nothing has changed"):
        devices.add("kitchen", "", ("talk",))
    assert not devices.all


def test_patience_grows_with_each_failure_ends_and_is_forgotten() -> None:
    patience = GuessDelay()
    waits = [patience.failed("a", 0.0) for _ in range(50)]
    assert waits[:3] == [0.1, 0.2, 0.4]
    assert waits[-1] == LONGEST_S
    assert patience.failed("b", 0.0) == 0.1
    assert patience.failed("a", 301.0) == 0.1
    patience.failed("a", 302.0)
    patience.succeeded("a")
    assert patience.failed("a", 303.0) == 0.1

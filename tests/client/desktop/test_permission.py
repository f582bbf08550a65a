"""What the owner of a device allows at its screen, and how they say so."""

import argparse
from pathlib import Path

import pytest

from sayso.client.commands.desktop import command
from sayso.client.desktop import offering
from sayso.client.desktop.permission import (
    DesktopPermission,
    permission_file,
    read_permission,
    write_permission,
)
from sayso.client.desktop.requests import OFFERS
from sayso.protocol.home import Home


def said(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run(parser.parse_args(arguments))


@pytest.fixture
def with_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":77")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


@pytest.mark.usefixtures("with_a_screen")
def test_nothing_is_offered_until_it_is_allowed_here() -> None:
    home = Home.find()
    assert offering.screen_offers(home) == ()
    said("allow", "--look")
    assert offering.screen_offers(home) == ("desktop.windows", "desktop.look")
    said("allow", "--clipboard", "--never", "Thunderbird")
    assert offering.screen_offers(home) == OFFERS
    assert read_permission(home).never == ("thunderbird",)
    said("forbid")
    assert offering.screen_offers(home) == ()


def test_status_says_what_is_allowed_and_what_works(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    said("status")
    told = capsys.readouterr().out
    assert "may do nothing" in told
    assert "X11" in told
    said("allow")
    assert "look and act" in capsys.readouterr().out
    assert offering.screen_offers(Home.find()) == ()


@pytest.mark.usefixtures("with_a_screen")
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    said("allow")
    monkeypatch.setattr(offering, "find_spec", lambda _: None)
    assert "sayso[desktop]" in offering.unable()
    assert offering.screen_offers(Home.find()) == ()


@pytest.mark.parametrize("what", ["link", "writable by others", "no JSON", "a list", "words"])
def test_a_file_that_others_could_have_written_allows_nothing(what: str, tmp_path: Path) -> None:
    home = Home.find()
    write_permission(home, DesktopPermission(look=True, act=True))
    path = permission_file(home)
    match what:
        case "link":
            path.rename(tmp_path / "there")
            path.symlink_to(tmp_path / "there")
        case "writable by others":
            path.chmod(0o622)
        case "no JSON":
            path.write_text("{")
        case "a list":
            path.write_text("[]")
        case "words":
            path.write_text('{"look": "yes", "act": 1}')
    assert read_permission(home) == DesktopPermission()


def test_only_its_owner_can_read_what_is_allowed() -> None:
    home = Home.find()
    write_permission(home, DesktopPermission(look=True))
    assert permission_file(home).stat().st_mode & 0o077 == 0

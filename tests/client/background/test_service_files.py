"""Sayso in the background of a desktop: the service's file, its manager, and notifications."""

import asyncio
import os
import plistlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.background.companion import BACK, LONGEST, Companion, notification
from sayso.client.background.service_files import UNIT, launchd_list, systemd_unit
from sayso.client.session.backoff import AWAY_SECONDS
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Announce, ApprovalRequest, ReplyDelta, SttFinal
from tests.client.programs import sayso

COMMAND = ["/opt/my python", "-m", "sayso.client.command", "talk", "--wake", 'a "b" 100% $X']


def test_a_unit_of_systemd_starts_it_after_login_and_again_when_it_fails() -> None:
    unit = systemd_unit(COMMAND, {"SAYSO_HOME": "/h $x%", "SECRET_API_KEY": "k"})
    lines = unit.splitlines()
    (start,) = (line for line in lines if line.startswith("ExecStart="))
    words = shlex.split(start.removeprefix("ExecStart="))
    assert words == [*COMMAND[:-1], 'a "b" 100%% $$X']
    assert 'Environment="SAYSO_HOME=/h $x%%"' in lines
    assert "Restart=on-failure" in lines
    assert "WantedBy=default.target" in lines
    assert "SECRET" not in unit


def test_an_agent_of_launchd_says_the_same() -> None:
    found = plistlib.loads(launchd_list(COMMAND, {"SAYSO_SERVER": "ws://x"}).encode())
    assert found["ProgramArguments"] == COMMAND
    assert found["EnvironmentVariables"] == {"SAYSO_SERVER": "ws://x"}
    assert found["RunAtLoad"] is True


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Path]:
    """Programs of the desktop that write down how they were called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("systemctl", "notify-send"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/calls\n')
        program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        yield tmp_path


def calls(tools: Path) -> list[str]:
    path = tools / "calls"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.removeprefix(f"{tools}/bin/") for line in lines]


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")
async def test_the_service_is_installed_looked_at_and_removed(tools: Path) -> None:
    unit = tools / "config" / "systemd" / "user" / UNIT
    before = await sayso("service", "status")
    assert before.code == 1
    installed = await sayso("service", "install", "--wake", "okay nabu")
    assert installed.code == 0, installed.told
    assert "--background" in unit.read_text()
    assert "okay nabu" in unit.read_text()
    assert (await sayso("service", "status")).code == 0
    assert "is closed" in (await sayso("service", "mute")).out
    assert (await sayso("service", "uninstall")).code == 0
    assert not unit.exists()
    assert calls(tools) == [
        "systemctl --user daemon-reload",
        f"systemctl --user enable {UNIT}",
        f"systemctl --user restart {UNIT}",
        f"systemctl --user is-active --quiet {UNIT}",
        f"systemctl --user kill --signal=USR1 --kill-who=main {UNIT}",
        f"systemctl --user disable --now {UNIT}",
        "systemctl --user daemon-reload",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is Linux's")
async def test_what_goes_wrong_is_told_in_a_sentence(tools: Path) -> None:
    assert "hey jarvis" in (await sayso("service", "install", "--wake", "nonsense")).sentence
    (tools / "bin" / "systemctl").write_text("#!/bin/sh\necho 'No bus.' >&2\nexit 1\n")
    failed = await sayso("service", "install")
    assert failed.sentence == "systemctl --user daemon-reload failed: No bus."
    assert failed.code == 1


def test_a_notification_is_no_option_and_not_too_long(tools: Path) -> None:
    command = notification("--help", "-x " + "word " * 100)
    assert command is not None
    assert command[-3:-1] == ["--", "--help"]
    assert len(command[-1]) <= LONGEST


async def test_what_a_person_must_see_is_notified_and_what_is_said_is_not(tools: Path) -> None:
    told: list[tuple[str, str]] = []
    companion = Companion(lambda title, text: told.append((title, text)))
    request = ApprovalRequest("a", "n", "python", "print(1)", "/work", ("the network",), 60)
    for message in (SttFinal("secret"), ReplyDelta("secret"), request, Announce("Tea is ready.")):
        companion.show(Envelope(message, 1, 1, 0))
    companion.show(DeviceChange("microphone", "lost", "USB", "The microphone USB is gone."))
    assert told == [
        ("May I run this python?", "It may touch: the network."),
        ("Sayso", "Tea is ready."),
        ("Sayso", "The microphone USB is gone."),
    ]


async def test_a_notification_really_goes_out(tools: Path) -> None:
    companion = Companion()
    companion.show(Envelope(Announce("Tea is ready."), 1, 1, 0))
    async with asyncio.timeout(10):
        await asyncio.gather(*companion._tasks)
    assert calls(tools) == ["notify-send --app-name=Sayso -- Sayso Tea is ready."]


@pytest.mark.virtual_time
async def test_a_server_that_is_away_is_told_once_and_a_hiccup_never() -> None:
    told: list[str] = []

    def note(_title: str, text: str) -> None:
        told.append(text)

    companion = Companion(note)
    up = LinkChange(LinkState.UP, session="resumed")
    companion.show(LinkChange(LinkState.WAITING, "The connection was cut."))
    companion.show(up)
    await asyncio.sleep(2 * AWAY_SECONDS)
    assert told == []
    companion.show(LinkChange(LinkState.WAITING, "The connection was cut."))
    companion.show(LinkChange(LinkState.WAITING, "No server answers."))
    await asyncio.sleep(2 * AWAY_SECONDS)
    companion.show(LinkChange(LinkState.WAITING, "The connection was cut."))
    await asyncio.sleep(2 * AWAY_SECONDS)
    companion.show(up)
    assert told == ["No server answers.", BACK]

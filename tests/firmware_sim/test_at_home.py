"""Devices at a real server: real sockets, real TLS, real conversations; only models are scripts."""

import asyncio
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from sayso.audio.wav import Writer
from sayso.firmware_sim.command import main
from sayso.firmware_sim.faults import parse
from sayso.firmware_sim.fleet import Fleet, run_fleet
from sayso.firmware_sim.hardware.board import Board
from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.scene import Report, Scene
from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.protocol.version import SPOKEN
from sayso.server.trust.certificates import identity
from tests.firmware_sim.test_setup import FOR_DEVICES, portal
from tests.gateway.running_gateway import hear, say
from tests.scripted_server import TALKS, open_scripted_server, scripted_server
from tests.speech.sounds import voice

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(120)]

QUESTION = Scene(voice(2.0))
LIMIT_S = 60.0
"""Seconds for a question and its answer, on a busy machine."""


async def test_a_line_that_drops_a_hang_and_a_power_cut_end_in_an_answer(tmp_path: Path) -> None:
    with scripted_server(tmp_path, "Yes.") as running:
        stored = Stored("lamp", server=running.url, token=running.token)
        faults = parse("drop@1s, drop@1.8s, stall@2.5s, reboot@12s")
        report = await Board(stored, QUESTION, faults=faults).run(LIMIT_S)

    assert (report.cuts, report.reboots, report.watchdog_bites) == (2, 2, 1)
    assert report.heard[-1] == "What was asked."
    assert report.answers == 1
    assert report.failure == ""


async def test_nothing_is_lost_over_a_line_that_drops_again_and_again(tmp_path: Path) -> None:
    with scripted_server(tmp_path, "Yes.") as running:
        stored = Stored("lamp", server=running.url, token=running.token)
        report = await Board(stored, QUESTION, faults=parse("drop@0.8s, drop@1.5s")).run(LIMIT_S)

    assert (report.cuts, report.answers) == (2, 1)
    assert report.captured_samples == report.acknowledged_samples


async def test_a_fleet_is_heard_whole_and_answered(tmp_path: Path) -> None:
    with scripted_server(tmp_path, "Yes.") as running:
        stored = Stored("lamp", server=running.url, token=running.token)
        result = await run_fleet(stored, Fleet(60, 6, voice(1.0), LIMIT_S, TALKS))

    assert result.is_good, result.summary


async def test_a_device_that_was_set_up_talks_over_tls_and_to_its_own_server_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "server").mkdir()
    nvs = Nvs(tmp_path / "flash")
    async with open_scripted_server(tmp_path / "server", "Yes.") as listener:
        near = await listener.open("127.0.0.1", 0)
        keys = identity(tmp_path / "server" / "certificates", ())
        port = await listener.open_network("127.0.0.1", 0, keys)
        stored = await _set_up(nvs, tmp_path / "server", near, port)
        report = await Board(nvs.load(), QUESTION, nvs=nvs).run(LIMIT_S)
        assert (report.answers, report.heard) == (1, ["What was asked."])

    async with open_scripted_server(tmp_path / "server") as another:
        other_keys = identity(tmp_path / "other certificates", ())
        await another.open_network("127.0.0.1", port, other_keys)
        told: set[str] = set()
        board = Board(stored, Scene(), watch=lambda _, device: told.add(device.trouble))
        report = await board.run(3.0)

    assert not report.connected
    assert any("not the server that this device was set up for" in words for words in told)


async def _set_up(nvs: Nvs, home: Path, near: int, port: int) -> Stored:
    """As a person does: says `sayso pair` on the server, and fills in the device's page."""
    token = Home(home, home, home).token_file.read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    url = f"ws://127.0.0.1:{near}/ws"
    async with portal(nvs) as (phone, opened), connect(url, additional_headers=headers) as owner:
        await say(owner, m.Hello(SPOKEN, "console 1", wants=FOR_DEVICES))
        assert isinstance(await hear(owner), m.Welcome)
        await say(owner, m.PairingOpen())
        window = await hear(owner)
        assert isinstance(window, m.PairingOpened)
        server = f"https://127.0.0.1:{port}"
        await phone.fill_in("/join", network="home", password="secret", server=server, name="lamp")
        assert "Done" in await phone.fill_in("/pair", code=window.digits)
        return await opened.set_up()


async def test_a_device_that_the_server_does_not_know_shows_it(tmp_path: Path) -> None:
    with scripted_server(tmp_path) as running:
        stored = Stored("lamp", server=running.url, token="t" * 43)
        told: list[tuple[str, str]] = []
        board = Board(stored, Scene(), watch=lambda _, d: told.append((d.state, d.trouble)))
        report: Report = await board.run(4.0)

    assert not report.connected
    assert told[-1][0] == "trouble"
    assert "token" in told[-1][1]


async def test_the_command_says_a_file_and_writes_down_what_it_hears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    question, answer = tmp_path / "q.wav", tmp_path / "a.wav"
    with Writer(question) as file:
        file.append(voice(1.0), 16_000)
    with scripted_server(tmp_path, "Yes.") as running:
        monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
        run = ["run", "--server", running.url, "--say", str(question), "--hear", str(answer)]
        assert await asyncio.to_thread(main, run) == 0
        assert await asyncio.to_thread(main, [*run[:5], "--fleet", "5", "--talking", "1"]) == 0

    out = capsys.readouterr().out
    assert "listening    light blue steady" in out
    assert "The server understood: What was asked." in out
    assert "5 of 5 devices connected, 1 of 1 heard their answer" in out
    assert answer.stat().st_size > 5_000

"""What an older version left works: its home, its paired device, and that device's own program."""

import json
import os
import re
import shutil
import socket
import sqlite3
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.e2e.test_pairing import run
from tests.planted_secrets import TOLD
from tests.rig import TURN_S, Server, free_port
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

OLD = Path(__file__).with_name("old_home")
UNDO = "72e0224eca9c0d0340df3880d0d353b3.sqlite"
"""How the archive of the conversation `main` is called."""


@pytest.fixture
def old_home(home: Path) -> Path:
    """The home of a server, as it lay on the disk."""
    for name in ("settings.toml", "devices.json", "token"):
        shutil.copy(OLD / name, home / name)
    shutil.copytree(OLD / "certificates", home / "certificates")
    for path in (home / "token", home / "devices.json", *(home / "certificates").iterdir()):
        path.chmod(0o600)
    workspace = home / "workspaces" / "main"
    workspace.mkdir(mode=0o700, parents=True)
    (workspace / "notes.txt").write_text("hay")
    (home / "undo").mkdir(mode=0o700)
    _database(home / "events.sqlite", "events.sql", str(home))
    _database(home / "undo" / UNDO, "undo.sql", str(home).encode().hex().upper())
    return home


@pytest.fixture
def server(old_home: Path, model: ScriptedModel) -> Iterator[Server]:
    network = ("--network", "127.0.0.1", f"--set=listen.network_port={free_port()}")
    with Server(old_home, model, network) as running:
        yield running


@pytest.fixture
def device(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a device that is paired with it."""
    folder = tmp_path_factory.mktemp("device")
    known = (OLD / "device" / "server.json").read_text()
    path = folder / "server.json"
    path.write_text(known.replace("{port}", str(_network_port(server))))
    path.chmod(0o600)
    TOLD.note(json.loads(known)["token"], "a device's token")
    return folder


def test_an_old_home_goes_on_where_it_was(server: Server, model: ScriptedModel) -> None:
    model.add(says("Hay, thou said."))
    assert server.ask("What do we need?").reply == "Hay, thou said."
    told = json.dumps(model.requests[-1].messages)
    assert "Note that we need hay" in told  # the conversation
    assert "Say thou." in told  # a setting
    assert "run code 9 times" in told  # another one
    assert "mow the meadow" in server.ask("What are my reminders?").reply
    listed = run(server.variables, "conversations", "--server", server.url)
    assert "Note that we need hay" in listed.stdout


def test_what_an_old_run_changed_can_still_be_undone(server: Server, old_home: Path) -> None:
    undone = server.ask("Undo that.")
    assert undone.code == 0, undone.stderr
    assert "notes.txt" in undone.reply
    assert not (old_home / "workspaces" / "main" / "notes.txt").exists()


def test_an_old_paired_device_is_known_by_its_pairing(
    server: Server, model: ScriptedModel, device: Path
) -> None:
    model.add(says("Hello again."))
    asked = run(os.environ | {"SAYSO_HOME": str(device)}, "ask", "Tell me a story.")
    assert "Hello again." in asked.stdout, asked.stderr


def test_an_old_devices_own_program_talks_and_takes_its_session_up_again(
    server: Server, model: ScriptedModel, device: Path
) -> None:
    known = json.loads((device / "server.json").read_text())
    trust = ssl.create_default_context(cadata=known["authority"])
    model.add(says("Paris."))
    hello = (
        '{"t":"hello","protocol":{"min":1,"max":1},"client":"golden 1.0","device":"kitchen",'
        '"features":["resume","screen","approve"],'
        f'"token":"{known["token"]}"}}'
    )
    with connect(known["url"], ssl=trust, compression=None) as line:
        line.send(hello)
        welcome = _next(line, "welcome")
        line.send('{"t":"text","seq":1,"text":"What is the capital of France?"}')
        assert _next(line, "reply.delta")["text"] == "Paris."
        last = _next(line, "metrics")["seq"]
        line.socket.shutdown(socket.SHUT_RDWR)  # the line breaks
    resumed = hello[:-1] + f',"session":"{welcome["session"]}","last_seq":{last}}}'
    with connect(known["url"], ssl=trust, compression=None) as line:
        line.send(resumed)
        again = _next(line, "welcome")
        assert again["session"] == welcome["session"]
        assert again["conversation"] == welcome["conversation"]
        model.add(says("Rome."))
        line.send('{"t":"text","seq":2,"text":"And of Italy?"}')
        assert _next(line, "reply.delta")["text"] == "Rome."
        line.send('{"t":"bye","reason":"the person left"}')


def _next(line: ClientConnection, kind: str) -> dict[str, object]:
    """The next message of a kind; sound and others are passed over."""
    while True:
        message = line.recv(timeout=TURN_S)
        if isinstance(message, str) and (said := json.loads(message))["t"] == kind:
            return dict(said)


def _network_port(server: Server) -> int:
    found = re.search(r"https://127\.0\.0\.1:(\d+)", server.said)
    assert found, server.said
    return int(found[1])


def _database(path: Path, source: str, home: str) -> None:
    with sqlite3.connect(path) as database:
        database.executescript((OLD / source).read_text().replace("{home}", home))
    database.close()
    path.chmod(0o600)

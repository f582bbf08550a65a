"""A second device, from being let in to being turned out; and where its secrets are left."""

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from sayso.client.headless.pairing_file import arrive
from sayso.protocol.home import Home
from tests.planted_secrets import TOLD
from tests.rig import SAYSO, TURN_S, Server, free_port
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

URL = re.compile(r"https://[^\s']+#pair=([^&\s']+)&ca=[^\s']+")
DIGITS = re.compile(r"digits +(\d{3}) (\d{3})")


@contextmanager
def window(server: Server, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """`sayso pair` on the server's machine."""
    process = subprocess.Popen(
        [SAYSO, "pair", "--server", server.url, *arguments],
        env=server.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def shown(process: "subprocess.Popen[str]") -> str:
    """What it prints until it waits for the device."""
    assert process.stdout
    text = ""
    for line in process.stdout:
        text += line
        if "Ctrl-C" in line:
            break
    url, code = URL.search(text), DIGITS.search(text)
    assert url, text
    assert code, text
    for secret in (url[1], code[1] + code[2]):
        TOLD.note(secret, "a pairing code")
    return text


def run(environment: Mapping[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [SAYSO, *arguments],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TURN_S,
        check=False,
    )


def test_a_device_is_let_in_talks_and_is_turned_out_and_leaves_no_secret_behind(
    home: Path, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    far = tmp_path_factory.mktemp("device")
    device = os.environ | {"SAYSO_HOME": str(far)}
    network = ("--network", "127.0.0.1", f"--set=listen.network_port={free_port()}")
    with Server(home, model, (*network, "--set=log.level=debug")) as server:
        with window(server, "--name", "kitchen", "--may", "talk,admin") as pair:
            text = shown(pair)
            url, code = URL.search(text), DIGITS.search(text)
            assert url
            assert code
            assert run(device, "pair", "join", url[0].replace(url[1], "A" * 22)).returncode == 1
            joined = run(device, "pair", "join", url[0])
            assert (joined.returncode, "kitchen" in joined.stdout) == (0, True), joined.stderr
            assert "kitchen is paired" in pair.communicate(timeout=TURN_S)[0]
        model.add(says("Hello kitchen."))
        asked = run(device, "ask", "Who are you talking to?")
        assert "Hello kitchen." in asked.stdout, asked.stderr
        # The device asks the server that it is paired with.
        assert "kitchen" in run(device, "pair", "list").stdout
        run(server.variables, "pair", "revoke", "kitchen", "--server", server.url)
        refused = run(device, "ask", "Who are you talking to?")
        assert (refused.returncode, "Pair it again" in refused.stderr) == (1, True)
    secrets = {
        "machine": (home / "token").read_text().strip(),
        "device": json.loads((far / "server.json").read_text())["token"],
        "code": url[1],
        "digits": f"{code[1]}{code[2]}",
    }
    assert _where(secrets, home) == {("machine", "token")}
    assert _where(secrets, far) == {("device", "server.json")}
    printed = joined.stdout + joined.stderr + asked.stdout + asked.stderr + refused.stderr
    assert not [name for name, secret in secrets.items() if secret in printed]


def _where(secrets: Mapping[str, str], folder: Path) -> set[tuple[str, str]]:
    """Which secret stands in which file; the log that the server wrote is among them."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and "kernels" not in path.parts:
            content = path.read_bytes()
            found |= {
                (name, path.name) for name, secret in secrets.items() if secret.encode() in content
            }
    return found


def test_a_server_says_how_other_devices_come_in(home: Path) -> None:
    refused = run(os.environ | {"SAYSO_HOME": str(home)}, "serve", "--host", "0.0.0.0")
    assert refused.returncode == 1
    assert "sayso serve --network" in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.thorough
def test_a_device_without_a_screen_is_let_in_by_a_file_once(
    home: Path, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    far, card = tmp_path_factory.mktemp("device"), tmp_path_factory.mktemp("boot") / "sayso.json"
    network = ("--network", "127.0.0.1", f"--set=listen.network_port={free_port()}")
    with Server(home, model, network) as server:
        by_file = ("pair", "--server", server.url, "--name", "kitchen", "--file", str(card))
        paired = run(server.variables, *by_file)
        assert (paired.returncode, "sayso pair revoke kitchen" in paired.stdout) == (0, True)
        token = json.loads(card.read_text())["token"]
        assert token not in paired.stdout
        assert arrive(Home(far, far, far), (card,)) is not None
        assert not card.exists()
        assert _where({"device": token}, far) == {("device", "server.json")}
        assert not _where({"device": token}, home)
        model.add(says("Hello kitchen."))
        asked = run(os.environ | {"SAYSO_HOME": str(far)}, "ask", "Who are you talking to?")
        assert "Hello kitchen." in asked.stdout, asked.stderr


@pytest.mark.thorough
def test_a_file_is_refused_while_no_other_device_could_come(server: Server, tmp_path: Path) -> None:
    card = tmp_path / "sayso.json"
    refused = run(server.variables, "pair", "--server", server.url, "--file", str(card))
    assert refused.returncode == 1
    assert "sayso serve --network" in refused.stderr
    assert not card.exists()

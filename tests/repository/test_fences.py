"""The fences around every test hold: each kind of trespass fails the test that commits it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import leaks

ROOT = Path(__file__).parents[2]

CAN_BE_NETLESS = sys.platform == "linux" and os.geteuid() == 0

TRESPASSERS = """
import asyncio
import json
import os
import socket
import subprocess
import sys
import urllib.request
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from sayso.protocol.home import Home, make_token
from sayso.server.trust.devices import Devices
from sayso.server.trust.pairing import Window
from sayso.server.trust.principal import OWNER

def test_good_uses_loopback():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

def test_good_has_a_home_of_its_own():
    assert not any(Path(os.environ["SAYSO_HOME"]).iterdir())
    Path(os.environ["SAYSO_HOME"], "something").touch()

def test_good_has_another_home_of_its_own():
    assert not any(Path(os.environ["SAYSO_HOME"]).iterdir())

def test_good_sees_no_keys():
    assert "SOMEBODYS_API_KEY" not in os.environ

def test_good_has_a_terminal_of_nobody():
    assert os.environ["TERM"] == "xterm-256color"
    assert "COLUMNS" not in os.environ

async def test_good_ends_its_tasks():
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0.01))

def test_bad_connects():
    with suppress(BaseException):
        socket.create_connection(("192.0.2.1", 80), timeout=1)

def test_bad_looks_up_a_name():
    with suppress(BaseException):
        socket.getaddrinfo("example.org", 80)

def test_bad_listens_to_everyone():
    with suppress(BaseException):
        socket.create_server(("", 0))

async def test_bad_connects_asynchronously():
    with suppress(Exception):
        await asyncio.open_connection("192.0.2.1", 80)

def test_bad_child_fetches():
    fetch = "import urllib.request; urllib.request.urlopen('https://example.org', timeout=2)"
    subprocess.run([sys.executable, "-c", fetch], capture_output=True)

def test_netless_connects_in_another_language():
    shell = "exec 3<>/dev/tcp/192.0.2.1/80"
    subprocess.run(["bash", "-c", shell], capture_output=True)

def test_netless_sends_a_datagram_in_another_language():
    shell = "exec 3<>/dev/udp/192.0.2.1/53"
    subprocess.run(["bash", "-c", shell], capture_output=True)

def test_bad_writes_into_the_persons_home():
    Path.home().joinpath(".cache").mkdir()
    Path.home().joinpath(".cache", "deviceid").touch()

def test_bad_leaves_a_child():
    child = subprocess.Popen(["sleep", "71"])
    print("CHILD", child.pid)
    child.returncode = 0

def test_bad_leaves_an_orphan():
    subprocess.run(["sh", "-c", "sleep 72 >/dev/null 2>&1 &"], check=True)

async def test_bad_leaves_a_task():
    test_bad_leaves_a_task.kept = asyncio.create_task(asyncio.sleep(60))

async def test_bad_loses_an_exception():
    async def fails():
        raise ValueError("nobody looks")
    task = asyncio.create_task(fails())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task

def new_token(folder):
    return Devices(folder / "devices.json").add("kitchen", OWNER, ["talk"])[1]

def test_good_keeps_a_token_in_its_own_file(tmp_path):
    make_token(Home.find())
    (tmp_path / "server.json").write_text(json.dumps({"token": new_token(tmp_path)}))

def test_bad_writes_a_token_into_its_home(tmp_path):
    Path(os.environ["SAYSO_HOME"], "server.log").write_text(new_token(tmp_path))

def test_bad_writes_a_token_into_another_folder(tmp_path):
    (tmp_path / "export.json").write_text(new_token(tmp_path))

def test_bad_closes_what_holds_a_token(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "notes").write_text(new_token(tmp_path))
    (tmp_path / "closed" / "notes").chmod(0)
    (tmp_path / "closed").chmod(0)

def test_bad_packs_a_token(tmp_path):
    with zipfile.ZipFile(tmp_path / "sayso-diagnostics-1.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("log", 1000 * "a" + new_token(tmp_path))

def test_bad_prints_a_code():
    print(Window(until=1.0).code)

def test_bad_prints_digits():
    digits = Window(until=1.0).digits
    print(f"type {digits[:3]} {digits[3:]}")

def test_bad_writes_the_token_of_a_child():
    make = "from sayso.protocol.home import Home, make_token; make_token(Home.find())"
    subprocess.run([sys.executable, "-c", make], check=True)
    token = Path(os.environ["SAYSO_HOME"], "token").read_text().strip()
    Path(os.environ["TMPDIR"], "notes").write_text("<" + token + ">")

def test_bad_child_prints_a_key():
    tell = "import os; print(os.environ['OTHER_API_KEY'])"
    environment = os.environ | {"OTHER_API_KEY": "a-key-to-be-kept"}
    subprocess.run([sys.executable, "-c", tell], env=environment, capture_output=True)

async def test_bad_child_prints_a_key_to_one_who_waits(monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "a-key-to-be-kept-too")
    tell = "import os; print(os.environ['OTHER_API_KEY'])"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", tell, stdout=-1)
    await child.communicate()

@pytest.fixture(scope="session")
def longer(tmp_path_factory):
    yield tmp_path_factory.mktemp("longer")

def test_good_uses_what_lasts_longer(longer, tmp_path):
    (longer / "kept").write_text(new_token(tmp_path))

def test_bad_is_the_last_one_when_what_lasts_longer_holds_a_token(longer):
    pass
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_each_trespass_fails_its_test_and_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "test_trespassers.py").write_text(TRESPASSERS)
    before = leaks.running()
    options = f"-p tests.conftest -p no:cacheprovider -rA --tb=line -c {ROOT}/pyproject.toml"
    pytest_command = [sys.executable, "-m", "pytest", *options.split(), f"--rootdir={tmp_path}"]
    run = subprocess.run(
        [sys.executable, "tests/without_network.py", *pytest_command, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"SOMEBODYS_API_KEY": "secret", "TERM": "dumb", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    said = run.stdout + run.stderr
    passed = set(re.findall(r"^PASSED \S+::(\w+)", said, re.MULTILINE))
    broken = set(re.findall(r"^(?:ERROR|FAILED) \S+::(\w+)", said, re.MULTILINE))
    names = set(re.findall(r"def (test_\w+)", TRESPASSERS))
    forbidden = ("test_bad_", "test_netless_") if CAN_BE_NETLESS else ("test_bad_",)
    assert broken == {name for name in names if name.startswith(forbidden)}, said
    assert passed >= {name for name in names if name.startswith("test_good_")}, said
    assert leaks.left_processes(before, "sleep 7") == [], "what a test leaves is ended"


@pytest.mark.skipif(not CAN_BE_NETLESS, reason="only root can, on Linux")
def test_a_netless_command_has_loopback_and_nothing_else() -> None:
    look = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
        "try:\n"
        "    socket.create_connection(('192.0.2.1', 80), timeout=5)\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
    )
    command = [sys.executable, str(ROOT / "tests/without_network.py"), sys.executable, "-c", look]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert run.stdout.strip() == "Network is unreachable"

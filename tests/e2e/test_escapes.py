"""Code that wants out of a real server: all is denied, the host stays whole, the audit has it all.

What it reaches for is real where it can be: an agent with a key, a message bus, git's repository.
That the reaching works is seen first, from outside of the sandbox.
"""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.machine import has
from tests.rig import SAYSO, Server
from tests.runtimes.attempts import TRY
from tests.runtimes.sandboxes import KINDS, needed_sandbox
from tests.scripted_model import Reply, ScriptedModel, runs, says

SECRET = "the-secret-of-the-servers-environment"

ANSWERS_S = 5.0
"""An answer about the server's health comes within it, whatever code does; a busy machine takes a
tenth."""


@dataclass(frozen=True)
class Host:
    """What confined code must not reach."""

    home: Path
    """A person's, with keys and startup files."""
    sockets: dict[str, socket.socket]
    """Of services that would start programs for whoever asks."""
    agent: Path | None
    """Where a real ssh-agent listens, with a key."""
    bus: Path | None
    """Where a real D-Bus listens."""

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a person who is logged in here."""
        return {
            "HOME": str(self.home),
            "OPENAI_ORGANIZATION": SECRET,
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "DOCKER_HOST": f"unix://{self.home}/docker.sock",
            **({"SSH_AUTH_SOCK": str(self.agent)} if self.agent else {}),
            **({"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.bus}"} if self.bus else {}),
        }

    @property
    def untouched(self) -> bool:
        """Whether nobody has knocked."""
        for each in self.sockets.values():
            try:
                each.accept()
            except BlockingIOError:
                continue
            return False
        return (self.home / ".bashrc").read_text() == "# mine\n"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    home = tmp_path / "alice"
    (home / ".ssh").mkdir(parents=True)
    (home / "run" / "systemd").mkdir(parents=True)
    (home / ".bashrc").write_text("# mine\n")
    (home / ".ssh" / "id_ed25519").write_text(SECRET)
    with ExitStack() as stack:
        sockets = {}
        for name in ("docker.sock", "run/systemd/private"):
            sockets[name] = stack.enter_context(socket.socket(socket.AF_UNIX))
            sockets[name].bind(str(home / name))
            sockets[name].listen()
            sockets[name].setblocking(False)
        agent = bus = None
        if has("ssh-agent", "openssh-client"):
            agent = home / "agent"
            _serve(stack, agent, "ssh-agent", "-D", "-a", str(agent))
            key = home / ".ssh" / "real"
            make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
            for words in (make, ["ssh-add", "-q", str(key)]):
                subprocess.run(words, check=True, env={**os.environ, "SSH_AUTH_SOCK": str(agent)})
        if has("dbus-daemon", "dbus"):
            bus = home / "bus"
            address = f"--address=unix:path={bus}"
            _serve(stack, bus, "dbus-daemon", "--session", "--nofork", address)
        yield Host(home, sockets, agent, bus)


def _serve(stack: ExitStack, place: Path, program: str, *words: str) -> None:
    """Start a program that listens there; it ends with `stack`."""
    process = subprocess.Popen(
        [program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    deadline = time.monotonic() + 10
    while not place.exists():
        assert time.monotonic() < deadline, f"{program} did not start"
        time.sleep(0.02)


@pytest.fixture(params=KINDS)
def escapee(
    request: pytest.FixtureRequest,
    home: Path,
    model: ScriptedModel,
    host: Host,
    tmp_path: Path,
) -> Iterator[Server]:
    """A server on each sandbox, with a repository in its workspace."""
    needed_sandbox(request.param)
    workspace = tmp_path / "workspace"
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    variables = dict(host.variables)
    if request.param == "landlock":
        variables["PATH"] = str(_programs_without("bwrap", tmp_path / "programs"))
    flags = (
        "--set=approvals.mode=workspace",
        "--set=approvals.safe=off",  # the sandbox alone is to hold
        f"--set=code.workspace={workspace}",
        "--set=agent.steps=40",
    )
    with Server(home, model, flags, variables) as running:
        assert request.param in running.said
        yield running


def _programs_without(name: str, folder: Path) -> Path:
    folder.mkdir()
    for place in os.environ["PATH"].split(":"):
        if Path(place).is_dir():
            for program in Path(place).iterdir():
                if program.name != name and not (folder / program.name).is_symlink():
                    (folder / program.name).symlink_to(program)
    return folder


def escapes(host: Host, server: int) -> dict[str, Reply]:
    """The code, by what it tries. It prints DONE and what it could do."""
    home = host.home
    python = {
        "write outside": f"""
attempt('append', lambda: open({str(home / ".bashrc")!r}, 'a').write('evil'))
for folder in ('/', '/usr/bin', '/etc', {str(home)!r}):
    attempt(folder, lambda: os.path.lexists(folder) and open(folder + '/evil', 'w') and
            folder != {str(home)!r})
""",
        "read secrets": f"""
attempt('key', lambda: open({str(home / ".ssh" / "id_ed25519")!r}).read())
secret = {SECRET[:9]!r} + {SECRET[9:]!r}
attempt('environment', lambda: secret in str(dict(os.environ)) or False)
for place in ['/proc/{server}'] + [str(each) for each in pathlib.Path('/proc').glob('[0-9]*')]:
    attempt(place, lambda: secret.encode() in open(place + '/environ', 'rb').read() or False)
    key = place + {f"/root{home}/.ssh/id_ed25519"!r}
    attempt(place, lambda: secret.encode() in open(key, 'rb').read())
""",
        "links": f"""
for path in ({str(home / ".ssh" / "id_ed25519")!r}, '/etc/shadow', '/proc/{server}/environ'):
    os.symlink(path, 'link')
    attempt('symbolic', lambda: open('link').read())
    os.unlink('link')
    attempt('hard', lambda: os.link(path, 'hard'))
""",
        "the network": """
for address in (('127.0.0.1', 22), ('192.0.2.1', 80), ('169.254.169.254', 80)):
    attempt(address, lambda: socket.create_connection(address, 1))
attempt('name', lambda: socket.getaddrinfo('example.org', 80))
""",
        "trace and signal": f"""
for pid in ({server}, os.getppid()):
    attempt('trace', lambda: pid > 1 and libc.ptrace(16, pid, 0, 0) == 0)
    attempt('memory', lambda: pid > 1 and open(f'/proc/{{pid}}/mem', 'rb').read(1) and True)
attempt('kill', lambda: os.kill({server}, 9))
attempt('stop', lambda: os.kill({server}, 19))
""",
        "mounts and namespaces": """
for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000):
    attempt('unshare', lambda: libc.unshare(flag) == 0)
attempt('mount', lambda: libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0)
for words in (['unshare', '-Ur', 'id'], ['bwrap', '--dev-bind', '/', '/', 'id'],
              ['mount', '-t', 'tmpfs', 'none', '/tmp']):
    attempt(words[0], lambda: subprocess.run(words, check=True, capture_output=True))
""",
        "git hooks": """
open('hook', 'w').write('#!/bin/sh'); os.chmod('hook', 0o755)
attempt('hook', lambda: os.rename('hook', '.git/hooks/post-checkout'))
attempt('settings', lambda: open('.git/config', 'a').write('[core]\\nfsmonitor = ./hook'))
attempt('all anew', lambda: os.rename('.git', 'old'))
""",
        "the disk": """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
attempt('100 GB', lambda: open('huge', 'wb').truncate(100 * 1024**3))
attempt('100 GB, filled', lambda: os.posix_fallocate(os.open('huge', os.O_RDWR), 0, 100 * 1024**3))
""",
        "memory": """
try:
    attempt('10 GB', lambda: len(bytearray(10 * 1024**3)))
except MemoryError:
    pass
""",
    }
    agent, bus = host.agent or home / "agent", host.bus or home / "bus"
    shell = {
        "ssh-agent": f"SSH_AUTH_SOCK={agent} ssh-add -l && echo DONE",
        "D-Bus": f"{_call(bus)} && echo DONE",
        "systemd-run": f"export XDG_RUNTIME_DIR={home}/run\n"
        f"export DBUS_SESSION_BUS_ADDRESS=unix:path={bus}\n"
        f"systemd-run --user touch {home}/evil && echo DONE",
        "docker": f"docker -H unix://{home}/docker.sock ps && echo DONE\n"
        f"curl -s -m 2 --unix-socket {home}/docker.sock http://d/info && echo DONE",
        "a fork bomb": "bomb() { bomb | bomb & }; bomb; sleep 3; echo tried",
    }
    return {
        **{
            name: runs(f"{TRY}{code}\nprint('tried')", when=f"Try {name}.")
            for name, code in python.items()
        },
        **{name: runs(code, language="bash", when=f"Try {name}.") for name, code in shell.items()},
    }


def _call(bus: Path) -> str:
    return (
        f"dbus-send --bus=unix:path={bus} --print-reply --dest=org.freedesktop.DBus"
        " /org/freedesktop/DBus org.freedesktop.DBus.ListNames"
    )


@pytest.mark.thorough
@pytest.mark.timeout(400)
def test_every_escape_is_denied_and_written_down_while_the_server_answers(
    escapee: Server, model: ScriptedModel, host: Host
) -> None:
    if host.agent:
        subprocess.run(["ssh-add", "-l"], check=True, env={**os.environ, **host.variables})
    if host.bus and has("dbus-send", "dbus"):
        subprocess.run(_call(host.bus).split(), check=True, stdout=subprocess.DEVNULL)
    tried = escapes(host, escapee.process.pid)
    slowest = [0.0]
    over = threading.Event()
    looking = threading.Thread(target=_look, args=(escapee, slowest, over))
    looking.start()
    try:
        for name, reply in tried.items():
            model.add(reply, says("Tried."))
            client = escapee.ask(f"Try {name}.")
            assert client.reply == "Tried.", (name, client)
            assert "DONE" not in client.output, (name, client.output)
            assert client.all("code.end"), name
        # The interpreters end, and with them all that the bomb is.
        assert escapee.ask("/reset").code == 0
    finally:
        over.set()
        looking.join()
    assert escapee.process.poll() is None
    assert host.untouched
    assert not list(host.home.rglob("evil"))
    assert slowest[0] < ANSWERS_S
    audit = subprocess.run(
        [SAYSO, "audit", "--json"], check=True, capture_output=True, env=escapee.variables
    )
    audited = [json.loads(line) for line in audit.stdout.splitlines()]
    assert [(entry["request"], entry["status"] != "") for entry in audited if "code" in entry] == [
        (f"Try {name}.", True) for name in tried
    ]


def _look(server: Server, slowest: list[float], over: threading.Event) -> None:
    """Ask after the server's health all the while."""
    while not over.wait(0.1):
        asked = time.monotonic()
        server.health()
        slowest[0] = max(slowest[0], time.monotonic() - asked)

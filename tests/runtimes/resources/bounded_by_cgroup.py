"""Code that takes too much, in cgroups that the kernel keeps: `python -m … USER`, as root of a
machine that has cgroups of version 2 and no service manager. It prints what was seen, as JSON.

A server of the user's divides the cgroup that was made for it; nothing of this is played.
"""

import asyncio
import json
import os
import subprocess
import sys
import urllib.request
from dataclasses import replace
from pathlib import Path

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.resources.bounds import ResourceBounds
from sayso.server.runtimes.resources.cgroups import Cgroups, NoCgroupError, find_delegated
from sayso.server.runtimes.sandbox.limits import SandboxLimits
from sayso.server.runtimes.sandbox.sandbox import Confined
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.kernels import lent_home
from tests.runtimes.sandboxes import Altered, Told, sandbox_of, told

ALL = Path("/sys/fs/cgroup")

MEMORY = 192 * 1024**2
PROCESSES = 64

HOARDS = {
    "many processes": """
import os, time
for _ in range(20):
    if not os.fork():
        try:
            open('/proc/self/oom_score_adj', 'w').write('0')
        except OSError:
            pass
        hoard = b'x' * (40 << 20)
        time.sleep(600)
time.sleep(600)
""",
    "memory that has no name": """
import os, time
for _ in range(20):
    os.write(os.memfd_create('hoard'), bytes(40 << 20))
time.sleep(600)
""",
    "files in memory": """
import time
for number in range(20):
    open(f'/dev/shm/{number}', 'wb').write(bytes(40 << 20))
time.sleep(600)
""",
}

BOMB = """
import os, time
born = []
try:
    while True:
        child = os.fork()
        if not child:
            time.sleep(600)
        born.append(child)
except OSError as refused:
    print(len(born), refused)
for child in born:
    os.kill(child, 9)
"""

LOOK = """
import os
print(open('/proc/self/cgroup').read().strip())
for way in (os.listdir, os.mkdir, lambda place: open(place + '/cgroup.procs', 'w').write('0')):
    try:
        way('/sys/fs/cgroup')
        print('let in')
    except OSError as refused:
        print(type(refused).__name__)
"""


def _unwatched(confined: Confined) -> Confined:
    """The watch lets its memory be, so that the kernel alone bounds it."""
    return replace(confined, memory=0)


def _python(code: str) -> str:
    return f"python3 -I -S - <<'END'\n{code}\nEND\n"


def _as_seen(run: Told) -> dict[str, str]:
    ending = run.ending
    return {"status": ending.status, "detail": ending.detail, "said": run.stdout + run.stderr}


def _counted(folder: Path, file: str, name: str) -> int:
    lines = (folder / file).read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def _conversations(own: Path) -> list[Path]:
    return list(own.glob("conversation-*"))


async def attack(cgroups: Cgroups, own: Path, workspace: Path) -> dict[str, object]:
    """Have a conversation's code attack, and return what came of it."""
    sandbox = sandbox_of("bubblewrap", SandboxLimits(together=MEMORY, processes_together=PROCESSES))
    assert not isinstance(sandbox, str), sandbox
    report = SandboxReport(True, sandbox.kind, sandbox=Altered(sandbox, _unwatched))
    code_runner = CodeRunner(
        workspace, ensure(lent_home()), report, bounds=ResourceBounds(cgroups=cgroups)
    )
    seen: dict[str, object] = {}
    try:
        seen["first"] = _as_seen(await told(code_runner, "kept=here; echo $kept", "bash"))
        (bounds,) = _conversations(own)
        seen["bounds"] = {
            name: (bounds / name).read_text().strip()
            for name in ("memory.max", "memory.swap.max", "pids.max")
        }
        seen["look"] = _as_seen(await told(code_runner, _python(LOOK), "bash"))
        for way, code in HOARDS.items():
            hoard = _as_seen(await told(code_runner, _python(code), "bash"))
            peak = int((bounds / "memory.peak").read_text())
            after = _as_seen(await told(code_runner, "echo again", "bash"))
            seen[way] = {"hoard": hoard, "peak": peak, "after": after}
        seen["ended by the kernel"] = _counted(bounds, "memory.events", "oom_group_kill")
        seen["bomb"] = _as_seen(await told(code_runner, _python(BOMB), "bash"))
        seen["most processes"] = int((bounds / "pids.peak").read_text())
        seen["after the bomb"] = _as_seen(await told(code_runner, "echo again", "bash"))
        seen["python"] = _as_seen(await told(code_runner, HOARDS["many processes"]))
        seen["kept beside it"] = _as_seen(await told(code_runner, "echo again", "bash"))
    finally:
        await code_runner.close()
    seen["left"] = [each.name for each in _conversations(own)]
    return seen


def serve(workspace: Path) -> dict[str, object]:
    """Be a server in the cgroup that this process is in."""
    own = find_delegated()
    orphan = subprocess.Popen(["sleep", "600"])
    refused = ""
    try:
        find_delegated()
    except NoCgroupError as reason:
        refused = str(reason)
    old = own / "conversation-old" / "interpreter-1"
    old.mkdir(parents=True)
    (old / "cgroup.procs").write_text(str(orphan.pid))
    cgroups = Cgroups(own)
    return {
        "refused": refused,
        "swept": not old.parent.exists() and orphan.wait(10) == -9,
        "own": Path("/proc/self/cgroup").read_text().strip(),
        **asyncio.run(attack(cgroups, own, workspace)),
    }


def enter(user: int, name: str) -> None:
    """Give the user a cgroup, and enter it as that user."""
    (ALL / "cgroup.subtree_control").write_text("+memory +pids")
    own = ALL / f"{name}-{user}"
    own.mkdir()
    for path in (
        own,
        *(own / f"cgroup.{each}" for each in ("procs", "subtree_control", "threads")),
    ):
        os.chown(path, user, user)
    (own / "cgroup.procs").write_text("0")
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def begin(user: int) -> dict[str, str]:
    """Have the user start `sayso serve` in a cgroup, and return what it says of its bound, and
    which of its cgroups it is in."""
    server = subprocess.Popen(
        [sys.executable, "-m", "sayso.client.command", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: enter(user, "command"),  # noqa: PLW1509 - there are no threads
    )
    try:
        assert server.stdout
        address = server.stdout.readline().split()[-1]
        with urllib.request.urlopen(f"{address}/health", timeout=60) as answer:
            bound = json.load(answer)["memory_bound"]
        return {"bound": bound, "own": Path(f"/proc/{server.pid}/cgroup").read_text().strip()}
    finally:
        server.kill()
        server.wait()


def main(user: int) -> None:
    environment = ensure(lent_home())
    ways = (Path(sys.executable).resolve(), Path(__file__).resolve(), environment.folder / "bin")
    for folder in {each for way in ways for each in way.parents}:
        folder.chmod(folder.stat().st_mode | 0o055)  # of this machine's own view of the files
    home = Path("/tmp") / str(user)
    home.mkdir()
    os.chown(home, user, user)
    os.environ["HOME"] = os.environ["SAYSO_HOME"] = str(home)
    (home / "kernels").symlink_to(environment.folder.parent)
    command = begin(user)
    enter(user, "service")
    json.dump({"command": command, **serve(home / "workspace")}, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Code that wants out: every known escape is tried from inside, and checked from outside."""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.runtimes.attempts import TRY, all_of, assert_nothing_done
from tests.runtimes.calls.functions import Echo
from tests.runtimes.sandboxes import told, workshop_in

SECRET = "the-secret-that-must-stay-outside"


@pytest.fixture
def home() -> Path:
    """A folder as the home of the person who runs the server."""
    folder = Path(os.environ["SAYSO_HOME"]).parent / "alice"
    folder.mkdir(0o700)
    return folder


@pytest.fixture
def key(home: Path) -> Path:
    """A secret in it."""
    file = home / ".ssh" / "id_ed25519"
    file.parent.mkdir(0o700)
    file.write_text(SECRET)
    file.chmod(0o600)
    return file


@pytest.fixture(params=["nothing granted", pytest.param("granted", marks=pytest.mark.thorough)])
async def code_runner(
    request: pytest.FixtureRequest,
    sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
    tmp_path: Path,
) -> AsyncIterator[CodeRunner]:
    """In each sandbox, where functions of the server can be called; and again with all that can be
    granted, which must open nothing else."""
    made = workshop_in(workspace, environment, sandbox)
    if request.param == "granted":
        for name in ("granted to read", "granted to write"):
            (tmp_path / name).mkdir(0o755)
        folders = (
            Folder(tmp_path / "granted to read"),
            Folder(tmp_path / "granted to write", "write"),
        )
        await made.set_reach(Grants(folders, network=True))
    with made.offering("escape", [Echo()]):
        yield made
    await made.close()


@pytest.fixture
async def victim() -> AsyncIterator[asyncio.subprocess.Process]:
    """A process of the server's user, with the secret in its environment and command line."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", f"'{SECRET}'; import sys; sys.stdin.read()"),
        stdin=asyncio.subprocess.PIPE,
        env={"SECRET": SECRET},
    )
    yield process
    if process.returncode is None:
        process.kill()
    await process.wait()


async def test_files_outside_are_neither_read_nor_listed(
    code_runner: CodeRunner, home: Path, key: Path
) -> None:
    code = f"""
home, key = {str(home)!r}, {str(key)!r}
attempt('read', lambda: open(key).read())
attempt('list home', lambda: os.listdir(home))
attempt('list ssh', lambda: os.listdir(home + '/.ssh'))
attempt('cat', lambda: subprocess.run(['cat', key], capture_output=True, check=True).stdout)
os.symlink(key, 'link')
attempt('symbolic link', lambda: open('link').read())
os.symlink(home, 'folder')
attempt('link to a folder', lambda: open('folder/.ssh/id_ed25519').read())
attempt('hard link', lambda: os.link(key, 'hard'))
attempt('dots', lambda: open(os.path.relpath(key)).read())
for root in ('/proc/self/root', '/proc/1/root', '/proc/%d/root' % {os.getpid()}):
    attempt(root, lambda: open(root + key).read())
for folder in ('/proc/1/cwd', '/proc/%d/cwd' % {os.getpid()}):
    attempt(folder, lambda: [n for n in os.listdir(folder) if n == 'pyproject.toml'] or False)
attempt('map', lambda: mmap.mmap(os.open(key, os.O_RDONLY), 0))
attempt('handle', lambda: os.open(key, os.O_RDONLY | os.O_PATH) and
        open('/proc/self/fd/%d' % os.open(key, os.O_PATH)).read())
attempt('shadow', lambda: open('/etc/shadow').read())
attempt('disk', lambda: os.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0)))
"""
    await assert_nothing_done(code_runner, code)


async def test_files_outside_are_not_changed(
    code_runner: CodeRunner, home: Path, key: Path
) -> None:
    rc = home / ".bashrc"
    rc.write_text("# mine")
    before = all_of(home)
    code = f"""
home, key, rc = {str(home)!r}, {str(key)!r}, {str(rc)!r}
def existing(path, flags):  # where it does not exist, the sandbox's own may be made
    if not os.path.lexists(path):
        raise FileNotFoundError
    return os.open(path, flags)
attempt('append', lambda: existing(rc, os.O_WRONLY | os.O_APPEND))
attempt('truncate', lambda: os.truncate(rc, 0))
attempt('remove', lambda: os.unlink(rc))
attempt('rename away', lambda: os.rename(rc, 'mine'))
open('evil', 'w').write('evil')
attempt('rename over', lambda: os.path.lexists(rc) and os.rename('evil', rc))
attempt('mode', lambda: os.chmod(key, 0o777))
attempt('owner', lambda: os.chown(key, os.getuid(), os.getgid()))
attempt('times', lambda: os.utime(key, (1, 1)))
attempt('attribute', lambda: os.setxattr(key, 'user.evil', b'1'))
os.symlink(key, 'link')
attempt('mode by link', lambda: os.chmod('link', 0o777))
attempt('times by link', lambda: os.utime('link', (1, 1), follow_symlinks=False) or False)
attempt('shell', lambda: subprocess.run(['sh', '-c', 'test -e {rc} && echo evil >> {rc}'],
                                        check=True, stderr=subprocess.DEVNULL))
attempt('hook', lambda: subprocess.run(['ln', '-f', 'evil', rc], check=True,
                                       stderr=subprocess.DEVNULL) and os.path.samefile('evil', rc)
                        and not os.stat({str(home)!r}).st_dev == os.stat('/').st_dev)
for folder in ('/', '/usr', '/usr/bin', '/etc', '/bin', '/lib', '/opt', '/var', '/dev', '/sys',
               '/proc/sys/kernel'):
    attempt(folder, lambda: open(folder + '/evil', 'w'))
attempt('settings of the kernel', lambda: open('/proc/sys/kernel/hostname', 'w'))
attempt('core pattern', lambda: open('/proc/sys/kernel/core_pattern', 'w').write('|/evil'))
attempt('sysrq', lambda: open('/proc/sysrq-trigger', 'w').write('s'))
attempt('the launcher', lambda: open({str(Path(__file__))!r}, 'a'))
attempt('its own Python', lambda: open(sys.executable, 'ab'))
attempt('its own packages', lambda: open(shutil.__file__, 'a'))
"""
    await assert_nothing_done(code_runner, code)
    assert all_of(home) == before
    assert rc.read_text() == "# mine"


async def test_the_servers_secrets_are_not_found(
    code_runner: CodeRunner,
    victim: asyncio.subprocess.Process,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    code = f"""
secret = {SECRET[:12]!r} + {SECRET[12:]!r}
attempt('environment', lambda: secret in str(dict(os.environ)) or False)
for folder in pathlib.Path('/proc').glob('[0-9]*'):
    for name in ('environ', 'cmdline'):
        attempt(name, lambda: secret.encode() in (folder / name).read_bytes() and folder.name)
for pid in ({victim.pid}, {os.getpid()}):
    for name in ('environ', 'mem', 'maps', 'stack', 'auxv', 'fd', 'cwd', 'root', 'exe', 'task'):
        attempt(name, lambda: os.path.lexists(f'/proc/{{pid}}/{{name}}') and
                open(f'/proc/{{pid}}/{{name}}').read(1) and False)
attempt('own parent', lambda: secret in open(f'/proc/{{os.getppid()}}/environ').read() or False)
"""
    await assert_nothing_done(code_runner, code)


async def test_other_processes_are_left_alone(
    code_runner: CodeRunner, victim: asyncio.subprocess.Process
) -> None:
    code = f"""
import resource
buffer = ctypes.create_string_buffer(8)
vector = struct.pack('PN', ctypes.addressof(buffer), 8)
def check(result):
    if result < 0: raise OSError(ctypes.get_errno(), 'refused')
for pid in ({victim.pid}, {os.getpid()}):
    mine = pid < 1000 and os.path.exists(f'/proc/{{pid}}')  # a number that is another one's inside
    if mine: continue
    for number in (0, signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        attempt(f'signal {{number}}', lambda: os.kill(pid, number))
    attempt('thread signal', lambda: check(libc.tgkill(pid, pid, 9)))
    attempt('group', lambda: os.killpg(pid, 15))
    attempt('handle', lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 15))
    attempt('trace', lambda: check(libc.ptrace(16, pid, None, None)))
    attempt('seize', lambda: check(libc.ptrace(0x4206, pid, None, None)))
    attempt('read memory', lambda: check(libc.process_vm_readv(pid, vector, 1, vector, 1, 0)))
    attempt('write memory', lambda: check(libc.process_vm_writev(pid, vector, 1, vector, 1, 0)))
    attempt('open memory', lambda: open(f'/proc/{{pid}}/mem', 'r+b'))
    attempt('take a file', lambda: system(438, os.pidfd_open(pid), 0, 0))
    attempt('limit', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (8, 8)))
    attempt('priority', lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
    attempt('processor', lambda: os.sched_setaffinity(pid, [0]))
    attempt('scheduler', lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
attempt('trace itself', lambda: check(libc.ptrace(0, 0, None, None)))
subprocess.Popen(['sleep', '0.01']).wait()
"""
    await assert_nothing_done(code_runner, code)
    await told(code_runner, "import os; os.kill(-1, 9)")
    assert victim.returncode is None


@pytest.fixture
def listeners(home: Path) -> Iterator[dict[str, socket.socket]]:
    """Servers of this machine that confined code must not reach."""
    with ExitStack() as stack:
        made = {}
        for name, family, kind, address in (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("stream", socket.AF_UNIX, socket.SOCK_STREAM, str(home / "docker.sock")),
            ("datagram", socket.AF_UNIX, socket.SOCK_DGRAM, str(home / "notify")),
            ("packets", socket.AF_UNIX, socket.SOCK_SEQPACKET, str(home / "bus")),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0sayso-test-{os.getpid()}"),
            ("abstract_datagram", socket.AF_UNIX, socket.SOCK_DGRAM, f"\0sayso-d-{os.getpid()}"),
        ):
            one = stack.enter_context(socket.socket(family, kind))
            one.bind(address)
            one.setblocking(False)
            if kind != socket.SOCK_DGRAM:
                one.listen()
            made[name] = one
        yield made


async def test_neither_the_network_nor_the_hosts_sockets_are_reached(
    code_runner: CodeRunner, listeners: dict[str, socket.socket]
) -> None:
    tcp, udp = listeners["tcp"].getsockname()[1], listeners["udp"].getsockname()[1]
    paths = {name: one.getsockname() for name, one in listeners.items()}
    code = f"""
paths = {paths!r}
def connect(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(1)
        one.connect(address)
        if kind == socket.SOCK_DGRAM:
            one.send(b'out')
            return False  # whether it arrived is seen outside
def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        one.sendto(b'out', address)
        one.sendmsg([b'out'], [], 0, address)
    return False
attempt('tcp', lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', {tcp})))
attempt('udp', lambda: send(socket.AF_INET, ('127.0.0.1', {udp})))
attempt('outside', lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ('192.0.2.1', 80)))
attempt('outside, six', lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ('2001:db8::1', 80)))
attempt('name', lambda: socket.getaddrinfo('example.org', 80))
for name in ('stream', 'abstract'):
    attempt(name, lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, paths[name]))
attempt('packets', lambda: connect(socket.AF_UNIX, socket.SOCK_SEQPACKET, paths['packets']))
for name in ('datagram', 'abstract_datagram'):
    attempt(name, lambda: connect(socket.AF_UNIX, socket.SOCK_DGRAM, paths[name]))
    attempt(name, lambda: send(socket.AF_UNIX, paths[name]))
    def by_pair():
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        one.sendto(b'out', paths[name])
    attempt('pair', by_pair)
for path in ('/run/dbus/system_bus_socket', '/var/run/docker.sock', '/run/systemd/private'):
    attempt(path, lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, path))
attempt('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))
attempt('netlink', lambda: socket.socket(16, socket.SOCK_RAW))
attempt('packet', lambda: socket.socket(17, socket.SOCK_RAW))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
"""
    await assert_nothing_done(code_runner, code)
    for name, one in listeners.items():
        with pytest.raises(BlockingIOError):
            one.recv(1) if one.type == socket.SOCK_DGRAM else one.accept()
        assert name


async def test_no_privilege_is_held_or_won(code_runner: CodeRunner) -> None:
    code = """
status = dict(line.split(':\\t', 1) for line in open('/proc/self/status').read().splitlines())
for name in ('CapPrm', 'CapEff', 'CapAmb'):
    attempt(name, lambda: int(status[name], 16) or False)
attempt('filter', lambda: status['Seccomp'] != '2')
attempt('new privileges', lambda: status['NoNewPrivs'] != '1')
attempt('root', lambda: os.setuid(0) if os.getuid() else False)
attempt('groups', lambda: os.setgroups([0]))
attempt('raise a limit', lambda: __import__('resource').setrlimit(9, (-1, -1)))
def check(result):
    if result < 0: raise OSError(ctypes.get_errno(), 'refused')
for kind in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000):
    attempt('namespace', lambda: check(libc.unshare(kind)))
attempt('unshare', lambda: subprocess.run(['unshare', '-r', 'id'], check=True, capture_output=True))
attempt('mount', lambda: check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)))
attempt('bind', lambda: check(libc.mount(b'/', b'/tmp', None, 4096, None)))
attempt('unmount', lambda: check(libc.umount2(b'/proc', 2)))
attempt('root folder', lambda: os.chroot('.'))
attempt('host name', lambda: check(libc.sethostname(b'evil', 4)))
attempt('module', lambda: system(313, 0, b'', 0))
attempt('bpf', lambda: system(321, 0, None, 0))
attempt('io_uring', lambda: system(425, 1, None))
attempt('keys', lambda: system(250, 0, -3, 0))
attempt('userfaultfd', lambda: system(323, 0))
attempt('perf', lambda: system(298, None, 0, -1, -1, 0))
attempt('x32', lambda: system(0x40000000 + 39))
attempt('clone3', lambda: system(435, None, 0))
"""
    if os.uname().machine != "x86_64":
        code = code[: code.index("attempt('module'")]
    await assert_nothing_done(code_runner, code)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the other set of calls is x86's")
async def test_calls_of_another_instruction_set_end_the_process(code_runner: CodeRunner) -> None:
    code = """
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex('b814000000cd80c3'))  # mov eax, 20 (getpid); int 0x80; ret
act = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
child = os.fork()
if not child:
    act()
    os._exit(0)
print(os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGSYS)
"""
    assert (await told(code_runner, TRY + code)).stdout.endswith("True\n")


async def test_a_workspace_is_not_seen_from_another(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    mine = workshop_in(workspace / "mine", environment, sandbox)
    other = workshop_in(workspace / "other", environment, sandbox)
    try:
        await told(mine, f"open('note', 'w').write({SECRET!r})")
        folders = f"{tempfile.gettempdir()}/sayso-code-*"
        code = f"""
import glob
attempt('read', lambda: open({str(workspace / "mine" / "note")!r}).read())
attempt('list', lambda: os.listdir({str(workspace / "mine")!r}))
from ipykernel.connect import get_connection_file
own = os.path.dirname(get_connection_file())
for path in glob.glob({folders!r}):
    if path != own:
        attempt(path, lambda: os.listdir(path))
        attempt(path, lambda: open(path + '/connection.json').read())
"""
        await assert_nothing_done(other, code)
    finally:
        await mine.close()
        await other.close()

"""Sockets, named pipes and devices in folders that were granted: they lead to programs outside."""

import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox import landlock
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.machine import lacking
from tests.runtimes.attempts import TRY, assert_nothing_done
from tests.runtimes.sandboxes import told, workshop_in

SWAPS = 3_000
"""Tries to change an address while it is looked at: an unguarded look lost after some ten."""


@pytest.fixture(params=["/tmp", "/var/tmp"])
def granted(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of the person's, as open as can be, where the sandbox's own would lie and not."""
    with tempfile.TemporaryDirectory(dir=request.param) as name:
        folder = Path(name).resolve()
        folder.chmod(0o777)
        yield folder


@pytest.fixture
def listeners(granted: Path) -> Iterator[dict[str, socket.socket]]:
    """Programs of this machine that listen there."""
    with ExitStack() as stack:
        made = {}
        for name, kind in (
            ("stream", socket.SOCK_STREAM),
            ("datagram", socket.SOCK_DGRAM),
            ("packets", socket.SOCK_SEQPACKET),
        ):
            one = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            one.bind(str(granted / name))
            (granted / name).chmod(0o777)
            one.setblocking(False)
            if kind != socket.SOCK_DGRAM:
                one.listen(100)
            made[name] = one
        yield made


@pytest.fixture(params=["read", "write"])
async def code_runner(
    request: pytest.FixtureRequest,
    sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
    granted: Path,
) -> AsyncIterator[CodeRunner]:
    made = workshop_in(workspace, environment, sandbox)
    await made.set_reach(Grants((Folder(granted, request.param),)))
    yield made
    await made.close()


def assert_nobody_came(listeners: dict[str, socket.socket]) -> None:
    for one in listeners.values():
        with pytest.raises(BlockingIOError):
            one.recv(1) if one.type == socket.SOCK_DGRAM else one.accept()


async def test_no_socket_in_a_granted_folder_is_reached(
    code_runner: CodeRunner, granted: Path, listeners: dict[str, socket.socket]
) -> None:
    code = f"""
folder = {str(granted)!r}
kinds = dict(stream=socket.SOCK_STREAM, datagram=socket.SOCK_DGRAM, packets=socket.SOCK_SEQPACKET)
def connect(kind, address):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.settimeout(1)
        one.connect(address)
def send(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.sendto(b'out', address)
def send_by_pair(address):
    for one in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        one.sendto(b'out', address)
here = os.getcwd()
for name, kind in kinds.items():
    path = f'{{folder}}/{{name}}'
    attempt(path, lambda: connect(kind, path))
    attempt('send', lambda: send(path))
    attempt('send by pair', lambda: send_by_pair(path))
    link = f'{{os.environ["TMPDIR"]}}/{{name}}'
    os.symlink(path, link)
    attempt('link', lambda: connect(kind, link))
    attempt('dots', lambda: connect(kind, os.path.relpath(path)))
    def beside():
        os.chdir(folder)
        try:
            connect(kind, name)
        finally:
            os.chdir(here)
    attempt('working folder', beside)
    def by_descriptor():
        handle = os.open(path, os.O_PATH)
        connect(kind, f'/proc/self/fd/{{handle}}')
    attempt('descriptor', by_descriptor)
    def by_folder():
        handle = os.open(folder, os.O_PATH)
        connect(kind, f'/proc/self/fd/{{handle}}/{{name}}')
    attempt('folder', by_folder)
    for root in ('/proc/self/root', '/proc/thread-self/root', f'/proc/{{os.getpid()}}/root'):
        attempt(root, lambda: connect(kind, root + path))
    attempt('hard link', lambda: os.link(path, link + '-2') or connect(kind, link + '-2'))
    attempt('moved', lambda: os.rename(path, link + '-3') or connect(kind, link + '-3'))
"""
    await assert_nothing_done(code_runner, code)
    assert_nobody_came(listeners)


@pytest.mark.slow
async def test_an_address_that_changes_while_it_is_looked_at_reaches_nobody(
    code_runner: CodeRunner, granted: Path, listeners: dict[str, socket.socket]
) -> None:
    code = f"""
own = os.environ['TMPDIR'] + '/own'
listener = socket.socket(socket.AF_UNIX)
listener.bind(own)
listener.listen(100)
theirs = {str(granted / "stream")!r}
def packed(path):
    return struct.pack('=H', 1) + path.encode().ljust(106, b'\\0')
address = ctypes.create_string_buffer(packed(own), 110)
over = threading.Event()
def swap():
    while not over.is_set():
        ctypes.memmove(address, packed(theirs), 108)
        ctypes.memmove(address, packed(own), 108)
link = os.environ['TMPDIR'] + '/link'
os.symlink(own, link)
def turn():
    while not over.is_set():
        for target in (theirs, own):
            os.symlink(target, link + '-new')
            os.rename(link + '-new', link)
sockets = [socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)]
number = os.dup(sockets[0].fileno())
def exchange():
    while not over.is_set():
        for one in sockets:
            os.dup2(one.fileno(), number)
workers = [threading.Thread(target=each) for each in (swap, turn, exchange)]
for worker in workers:
    worker.start()
linked = packed(link)
for each in range({SWAPS // 3}):
    with socket.socket(socket.AF_UNIX) as one:
        one.setblocking(False)
        libc.connect(one.fileno(), address, 110)
    with socket.socket(socket.AF_UNIX) as one:
        one.setblocking(False)
        libc.connect(one.fileno(), linked, len(linked))
    libc.connect(number, packed(theirs), 108)
over.set()
for worker in workers:
    worker.join()
"""
    assert (await told(code_runner, TRY + code)).ending.status == "ok"
    assert_nobody_came(listeners)


async def test_no_named_pipe_in_a_folder_granted_to_read_is_written_to(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path, granted: Path
) -> None:
    if landlock.version() < 2:
        lacking("bubblewrap alone cannot: Landlock 2 is needed, which came with Linux 5.19")
    pipe = granted / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    code_runner = workshop_in(workspace, environment, sandbox)
    await code_runner.set_reach(Grants((Folder(granted),)))
    code = f"""
pipe, folder = {str(pipe)!r}, {str(granted)!r}
def write(path, flags=os.O_WRONLY):
    handle = os.open(path, flags | os.O_NONBLOCK)
    os.write(handle, b'out')
attempt('write', lambda: write(pipe))
attempt('both', lambda: write(pipe, os.O_RDWR))
attempt('append', lambda: write(pipe, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
os.symlink(pipe, 'link')
attempt('link', lambda: write('link'))
attempt('handle', lambda: write('/proc/self/fd/%d' % os.open(pipe, os.O_PATH)))
attempt('folder', lambda: write('/proc/self/fd/%d/pipe' % os.open(folder, os.O_PATH)))
attempt('reopened', lambda: write('/proc/self/fd/%d' % os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)))
attempt('shell', lambda: subprocess.run(['dd', 'of=' + pipe, 'oflag=nonblock'], input=b'out',
                                        check=True, stderr=subprocess.DEVNULL))
attempt('truncate', lambda: os.truncate(pipe, 0))
"""
    try:
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()
    try:
        assert os.read(reader, 1) == b""  # as long as nobody writes
    finally:
        os.close(reader)


async def test_what_lies_in_memory_of_its_own_is_a_programs_to_use(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    if any_sandbox.kind != "bubblewrap":
        lacking("Landlock has no such memory everywhere, and refuses UNIX connections")
    code_runner = workshop_in(workspace, environment, any_sandbox)
    code = """
import multiprocessing.connection, os, select, socket, tempfile, threading
def serve(listener):
    with listener.accept() as one:
        one.send(one.recv() * 2)
for family, address in (('AF_UNIX', None), ('AF_UNIX', '\\0abstract'),
                        ('AF_UNIX', '/dev/shm/socket'), ('AF_INET', ('127.0.0.1', 0))):
    listener = multiprocessing.connection.Listener(address, family)
    server = threading.Thread(target=serve, args=(listener,))
    server.start()
    client = multiprocessing.connection.Client(listener.address)
    client.send(21)
    print(client.recv(), end=' ')
    server.join()
os.chdir(tempfile.mkdtemp())
with socket.socket(socket.AF_UNIX) as full, socket.socket(socket.AF_UNIX) as waits:
    full.bind('here')
    full.listen(0)
    waits.connect('here')
    late = socket.socket(socket.AF_UNIX)
    late.setblocking(False)
    try:
        late.connect('here')
    except BlockingIOError:
        print('full', end=' ')
    late = socket.socket(socket.AF_UNIX)
    waiter = threading.Thread(target=late.connect, args=('here',))
    waiter.start()
    with socket.create_server(('127.0.0.1', 0)) as tcp:  # while the other one waits
        socket.create_connection(tcp.getsockname()).close()
    full.accept()
    waiter.join()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.bind(('127.0.0.1', 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.connect(one.getsockname())
        other.send(b'datagram')
    print(one.recv(100).decode())
"""
    try:
        run = await told(code_runner, code)
    finally:
        await code_runner.close()
    assert run.stdout == "42 42 42 42 full datagram\n", (run.stderr, run.error)

"""What files are allowed to do, whose they are and when they changed: code sets it for its own."""

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import KERNEL_USER, Sandbox
from tests.runtimes.attempts import TRY, all_of, assert_nothing_done
from tests.runtimes.sandboxes import told, workshop_in


@pytest.fixture
def granted(tmp_path: Path) -> Path:
    """A folder to read, with files of the user as whom code runs: nobody else keeps it out."""
    folder = tmp_path / "granted"
    (folder / "inner").mkdir(parents=True)
    for name in ("file", "inner/file"):
        (folder / name).write_text("mine")
        (folder / name).chmod(0o644)
        os.utime(folder / name, (10**9, 10**9))
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, KERNEL_USER, KERNEL_USER)
    return folder


@pytest.fixture
async def reading(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path, granted: Path
) -> AsyncIterator[CodeRunner]:
    made = workshop_in(workspace, environment, sandbox)
    await made.set_reach(Grants((Folder(granted),)))
    yield made
    await made.close()


CHANGE = """
def change(path, flags=os.O_RDONLY):
    handle = os.open(path, flags)
    empty = ctypes.c_char_p(b'')
    times = struct.pack('=qqqq', 1, 0, 1, 0)
    attempt('mode', lambda: os.fchmod(handle, 0o777))
    attempt('mode by name', lambda: os.chmod(f'/proc/self/fd/{handle}', 0o777))
    attempt('mode by other name', lambda: os.chmod(f'/dev/fd/{handle}', 0o777))
    attempt('mode at', lambda: system(452, handle, empty, 0o777, 0x1000))
    attempt('owner', lambda: os.fchown(handle, os.getuid(), os.getgid()))
    attempt('owner at', lambda: os.chown('', os.getuid(), os.getgid(), dir_fd=handle))
    attempt('times', lambda: os.utime(handle, (1, 1)))
    attempt('times now', lambda: os.utime(handle))
    attempt('times at', lambda: libc.utimensat(handle, empty, times, 0x1000) == 0)
    attempt('times by name', lambda: os.utime(f'/proc/self/fd/{handle}', (1, 1)))
    attempt('attribute', lambda: os.setxattr(handle, 'user.evil', b'1'))
    attempt('no attribute', lambda: os.removexattr(handle, 'user.mine'))
    for request in (0x40086602, 0x401C5820, 0x40046602, 0x40087602, 0x40806685, 0x800C6613):
        attempt(hex(request), lambda: libc.ioctl(handle, ctypes.c_ulong(request), bytes(128)) == 0)
    attempt('new attributes', lambda: system(469, handle, empty, bytes(24), 24, 0x1000))
    import fcntl
    attempt('lease', lambda: fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK))
    attempt('notice', lambda: fcntl.fcntl(handle, fcntl.F_NOTIFY, fcntl.DN_MODIFY))
    os.close(handle)
"""


async def test_what_may_be_read_is_not_changed_through_a_descriptor(
    reading: CodeRunner, granted: Path
) -> None:
    if os.geteuid():
        os.setxattr(granted / "file", "user.mine", b"1")
    before, changed = all_of(granted), (granted / "file").stat().st_ctime_ns
    code = f"""
folder = {str(granted)!r}
for path in (folder, folder + '/file', folder + '/inner', folder + '/inner/file'):
    change(path)
for path in (folder + '/file', folder + '/inner'):
    change(path, os.O_PATH)
os.symlink(folder + '/file', 'link')
change('link')
def by_path(path):
    attempt('mode', lambda: os.chmod(path, 0o777))
    attempt('times', lambda: os.utime(path, (1, 1)))
    attempt('owner', lambda: os.chown(path, os.getuid(), os.getgid()))
    attempt('attribute', lambda: os.setxattr(path, 'user.evil', b'1'))
for path in ('link', folder + '/file', os.path.relpath(folder) + '/inner/../file'):
    by_path(path)
for path in (sys.executable, os.__file__, shutil.__file__, ctypes.util.__file__):
    by_path(path)
    change(path)
"""
    await assert_nothing_done(reading, TRY + CHANGE + "import ctypes.util" + code)
    assert all_of(granted) == before
    assert (granted / "file").stat().st_ctime_ns == changed


async def test_what_code_may_write_it_changes_as_ever(
    reading: CodeRunner, workspace: Path, granted: Path
) -> None:
    code = f"""
import os, shutil, subprocess, tarfile, tempfile
open('file', 'w').write('text')
handle = os.open('file', os.O_RDONLY)
os.fchmod(handle, 0o640)
os.utime(handle, (5, 5))
os.chmod('/proc/self/fd/%d' % handle, 0o600)
found = os.stat('file')
print(oct(found.st_mode), found.st_mtime)
shutil.copy2({str(granted / "file")!r}, 'copy')
print(int(os.stat('copy').st_mtime), oct(os.stat('copy').st_mode))
with tempfile.TemporaryFile() as nameless:
    os.fchmod(nameless.fileno(), 0o600)
    os.utime(nameless.fileno(), (7, 7))
    print(int(os.fstat(nameless.fileno()).st_mtime))
memory = os.memfd_create('memory')
os.fchmod(memory, 0o600)
os.utime(memory, (8, 8))
print(int(os.fstat(memory).st_mtime))
os.mkdir('tree')
open('tree/script', 'w').write('')
os.chmod('tree/script', 0o751)
os.utime('tree/script', (9, 9))
with tarfile.open('tree.tar', 'w') as archive:
    archive.add('tree')
shutil.rmtree('tree')
subprocess.run(['tar', '-xpf', 'tree.tar'], check=True)
print(oct(os.stat('tree/script').st_mode), int(os.stat('tree/script').st_mtime))
subprocess.run(['cp', '-a', 'tree', 'again'], check=True)
subprocess.run(['touch', '-d', '@11', 'again/script'], check=True)
subprocess.run(['chmod', '-R', 'go-rwx', 'again'], check=True)
print(oct(os.stat('again/script').st_mode), int(os.stat('again/script').st_mtime))
"""
    run = await told(reading, code)
    assert run.stdout.splitlines() == [
        "0o100600 5.0",
        "1000000000 0o100644",
        "7",
        "8",
        "0o100751 9",
        "0o100700 11",
    ], (run.stderr, run.error)


async def test_no_program_that_gives_away_its_owners_rights_is_left(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    code_runner = workshop_in(workspace, environment, sandbox)
    code = """
def made(name):
    open(name, 'w').write('')
    return name
number = 268 if os.uname().machine == 'x86_64' else 53
path = lambda name: ctypes.c_char_p(name.encode())
for bits in (0o4755, 0o2755, 0o6777):
    name = oct(bits)
    attempt('chmod', lambda: os.chmod(made(name + '-1'), bits))
    attempt('fchmod', lambda: os.fchmod(os.open(made(name + '-2'), os.O_RDONLY), bits))
    attempt('fchmodat', lambda: system(number, -100, path(made(name + '-3')), bits))
    attempt('fchmodat2', lambda: system(452, -100, path(made(name + '-4')), bits, 0))
    attempt('open', lambda: os.open(name + '-5', os.O_CREAT | os.O_WRONLY, bits))
    attempt('temporary', lambda: os.link('/proc/self/fd/%d' % os.open('.', os.O_TMPFILE | os.O_RDWR,
                                         bits), name + '-6'))
    attempt('openat2', lambda: system(437, -100, path(name + '-7'),
                                      struct.pack('=QQQ', os.O_CREAT | os.O_WRONLY, bits, 0), 24))
    attempt('mknod', lambda: os.mknod(name + '-8', bits | stat.S_IFREG))
    attempt('mkdir', lambda: os.mkdir(name + '-9', bits))
    attempt('folder', lambda: os.mkdir(name + '-10') or os.chmod(name + '-10', bits))
    attempt('shell', lambda: subprocess.run(['chmod', oct(bits)[2:], made(name + '-11')],
                                            check=True, stderr=subprocess.DEVNULL))
    attempt('install', lambda: subprocess.run(['install', '-m', oct(bits)[2:], '/bin/true',
                               name + '-12'], check=True, stderr=subprocess.DEVNULL))
    if os.uname().machine == 'x86_64':
        attempt('creat', lambda: system(85, path(name + '-13'), bits))
        attempt('old open', lambda: system(2, path(name + '-14'), os.O_CREAT, bits))
attempt('capability', lambda: os.setxattr(made('able'), 'security.capability', struct.pack(
    '<IIIII', 0x02000001, 0xffffffff, 0, 0xffffffff, 0)))
attempt('again', lambda: os.setxattr(os.open(made('able'), os.O_RDONLY), 'security.capability',
                                     struct.pack('<IIIII', 0x02000001, 0xffffffff, 0, 0, 0)))
os.umask(0)
made('old')
os.chmod('old', 0o1777)
"""
    try:
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()
    assert stat.S_IMODE((workspace / "old").stat().st_mode) == 0o1777
    for path, (mode, *_) in all_of(workspace).items():
        assert not mode & 0o6000, path
        assert "security.capability" not in os.listxattr(path, follow_symlinks=False)


async def test_what_extended_attributes_of_files_outside_say_stays_unknown(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "downloaded"
    file.write_text("")
    file.chmod(0o644)
    try:
        os.setxattr(file, "user.xdg.origin.url", b"https://example.org/?token=secret")
    except OSError:
        pytest.skip("this file system keeps no extended attributes")
    code_runner = workshop_in(workspace, environment, sandbox)
    code = f"""
file = {str(file)!r}
os.symlink(file, 'link')
for path in (file, 'link'):
    attempt('list', lambda: os.listxattr(path))
    attempt('read', lambda: os.getxattr(path, 'user.xdg.origin.url'))
    attempt('read link', lambda: os.getxattr(path, 'user.xdg.origin.url', follow_symlinks=False))
    attempt('handle', lambda: os.getxattr(os.open(path, os.O_PATH), 'user.xdg.origin.url'))
    attempt('by handle', lambda: os.getxattr('/proc/self/fd/%d' % os.open(path, os.O_PATH),
                                             'user.xdg.origin.url'))
"""
    try:
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()


async def test_whatever_the_guard_is_asked_it_lives_on(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    """Pointers that lead nowhere, to the end of a page, or into a process that ends meanwhile."""
    code_runner = workshop_in(workspace, environment, sandbox)
    code = """
two = mmap.mmap(-1, 8192)
end = ctypes.addressof(ctypes.c_char.from_buffer(two)) + 4096
libc.mprotect(ctypes.c_void_p(end), 4096, 0)
two[4096 - 4:4096] = b'file'
with socket.socket() as one:
    number = one.fileno()
    for pointer in (0, 1, 8, end, end - 1, end - 4, end - 8, 2**47 - 8, 2**63, 2**64 - 1):
        at = ctypes.c_void_p(pointer)
        for size in (0, 1, 2, 16, 110, 128, 129, 2**31, 2**32 - 1):
            libc.connect(number, at, ctypes.c_uint(size))
            libc.connect(1, at, ctypes.c_uint(size))
            libc.connect(-1, at, ctypes.c_uint(size))
        libc.chmod(at, 0o644)
        libc.fchmod(pointer, 0o644)
        libc.utimensat(-100, b'file', at, 0)
        libc.utimensat(number, None, at, 0)
        libc.utimensat(-100, None, at, 0)
        libc.listen(number, pointer & 0xffff)
for each in range(100):
    child = os.fork()
    if not child:
        threading.Thread(target=lambda: [libc.chmod(b'/' * 4000, 0) for _ in range(99)]).start()
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
open('file', 'w').close()
os.chmod('file', 0o600)
os.utime('file', (3, 3))
try:
    socket.create_connection(('127.0.0.1', 9))
except ConnectionRefusedError:
    print('refused', os.stat('file').st_mtime)
except PermissionError:
    print('refused', os.stat('file').st_mtime)
"""
    try:
        assert (await told(code_runner, TRY + code)).stdout == "refused 3.0\n"
    finally:
        await code_runner.close()

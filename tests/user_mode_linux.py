"""A Linux kernel as a program (Debian's package user-mode-linux), with this machine's files.

Its changes to them are in its own memory and end with it. Root there is the user who runs it.
It has cgroups of version 2 with all controllers, which the machine that tests run on may not have.
"""

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

PROGRAM = "linux.uml"

_MODULES = Path("/usr/lib/uml/modules")

_OVERLAY = "import ctypes, os; ctypes.CDLL(None).syscall(313, os.open('%s', 0), b'', 0)"
"""finit_module, the same number on each machine that this kernel is built for (x86_64)."""

_LOOPBACK = """import fcntl, socket, struct
with socket.socket() as any:
    fcntl.ioctl(any, 0x8914, struct.pack("16sH14x", b"lo", 0x1))
"""
"""SIOCSIFFLAGS with IFF_UP."""

_BEGIN = r"""#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
$PYTHON -I -S -c "$OVERLAY"
$PYTHON -I -S -c "$LOOPBACK"
mount -t tmpfs tmpfs /mnt
mkdir /mnt/changes /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/changes,workdir=/mnt/work overlay /mnt/root
cd /mnt/root
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t devtmpfs devtmpfs dev
mkdir -p dev/pts dev/shm before
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
for folder in dev/shm tmp run; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
mkdir run/shared
mount -t hostfs -o "$SHARED" none run/shared
pivot_root . before
umount -l before
/bin/sh -c "$COMMAND" > /run/shared/told 2>&1 < /dev/null
echo $? > /run/shared/status
echo o > /proc/sysrq-trigger
sleep 60
"""


def run(
    command: Sequence[str], variables: Mapping[str, str], python: str, folder: Path, seconds: float
) -> tuple[int, str]:
    """Run a command as that machine's root; return its exit status and all that it printed.

    `folder`: an empty one, from which it is started. Raises TimeoutExpired.
    """
    (module,) = _MODULES.glob("*/kernel/fs/overlayfs/overlay.ko")
    settings = {
        "PYTHON": python,
        "OVERLAY": _OVERLAY % module,
        "LOOPBACK": _LOOPBACK,
        "SHARED": str(folder),
        "COMMAND": "exec env "
        + shlex.join([*(f"{k}={v}" for k, v in variables.items()), *command]),
    }
    begin = folder / "begin.sh"
    lines = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    first, _, rest = _BEGIN.partition("\n")
    begin.write_text("\n".join([first, *lines, rest]))
    begin.chmod(0o755)
    booted = subprocess.run(
        [
            *(PROGRAM, "mem=2G", "rootfstype=hostfs", "rootflags=/", "ro", "quiet"),
            *(f"init={begin}", f"uml_dir={folder}", "con=null", "con0=null,fd:1"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=seconds,
        check=False,
    )
    try:
        status = int((folder / "status").read_text())
    except (FileNotFoundError, ValueError):
        raise AssertionError(booted.stdout.decode(errors="replace")) from None
    return status, (folder / "told").read_text(errors="replace")

"""A bare Debian machine in a folder, made by debootstrap, for root to enter in two ways.

    changed root    as by `chroot`: neither user namespaces nor views of the file system can be made
                    there, and bubblewrap does not work
    container       as a container's first program enters it: namespaces can be made

The mirror that this machine's apt uses, its package index and their certificates are carried over
as they are set here. It is the one thing in these tests that reaches the network, which the tests
themselves have left (tests/without_network.py): to install what is tested is what it is for.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from tests.repository.tree import copy

Way = Literal["changed root", "container"]

PERSON = "ada"
"""Who lives there besides root."""

_USER = 1_000
_HOMES = {"root": "/root", PERSON: f"/home/{PERSON}"}
_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_CARRIED = {
    name: value
    for name, value in os.environ.items()  # when tests are collected: no proxy leads to them yet
    if name.startswith("PIP_") or name == "SSL_CERT_FILE" or name.lower() in _PROXIES
}
"""Variables that lead to a package index."""

_ENTER = r"""
set -e
if [ "$WAY" = container ]; then mount --bind "$ROOM" "$ROOM"; fi
cd "$ROOM"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do
    touch dev/$name
    mount --bind /dev/$name dev/$name
done
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
for path in $LENT; do
    if [ -d "$path" ]; then mkdir -p ".$path"; else mkdir -p ".${path%/*}" && touch ".$path"; fi
    mount --bind -o ro "$path" ".$path"
done
become="env -i $VARIABLES setpriv --reuid=$NUMBER --regid=$NUMBER --clear-groups bash -c"
if [ "$WAY" = container ]; then
    mkdir -p before
    pivot_root . before
    umount -l before
    exec $become "cd; cd sayso; $1"
fi
exec chroot . $become "cd; cd sayso; $1"
"""


def missing() -> str:
    """Why no such machine can be made here; empty where it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can make a machine"
    if "ID=debian" not in Path("/etc/os-release").read_text(encoding="utf-8").splitlines():
        return "only Debian tells where a Debian machine is to be had"
    if subprocess.run([*_unshare(), "true"], capture_output=True, check=False).returncode:
        return "this machine lets nobody mount"
    return ""


class BareMachine:
    """One in a folder that is not there yet."""

    def __init__(self, folder: Path) -> None:
        self._room = folder

    def make(self) -> None:
        """Fetch and install it, with what a clone needs to begin: a minute or two."""
        mirror, release = _mirror()
        options = ("--variant=minbase", "--include=python3,python3-venv,git")
        made = _outside(["debootstrap", *options, release, str(self._room), mirror], _CARRIED)
        assert not made.returncode, made.stdout
        etc = self._room / "etc"
        shutil.copy("/etc/resolv.conf", etc / "resolv.conf")
        (etc / "apt/apt.conf.d/90carried").write_text(_settings_of_apt())
        (etc / "pip.conf").write_text("\n".join(["[global]", *_settings_of_pip(), ""]))
        for file, line in (
            ("passwd", f"{PERSON}:x:{_USER}:{_USER}::{_HOMES[PERSON]}:/bin/bash\n"),
            ("group", f"{PERSON}:x:{_USER}:\n"),
        ):
            with (etc / file).open("a") as names:
                names.write(line)
        home = self._room / _HOMES[PERSON][1:]
        home.mkdir(0o700)
        os.chown(home, _USER, _USER)

    def run(self, who: str, way: Way, command: str) -> "subprocess.CompletedProcess[str]":
        """Run a shell's command in somebody's clone of this repository, in their home, which is
        closed to others."""
        clone = self._room / _HOMES[who][1:] / "sayso"
        number = 0 if who == "root" else _USER
        if not clone.exists():
            copy(clone)
            subprocess.run(["git", "init", "--quiet", str(clone)], check=True)
            for path in (clone, *clone.rglob("*")):
                os.chown(path, number, number, follow_symlinks=False)
        inside = {
            **_CARRIED,
            "HOME": _HOMES[who],
            "USER": who,
            "LOGNAME": who,
            "PATH": _SEARCH_PATH,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        assert not any(" " in value for value in inside.values())
        return _outside(
            [*_unshare(), "bash", "-c", _ENTER, "enter", command],
            {
                "PATH": _SEARCH_PATH,
                "ROOM": str(self._room),
                "WAY": way,
                "NUMBER": str(number),
                "LENT": " ".join(_lent()),
                "VARIABLES": " ".join(f"{name}={value}" for name, value in inside.items()),
            },
        )

    def remove(self) -> None:
        shutil.rmtree(self._room, ignore_errors=True)


def _unshare() -> Sequence[str]:
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]


def _outside(
    command: Sequence[str], variables: dict[str, str]
) -> "subprocess.CompletedProcess[str]":
    """Run a command in the network that this machine has."""
    outside = os.environ.get("SAYSO_TEST_OUTSIDE", "")
    enter = ["nsenter", f"--net={outside}"] if outside else []
    return subprocess.run(
        [*enter, *command],
        env={"PATH": _SEARCH_PATH, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def _told(command: Sequence[str]) -> list[str]:
    run = subprocess.run(
        command, env=os.environ | _CARRIED, capture_output=True, text=True, check=False
    )
    return run.stdout.splitlines()


def _mirror() -> tuple[str, str]:
    """Where apt finds Debian itself, and what it calls the release."""
    columns = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    told = _told(["apt-get", "indextargets", "--format", columns, "Created-By: Packages"])
    for address, release, component in map(str.split, told):
        if component == "main" and "-" not in release:
            return address, release
    raise AssertionError("apt knows no mirror of Debian")


def _settings_of_apt() -> str:
    """How apt goes out."""
    begins = ("Acquire::http::", "Acquire::https::")
    return "".join(f"{line}\n" for line in _told(["apt-config", "dump"]) if line.startswith(begins))


def _settings_of_pip() -> list[str]:
    """What pip's files say on this machine, whoever they are for."""
    python = shutil.which("python3", path=_SEARCH_PATH) or sys.executable
    found = []
    for pip in (["pip"], [python, "-m", "pip"]):
        if shutil.which(pip[0]):
            for line in _told([*pip, "config", "list"]):
                name, _, value = line.partition("=")
                section, _, key = name.partition(".")
                if section == "global":
                    found.append(f"{key} = {value.strip(chr(39))}")
            if found:
                break
    return found


def _lent() -> list[str]:
    """The files and folders of this machine that these settings name."""
    words = [word for value in _CARRIED.values() for word in value.split()]
    words += [word for line in _settings_of_pip() for word in line.partition(" = ")[2].split()]
    paths = {urlsplit(word).path for word in words if word.startswith(("/", "file:///"))}
    there = {path for path in paths if Path(path).exists()}
    # An index of files is lent with all that lies beside its pages.
    return sorted({str(Path(path).parent) if path.endswith("/simple") else path for path in there})

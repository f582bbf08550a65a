"""Bounds the memory and the processes of a conversation's code by cgroups (version 2 of them).

Where systemd, or a person, has delegated the server's cgroup to it, the server divides that:

    its own             with the controllers `memory` and `pids` for what lies in it
        server          itself, and what it starts for itself
        conversation-…  the bounds of all code of a conversation, kept by the kernel
            interpreter-…   one interpreter, which is ended as a whole

Elsewhere the watch (watch.py) alone bounds what code takes.
"""

import contextlib
import errno
import itertools
import logging
import os
import secrets
import threading
import time
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

NO_CGROUP: Final = -1
"""Instead of a descriptor: no cgroup is joined."""

_CONTROLLERS: Final = ("memory", "pids")
_SERVER: Final = "server"
_CONVERSATION: Final = "conversation-"
_INTERPRETER: Final = "interpreter-"

_MOVES_MOST: Final = 16
"""How often to look for processes to move: what is started meanwhile is few and soon found."""

_REMOVED_S: Final = 2.0
"""How long what was killed may take to go: longer if it waits for a disk. What stays is removed
with its conversation, or when the next server starts."""

_AGAIN_S: Final = 0.005
"""Between two tries: the dying need a moment."""

_SYSTEMD: Final = Path("/run/systemd/system")
"""Is there where systemd manages the machine, and with it all cgroups that it has not delegated."""


class NoCgroupError(Exception):
    """There is no cgroup to divide; the text says why, as the end of a sentence."""


class CgroupFiles:
    """Reads and writes the files of cgroups, as the kernel has them."""

    def make(self, folder: Path) -> None:
        folder.mkdir()

    def remove(self, folder: Path) -> None:
        folder.rmdir()

    def within(self, folder: Path) -> list[Path]:
        return [each for each in folder.iterdir() if each.is_dir()]

    def read(self, file: Path) -> str:
        return file.read_text()

    def write(self, file: Path, text: str) -> None:
        handle = self.open(file)
        try:
            os.write(handle, text.encode())  # at once: the kernel takes each call as a whole
        finally:
            os.close(handle)

    def open(self, file: Path) -> int:
        return os.open(file, os.O_WRONLY | os.O_CLOEXEC)


def find_delegated(
    process: Path = Path("/proc/self"),
    systemd: Path = _SYSTEMD,
    files: CgroupFiles | None = None,
) -> Path:
    """Return this process's own cgroup, if it may divide it. Nothing is changed.

    That is so where systemd says so (from version 251 on); or where no systemd runs, as in a
    container, and this process is alone in a cgroup that it may write to. Raises NoCgroupError.
    """
    files = files or CgroupFiles()
    try:
        folder = _own(process)
        controllers = files.read(folder / "cgroup.controllers").split()
        for name in _CONTROLLERS:
            if name not in controllers:
                raise NoCgroupError(f"the controller {name} is not given to its cgroup")
        alone = files.read(folder / "cgroup.procs").split() == [str(process.resolve().name)]
        if not (_is_marked(folder) or (alone and not systemd.exists())):
            raise NoCgroupError("its cgroup was not delegated to it")
        for path in (folder, folder / "cgroup.procs", folder / "cgroup.subtree_control"):
            if not os.access(path, os.W_OK):
                raise NoCgroupError("it may not write to its own cgroup")
    except OSError as error:
        raise NoCgroupError(f"its own cgroup cannot be read ({error.strerror})") from error
    return folder


def _own(process: Path) -> Path:
    """The folder of a process's cgroup, where cgroups of version 2 are mounted."""
    lines = (process / "cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::/")), "")
    if ".." in Path(own).parts:
        own = ""  # it lies outside of what is shown here
    for line in (process / "mountinfo").read_text().splitlines() if own else ():
        before, _, after = line.partition(" - ")
        if after.split()[:1] == ["cgroup2"]:
            root, point = before.split()[3:5]
            with contextlib.suppress(ValueError):
                return Path(point) / Path(own).relative_to(root)
    raise NoCgroupError("this machine shows it no cgroups of version 2")


def _is_marked(folder: Path) -> bool:
    """Whether systemd says that it leaves what lies in a cgroup to the processes there."""
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError, AttributeError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


class Cgroups:
    """The server's own cgroup, divided."""

    def __init__(self, folder: Path, files: CgroupFiles | None = None) -> None:
        """Divide it: what is in there becomes a part of it, and what a killed server left goes.

        To be done before anything is started. Raises NoCgroupError.
        """
        self._folder = folder
        self.files = files or CgroupFiles()
        try:
            for left in self.files.within(folder):
                if left.name.startswith(_CONVERSATION):
                    _end(self.files, left)
            self._move_all()
            given = " ".join(f"+{name}" for name in _CONTROLLERS)
            self.files.write(folder / "cgroup.subtree_control", given)
        except OSError as error:
            raise NoCgroupError(f"its own cgroup cannot be divided ({error.strerror})") from error

    def _move_all(self) -> None:
        """Processes can be in a cgroup's parts alone, where controllers govern these."""
        with contextlib.suppress(FileExistsError):
            self.files.make(self._folder / _SERVER)
        for _ in range(_MOVES_MOST):
            found = self.files.read(self._folder / "cgroup.procs").split()
            if not found:
                return
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    self.files.write(self._folder / _SERVER / "cgroup.procs", pid)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    def for_conversation(self) -> "ConversationCgroup":
        """Return what will bound a conversation; nothing is made yet."""
        return ConversationCgroup(
            self._folder / f"{_CONVERSATION}{secrets.token_hex(8)}", self.files
        )


class ConversationCgroup:
    """Bounds all code of one conversation."""

    def __init__(self, folder: Path, files: CgroupFiles) -> None:
        self._folder = folder
        self._files = files
        self._numbers = itertools.count(1)
        self._one_at_a_time = threading.Lock()
        self._made = False
        self._failed = False

    def for_interpreter(self, memory: int, processes: int) -> "InterpreterCgroup | None":
        """Make a cgroup for one interpreter, within so many bytes and processes for all of them.

        None where none can be made, which is logged once: the watch is there still.
        """
        with self._one_at_a_time:
            if self._failed:
                return None
            try:
                if not self._made:
                    self._make(memory, processes)
                name = f"{_INTERPRETER}{next(self._numbers)}"
                return InterpreterCgroup(self._folder / name, memory, self._files)
            except OSError as error:
                self._failed = True
                log.warning(
                    "a conversation's memory is watched alone, no cgroup bounds it: %s", error
                )
                if not self._made:
                    _end(self._files, self._folder)
                return None

    def _make(self, memory: int, processes: int) -> None:
        write = self._files.write
        self._files.make(self._folder)
        write(self._folder / "memory.max", str(memory))
        with contextlib.suppress(FileNotFoundError):  # a kernel that does not swap
            write(self._folder / "memory.swap.max", "0")
        write(self._folder / "pids.max", str(processes))
        write(self._folder / "cgroup.subtree_control", "+memory")
        self._made = True

    def remove(self) -> None:
        """End what is left in it, and remove it."""
        with self._one_at_a_time:
            if self._made:
                _end(self._files, self._folder)
            self._made = False
            self._failed = True


class InterpreterCgroup:
    """Holds one interpreter, with all that it starts."""

    def __init__(self, folder: Path, memory: int, files: CgroupFiles) -> None:
        self._folder = folder
        self._files = files
        self._killed = False
        self.memory = memory
        """Bytes that all code of its conversation may hold."""
        files.make(folder)
        try:
            files.write(folder / "memory.oom.group", "1")
            self.descriptor = files.open(folder / "cgroup.procs")
            """Who writes a 0 to it is in there from then on. It is the caller's to close."""
        except OSError:
            files.remove(folder)
            raise

    @property
    def was_killed(self) -> bool:
        """Whether the kernel ended what is in it, because the conversation held too much."""
        if not self._killed:
            with contextlib.suppress(OSError):
                told = self._files.read(self._folder / "memory.events").splitlines()
                self._killed = any(
                    name == "oom_kill" and int(count) for name, count in map(str.split, told)
                )
        return self._killed

    def remove(self) -> None:
        """End what is left in it, and remove it; what must be known of it is known from then on."""
        _ = self.was_killed
        _end(self._files, self._folder)


def _end(files: CgroupFiles, folder: Path) -> None:
    """Kill all that is in a cgroup and in its parts, and remove them."""
    with contextlib.suppress(OSError):  # a kernel before 5.14: the guards have ended it
        files.write(folder / "cgroup.kill", "1")
    with contextlib.suppress(OSError):
        for part in files.within(folder):
            _remove(files, part)
    _remove(files, folder)


def _remove(files: CgroupFiles, folder: Path) -> None:
    deadline = time.monotonic() + _REMOVED_S
    while True:
        try:
            files.remove(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                log.warning("a cgroup is left behind: %s", error)
                return
            time.sleep(_AGAIN_S)
        else:
            return

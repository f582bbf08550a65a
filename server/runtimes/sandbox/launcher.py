"""The last steps before confined code, in a process of their own: a script without packages.

It runs as `python -I -S launcher.py STEPS`, where STEPS is a `Steps` record as JSON that the server
made; outside the sandbox or inside, wherever a sandbox needs something done between fork and exec:

    stage     prepare folders for another user, then become a command (root: before bubblewrap)
    enter     wait for the server's word, bound the resources, become the user, become the command
    guard     fork; the child enters behind Landlock and seccomp; the parent stays outside, and when
    the child or the server ends, ends everything that the child ever started
    start     the same, but the child becomes a command that makes the sandbox (bubblewrap); the
    launcher that enters there gives the guard what it needs
"""

import contextlib
import ctypes
import json
import os
import re
import runpy
import select
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

LINUX = sys.platform == "linux"

_NICE = 5
"""How much code yields to the server, which listens and speaks meanwhile."""

Held = tuple[str, int, int, bool]  # a place, its device and inode, and whether it is closed


@dataclass(frozen=True)
class Steps:
    """What to do; a field left empty is a step left out."""

    role: str
    argv: list[str]
    cgroup: int = -1
    """A descriptor of the cgroup to join before all else, for good; -1 is none."""
    user: int = -1
    """Become this user and group, with no capability left; -1 stays who we are."""
    views: list[str] = field(default_factory=list)
    """Folders of root's that `user` shall see as its own, in this process's view of the file system
    alone."""
    handed: list[str] = field(default_factory=list)
    """Folders to give to `user` for good, unless they lie where it sees root's as its own."""
    reached: list[str] = field(default_factory=list)
    """Places to let `user` come to, unless they lie there."""
    opened: dict[str, bool] = field(default_factory=dict)
    """Places to let `user` have, unless they lie there; and whether to write in, too."""
    limits: dict[str, int] = field(default_factory=dict)
    """The most bytes, processes or files of a kind, for each process."""
    already: int = -1
    """How many processes the user was seen to have: the limit on processes is added to them. -1
    where the command's own alone are counted."""
    home: str = ""
    """An empty folder of the code's own to make, and to fill from `skeleton`."""
    skeleton: str = ""
    at_home: dict[str, str] = field(default_factory=dict)
    """Names in it that lead elsewhere, those of outer folders first."""
    landlock: list[tuple[str, int]] = field(default_factory=list)
    """What paths may be reached and how (LANDLOCK_ACCESS_FS_*); all else is out of reach."""
    handled: int = 0
    """All the ways of access that Landlock shall govern."""
    handled_network: int = 0
    """The same of the network (LANDLOCK_ACCESS_NET_*); no rule allows any of it."""
    scoped: int = 0
    filter: str = ""
    """The seccomp program, in hexadecimal."""
    seccomp: int = 0
    """The number of the call that installs it."""
    asked: dict[str, str] = field(default_factory=dict)
    """The calls that it hands over to the guard, by number."""
    writable: list[str] = field(default_factory=list)
    """Where code may write, and the guard may do what it asks for."""
    memory: list[str] = field(default_factory=list)
    """Folders in which a file system lies that is the sandbox's own."""
    own_network: bool = False
    """Whether the sandbox has a network of its own."""
    shared_memory: str = ""
    """Where a file system of the code's own shall lie, if the machine allows that; otherwise there
    is none to reach. (Landlock.)"""
    shared_memory_access: int = 0
    """How it may be reached."""
    scratch: int = 0
    """The most bytes in it."""
    folder: str = ""
    """Where the command starts."""
    held_at: int = -1
    """A descriptor of a text in JSON: the places in writable folders that must stay what they are;
    those that are marked cannot be changed, nor what is in them. -1 is none."""
    own: list[Held] = field(default_factory=list)
    """The same of Sayso's own programs: where they cannot be held, nothing starts."""
    known: list[tuple[str, int, int]] = field(default_factory=list)
    """What was granted, by device and inode: where something else is there, nothing starts."""
    mounted: list[str] = field(default_factory=list)
    """Where something may be mounted in writable folders."""
    door: int = -1
    """A descriptor over which sockets are handed out to the network proxy; -1 is none."""
    proxy_port: int = 0
    """Where code finds the proxy, on its own loopback."""


def main(text: str) -> int:
    steps = Steps(**json.loads(text))
    if steps.cgroup >= 0:
        join(steps.cgroup)
    if steps.role == "stage":
        make_own(steps)
        os.execv(steps.argv[0], steps.argv)  # noqa: S606 - what the server wrote
    if steps.role == "enter":
        wait_for_word()
        if steps.door >= 0:
            hand_out_proxy(steps)
        enter(steps, guards_end() if steps.filter else None)
    return guard(steps)


def join(cgroup: int) -> None:
    """Be in a cgroup, with all that is started from here on; nobody below gets the descriptor."""
    os.write(cgroup, b"0")
    os.close(cgroup)


def guards_end() -> socket.socket:
    """Return the socket to the guard outside, which is passed on as the standard output."""
    outside = socket.socket(fileno=os.dup(1))
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(null, 1)
    return outside


def wait_for_word() -> None:
    """Go on when the server has written a byte and still holds the pipe; otherwise there is nobody
    to work for. (Where bubblewrap is ended before it has bound its child to itself, the child comes
    here all the same.)"""
    if not os.read(0, 1) or is_left(0):
        os._exit(1)


def is_left(descriptor: int) -> bool:
    """Whether the other end of a pipe is closed."""
    watched = select.poll()
    watched.register(descriptor, 0)  # asks for nothing else
    return bool(watched.poll(0))


def hand_out_proxy(steps: Steps) -> None:
    """Listen where code will look for its proxy, in a network of its own; keep nothing of it."""
    with (
        socket.socket(fileno=steps.door) as door,
        socket.create_server(("127.0.0.1", steps.proxy_port)) as listener,
    ):
        socket.send_fds(door, [b"."], [listener.fileno()])


def enter(steps: Steps, outside: socket.socket | None = None) -> None:
    """Become the confined command. Does not return."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    with contextlib.suppress(PermissionError):
        os.setsid()  # interrupts reach the command with its children, and no terminal reaches it
    held, memory = held_places(steps), list(steps.memory)
    if LINUX and (held or steps.own or steps.shared_memory) and steps.role == "guard":
        from_script("own_view", "hold")(steps, held, found_again, memory)
    rules = landlock_rules(steps, memory) if steps.handled else -1
    if LINUX:
        give_up()
    # The limits are the user's, who need not be able to read how they are set.
    from_script("set_limits", "set_limits")(steps.limits, steps.already, lambda: become(steps.user))
    if steps.role == "enter":
        recognise(steps, held)
    if steps.home:
        make_home(steps)
    if steps.folder:
        os.chdir(steps.folder)
    if LINUX:
        lock_in(steps, rules, outside, memory)
    os.execv(steps.argv[0], steps.argv)  # noqa: S606 - what the server wrote


def recognise(steps: Steps, held: list[Held]) -> None:
    """Make sure that bubblewrap, which goes by paths, mounted the places that were meant where they
    were meant, and nothing else in writable folders: a path may lead elsewhere each time."""
    points = mount_points()
    for path, device, inode, closed in (*held, *steps.own):
        with contextlib.suppress(PermissionError):  # what is closed to its user is closed
            handle = found_again(path, device, inode)
            number = Path(f"/proc/self/fdinfo/{handle}").read_text().partition("mnt_id:")[2]
            os.close(handle)
            point, options = points.get(number.split()[0], ("", []))
            if point != path or (closed and "ro" not in options):
                raise changed(path)
    for path, device, inode in steps.known:
        os.close(found_again(path, device, inode))
    meant = {*steps.mounted, *steps.writable, *(place[0] for place in (*held, *steps.own))}
    for point, _ in points.values():
        if point not in meant and any(Path(point).is_relative_to(each) for each in steps.writable):
            raise changed(point)


def make_home(steps: Steps) -> None:
    """A home folder of the code's own, in which what was granted goes by the name that the person
    has for it."""
    shutil.copytree(steps.skeleton, steps.home) if steps.skeleton else Path(steps.home).mkdir()
    for name, place in steps.at_home.items():
        link = Path(steps.home, name)
        if not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(place)


def become(user: int) -> None:
    """Change the user and group for good, unless it is -1."""
    if user >= 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def give_up() -> None:
    """Lower this process in the scheduling, and let it gain no capability from here on."""
    os.nice(_NICE)
    for capability in range(64):
        with contextlib.suppress(OSError):
            call("prctl", 24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, where we may and it exists


def lock_in(steps: Steps, rules: int, outside: socket.socket | None, memory: list[str]) -> None:
    """Close what cannot be opened again: capabilities, Landlock, system calls."""
    if steps.role == "guard" and outside:
        end_with_guard(outside)
    call("prctl", 38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, of this process
    call("capset", header, bytes(24))
    if rules >= 0:
        syscall(446, rules, 0)  # landlock_restrict_self
        os.close(rules)
    if steps.filter and outside:
        devices = [Path(folder).stat().st_dev for folder in memory]
        listener = filter_calls(bytes.fromhex(steps.filter), steps.seccomp)
        socket.send_fds(outside, [json.dumps(devices).encode()], [listener])
        os.close(listener)
        outside.close()


def held_places(steps: Steps) -> list[Held]:
    """Read the places that must stay what they are."""
    if steps.held_at < 0:
        return []
    with open(steps.held_at) as file:  # noqa: PTH123 - a descriptor
        return [(path, device, inode, closed) for path, device, inode, closed in json.load(file)]


def mount_points() -> dict[str, tuple[str, list[str]]]:
    """Where something is mounted and how, by the number of the mount."""
    points = {}
    for line in Path("/proc/self/mountinfo").read_bytes().splitlines():
        number, _, _, _, point, options, *_ = line.split(b" ")
        # Blanks, ends of lines and backslashes in it are written in octal digits.
        place = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), point)
        points[number.decode()] = os.fsdecode(place), options.decode().split(",")
    return points


def found_again(path: str, device: int, inode: int) -> int:
    """Return a handle of a place, if it is still the one that was found."""
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(handle)
    if (status.st_dev, status.st_ino) != (device, inode):
        raise changed(path)
    return handle


def changed(path: str) -> OSError:
    """The error for a place that has changed since it was looked at; a new start may succeed."""
    return OSError(0, "A folder changed just now; try again", path)


def landlock_rules(steps: Steps, memory: list[str]) -> int:
    """Return a ruleset that allows what the steps name, and what is our own."""
    attributes = struct.pack("=QQQ", steps.handled, steps.handled_network, steps.scoped)
    ruleset = syscall(444, attributes, len(attributes), 0)  # landlock_create_ruleset
    known = {path: (path, device, inode) for path, device, inode in steps.known}
    shared = ((path, steps.shared_memory_access) for path in memory if steps.shared_memory)
    for path, access in (*steps.landlock, *shared):
        try:
            handle = (
                found_again(*known[path])
                if path in known
                else os.open(path, os.O_PATH | os.O_CLOEXEC)
            )
        except FileNotFoundError:
            continue
        rule = struct.pack("=Qi", access, handle)
        syscall(445, ruleset, 1, rule, 0)  # landlock_add_rule, LANDLOCK_RULE_PATH_BENEATH
        os.close(handle)
    return ruleset


def filter_calls(program: bytes, number: int) -> int:
    """Let the kernel refuse what the program refuses; return where it hands over what to ask us."""
    held = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(held))
    # This is seccomp with SECCOMP_SET_MODE_FILTER and SECCOMP_FILTER_FLAG_NEW_LISTENER.
    return call("syscall", number, 1, 8, described)


def make_own(steps: Steps) -> None:
    """Give the other user access to those of root's files that it needs."""
    if steps.views or steps.handed or steps.reached or steps.opened:
        from_script("other_user", "admit")(steps)


def guard(steps: Steps) -> int:
    """Start the command confined, and stay to end what it leaves behind."""
    if LINUX:
        # PR_SET_CHILD_SUBREAPER: orphans below us become our children.
        call("prctl", 36, 1, 0, 0, 0)
    make_own(steps)
    if steps.role == "guard":
        wait_for_word()
    lifeline = os.dup(0)
    ours, theirs = socket.socketpair()  # neither end survives the start of a program
    child = os.fork()
    if not child:
        try:
            ours.close()
            os.close(lifeline)
            with contextlib.suppress(OSError):  # the first to go if memory runs out
                Path("/proc/self/oom_score_adj").write_text("1000")
            if steps.role == "start":
                start(steps, theirs)
            if steps.door >= 0:
                os.close(steps.door)
            enter(steps, theirs)
        except BaseException as error:  # noqa: BLE001 - nothing may run on in a half confined fork
            os.write(2, f"{error}\n".encode())
            os._exit(126)
    theirs.close()
    for passed in (steps.held_at, steps.door if steps.own_network else -1):
        if passed >= 0:
            os.close(passed)
    code: int = from_script("syscall_guard", "oversee")(child, lifeline, ours, steps)
    return code


def start(steps: Steps, outside: socket.socket) -> None:
    """Become the command that makes the sandbox. What enters there finds the guard as its standard
    output."""
    end_with_guard(outside)
    os.dup2(outside.fileno(), 1)
    os.execv(steps.argv[0], steps.argv)  # noqa: S606 - what the server wrote


def end_with_guard(outside: socket.socket) -> None:
    """Have the kernel kill this process when the guard dies; exit if it is dead already."""
    call("prctl", 1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if is_left(outside.fileno()):
        os._exit(1)  # it died before


def from_script(name: str, function: str) -> Callable[..., Any]:
    """Load a script that lies beside this one, for a function in it."""
    loaded = runpy.run_path(str(Path(__file__).with_name(f"{name}.py")))
    return cast("Callable[..., Any]", loaded[function])


def syscall(number: int, *arguments: object) -> int:
    """Make a call that the C library has no function for; its number is the same everywhere."""
    return call("syscall", number, *arguments)


def call(function: str, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    converted = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = getattr(libc, function)(*converted)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), function)
    return int(result)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except OSError as failure:
        sys.exit(f"{failure.strerror}: {failure.filename or 'while confining'}")

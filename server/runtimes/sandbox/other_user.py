"""Lets another user reach what is root's: a script without packages, which the launcher loads.

Best is a view of the file system in which it is the user's own. That takes root that may mount and
make user namespaces. Containers and changed roots have not got that, and hardened machines have no
user namespaces. There, entries in access control lists do, which take neither: on the way to a
place they let that one user pass, and neither list nor read nor write, so that what lies beside the
way stays closed to it. (Copies where everybody may read would do for Sayso's own files, but not for
a workspace or a folder that was granted; and code that ran as root without root's capabilities
would own the whole system.) The folder that code works in is given to its user, but for what is
held in it: what git or a login would run stays its owner's, as it was when it was looked at.

All that is reached by handles, from folder to folder and never through a link: what is put
elsewhere meanwhile is not found, and nothing else is opened in its place.
"""

import contextlib
import ctypes
import errno
import json
import os
import stat
import struct
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Protocol

READ, WRITE, PASS = 4, 2, 1

_DEEPEST = 200
"""Folders in folders. What lies deeper stays closed; each takes a handle while it is open."""

_ACCESS, _FOR_NEW = "system.posix_acl_access", "system.posix_acl_default"

# As linux/posix_acl_xattr.h has it: a version, then entries of tag, permissions and number.
_HEADER, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")
_VERSION, _NO_NUMBER = 2, 0xFFFFFFFF
_OWNER, _USER, _GROUP, _NAMED_GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_MASKED = (_USER, _GROUP, _NAMED_GROUP)

_HANDLE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

_STEPS = "git-rebase-todo"
"""What git is still to do of a rebase, which may run commands. It is looked at like what is held,
and is not, so that code can go on with a rebase: git puts another one in its place."""

_Identity = tuple[int, int]
"""Device and inode."""

_Entries = dict[tuple[int, int], int]
"""Tag and number, to permissions."""


class Needs(Protocol):
    """The fields of the launcher's `Steps` that are used here."""

    user: int
    views: list[str]
    handed: list[str]
    reached: list[str]
    opened: dict[str, bool]
    own: list[tuple[str, int, int, bool]]
    held_at: int


def admit(needs: Needs) -> None:
    """Let the user reach what it needs, unless Sayso's own programs in it cannot be held."""
    if needs.own and not may_mount():
        why = "Sayso's own programs cannot be kept closed here; take back the grant around them"
        raise OSError(0, why, needs.own[-1][0])
    shown = [Path(folder) for folder in needs.views]
    try:
        show_as_own(needs.views, needs.user)
    except OSError:
        shown = []  # in a container, or on a file system that cannot

    def is_shown(place: str) -> bool:
        return any(Path(place).is_relative_to(folder) for folder in shown)

    held = _held(needs)
    for place in needs.reached:
        if not is_shown(place) and os.path.lexists(place):
            lead_to(place, needs.user)
    for place, writable in needs.opened.items():
        if not is_shown(place):
            open_up(place, needs.user, held, writable=writable)
    for place in needs.handed:
        if not is_shown(place):
            give(place, needs.user, held)


def _held(needs: Needs) -> set[_Identity]:
    """What nobody but its owner may change, nor what is in it."""
    places = list(needs.own)
    if needs.held_at >= 0:
        # Opened anew, so that who reads it next begins at its beginning.
        places += json.loads(Path(f"/proc/self/fd/{needs.held_at}").read_bytes())
    return {(device, inode) for _, device, inode, closed in places if closed}


def may_mount() -> bool:
    """Whether this process can get a view of its own, in which places are held."""
    child = os.fork()
    if not child:
        try:
            _call("unshare", 0x20000)  # CLONE_NEWNS
        except OSError:
            os._exit(1)
        os._exit(0)
    return not os.waitpid(child, 0)[1]


def show_as_own(folders: list[str], user: int) -> None:
    """Show what is root's in these folders as the user's, and what the user makes as root's."""
    if not folders:
        return
    _call("unshare", 0x20000)  # CLONE_NEWNS
    _call("mount", None, b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE: nothing of it gets out
    mapping = user_namespace(f"0 {user} 1\n")
    trees: list[tuple[int, bytes]] = []
    for folder in map(os.fsencode, folders):
        # These are open_tree with OPEN_TREE_CLONE, mount_setattr with MOUNT_ATTR_IDMAP, move_mount.
        tree = _call("syscall", 428, -100, folder, 0x1 | 0x80000)
        attributes = struct.pack("=QQQQ", 0x100000, 0, 0, mapping)
        _call("syscall", 442, tree, b"", 0x1000, attributes, len(attributes))
        trees.append((tree, folder))
    for tree, folder in trees:  # all of them, or none
        _call("syscall", 429, tree, b"", -100, folder, 0x4)
        os.close(tree)
    os.close(mapping)


def user_namespace(mapping: str) -> int:
    """Return a handle of a user namespace with this mapping, in which nobody lives."""
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(go[1])  # or it would wait for itself when its parent is gone
            _call("unshare", 0x10000000)  # CLONE_NEWUSER
            os.write(ready[1], b".")
            os.read(go[0], 1)
        finally:
            os._exit(0)
    os.close(ready[1])
    if not os.read(ready[0], 1):
        raise OSError("no user namespace can be made")
    for kind in ("uid", "gid"):
        Path(f"/proc/{child}/{kind}_map").write_text(mapping)
    handle = os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    os.write(go[1], b".")
    os.waitpid(child, 0)
    for end in (ready[0], *go):
        os.close(end)
    return handle


def lead_to(path: str, user: int) -> None:
    """Let the user pass the folders that lead to a place, and read the place if it is a file."""
    with _way(path) as (*folders, place):
        for folder in folders:
            _let(folder, user, PASS)
        if stat.S_ISREG(os.fstat(place).st_mode):
            _let(place, user, READ)


def open_up(path: str, user: int, held: Container[_Identity], *, writable: bool) -> None:
    """Give the user access to what is in a folder, and to what will be made in it; to read alone
    where it is held."""
    with _way(path) as way:
        for handle, mode, is_held in _below(way[-1], held):
            wanted = READ | (WRITE if writable and not is_held else 0)
            if stat.S_ISDIR(mode):
                _let(handle, user, wanted | PASS)
                _let(handle, user, wanted | PASS, _FOR_NEW)
            elif stat.S_ISREG(mode):
                _let(handle, user, wanted)


def give(path: str, user: int, held: Container[_Identity]) -> None:
    """Let what is root's in a place be the user's, for good; but for files that have other names
    too, which may lie anywhere, and for what is held and can be read as it is."""
    with _way(path) as way:
        for handle, _, is_held in _below(way[-1], held):
            status = os.fstat(handle)
            if status.st_uid != 0 or (is_held and _is_readable(status)):
                continue
            if stat.S_ISDIR(status.st_mode) or status.st_nlink == 1:
                _call("fchownat", handle, b"", user, user, 0x1000)  # AT_EMPTY_PATH


def _is_readable(status: os.stat_result) -> bool:
    """Whether everybody may do with it what its owner may, but write."""
    return not (status.st_mode >> 6) & ~status.st_mode & (READ | PASS)


@contextlib.contextmanager
def _way(path: str) -> Iterator[list[int]]:
    """Open each folder on the path to a place, from the root on, and the place itself."""
    handles = [os.open("/", _HANDLE)]
    try:
        for name in filter(None, path.split("/")):
            handles.append(os.open(name, _HANDLE, dir_fd=handles[-1]))
        yield handles
    finally:
        for handle in handles:
            os.close(handle)


def _below(top: int, held: Container[_Identity]) -> Iterator[tuple[int, int, bool]]:
    """A place and all that is in it, with their modes and whether they are held."""
    waiting = [iter([(os.dup(top), "")])]
    folders: list[tuple[int, bool]] = []
    try:
        while waiting:
            handle, name = next(waiting[-1], (-1, ""))
            if handle < 0:
                waiting.pop()
                if folders:
                    os.close(folders.pop()[0])
                continue
            status = os.fstat(handle)
            within = bool(folders) and folders[-1][1]
            is_held = within or name == _STEPS or (status.st_dev, status.st_ino) in held
            if stat.S_ISDIR(status.st_mode) and len(folders) < _DEEPEST:
                yield handle, status.st_mode, is_held
                folders.append((handle, is_held))
                waiting.append(_opened(handle))
                continue
            if not stat.S_ISDIR(status.st_mode):
                yield handle, status.st_mode, is_held
            os.close(handle)
    finally:
        for folder, _ in folders:
            os.close(folder)


def _opened(folder: int) -> Iterator[tuple[int, str]]:
    for path in Path(f"/proc/self/fd/{folder}").iterdir():
        with contextlib.suppress(FileNotFoundError):
            yield os.open(path.name, _HANDLE, dir_fd=folder), path.name


def _let(handle: int, user: int, wanted: int, kind: str = _ACCESS) -> None:
    """Add these permissions for the user to the access list of a file; everybody else keeps
    theirs."""
    status = os.fstat(handle)
    if status.st_uid == user and kind == _ACCESS:
        return
    place = f"/proc/self/fd/{handle}"
    entries = _read(place, kind, status.st_mode)
    mask = entries.get((_MASK, _NO_NUMBER), 7)
    # What the mask takes from the others now it shall take from them when it is wider.
    entries = {key: bits & mask if key[0] in _MASKED else bits for key, bits in entries.items()}
    has = entries.get((_USER, user), 0 if kind == _FOR_NEW else entries[_OTHERS, _NO_NUMBER])
    if has & wanted == wanted:
        return
    entries[_USER, user] = has | wanted
    entries[_MASK, _NO_NUMBER] = 0
    for (tag, _), bits in entries.items():
        if tag in _MASKED:
            entries[_MASK, _NO_NUMBER] |= bits
    packed = [_ENTRY.pack(tag, bits, number) for (tag, number), bits in sorted(entries.items())]
    try:
        os.setxattr(place, kind, _HEADER.pack(_VERSION) + b"".join(packed))
    except OSError as error:
        named = os.readlink(place)  # noqa: PTH115 - no path, but a handle
        raise OSError(error.errno, f"User {user} cannot be let pass", named) from error


def _read(place: str, kind: str, mode: int) -> _Entries:
    """The list as it is; where there is none, what the mode says."""
    try:
        packed = os.getxattr(place, kind)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise
        bits = {_OWNER: mode >> 6 & 7, _GROUP: mode >> 3 & 7, _OTHERS: mode & 7}
        return {(tag, _NO_NUMBER): permissions for tag, permissions in bits.items()}
    return {
        (tag, number): permissions
        for tag, permissions, number in _ENTRY.iter_unpack(packed[_HEADER.size :])
    }


def _call(function: str, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    converted = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = getattr(libc, function)(*converted)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), function)
    return int(result)

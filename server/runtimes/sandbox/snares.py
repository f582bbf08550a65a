"""Files by which programs of the host run code unasked: snares, if confined code could set them.

Git runs what lies in a repository's hooks and what its settings name, and shells, desktops and
editors run a home folder's startup files: as the person, outside of every sandbox, when they next
say `git status` or log in. So these are closed to code, even in folders that it may write. What
exists is closed by the sandbox; what code makes anew is looked at after each run
(undo/disarming.py).

What other programs ask the person about before they run it (direnv, editors' tasks), and what a
person starts by name (a Makefile), is no snare.
"""

import contextlib
import functools
import os
import pwd
import re
import stat
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

FOLDERS_MOST: Final = 20_000
"""As many are looked into, the outermost first: a third of a second, which an interpreter's start
and a run can bear."""

REPOSITORIES_MOST: Final = 100
"""Each costs the sandbox three mounts."""

SETTINGS_MOST_BYTES: Final = 64 * 1024
"""Git's settings of one repository are a few hundred; of more, only the beginning is read."""

AT_HOME: Final = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".config/fish", ".xprofile", ".xsession", ".xsessionrc",
    ".xinitrc", ".config/autostart", ".config/environment.d", ".config/systemd",
    ".config/plasma-workspace", "Library/LaunchAgents", ".gitconfig", ".config/git", ".ssh",
    ".vimrc", ".vim", ".config/nvim", ".emacs", ".emacs.d", ".local/bin", "bin", ".local/lib",
)  # fmt: skip
"""What is read or run when a person logs in or starts an everyday program."""

_NAMED = re.compile(
    rb"^\s*(?:hookspath|path)\s*=\s*\"?([^\"\r\n#;]+)", re.IGNORECASE | re.MULTILINE
)
"""Where a repository's settings say that hooks, or more settings, lie."""

Kind = Literal["closed", "settings", "kept"]
"""`closed` may not be changed, nor what lies in it; `settings` are git's, closed as well; `kept` is
a folder that stays where it is, whose contents are code's to change."""


@dataclass(frozen=True, slots=True)
class Snare:
    """One of them, as it was found."""

    path: Path
    kind: Kind
    device: int
    inode: int
    link: bool
    """Where it leads is closed by itself; the link is only looked at after each run."""

    @property
    def held(self) -> tuple[str, int, int, bool]:
        """As the launcher is told of it."""
        return str(self.path), self.device, self.inode, self.kind != "kept"


def find(folders: Iterable[Path]) -> list[Snare]:
    """All of them in these folders, what contains others first."""
    found = _Search([folder for folder in folders if folder.is_dir()]).found()
    return [found[path] for path in sorted(found)]


def find_to_hold(folders: Iterable[Path]) -> list[Snare]:
    """What a sandbox can and must hold. Where a repository has no folder for hooks, it gets one:
    what does not exist cannot be closed."""
    kept = list(folders)
    snares = find(kept)
    missing = [
        snare.path
        for snare in snares
        if (snare.path / "objects").is_dir() and not os.path.lexists(snare.path / "hooks")
    ]
    for path in missing:
        with contextlib.suppress(OSError):
            _make_hooks(path)
    return [snare for snare in (find(kept) if missing else snares) if not snare.link]


class _Search:
    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._found: dict[Path, Snare] = {}
        self._repositories: set[Path] = set()

    def found(self) -> dict[Path, Snare]:
        for home in _homes():
            if any(home.is_relative_to(one) or one.is_relative_to(home) for one in self._folders):
                for name in AT_HOME:
                    self._take(home / name, "closed")
        waiting = deque(map(str, self._folders))
        for _ in range(FOLDERS_MOST):
            if not waiting:
                break
            waiting.extend(self._look(waiting.popleft()))
        return self._found

    def _look(self, folder: str) -> list[str]:
        """Look into one folder; return those in it."""
        try:
            with os.scandir(folder) as entries:
                there = {entry.name: entry for entry in entries}
        except OSError:
            return []
        if ".git" in there:
            self._of_git(Path(there.pop(".git")))
        if _is_repository(there.keys()):
            self._repository(Path(folder))
        return [entry.path for entry in there.values() if entry.is_dir(follow_symlinks=False)]

    def _of_git(self, path: Path) -> None:
        """A repository's `.git`: a folder, a link to one, or a file that names one."""
        if path.is_symlink() or path.is_file():
            self._take(path, "closed")
            self._repository(_led_to(path))
        else:
            self._repository(path)
            for folder, folders, files in os.walk(path / "modules"):
                if _is_repository((*folders, *files)):
                    self._repository(Path(folder))
                    folders[:] = [name for name in folders if name == "modules"]

    def _repository(self, git: Path) -> None:
        if git in self._repositories or len(self._repositories) >= REPOSITORIES_MOST:
            return
        self._repositories.add(git)
        self._take(git, "kept")
        self._take(git / "hooks", "closed")
        self._take(git / "commondir", "closed")
        if common := text_of(git / "commondir").strip():
            self._repository(Path(os.path.realpath(git / os.fsdecode(common))))
        for name in ("config", "config.worktree"):
            self._take(git / name, "settings")
            for place in _named(git / name, git.parent):
                self._take(place, "closed")
        with contextlib.suppress(OSError):
            for worktree in sorted((git / "worktrees").iterdir()):
                self._repository(worktree)

    def _take(self, path: Path, kind: Kind) -> None:
        if path in self._found or not any(_is_within(path, folder) for folder in self._folders):
            return
        with contextlib.suppress(OSError):
            status = path.lstat()
            link = stat.S_ISLNK(status.st_mode)
            self._found[path] = Snare(path, kind, status.st_dev, status.st_ino, link)
            if link:
                self._take(path.resolve(strict=True), kind)


def _is_within(path: Path, folder: Path) -> bool:
    """A folder that was granted by its own name was granted."""
    return path != folder and path.is_relative_to(folder)


def _is_repository(names: Iterable[str]) -> bool:
    there = set(names)
    return "HEAD" in there and ({"objects", "refs"} <= there or "commondir" in there)


def _led_to(path: Path) -> Path:
    """Which repository a link, or a file that says `gitdir: …`, leads to."""
    if path.is_symlink():
        return Path(os.path.realpath(path))
    named = text_of(path).partition(b"gitdir:")[2].strip()
    return Path(os.path.realpath(path.parent / os.fsdecode(named)))


def _named(settings: Path, folder: Path) -> list[Path]:
    """Places of hooks and further settings, which count from the working folder or the file."""
    names = [os.fsdecode(name.strip()) for name in _NAMED.findall(text_of(settings))]
    starts = (folder, settings.parent)
    return [
        Path(os.path.realpath(start / os.path.expanduser(name)))  # noqa: PTH111 - it may be nobody's
        for name in names
        for start in starts
        if "\0" not in name
    ]


def text_of(path: Path) -> bytes:
    """What a file says, from its beginning; nothing if it is no plain file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(SETTINGS_MOST_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


@functools.cache
def _homes() -> frozenset[Path]:
    """Everybody's home folders."""
    homes = {Path.home(), *(Path(user.pw_dir) for user in pwd.getpwall())}
    return frozenset(home for home in homes if home != Path("/"))


def _make_hooks(git: Path) -> None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(git, flags)
    try:
        os.mkdir("hooks", 0o755, dir_fd=folder)
        owner = os.fstat(folder)
        if owner.st_uid != os.geteuid():
            os.chown("hooks", owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)

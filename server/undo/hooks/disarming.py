"""Disables hooks that code may have planted to run unasked, and counts them."""

import contextlib
import errno
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Literal

from sayso.server.runtimes.protection.repositories import (
    HARMLESS_ENDINGS,
    HOOKS_MOST,
    Repositories,
    leads_to,
    led_to,
    runs_commands,
    shared,
)
from sayso.server.runtimes.protection.startup_files import LIVELY
from sayso.server.runtimes.protection.writable_folders import (
    CLOSED,
    Place,
    TooMuch,
    WritableFolders,
    entries,
)
from sayso.server.runtimes.protection.write_protected_files import TOO_MANY_FOLDERS
from sayso.server.undo.hooks.renaming import (
    close_folder,
    close_repository,
    disarm,
    put_right,
)

REPOSITORIES_MOST: Final = 50
"""That code made: a sandbox can close these and the person's own. The others are closed here."""

Closed = Literal["settings", "pointer", "steps", "runs", "repository", "folder"]

_WORDS: Final[Mapping[Closed, tuple[str, str]]] = {
    "runs": ("hook or startup file", "hooks or startup files"),
    "settings": ("file of git's settings", "files of git's settings"),
    "pointer": ("pointer to a repository", "pointers to repositories"),
    "steps": ("unfinished rebase", "unfinished rebases"),
    "repository": ("repository", "repositories"),
    "folder": (
        "folder that could not be looked through",
        "folders that could not be looked through",
    ),
}


class Judgement:
    """Of one look."""

    def __init__(
        self, folders: WritableFolders, repositories: Repositories, startup: Collection[Place]
    ) -> None:
        """`startup`: startup files, which git must not write for code either."""
        self._startup = startup
        self._folders = folders
        self._repositories = repositories
        self._closed: Counter[Closed] = Counter()
        self._judged = 0
        self._trouble: OSError | None = None

    @property
    def note(self) -> str:
        """What was put out of action, without the names that code gave; empty if nothing was."""
        if not self._closed:
            return ""
        told = ", ".join(
            f"{count} {_WORDS[kind][count > 1]}" for kind, count in sorted(self._closed.items())
        )
        return (
            f"Git or a login would have run this unasked, so it was disarmed: {told};"
            f" what the code wrote lies beside, with {CLOSED} at its end."
        )

    def finish(self) -> None:
        """Raise what could not be closed."""
        if self._trouble is None:
            return
        if self._trouble.errno in (errno.ENOTDIR, errno.ELOOP, errno.EEXIST):
            raise TooMuch(
                "a program that code left running keeps swapping what git would run; /reset ends it"
            )
        raise self._trouble

    @contextlib.contextmanager
    def closing(self, place: Place) -> Iterator[None]:
        """What cannot be judged is renamed."""
        try:
            yield
        except OSError:
            self._close(place, "runs")

    def repository(self, git: Place) -> None:
        """One that code made."""
        self._judged += 1
        try:
            if self._judged <= REPOSITORIES_MOST:
                self._prove(git)
                return
        except OSError:
            pass
        try:
            if close_repository(self._folders, git):
                self._closed["repository"] += 1
        except OSError as error:
            self._trouble = error

    def _prove(self, git: Place) -> None:
        for name in ("config", "config.worktree"):
            self.settings(git.below(name), git)
        self.steps(git.below("rebase-merge").below("git-rebase-todo"))
        if self._folders.status(git.below("commondir")) is not None:
            common, sure = shared(self._folders, git)
            if not sure or common not in self._repositories.all:
                self._close(git.below("commondir"), "pointer")
        self.runs(git.below("hooks"))

    def settings(self, place: Place, git: Place) -> None:
        """Git's settings that code wrote."""

        def worktree(path: str) -> bool:
            start = self._folders.shown(git)
            place, sure = leads_to(self._folders, start, path.encode(errors="surrogateescape"))
            return place is not None and sure and not self._holds_startup_files(place)

        if put_right(self._folders, place, worktree):
            self._closed["settings"] += 1

    def _holds_startup_files(self, place: Place) -> bool:
        return any(
            place == each or place in each.above or each in place.above or each.parent == place
            for each in self._startup
        )

    def steps(self, place: Place) -> None:
        """Of a rebase that code began."""
        if runs_commands(self._folders, place):
            self._close(place, "steps")

    def pointer(self, place: Place) -> None:
        """A `.git` that is no folder."""
        target, sure = led_to(self._folders, place)
        if not sure or target not in self._repositories.all:
            self._close(place, "pointer")

    def runs(self, place: Place) -> None:
        """A hook, a startup file, or a folder of such that code made."""
        status = self._folders.status(place)
        if status is None:
            return
        if not stat.S_ISDIR(status.st_mode):
            self.changed(place.parent, [place])
            return
        there = [*islice(entries(self._folders, place, HOOKS_MOST + 1), HOOKS_MOST + 1)]
        if place.name != "hooks" or len(there) > HOOKS_MOST:
            self._close(place, "runs")
        else:
            self.changed(place, [each for each, is_folder in there if not is_folder])

    def changed(self, folder: Place, files: Sequence[Place]) -> None:
        """Files that code wrote, which run when they have the right name."""
        armed = [
            each
            for each in files
            if not each.name.endswith(HARMLESS_ENDINGS) and each.name not in LIVELY
        ]
        if len(armed) > HOOKS_MOST:
            self._close(folder, "runs")
            return
        for each in armed:
            self._close(each, "runs")

    def unfinished(self, place: Place, *, own: bool) -> None:
        """A folder that was not looked into. `own`: it may be the person's."""
        if own or not place.path:
            root = self._folders.shown(Place(place.root, ""))
            self._trouble = TooMuch(TOO_MANY_FOLDERS.format(root))
            return
        try:
            if close_folder(self._folders, place):
                self._closed["folder"] += 1
        except OSError as error:
            self._trouble = error

    def failed(self, errors: Sequence[OSError]) -> None:
        """Folders could not be looked into, for a reason that is not theirs."""
        for error in errors:
            self._trouble = error

    def _close(self, place: Place, kind: Closed) -> None:
        try:
            if disarm(self._folders, place):
                self._closed[kind] += 1
        except OSError as error:
            self._trouble = error

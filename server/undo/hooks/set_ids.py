"""Takes set-user-id and set-group-id from what code left: programs that run with the rights of the
server's user, whichever user starts them.

No call of confined code sets these modes; this is for what comes by a way that nobody thought of.
What had them before code first ran in a folder, or after a run without a sandbox, is the person's.
"""

import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.writable_folders import (
    PASSED_OVER,
    TooMuch,
    Walk,
    WritableFolders,
)
from sayso.server.undo.hooks.knowledge import Files

_BOTH = stat.S_ISUID | stat.S_ISGID

_MOVED = (
    "a program that code left running keeps moving programs that give your rights away; /reset ends"
    " it"
)


class SetIds:
    """Of one conversation's folders."""

    def __init__(self, known: Mapping[Path, Files] = MappingProxyType({})) -> None:
        """`known`: those of the person's own, by the folder that they lie in."""
        self._known = dict(known)

    @property
    def known(self) -> dict[Path, Files]:
        """Those of the person's own, by the folder that they lie in."""
        return dict(self._known)

    def knows(self, folders: WritableFolders) -> bool:
        """Whether all these folders were looked through before code ran in them."""
        return all(path in self._known for path in folders.paths)

    def forget(self) -> None:
        """What is there now may be the person's, or of a run that they allowed everything."""
        self._known.clear()

    def remember(self, folders: WritableFolders, seen: Walk) -> None:
        """Take what lies in folders that are new here for the person's."""
        for number, path in enumerate(folders.paths):
            there = frozenset(file for place, file in seen.set_ids if place.root == number)
            self._known.setdefault(path, there)

    def clear(self, folders: WritableFolders, seen: Walk) -> str:
        """Take these modes from all that is not the person's in folders that were looked through
        before; returns a note on it. What could not be done is added to what failed."""
        known = Files().union(*self._known.values())
        there = {file for _, file in seen.set_ids}
        looked = self._known.keys()
        self._known = {path: files & there for path, files in self._known.items()}
        cleared = set()
        for place, file in seen.set_ids:
            if file in known or folders.paths[place.root] not in looked:
                continue
            try:
                with folders.holder(place) as (holder, name):
                    if paths_beneath.clear_mode(holder, name, _BOTH, file):
                        cleared.add(file)
            except OSError as error:
                moved = error.errno in PASSED_OVER
                seen.failed.append(TooMuch(_MOVED) if moved else error)
        if not cleared:
            return ""
        which = "1 program" if len(cleared) == 1 else f"{len(cleared)} programs"
        return f"Code left {which} that would run with your rights whoever starts it; not any more."

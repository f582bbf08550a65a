"""A yes to edits and tests in one folder, until the request that it was given in is done. Pure.

A tap gives it, beside the yes to one such call that was shown. It covers calls of Sayso's own tools
whose work is known for certain to stay in that folder (`Tool.stays_in`), and of which no rule and
no danger has anything to say. Anything else asks as before.
"""

import posixpath
from typing import Final

from sayso.server.policy.actions import Actions
from sayso.server.policy.judge import Judgement

OFFERED: Final = "edits and tests in {folder} until this request is done"


class TaskGrant:
    """Of one conversation; none until it is given."""

    def __init__(self) -> None:
        self._folder = ""
        self._run = ""
        self.asks_in_full = False
        """Whether a run needs a yes in the mode full, too: the request comes from a device that may
        not approve, and there no sandbox stands against its words."""

    def begin(self, *, asks_in_full: bool) -> None:
        """A request begins, in which nothing is given yet."""
        self.end()
        self.asks_in_full = asks_in_full

    def give(self, folder: str, run: str) -> None:
        """From now on. `run`: the one that was asked about."""
        self._folder, self._run = folder, run

    def end(self) -> None:
        """The request is over."""
        self._folder = self._run = ""

    def covering(self, folder: str) -> str:
        """The run with whose yes it was given for this folder; empty if it was not."""
        return self._run if folder == self._folder else ""


def is_plain(judged: Judgement) -> bool:
    """Whether no rule and no danger has anything to say about a call."""
    return judged.verdict == "none" and not judged.warnings


def changes_plain_files(actions: Actions | None, folder: str) -> bool:
    """Whether it is certain that nothing is done but to files in this folder, and to none that git,
    a login or a tool reads by itself: those, or folders that they lie in, begin with a dot."""
    if actions is None or not actions.paths or actions.commands or actions.hosts:
        return False
    return all(_is_plain_file(each.path, folder) for each in actions.paths)


def _is_plain_file(path: str, folder: str) -> bool:
    inner = posixpath.relpath(posixpath.normpath(path), folder) if path.startswith("/") else ".."
    return not any(part.startswith(".") for part in inner.split("/"))

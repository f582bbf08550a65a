"""Runs of code without a sandbox, and a person who uses git afterwards."""

import os
import secrets
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from sayso.server.undo.checkpointer import NoCheckpoints
from sayso.server.undo.hooks.guard import GitHookGuard
from sayso.server.undo.hooks.recovery import RecoveryFile

GIT_S = 20
"""It takes milliseconds; a pipe in its way would keep it for ever."""

COMMANDS = (
    "status --short",
    "add --all",
    "commit -q --allow-empty -m mine",
    "checkout -q --detach",
    "rebase --continue",
    "gc -q",
)
"""What a person, or their prompt, does all day."""


def use_git(folder: Path) -> None:
    """It need not go well."""
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true"}
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "safe.directory=*")
    for command in COMMANDS:
        subprocess.run(
            ["git", *who, *command.split()],
            cwd=folder,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **own},
            timeout=GIT_S,
        )


def ran(mark: Path) -> bool:
    """Whether git ran what it should not."""
    return mark.exists()


def disarmed(folder: Path) -> list[Path]:
    return list(folder.rglob("*.disarmed"))


def kept_of(folder: Path) -> Path:
    """Where nothing is kept of it yet."""
    return folder.with_name("state") / secrets.token_hex(8)


class Runs:
    """Runs of code that were let do what the sandbox could not hinder."""

    def __init__(self, folder: Path) -> None:
        recovery = RecoveryFile(kept_of(folder))
        self._checkpointer = GitHookGuard(NoCheckpoints(), lambda: [folder], recovery)

    async def end(self) -> None:
        await self._checkpointer.close()

    async def of(self, work: Callable[[], object]) -> str:
        """Let code do something; return the note on it."""
        await self.begin("r1")
        work()
        return await self.over("r1")

    async def begin(self, run: str) -> None:
        """Code begins, and goes on."""
        assert not await self._checkpointer.before(run)

    async def over(self, run: str) -> str:
        """It is over; return the note on it."""
        return (await self._checkpointer.after(run)).note


class Life:
    """Of one server after another, which all keep the same conversation."""

    def __init__(self, kept: Path, *folders: Path) -> None:
        self.kept = kept
        self.folders: Sequence[Path] = folders
        self._begin()

    def _begin(self) -> None:
        self._recovery = RecoveryFile(self.kept)
        self.guard = GitHookGuard(NoCheckpoints(), lambda: self.folders, self._recovery)

    @property
    def running(self) -> Path:
        return self.kept.with_suffix(".running")

    @property
    def looked(self) -> Path:
        return self.kept.with_suffix(".looked")

    async def run(self, work: Callable[[], object] = lambda: None) -> str:
        assert not await self.guard.before("r")
        work()
        return (await self.guard.after("r")).note

    async def is_cut_off(self, work: Callable[[], object] = lambda: None) -> None:
        """The server is killed in the middle of a run."""
        assert not await self.guard.before("r")
        work()
        self.is_killed()

    def is_killed(self) -> None:
        """With its process all that it held is let go, and nothing else is done."""
        self._recovery.release()
        self._begin()

"""A checkpointer that tells the person's hooks what a run has changed."""

from dataclasses import replace

from sayso.server.agent.permissions.hooks import HookEvent, Hooks
from sayso.server.store.changes import Changes
from sayso.server.undo.checkpointer import Checkpointer


class HookedCheckpointer:
    """Of one run."""

    def __init__(self, checkpointer: Checkpointer, hooks: Hooks, where: str) -> None:
        """`where`: the folder in which it runs."""
        self._checkpointer = checkpointer
        self._hooks = hooks
        self._where = where

    async def before(self, run: str) -> str:
        return await self._checkpointer.before(run)

    async def after(self, run: str) -> Changes:
        """What it changed, with what the hooks say of that."""
        changes = await self._checkpointer.after(run)
        if not changes:
            return changes
        said = await self._hooks.after_change(HookEvent(self._where, changes=changes))
        return replace(changes, note=f"{changes.note} {said}".strip()) if said else changes

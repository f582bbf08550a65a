"""Plans an undo: what to restore, and what must be left as it is. Pure.

Only what is still as the run left it is restored: what anybody changed since is kept.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Literal

from sayso.server.undo.git.repositories import keep_whole
from sayso.server.undo.tree import Change, Entry, Tree, alike, parent, untouched

Reason = Literal[
    "changed",
    "no_folder",
    "not_empty",
    "no_file",
    "only_copy",
    "too_big",
    "no_room",
    "unreadable",
    "damaged",
    "system",
]
"""Why a path is not put back: it was changed since; its folder is gone; other things are in it by
now; it is a socket or a device; what is there now is not kept and would be lost; what was there is
not kept because it was too big, or there was no room, or it may not be read; what was kept is
damaged; the system did not allow it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One path, to be made as it was."""

    path: str
    have: Entry | None
    """What must still be there when the step is done."""
    want: Entry | None

    @property
    def kind(self) -> Literal["remove", "make", "adjust"]:
        """`adjust`: only permissions, owner or dates."""
        if self.want is None:
            return "remove"
        have = self.have
        if have is None or have.kind != self.want.kind:
            return "make"
        return "adjust" if _same_content(have, self.want) else "make"


@dataclass(frozen=True, slots=True)
class Left:
    """A path that is not put back."""

    path: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Plan:
    """In the order in which it can be done: what is to go, the deepest first; then the rest."""

    steps: Sequence[Step]
    left: Sequence[Left]


def plan(changes: Sequence[Change], now: Tree) -> Plan:
    """How to take changes back. `now`: the state of the whole folder, just looked at."""
    steps: dict[str, Step] = {}
    left: dict[str, Left] = {}
    for change in changes:
        have = now.get(change.path)
        if change.matters and alike(have, change.before):
            continue  # somebody put it back already
        if not change.matters and have and change.after and have.mtime_ns != change.after.mtime_ns:
            continue  # it was only a date, and it is another one by now
        reason = _why_not(change, have)
        if reason is None:
            steps[change.path] = Step(change.path, have, change.before)
        elif change.told:
            left[change.path] = Left(change.path, reason)
    _leave_repositories(steps, left, now)
    told = {change.path for change in changes if change.told}
    _leave_full_folders(steps, left, now, told)
    _leave_orphans(steps, left, now, told)
    removals = [step for step in steps.values() if _empties(step)]
    rest = [step for step in steps.values() if step.want is not None]
    removals.sort(key=lambda step: step.path, reverse=True)
    rest.sort(key=lambda step: step.path)
    cleared = [Step(step.path, step.have, None) for step in removals]
    gone = {step.path for step in removals}
    rest = [Step(step.path, None, step.want) if step.path in gone else step for step in rest]
    return Plan([*cleared, *rest], sorted(left.values(), key=lambda one: one.path))


def _why_not(change: Change, have: Entry | None) -> Reason | None:
    if not alike(have, change.after):
        return "changed"
    want = change.before
    if "other" in {state.kind for state in (have, want) if state}:
        return "no_file"
    if have and want and have.kind == want.kind and _same_content(have, want):
        return None
    if have and have.unkept:
        # Taking back must not destroy the only copy of anything, moved here from elsewhere perhaps.
        return "only_copy"
    return want.unkept or None if want else None


def _same_content(one: Entry, other: Entry) -> bool:
    """Whether two states of the same kind differ in permissions, owner and dates at most."""
    if one.kind in ("folder", "pipe"):
        return True
    if one.unkept or other.unkept:
        return untouched(one, other)
    return one.content == other.content


def _empties(step: Step) -> bool:
    """Whether something has to go before what was there can come back."""
    if step.have is None:
        return False
    kinds = {step.have.kind, step.want.kind if step.want else ""}
    return step.want is None or ("folder" in kinds and len(kinds) > 1)


def _leave_repositories(steps: dict[str, Step], left: dict[str, Left], now: Tree) -> None:
    """A repository stays whole: its state goes back together, or not at all."""
    removed = {path for path, step in steps.items() if _empties(step)}
    kept = keep_whole(removed, steps.keys(), left.keys(), now)
    for path in kept.paths:
        del steps[path]
    for folder in kept.whole:
        for path in [path for path in left if path.startswith(f"{folder}/")]:
            del left[path]
        left[folder] = Left(folder, "changed")


def _leave_full_folders(
    steps: dict[str, Step], left: dict[str, Left], now: Tree, told: Set[str]
) -> None:
    """A folder goes only if everything in it goes."""
    staying = {path for path in now if path not in steps or not _empties(steps[path])}
    full: set[str] = set()
    for path in staying:
        above = parent(path)
        while above and above not in full:
            full.add(above)
            above = parent(above)
    for path in sorted(full):
        step = steps.get(path)
        if step is not None and _empties(step):
            del steps[path]
            if path in told:
                left[path] = Left(path, "not_empty")


def _leave_orphans(
    steps: dict[str, Step], left: dict[str, Left], now: Tree, told: Set[str]
) -> None:
    """What comes back needs a folder to come back to."""
    for path in sorted(steps):
        step, above = steps[path], parent(path)
        if step.want is None or not above:
            continue
        holder = steps[above].want if above in steps else now.get(above)
        if holder is None or holder.kind != "folder":
            del steps[path]
            if path in told:
                left[path] = Left(path, "no_folder")

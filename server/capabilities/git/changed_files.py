"""Tells which files a request changed, from the conversation's own record. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sayso.server.agent.record.conversation_history import Act, Exchange, History
from sayso.server.undo.git.repositories import repository_of


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """What is to be committed of what was done."""

    runs: tuple[str, ...] = ()
    """The runs that changed it."""
    files: tuple[str, ...] = ()
    """Their paths as they are shown."""
    complete: bool = True
    """Whether all of it was listed."""


def changed_files(history: History, label: str, *, everything: bool) -> ChangedFiles:
    """What the latest request changed that changed anything; or, with `everything`, all that the
    conversation did since its last commit. `label`: of the calls that commit."""
    runs: list[str] = []
    files: dict[str, None] = {}
    complete = True
    for exchange in reversed(history.exchanges):
        acts, committed = _since_commit(exchange, label)
        for act in acts:
            changes = act.report.changes if act.report else None
            if not changes:
                continue
            runs.append(act.call.id)
            complete = complete and not changes.more
            for path in _paths(act):
                files[path] = None
        if committed or (files and not everything):
            break
    return ChangedFiles(tuple(reversed(runs)), tuple(sorted(files)), complete)


def _since_commit(exchange: Exchange, label: str) -> tuple[Sequence[Act], bool]:
    """The calls of a request after its last commit, and whether there was one."""
    if exchange.taken_back:
        return (), False
    acts = [act for step in exchange.steps for act in step.acts]
    for place in range(len(acts) - 1, -1, -1):
        report = acts[place].report
        if acts[place].call.language == label and report and report.status == "ok":
            return acts[place + 1 :], True
    return acts, False


def _paths(act: Act) -> Iterator[str]:
    """The files that a run changed, without what git keeps, and without the folders around them."""
    changes = act.report.changes if act.report else None
    if changes is None:
        return
    plain = (*changes.added, *changes.changed, *changes.deleted)
    renamed = [path.rstrip("/") for one in changes.renamed for path in (one.old, one.new)]
    for path in (*(path for path in plain if not path.endswith("/")), *renamed):
        if repository_of(path) is None:
            yield path

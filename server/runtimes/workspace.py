"""The folder in which a conversation's code runs, and by what it is recognised."""

from dataclasses import dataclass
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.runtimes.protection.folder_identity import NOWHERE, Identity, look_at
from sayso.server.runtimes.protection.own_places import holds_interpreters, is_within


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of a conversation's own, or one that a person chose."""

    path: Path
    identity: Identity | None = None
    """Which folder the person chose; None if it is the conversation's own."""


def open_workspace(workspace: Path, known: Identity | None) -> tuple[Identity, str]:
    """Make the folder if it is missing; return by what it is recognised, or why no code can run."""
    try:
        workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A person may have written links into a path that they chose; Sayso's own has none at its
        # end, unless code put it there.
        own = not known and ".." not in workspace.parts
        real = workspace.parent.resolve() / workspace.name if own else workspace.resolve()
        _, identity = look_at(real)
    except OSError as error:
        why = f"which is no folder to be had: {error.strerror}"
        return NOWHERE, f"Code cannot run in {workspace}, {why}."
    if known and not known.is_same(identity):
        return NOWHERE, (
            f"Code does not run in {workspace}, because another folder, or a link, is there now;"
            f" choose it anew with `/folder {workspace}`, or another one."
        )
    home = Home.find()
    secrets = any(is_within(own, real) for own in (home.config, home.state))
    if secrets or holds_interpreters(real):
        return NOWHERE, (
            f"Code cannot run in {workspace}, because Sayso's own secrets lie in there;"
            " choose another folder as workspace."
        )
    return identity, ""

"""Knows the folder in which each conversation's code runs."""

from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.agent.record.conversation_settings import identity_in, seen_at
from sayso.server.runtimes.protection.folder_identity import NOWHERE, Identity
from sayso.server.runtimes.protection.own_places import why_unwritable
from sayso.server.runtimes.workspace import Workspace
from sayso.server.settings import Settings
from sayso.server.store.records import Conversation


class Workspaces:
    """Of all conversations of one server."""

    def __init__(self, home: Home, settings: Settings, standing: StandingGrants | None) -> None:
        self._home = home
        self._settings = settings
        self._standing = standing

    def folder(self, about: Conversation) -> Path:
        """Where a conversation's code runs; the folder in the settings is the owner's."""
        chosen = about.workspace or ("" if about.owner else self._settings.code.workspace)
        return Path(chosen).expanduser() if chosen else self._home.data / "workspaces" / about.id

    def of(self, about: Conversation) -> Workspace:
        """The same folder, with what it is recognised by if somebody chose it."""
        return Workspace(self.folder(about), self._identity(about))

    def _identity(self, about: Conversation) -> Identity | None:
        if about.workspace:
            # Where that was not written down, it is what is there, unless a link is.
            seen = about.seen or seen_at(Path(about.workspace))
            never = why_unwritable(Path(about.workspace))
            return identity_in(seen[0]) if seen and not never else NOWHERE
        return None if about.owner or not self._standing else self._standing.workspace

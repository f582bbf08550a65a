"""What the person granted for good: read from the settings, and written there with a yes."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.policy.judging import Policy
from sayso.server.policy.rules import RuleError
from sayso.server.runtimes.reach import Access, GrantError, Reach, folder, hosts_of
from sayso.server.settings import Settings, SettingsError
from sayso.server.settings.errors import WrongValue
from sayso.server.settings.loading import user_file
from sayso.server.settings.writing import set_in_file

log = logging.getLogger(__name__)


class StandingGrants:
    """Of the household; every conversation has them."""

    def __init__(self, home: Home, settings: Settings) -> None:
        self._home = home
        code = settings.code
        self._read = code.read_folders
        self._write = code.write_folders
        self._hosts = code.hosts
        self._one_at_a_time = asyncio.Lock()
        self._reach = Reach(hosts=hosts_of(code.hosts), network=code.network)
        for paths, access in ((code.read_folders, "read"), (code.write_folders, "write")):
            for path in paths:
                self._reach = self._with(path, "write" if access == "write" else "read")

    @property
    def reach(self) -> Reach:
        return self._reach

    async def keep(self, granted: Reach) -> str:
        """Write a grant into the settings; return what went wrong, in a sentence, or nothing."""
        async with self._one_at_a_time:
            try:
                await asyncio.to_thread(self._write_down, granted)
            except SettingsError as problem:
                return f"It holds for this conversation, but could not be kept: {problem}"
            self._reach = self._reach.joined(granted)
        return ""

    def _write_down(self, granted: Reach) -> None:
        file = user_file(self._home)
        read = [str(each.path) for each in granted.folders if each.access == "read"]
        write = [str(each.path) for each in granted.folders if each.access == "write"]
        if read:
            self._read = _added(self._read, read)
            set_in_file(file, "code.read_folders", self._read)
        if write:
            self._write = _added(self._write, write)
            set_in_file(file, "code.write_folders", self._write)
        if granted.hosts:
            self._hosts = _added(self._hosts, list(granted.hosts))
            set_in_file(file, "code.hosts", self._hosts)
        if granted.network:
            set_in_file(file, "code.network", True)

    def _with(self, path: str, access: Access) -> Reach:
        try:
            return self._reach.with_folder(folder(path, access))
        except GrantError as problem:
            log.warning("a folder in the settings is not granted: %s", problem)
            return replace(self._reach)


def _added(before: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *new)))


def policy_of(settings: Settings) -> Policy:
    """The person's rules. Raises WrongValue where one cannot be relied on."""
    approvals = settings.approvals
    try:
        return Policy(approvals.rules, approvals.safe, home=str(Path.home()))
    except RuleError as problem:
        raise WrongValue(f"approvals.rules: {problem}") from None

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
from sayso.server.settings.keys import Value
from sayso.server.settings.loading import read, user_file
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

    async def drop(self, part: Reach) -> str:
        """Take a grant out of the settings; return what went wrong, in a sentence, or nothing."""
        async with self._one_at_a_time:
            try:
                elsewhere = await asyncio.to_thread(self._cross_out, part)
            except SettingsError as problem:
                return f"It could not be taken back: {problem}"
            self._reach = self._reach.without(part)
        if elsewhere:
            return (
                "It is taken back until Sayso ends; after that it is there again, because not your"
                f" settings file decides: `sayso settings {elsewhere}` shows what does."
            )
        return ""

    def _cross_out(self, part: Reach) -> str:
        """Returns the key that another source sets against the person's file, if one does."""
        places = [each.path for each in part.folders]
        changed: dict[str, Value] = {}
        if part.places("read"):
            self._read = changed["code.read_folders"] = _without(self._read, places)
        if part.places("write"):
            self._write = changed["code.write_folders"] = _without(self._write, places)
        if part.hosts:
            gone = set(part.hosts)
            self._hosts = tuple(name for name in self._hosts if not gone & {*hosts_of([name])})
            changed["code.hosts"] = self._hosts
        if part.network:
            changed["code.network"] = False
        for dotted, value in changed.items():
            set_in_file(user_file(self._home), dotted, value)
        now = read(self._home).values
        return next((key for key, value in changed.items() if now[key] != value), "")

    def _write_down(self, granted: Reach) -> None:
        file = user_file(self._home)
        if read := granted.places("read"):
            self._read = _added(self._read, read)
            set_in_file(file, "code.read_folders", self._read)
        if write := granted.places("write"):
            self._write = _added(self._write, write)
            set_in_file(file, "code.write_folders", self._write)
        if granted.hosts:
            self._hosts = _added(self._hosts, granted.hosts)
            set_in_file(file, "code.hosts", self._hosts)
        if granted.network:
            set_in_file(file, "code.network", True)

    def _with(self, path: str, access: Access) -> Reach:
        try:
            return self._reach.with_folder(folder(path, access))
        except GrantError as problem:
            log.warning("a folder in the settings is not granted: %s", problem)
            return replace(self._reach)


def _without(before: tuple[str, ...], places: list[Path]) -> tuple[str, ...]:
    return tuple(path for path in before if Path(path).expanduser().resolve() not in places)


def _added(before: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *new)))


def policy_of(settings: Settings) -> Policy:
    """The person's rules. Raises WrongValue where one cannot be relied on."""
    approvals = settings.approvals
    try:
        return Policy(approvals.rules, approvals.safe, home=str(Path.home()))
    except RuleError as problem:
        raise WrongValue(f"approvals.rules: {problem}") from None

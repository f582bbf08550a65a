"""Reads the permanent grants from the settings, and writes one there when the person says yes."""

import asyncio
import contextlib
import json
import logging
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sayso.protocol.home import Home
from sayso.server.policy.judge import Policy
from sayso.server.policy.rules import RuleError
from sayso.server.runtimes.grants import Access, Folder, GrantError, Grants, folder, hosts_of
from sayso.server.runtimes.protection.folder_identity import NOWHERE, Identity, look_at
from sayso.server.runtimes.protection.own_places import why_unwritable
from sayso.server.settings import Settings, SettingsError
from sayso.server.settings.errors import WrongValue
from sayso.server.settings.loading import project_file, read, user_file
from sayso.server.settings.value_types import Value
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
        self._losses: list[str] = []
        self._recognised = Recognised(home)
        self._reach = Grants(hosts=hosts_of(code.hosts), network=code.network)
        for path in code.read_folders:
            self._take(path, "read")
        for path in code.write_folders:
            self._take(path, "write")
        self.workspace = self._workspace(code.workspace)
        """Which folder the settings' workspace is; nothing if they name none."""
        self._recognised.keep_only((*self._read, *self._write, code.workspace))

    @property
    def reach(self) -> Grants:
        return self._reach

    def take_losses(self) -> tuple[str, ...]:
        """What of the settings does not hold, in sentences, since this was last asked."""
        losses, self._losses = tuple(self._losses), []
        return losses

    def close(self, part: Grants) -> None:
        """Let this hold no more until it is granted anew."""
        self._reach = self._reach.without(part)

    async def keep(self, granted: Grants) -> str:
        """Write a grant into the settings; return what went wrong, in a sentence, or nothing."""
        async with self._one_at_a_time:
            try:
                await asyncio.to_thread(self._write_down, granted)
            except SettingsError as problem:
                return f"It holds for this conversation, but could not be kept: {problem}"
            self._reach = self._reach.joined(granted)
        return ""

    async def drop(self, part: Grants) -> str:
        """Take a grant out of the settings; return what went wrong, in a sentence, or nothing."""
        async with self._one_at_a_time:
            try:
                self._reach = self._reach.without(part)
                elsewhere = await asyncio.to_thread(self._cross_out, part)
            except SettingsError as problem:
                return f"It is taken back until Sayso ends, but not in the settings: {problem}"
        if elsewhere:
            return (
                "It is taken back until Sayso ends; after that it is there again, because not your"
                f" settings file decides: `sayso settings {elsewhere}` shows what does."
            )
        return ""

    def _cross_out(self, part: Grants) -> str:
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

    def _write_down(self, granted: Grants) -> None:
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
        for each in granted.folders:
            self._recognised.put(str(each.path), each)

    def _take(self, path: str, access: Access) -> None:
        try:
            found = folder(path, access)
        except GrantError as problem:
            log.warning("a folder in the settings is not granted: %s", problem)
            return
        if self._recognised.is_another(path, found):
            self._lose(
                f"{path}, which your settings open to code, is not the folder that it was: it is"
                " closed. Have it asked for again, and say yes for good, to open what is there now."
            )
            return
        self._recognised.put(path, found)
        self._reach = self._reach.with_folder(found)

    def _workspace(self, path: str) -> Identity | None:
        if not path:
            return None
        place = Path(path).expanduser().absolute()
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            _, identity = look_at(place.resolve())
        except OSError:
            return None  # then no code runs there, and that is told where it is set up
        if self._recognised.is_another(path, found := Folder(place.resolve(), "write", identity)):
            self._lose(
                f"{path}, in which your settings let code run, is not the folder that it was; if"
                f" you changed it, name it by its new place: `sayso settings code.workspace`."
            )
            return NOWHERE
        if never := why_unwritable(found.path):
            self._lose(never)
            return NOWHERE
        self._recognised.put(path, found)
        return identity

    def _lose(self, sentence: str) -> None:
        log.warning("%s", sentence)
        self._losses.append(sentence)


class Recognised:
    """Which folders the settings' paths led to when they were first used, kept in a file: a path
    that leads elsewhere at the next start may have been turned by code."""

    def __init__(self, home: Home) -> None:
        self._file = home.state / "recognised.json"
        self._seen: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(FileNotFoundError, ValueError):
            self._seen = json.loads(self._file.read_text(encoding="utf-8"))

    def is_another(self, path: str, found: Folder) -> bool:
        """Whether what is found by this path is not what was found before."""
        known = self._seen.get(path)
        if known is None or found.identity is None:
            return False
        before = Identity(known["device"], known["inode"], known["boot"])
        return known["place"] != str(found.path) or not before.is_same(found.identity)

    def put(self, path: str, found: Folder) -> None:
        """From now on this is what the path means."""
        if found.identity is None:
            return
        seen = {"place": str(found.path), **asdict(found.identity)}
        if self._seen.get(path) != seen:
            self._seen[path] = seen
            self._write()

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget what the settings do not name any more."""
        kept = {path: self._seen[path] for path in paths if path in self._seen}
        if kept != self._seen:
            self._seen = kept
            self._write()

    def _write(self) -> None:
        draft = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_text(json.dumps(self._seen), encoding="utf-8")
            draft.replace(self._file)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._file, error.strerror)


def _without(before: tuple[str, ...], places: list[Path]) -> tuple[str, ...]:
    return tuple(path for path in before if Path(path).expanduser().resolve() not in places)


def _added(before: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *new)))


def loaded_files(settings: Settings, folder: Path) -> tuple[Path, ...]:
    """The files that settings tell Sayso to load, and those of this folder: code that changes them
    changes what Sayso loads."""
    named = (settings.voice.model, settings.ears.model, settings.language_model.model)
    paths = [project_file(folder), *(Path(name).expanduser() for name in named if "/" in name)]
    return tuple(path for path in paths if path.exists())


def policy_of(settings: Settings) -> Policy:
    """The person's rules. Raises WrongValue where one cannot be relied on."""
    approvals = settings.approvals
    try:
        return Policy(approvals.rules, approvals.safe, home=str(Path.home()))
    except RuleError as problem:
        raise WrongValue(f"approvals.rules: {problem}") from None

"""Whether a secret that the tests made stands anywhere that it must not.

Noted is what Sayso makes in the tests' own process (tokens of the machine and of devices, pairing
codes), what lies in the files where a child process keeps its token, and every key in the
environment of this process or of a child. Looked through is what each test left in its folders, and
all that it, and the children whose words it waited for, have printed.
"""

import asyncio
import errno
import json
import os
import re
import secrets
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

MAKERS: Final = {
    "sayso.protocol.home": "the machine's token",
    "sayso.server.trust.devices": "a device's token",
    "sayso.server.trust.pairing": "a pairing code",
    "sayso.server.agent.llm.embedded.process": "the key of the embedded model",
}
"""Who makes secrets with `secrets.token_urlsafe`; the others make names with it."""

HOLDERS: Final = {
    "token": "by it the machine's programs know each other; only its owner can read it",
    "server.json": "a paired device keeps its own token there; only its owner can read it",
    "flash": "what a small device has instead of a disk; its own token is in it",
    "sayso.json": "carries a token to a device without a screen, which deletes it on arrival",
}
"""The files that may hold a token, and why."""

_KEY_NAMES: Final = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSPHRASE|CREDENTIALS)$")
_LIKE_A_TOKEN: Final = re.compile(rb"[A-Za-z0-9_-]{22,}")
_SHORTEST: Final = 8
"""Characters of a key: what is shorter stands in many files by chance."""


class SecretsTold:
    """What is secret, and who told it."""

    def __init__(self) -> None:
        self._lasting: dict[str, str] = {}
        """Noted between tests: what belongs to several of them."""
        self._own: dict[str, str] = {}
        """Noted in the test that is under way, or was the last."""
        self._made: set[bytes] = set()
        """All that Sayso made by chance in this run. The keys that tests think of stand in them."""
        self._under_way = False
        self._looked: set[Path] = set()
        self._printed: list[tuple[str, str]] = []
        self._patch = pytest.MonkeyPatch()
        self._listening = False

    def open(self) -> None:
        """Note from now on."""
        self._listening = True
        sys.addaudithook(self._audit)
        self._watch_makers()
        self._hear_children()

    def close(self) -> None:
        self._listening = False
        self._patch.undo()

    def begin(self) -> None:
        """A test begins."""
        self._own, self._under_way = {}, True

    def end(self) -> None:
        self._under_way = False

    def note(self, secret: str, what: str) -> None:
        """One that a child made and showed: nobody else sees it being made."""
        (self._own if self._under_way else self._lasting)[secret] = what

    def in_folders(self, folders: Iterable[Path]) -> list[str]:
        """Which secret of this test was written into which file."""
        folders = [folder for folder in folders if not folder.is_symlink()]
        self._looked.update(folders)
        files = [file for folder in folders for file in _files(folder)]
        for file in files:
            if file.name in HOLDERS and (token := _held(file)):
                self.note(token, f"the token that lies in {file.name}")
        return [
            f"wrote {what} into {file}"
            for file in files
            if file.name not in HOLDERS
            for content in _contents(file)
            for what in self._found(content)
        ]

    def in_shared_folders(self, folders: Iterable[Path]) -> list[str]:
        """Which file of those that no test had to itself holds anything that was made."""
        left = {folder for folder in folders if not folder.is_symlink()} - self._looked
        files = [file for folder in left for file in _files(folder)]
        self._made.update(_held(file).encode() for file in files if file.name in HOLDERS)
        return [
            f"wrote a token or a code into {file}"
            for file in files
            if file.name not in HOLDERS
            for content in _contents(file)
            if not self._made.isdisjoint(_LIKE_A_TOKEN.findall(content))
        ]

    def in_text(self, text: str) -> list[str]:
        """Which secret of this test stands there."""
        return [f"printed {what}" for what in self._found(text.encode())]

    def in_output(self) -> list[str]:
        """Which secret of this test its children printed."""
        printed, self._printed = self._printed, []
        return [
            f"had `{command}` print {what}"
            for command, text in printed
            for what in self._found(text.encode())
            # That verb shows the owner the code.
            if "code" not in what or " pair " not in command or " join " in command
        ]

    def _found(self, content: bytes) -> list[str]:
        known = self._lasting | self._own
        return [what for secret, what in known.items() if _stands_in(secret, content)]

    def _watch_makers(self) -> None:
        make, draw = secrets.token_urlsafe, secrets.randbelow

        def token_urlsafe(nbytes: int | None = None) -> str:
            token = make(nbytes)
            if what := MAKERS.get(sys._getframe(1).f_globals["__name__"]):
                self.note(token, what)
                self._made.add(token.encode())
            return token

        def randbelow(limit: int) -> int:
            number = draw(limit)
            if what := MAKERS.get(sys._getframe(1).f_globals["__name__"]):
                self.note(f"{number:0{len(str(limit - 1))}d}", what)
            return number

        self._patch.setattr(secrets, "token_urlsafe", token_urlsafe)
        self._patch.setattr(secrets, "randbelow", randbelow)

    def _hear_children(self) -> None:
        plain, awaited = subprocess.Popen.communicate, asyncio.subprocess.Process.communicate

        def communicate(
            process: "subprocess.Popen[bytes]",
            given: bytes | None = None,
            timeout: float | None = None,
        ) -> tuple[bytes, bytes]:
            said = plain(process, given, timeout)
            self._printed.append((_plain(process.args), _plain(said)))
            return said

        async def communicate_async(
            process: asyncio.subprocess.Process, given: bytes | None = None
        ) -> tuple[bytes, bytes]:
            said = await awaited(process, given)
            self._printed.append(("a child", _plain(said)))
            return said

        self._patch.setattr(subprocess.Popen, "communicate", communicate)
        self._patch.setattr(asyncio.subprocess.Process, "communicate", communicate_async)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._listening and event == "os.putenv":
            self._note_keys([arguments])
        elif self._listening and event == "subprocess.Popen" and arguments[3] is not None:
            self._note_keys(arguments[3].items())

    def _note_keys(self, variables: Iterable[tuple[str | bytes, str | bytes]]) -> None:
        for name, value in variables:
            key = os.fsdecode(value)
            if len(key) >= _SHORTEST and _KEY_NAMES.search(os.fsdecode(name)):
                self.note(key, f"the key in {os.fsdecode(name)}")


def _plain(words: object) -> str:
    """A command, or what it said, as one text."""
    match words:
        case bytes():
            return words.decode(errors="replace")
        case list() | tuple():
            return " ".join(map(_plain, words))
    return "" if words is None else str(words)


def _files(folder: Path) -> Iterator[Path]:
    """All that are there themselves: what is only linked belongs to all tests."""
    for where, folders, names in os.walk(folder):
        for name in folders:
            _give_back(Path(where, name), stat.S_IRUSR | stat.S_IXUSR)
        for name in names:
            file = Path(where, name)
            if stat.S_ISREG(file.lstat().st_mode):
                _give_back(file, stat.S_IRUSR)
                yield file


def _give_back(path: Path, rights: int) -> None:
    """Let this person read what a test of theirs closed to them, as root reads it anyway.

    What lies deeper than a path may be long is not looked at.
    """
    try:
        found = path.lstat()
        if (
            0 != os.geteuid() == found.st_uid
            and not stat.S_ISLNK(found.st_mode)
            and rights & ~found.st_mode
        ):
            path.chmod(stat.S_IMODE(found.st_mode) | rights)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
            raise


def _contents(file: Path) -> Iterator[bytes]:
    """What stands in it; of what is packed, what was packed."""
    yield file.read_bytes()
    if file.name.startswith("sayso-diagnostics"):
        with zipfile.ZipFile(file) as bundle:
            yield from map(bundle.read, bundle.namelist())


def _held(file: Path) -> str:
    """The token in one of the holders; nothing where a test wrote something else into it."""
    content = file.read_text(errors="replace").strip()
    if file.suffix != ".json":
        return content
    try:
        return str(json.loads(content)["token"])
    except (ValueError, LookupError, TypeError):
        return ""


def _stands_in(secret: str, content: bytes) -> bool:
    if not secret.isdecimal():
        return secret.encode() in content
    # Six digits stand in many a long number by chance.
    middle = len(secret) // 2
    alone = rf"(?<![\w.:-]){secret[:middle]} ?{secret[middle:]}(?![\w:])"
    return re.search(alone.encode(), content) is not None


TOLD: Final = SecretsTold()

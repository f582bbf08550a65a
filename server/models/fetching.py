"""Fetches a model from its hub: resumable, verified, never half-installed.

Files are gathered in a folder aside; only when all are whole does the folder take its place, in one
step. Whatever breaks off on the way (a cut line, Ctrl-C, a full disk, no power), the next call goes
on where this one was, and the models that were here stay as they were.
"""

import contextlib
import fcntl
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.models.download import Download, here
from sayso.server.models.errors import FetchFailed, NameUnknown
from sayso.server.models.hub import Hub, HubFile, Repository
from sayso.server.models.installed import InstalledModels, folder_name
from sayso.server.models.machine import in_words
from sayso.server.models.manifest import Manifest
from sayso.server.models.model import Model
from sayso.server.models.names import Wanted
from sayso.server.models.progress import Progress, Silent
from sayso.server.models.verification import holds, remember_whole

KEPT_FREE_BYTES = 200_000_000
"""Left on the disk for everything else, unless told otherwise."""

CARD = "MODEL_CARD"
"""Where piper's voices name their licence."""

COMMIT_DIGITS = 12
"""Of a commit, in a folder's name: as good as all of it."""


class Fetching:
    """Fetches models from one hub into the model folder of one home."""

    def __init__(
        self,
        home: Home,
        hub: Hub,
        *,
        progress: Progress | None = None,
        kept_free_bytes: int = KEPT_FREE_BYTES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._home = home
        self._installed = InstalledModels(home)
        self._hub = hub
        self._download = Download(hub, progress or Silent(), sleep)
        self._kept_free = kept_free_bytes

    @property
    def _aside(self) -> Path:
        return self._installed.folder / ".unfinished"

    def fetch(self, wanted: Wanted) -> Model:
        """Fetch the model as it is now on the hub; what is here and whole is not fetched again.

        Raises FetchFailed, NameUnknown.
        """
        name = f"{wanted.kind}--{folder_name(wanted.name)}"
        try:
            with self._alone(name, wanted):
                repository = self._download.tried(lambda: self._hub.repository(wanted.repository))
                files = self._files(wanted, repository)
                folder = self._aside / f"{name}@{repository.commit[:COMMIT_DIGITS]}"
                self._prepare(wanted, files, folder)
                for file in files:
                    self._download.bring(repository, file, folder / file.name)
                return self._install(wanted, repository, files, folder)
        except OSError as error:
            reason = error.strerror or str(error)
            message = (
                f"{wanted.name} cannot be written to {self._installed.folder} ({reason}); "
                f"put that right and run the same command again."
            )
            raise FetchFailed(message) from error

    def _files(self, wanted: Wanted, repository: Repository) -> list[HubFile]:
        """The files that make up the model, all of them there."""
        listed = self._download.tried(lambda: self._hub.files(repository, wanted.folder))
        files = [file for file in listed if wanted.takes(file.name)]
        missing = set(wanted.needed) - {file.name for file in files}
        if missing:
            place = f"{wanted.repository}/{wanted.folder}".rstrip("/")
            message = (
                f"{place} on the model hub holds no {', '.join(sorted(missing))}, so it is not "
                f"what Sayso needs for {wanted.name}; check the name."
            )
            raise NameUnknown(message)
        return files

    def _prepare(self, wanted: Wanted, files: list[HubFile], folder: Path) -> None:
        """Make room aside, and take over what is already right, without copying it."""
        for other in self._aside.glob(f"{folder.name.partition('@')[0]}@*"):
            if other != folder:  # of another commit: it would never be finished
                shutil.rmtree(other, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        installed = self._installed.folder_of(wanted.kind, wanted.name)
        for file in files:
            old, new = installed / file.name, folder / file.name
            if not new.exists() and old.is_file() and holds(old, file.bytes, file.digest):
                with contextlib.suppress(OSError):  # no hard links on this disk: it is fetched
                    new.hardlink_to(old)
        needed = sum(file.bytes - here(folder / file.name) for file in files)
        free = shutil.disk_usage(folder).free
        if needed > 0 and needed + self._kept_free > free:
            message = (
                f"{wanted.name} needs {in_words(needed)} on the disk of {self._installed.folder}, "
                f"where {in_words(free)} are free and {in_words(self._kept_free)} stay so; "
                f"make room and run the same command again."
            )
            raise FetchFailed(message)

    def _install(
        self, wanted: Wanted, repository: Repository, files: list[HubFile], folder: Path
    ) -> Model:
        """Put the finished folder in its place; an older one gives way in the same moment."""
        manifest = Manifest(
            name=wanted.name,
            kind=wanted.kind,
            entry=wanted.entry,
            repository=wanted.repository,
            commit=repository.commit,
            licence=_licence(folder / CARD) or repository.licence,
            language=wanted.language,
            files=[(file.name, file.bytes, file.digest) for file in files],
        )
        manifest.write(folder)
        place = self._installed.folder_of(wanted.kind, wanted.name)
        place.parent.mkdir(parents=True, exist_ok=True)
        old = self._aside / f"{folder.name}.old"
        shutil.rmtree(old, ignore_errors=True)
        if place.exists():
            place.rename(old)
        folder.rename(place)
        shutil.rmtree(old, ignore_errors=True)
        model = manifest.model(place)
        remember_whole(model, self._home)
        return model

    @contextlib.contextmanager
    def _alone(self, name: str, wanted: Wanted) -> Iterator[None]:
        """Nobody else fetches the same model meanwhile."""
        self._aside.mkdir(parents=True, exist_ok=True)
        with (self._aside / f"{name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = f"{wanted.name} is already being fetched by another `sayso models get`."
                raise FetchFailed(message) from None
            yield


def _licence(card: Path) -> str:
    """What a voice's card says of its licence; empty if there is none."""
    if not card.is_file():
        return ""
    for line in card.read_text(encoding="utf-8", errors="replace").splitlines():
        label, colon, value = line.strip("* ").partition(":")
        if colon and label.strip().lower() in {"license", "licence"}:
            return value.strip()
    return ""

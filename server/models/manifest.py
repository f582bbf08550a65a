"""The note that lies beside a fetched model: what it is, where it came from, what it must hold."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from sayso.server.models.errors import ModelDamaged
from sayso.server.models.model import Digest, Kind, Model, ModelFile

MANIFEST = "sayso-model.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known of a fetched model."""

    name: str
    kind: Kind
    entry: str
    """The file that the engine opens; empty for the folder itself."""
    repository: str
    commit: str
    licence: str
    language: str
    files: Sequence[tuple[str, int, Digest]]
    """Each file's name, size in bytes and digest."""

    def write(self, folder: Path) -> None:
        record = {
            "name": self.name,
            "kind": self.kind,
            "entry": self.entry,
            "repository": self.repository,
            "commit": self.commit,
            "licence": self.licence,
            "language": self.language,
            "files": [
                {"name": name, "bytes": size, digest.algorithm: digest.value}
                for name, size, digest in self.files
            ],
        }
        text = json.dumps(record, indent=1, ensure_ascii=False)
        (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Raises ModelDamaged if there is none, or none that can be understood."""
        try:
            record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            return cls(
                name=str(record["name"]),
                kind=_kind(record["kind"]),
                entry=_plain(record["entry"]),
                repository=str(record["repository"]),
                commit=str(record["commit"]),
                licence=str(record["licence"]),
                language=str(record["language"]),
                files=[_file(one) for one in record["files"]],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = (
                f"The folder {folder} holds no model that Sayso understands; "
                f"remove it and get the model again with `sayso models get`."
            )
            raise ModelDamaged(message) from error

    def model(self, folder: Path) -> Model:
        """The model in this folder."""
        return Model(
            name=self.name,
            kind=self.kind,
            path=folder / self.entry,
            files=tuple(
                ModelFile(folder / name, size, digest) for name, size, digest in self.files
            ),
            licence=self.licence,
            language=self.language,
            source="hub",
            origin=f"{self.repository} at {self.commit[:12]}",
            remedy=f"sayso models get --again {self.name}",
        )


def _file(record: dict[str, object]) -> tuple[str, int, Digest]:
    size = record["bytes"]
    if not isinstance(size, int):
        raise TypeError(size)
    if "sha256" in record:
        digest = Digest("sha256", str(record["sha256"]))
    else:
        digest = Digest("git-sha1", str(record["git-sha1"]))
    return _plain(record["name"]), size, digest


def _plain(name: object) -> str:
    """A file's name that cannot lead out of its folder."""
    if not isinstance(name, str) or "/" in name or name in {".", ".."}:
        raise ValueError(name)
    return name


def _kind(name: object) -> Kind:
    for kind in get_args(Kind):
        if kind == name:
            return cast("Kind", kind)
    raise ValueError(name)

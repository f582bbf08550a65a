"""What a model is: its files, what each of them must hold, and what its engine opens."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["ears", "voice", "language_model"]
"""What a model is for. The names are those of the settings that choose one."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What a file must hold, in short."""

    algorithm: Literal["sha256", "git-sha1"]
    """`git-sha1` is how git names a small file's content; hubs give nothing better for those."""
    value: str
    """In hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model."""

    path: Path
    bytes: int
    digest: Digest | None
    """None where no one has said what the file must hold: a folder of the person's own."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model on this machine."""

    name: str
    kind: Kind
    path: Path
    """What its engine opens: a folder (recognition), an `.onnx` file (voice), a `.gguf` file."""
    files: tuple[ModelFile, ...]
    licence: str
    language: str
    """Code of the language it knows, or `many`."""
    source: Literal["starter", "hub", "path"]
    origin: str
    """Where it came from, in words: a package, a repository and its commit, a folder."""
    remedy: str
    """The command that puts it right if it is damaged."""

    @property
    def bytes(self) -> int:
        """What it takes on the disk."""
        return sum(file.bytes for file in self.files)

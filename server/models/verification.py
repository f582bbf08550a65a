"""Verifies a model's files by hash; a file that was found whole is remembered.

Hashing 240 MB of weights takes up to a second, so it is done once: a whole file is remembered by
path, size, time of change and inode, and later starts cost one `stat`. That notices what goes wrong
by itself: a broken download, a half-finished installation, a file replaced or cut. It does not
notice bits that decay on the disk without a write, nor someone who may write here and sets the
time back; who may do that may change Sayso itself. `sayso models check` hashes everything again.
"""

import hashlib
import json
import logging
import os
import tempfile
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.models.errors import ModelDamaged
from sayso.server.models.model import Digest, Model, ModelFile

logger = logging.getLogger(__name__)

BLOCK_BYTES = 1 << 20
"""Read at once while hashing: large enough to be fast, small enough not to matter in memory."""

Mark = list[int | str]
"""Size, time of change in nanoseconds, inode and digest of a file that was found whole."""


def memory_file(home: Home) -> Path:
    """Where verified files are remembered."""
    return home.state / "verified-models.json"


def verify(model: Model, home: Home, *, trust_memory: bool = True) -> None:
    """Make sure that every file is whole. Raises ModelDamaged with the remedy."""
    memory = _recall(home) if trust_memory else {}
    marks: dict[str, Mark] = {}
    for file in model.files:
        try:
            mark = _mark(file)
            if memory.get(str(file.path)) == mark:
                continue
            complaint = _complaint(file)
        except FileNotFoundError:
            complaint = "is missing"
        except OSError as error:
            complaint = f"cannot be read ({error.strerror or error})"
        if complaint:
            message = (
                f"The model {model.name} is damaged: {file.path} {complaint}; "
                f"put it right with `{model.remedy}`."
            )
            raise ModelDamaged(message)
        marks[str(file.path)] = mark
    if marks:
        _remember(home, marks)


def remember_whole(model: Model, home: Home) -> None:
    """Remember a model whose content was verified while it was written."""
    _remember(home, {str(file.path): _mark(file) for file in model.files})


def hasher(algorithm: str, size: int) -> "hashlib._Hash":
    """What makes the digest of a file of this size, block by block."""
    if algorithm == "git-sha1":
        return hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    return hashlib.sha256()


def digest_of(path: Path, algorithm: str, size: int) -> str:
    """The digest of a file's content, in hexadecimal digits."""
    digest = hasher(algorithm, size)
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def holds(path: Path, size: int, digest: Digest | None) -> bool:
    """Whether a file has this size and content."""
    if path.stat().st_size != size:
        return False
    return digest is None or digest_of(path, digest.algorithm, size) == digest.value


def _complaint(file: ModelFile) -> str:
    size = file.path.stat().st_size
    if size != file.bytes:
        return f"has {size:,} bytes instead of {file.bytes:,}"
    if not holds(file.path, file.bytes, file.digest):
        return "does not hold what it should"
    return ""


def _mark(file: ModelFile) -> Mark:
    found = file.path.stat()
    return [
        found.st_size,
        found.st_mtime_ns,
        found.st_ino,
        file.digest.value if file.digest else "",
    ]


def _recall(home: Home) -> dict[str, Mark]:
    """What is remembered. A memory that cannot be read costs time, not correctness."""
    try:
        memory = json.loads(memory_file(home).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return memory if isinstance(memory, dict) else {}


def _remember(home: Home, marks: dict[str, Mark]) -> None:
    kept = {path: mark for path, mark in _recall(home).items() if Path(path).exists()}
    target = memory_file(home)
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept | marks, file, indent=1)
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        logger.warning("Verified models cannot be remembered in %s: %s", target, error)

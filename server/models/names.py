"""Resolves a model's name as a person writes it, and its place on the hub."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase

from sayso.server.models.errors import NameUnknown
from sayso.server.models.model import Kind

WHISPER = {
    "tiny.en": "Systran/faster-whisper-tiny.en",
    "tiny": "Systran/faster-whisper-tiny",
    "base.en": "Systran/faster-whisper-base.en",
    "base": "Systran/faster-whisper-base",
    "small.en": "Systran/faster-whisper-small.en",
    "small": "Systran/faster-whisper-small",
    "medium.en": "Systran/faster-whisper-medium.en",
    "medium": "Systran/faster-whisper-medium",
    "large-v2": "Systran/faster-whisper-large-v2",
    "large-v3": "Systran/faster-whisper-large-v3",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "distil-small.en": "Systran/faster-distil-whisper-small.en",
    "distil-medium.en": "Systran/faster-distil-whisper-medium.en",
    "distil-large-v3": "Systran/faster-distil-whisper-large-v3",
    "distil-large-v3.5": "distil-whisper/distil-large-v3.5-ct2",
}
"""Whisper in CTranslate2 format, by the names that faster-whisper uses."""

ENGLISH_ONLY = re.compile(r"\.en$|distil-large")
"""Whisper models that hear English and nothing else."""

PIPER_VOICES = "rhasspy/piper-voices"

VOICE = re.compile(
    r"(?P<region>(?P<language>[a-z]{2,3})_[A-Z]{2})-(?P<voice>\w+)-(?P<quality>x_low|low|medium|high)"
)
"""Names of piper's voices: `en_US-lessac-medium`."""

_PART = r"\w[\w.-]*"
REPOSITORY = re.compile(rf"{_PART}/{_PART}")
GGUF = re.compile(rf"(?P<repository>{_PART}/{_PART}):(?P<path>{_PART}(?:/{_PART})*\.gguf)")
GGUF_PART = re.compile(r"-\d{5}-of-(?P<parts>\d{5})\.gguf$")

GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Suggested:
    """A language model that the embedded engine runs well, chosen by us."""

    repository: str
    file: str
    bytes: int
    """About what is fetched."""
    memory: int
    """Bytes of memory that the machine should have, for the model and all else that runs."""
    why: str


SUGGESTED = {
    "qwen2.5-0.5b": Suggested(
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        "qwen2.5-0.5b-instruct-q4_k_m.gguf",
        491_000_000,
        2 * GIGABYTE,
        "for a Raspberry Pi; still a pocket model",
    ),
    "qwen2.5-1.5b": Suggested(
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        1_117_000_000,
        4 * GIGABYTE,
        "quick on any laptop, writes simple code",
    ),
    "qwen3-4b": Suggested(
        "unsloth/Qwen3-4B-Instruct-2507-GGUF",
        "Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
        2_500_000_000,
        7 * GIGABYTE,
        "good answers and good code, at talking pace with four cores",
    ),
    "qwen2.5-7b": Suggested(
        "bartowski/Qwen2.5-7B-Instruct-GGUF",
        "Qwen2.5-7B-Instruct-Q4_K_M.gguf",
        4_680_000_000,
        15 * GIGABYTE,
        "knows more; at talking pace with eight cores or a graphics card",
    ),
    "qwen3-30b-a3b": Suggested(
        "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF",
        "Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf",
        18_600_000_000,
        31 * GIGABYTE,
        "the best here; thinks with a tenth of itself, so it is quicker than its size",
    ),
}
"""From small to large. All are Apache-2.0, and none thinks aloud before it answers."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model as its hub keeps it."""

    name: str
    kind: Kind
    repository: str
    folder: str
    """The folder in the repository; empty for its top."""
    patterns: tuple[str, ...]
    """Names of the files to take from there."""
    needed: tuple[str, ...]
    """Those without which it is no such model."""
    entry: str
    """The file that its engine opens; empty for the folder itself."""
    language: str

    def takes(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)


def understand(name: str) -> Wanted:
    """What is meant by this name. Raises NameUnknown."""
    if name in SUGGESTED:
        suggested = SUGGESTED[name]
        return _gguf(name, suggested.repository, suggested.file)
    if match := GGUF.fullmatch(name):
        return _gguf(name, match["repository"], match["path"])
    if match := VOICE.fullmatch(name):
        return _voice(name, match)
    if name in WHISPER:
        return _whisper(name, WHISPER[name])
    if REPOSITORY.fullmatch(name):
        return _whisper(name, name)
    close = get_close_matches(name, [*WHISPER, *SUGGESTED], n=1)
    meant = f"did you mean {close[0]}? Otherwise " if close else ""
    message = (
        f"No model can be meant by {name}; {meant}name a Whisper model (base.en), a piper voice "
        f"(en_US-lessac-medium), a language model ({', '.join(SUGGESTED)}), or a repository of "
        f"the hub (owner/name for Whisper, owner/name:file.gguf for a language model)."
    )
    raise NameUnknown(message)


def best_fitting(memory_bytes: int) -> str:
    """The largest suggested language model that a machine with this memory carries well."""
    fitting = [name for name, one in SUGGESTED.items() if one.memory <= memory_bytes]
    return fitting[-1] if fitting else next(iter(SUGGESTED))


def _whisper(name: str, repository: str) -> Wanted:
    return Wanted(
        name=name,
        kind="ears",
        repository=repository,
        folder="",
        patterns=(
            "config.json",
            "preprocessor_config.json",
            "model.bin",
            "tokenizer.json",
            "vocabulary.*",
        ),
        needed=("config.json", "model.bin", "tokenizer.json"),
        entry="",
        language="en" if ENGLISH_ONLY.search(repository) else "many",
    )


def _voice(name: str, match: re.Match[str]) -> Wanted:
    files = (f"{name}.onnx", f"{name}.onnx.json")
    return Wanted(
        name=name,
        kind="voice",
        repository=PIPER_VOICES,
        folder="/".join(match.group("language", "region", "voice", "quality")),
        patterns=(*files, "MODEL_CARD"),
        needed=files,
        entry=files[0],
        language=match["language"],
    )


def _gguf(name: str, repository: str, path: str) -> Wanted:
    folder, _, file = path.rpartition("/")
    parts = GGUF_PART.search(file)
    pattern = f"{file[: parts.start()]}-*-of-{parts['parts']}.gguf" if parts else file
    return Wanted(
        name=name,
        kind="language_model",
        repository=repository,
        folder=folder,
        patterns=(pattern,),
        needed=(file,),
        entry=file,
        language="many",
    )

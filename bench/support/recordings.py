"""Real recordings with known words: the announcements of a telephone exchange, from Debian.

One speaker, 16 kHz, G.722; the words in a text file beside them (CC BY-SA 3.0). They are never part
of the project: taken from the machine if the two packages are installed, else fetched once with
`apt-get download` and unpacked in a cache folder.
"""

import gzip
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SOUNDS = "asterisk-core-sounds-en-g722"
WORDS = "asterisk-core-sounds-en"
RATE = 16_000

Samples = NDArray[np.float32]


class NoRecordingsError(SystemExit):
    """They are not here and cannot be fetched."""


@dataclass(frozen=True, slots=True)
class Recording:
    """Speech, and what is said in it."""

    name: str
    text: str
    samples: Samples
    """16 kHz, from -1 to 1."""

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def recordings(*, shortest: float = 1.0, longest: float = 28.0, words: int = 5) -> list[Recording]:
    """Those between so many seconds with at least so many words, by name."""
    root = _installed() or _fetched()
    texts = _texts(root)
    found = []
    for path in sorted((root / "share/asterisk/sounds").rglob("*.g722")):
        seconds = path.stat().st_size * 2 / RATE  # G.722 packs two samples into a byte
        text = texts.get(_name(path), "")
        if shortest <= seconds <= longest and len(text.split()) >= words:
            found.append(Recording(_name(path), text, decode(path)))
    return found


def decode(path: Path) -> Samples:
    """The samples of a G.722 file, through the FFmpeg that faster-whisper brings."""
    from faster_whisper.audio import decode_audio

    samples: Samples = decode_audio(str(path), sampling_rate=RATE)
    return samples


def _installed() -> Path | None:
    usr = Path("/usr")
    here = (usr / f"share/doc/{WORDS}/core-sounds-en.txt.gz").exists()
    return usr if here and any((usr / "share/asterisk/sounds").rglob("*.g722")) else None


def _fetched() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sayso-bench"
    unpacked = cache / "recordings"
    done = unpacked / "complete"
    if not done.exists():
        try:
            _fetch(cache, unpacked)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NoRecordingsError(
                f"The recordings can't be fetched ({error}). On Debian or Ubuntu install them with "
                f"`sudo apt-get install {SOUNDS} {WORDS}`, and run this again."
            ) from error
        done.touch()
    return unpacked / "usr"


def _fetch(cache: Path, unpacked: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["apt-get", "-qq", "download", SOUNDS, WORDS], cwd=cache, check=True, capture_output=True
    )
    for package in (*cache.glob(f"{SOUNDS}_*.deb"), *cache.glob(f"{WORDS}_*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True)


def _texts(root: Path) -> dict[str, str]:
    """What is said in each; those that hold more than words are left out."""
    path = root / f"share/doc/{WORDS}/core-sounds-en.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        lines = [line.partition(":") for line in file if not line.startswith(";")]
    return {
        name.strip(): text.strip() for name, _, text in lines if not re.search(r"[\[\](){}]", text)
    }


def _name(path: Path) -> str:
    """As the list of words has it: the path below the speaker's folder."""
    parts = path.with_suffix("").parts
    below = parts.index("sounds") + 2
    return "/".join(parts[below:])

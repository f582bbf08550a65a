"""Keeps the parts of voices that were cut, so that only the first start of a voice cuts it.

    <folder>/en_US-joe-medium-5f0c…/   text.onnx  flow.onnx  vocoder.onnx  plan.json

The parts are optimised for this machine's processor and this onnxruntime; another one makes its
own. A folder that cannot be used is made anew.
"""

import hashlib
import logging
import os
import platform
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import onnxruntime

from sayso.server.speech.engines.piper.plan import Unsplittable
from sayso.server.speech.engines.piper.voice_parts import Measure, PartsLoader
from sayso.server.speech.engines.piper.windows import CutVoiceDecoder

log = logging.getLogger(__name__)

FORMAT: Final = 1
"""Of what is kept; another one is made anew."""

MOST_KEPT: Final = 6
"""Voices whose parts are kept, the latest used; each takes about as much as its file."""

UNFINISHED: Final = "unfinished-"
"""What folders are called that are being written, …"""

FORGOTTEN_AFTER: Final = 3_600.0
"""… and the age in seconds from which nobody writes them any more."""

PROCESSOR: Final = Path("/proc/cpuinfo")


@dataclass(frozen=True, slots=True)
class CutCache:
    """Loads voices in parts, from a folder of theirs."""

    folder: Path
    loader: PartsLoader

    def load(self, voice: Path, measure: Measure) -> CutVoiceDecoder:
        """The voice in parts. Raises Unsplittable, and anything if the file is broken."""
        own = self.folder / f"{voice.stem}-{_key(voice)}"
        return self._kept(own) or self._made(own, voice, measure)

    def _kept(self, own: Path) -> CutVoiceDecoder | None:
        """What lies there, if it can be used."""
        if not own.is_dir():
            return None
        try:
            decoder = self.loader.kept(own)
            os.utime(own)
        except Exception as problem:  # noqa: BLE001 (onnxruntime has no narrower one)
            log.warning("The parts of a voice in %s are made anew (%s).", own, problem)
            shutil.rmtree(own, ignore_errors=True)
            return None
        return decoder

    def _made(self, own: Path, voice: Path, measure: Measure) -> CutVoiceDecoder:
        """Cut it and keep it; where it cannot be kept, it is cut at each start."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_room(voice.stem)
            scratch = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=self.folder))
        except OSError as problem:
            return self._not_kept(voice, measure, problem)
        try:
            decoder = self.loader.cut(voice, measure, scratch)
            if not own.is_dir():  # as it is if another server was sooner
                scratch.rename(own)
        except Unsplittable:
            raise
        except Exception as problem:  # noqa: BLE001 (onnxruntime raises anything if a disk is full)
            return self._not_kept(voice, measure, problem)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        # What is drawn by chance differs between what is optimised now and what was: it speaks as
        # it will from the next start on.
        return self._kept(own) or decoder

    def _not_kept(self, voice: Path, measure: Measure, problem: Exception) -> CutVoiceDecoder:
        log.warning("The parts of the voice %s are not kept (%s).", voice.stem, problem)
        return self.loader.cut(voice, measure)

    def _make_room(self, stem: str) -> None:
        """Remove what nobody uses: this voice's parts for another machine, the oldest of others."""
        others: list[tuple[float, Path]] = []
        for path in self.folder.iterdir():
            changed = path.stat().st_mtime
            if path.name.startswith(UNFINISHED):
                if changed < time.time() - FORGOTTEN_AFTER:
                    shutil.rmtree(path, ignore_errors=True)
            elif path.name.rpartition("-")[0] == stem:
                shutil.rmtree(path, ignore_errors=True)
            else:
                others.append((changed, path))
        for _, path in sorted(others, reverse=True)[MOST_KEPT - 1 :]:
            shutil.rmtree(path, ignore_errors=True)


def _key(voice: Path) -> str:
    """Tells this file, this onnxruntime and this processor from others."""
    status = voice.stat()
    known = (
        FORMAT,
        str(voice.resolve()),
        status.st_size,
        status.st_mtime_ns,
        onnxruntime.__version__,
        _processor(),
    )
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def _processor() -> str:
    """What it can do: optimised parts are for this alone."""
    try:
        lines = PROCESSOR.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = (line for line in lines if line.startswith(("flags", "Features")))
    return next(flags, f"{platform.machine()} {platform.processor()}")

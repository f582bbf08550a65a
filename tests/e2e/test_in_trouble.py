"""What goes wrong is told in one sentence, and what still works goes on."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.rig import SAYSO, STOP_S, Server, free_port
from tests.scripted_model import Reply, ScriptedModel, fails, runs, says

BREAK_OUT = """
import os, pathlib, socket
for way in (
    lambda: socket.create_connection(("127.0.0.1", {port}), 1),
    lambda: pathlib.Path("{token}").read_text(),
):
    try:
        way()
        print("BROKE OUT")
    except OSError as error:
        print("held", type(error).__name__)
print("SCRIPTED_KEY" in os.environ)
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def one_sentence(text: str) -> str:
    """The only line that was printed."""
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    assert "Traceback" not in text
    return lines[0]


def test_a_typed_question_is_computed_and_answered(server: Server, model: ScriptedModel) -> None:
    model.add(runs("sum(range(10))"), says("It is 45."))
    client = server.ask("What is the sum of the numbers below ten?", "--approve", "yes")
    assert client.code == 0, client.stderr
    assert "45" in client.output
    assert client.reply.endswith("It is 45.")


def test_variables_last_from_question_to_question(server: Server, model: ScriptedModel) -> None:
    model.add(runs("x = 41"), says("Noted."), runs("print(x + 1)"), says("It is 42."))
    server.ask("Remember forty one.", "--approve", "yes")
    client = server.ask("And one more?", "--approve", "yes")
    assert "42" in client.output


def test_a_kernel_that_dies_is_told_and_replaced(server: Server, model: ScriptedModel) -> None:
    model.add(
        runs("import os; os._exit(1)"), runs("print('alive')"), says("It died, and lives again.")
    )
    client = server.ask("Do something deadly.", "--approve", "yes")
    assert [end["status"] for end in client.all("code.end")] == ["died", "ok"]
    assert "alive" in client.output


def test_a_model_that_breaks_off_is_told_and_the_next_question_works(
    server: Server, model: ScriptedModel
) -> None:
    model.add(Reply(says=["This is ", "half an"], ending="cut"), says("Here I am again."))
    broken = server.ask("Tell me something.")
    assert broken.all("error"), broken.events
    assert server.ask("Tell me a story.").reply == "Here I am again."


def test_a_wrong_key_is_told_in_words(server: Server, model: ScriptedModel) -> None:
    model.add(fails(401, "Incorrect API key provided"))
    client = server.ask("Tell me a story.")
    message = client.first("error")["message"]
    assert "key" in message
    assert model.key not in message + client.stderr + server.said


def test_code_can_reach_neither_network_nor_home(server: Server, model: ScriptedModel) -> None:
    code = BREAK_OUT.format(port=server.port, token=server.home / "token")
    model.add(runs(code), says("Held."))
    client = server.ask("Break out.", "--approve", "yes")
    assert "BROKE OUT" not in client.output
    assert client.output.count("held") == 2
    assert "False" in client.output


def test_without_an_answer_nothing_runs(home: Path, model: ScriptedModel) -> None:
    model.add(runs("print('ran')"), says("I did not run it."))
    with Server(home, model, ("--set=approvals.expire_s=5",)) as server:
        client = server.ask("Run something.")
        assert not client.all("code.start")


def test_damaged_ears_leave_everything_else_working(home: Path, model: ScriptedModel) -> None:
    ears = home / "ears"
    ears.mkdir()
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (ears / name).write_bytes(b"not a model")
    model.add(says("I read you."))
    with Server(home, model, (f"--set=ears.model={ears}",)) as server:
        assert "ears" in server.health()["degraded"]
        assert server.ask("Do you read me?").reply == "I read you."


def test_an_unknown_model_is_told_before_anything_is_asked(home: Path) -> None:
    with Server(home, None, ("--model", "no-such-model")) as server:
        client = server.ask("Tell me a story.")
        assert "no-such-model" in client.first("error")["message"]


def test_a_port_in_use_is_one_sentence(server: Server) -> None:
    second = subprocess.run(
        [SAYSO, "serve", "--port", str(server.port)],
        env=server.variables | {"SAYSO_HOME": str(server.home / "second")},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert second.returncode == 1
    assert "--port" in one_sentence(second.stderr)


def test_two_servers_in_one_home_are_one_sentence(server: Server) -> None:
    second = subprocess.run(
        [SAYSO, "serve", "--port", str(free_port())],
        env=server.variables,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert second.returncode == 1
    one_sentence(second.stderr)


def test_no_server_is_one_sentence(home: Path) -> None:
    done = subprocess.run(
        [SAYSO, "ask", "Tell me a story.", "--server", f"ws://127.0.0.1:{free_port()}/ws"],
        env=os.environ | {"SAYSO_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert "sayso serve" in one_sentence(done.stderr)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_however_the_server_ends_nothing_of_it_is_left(
    home: Path, model: ScriptedModel, number: signal.Signals
) -> None:
    model.add(runs("import time; time.sleep(60)"))
    with Server(home, model) as server:
        asking = subprocess.Popen(
            [SAYSO, "ask", "Sleep.", "--approve", "yes", "--json", "--server", server.url],
            env=server.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert asking.stdout
        for line in asking.stdout:
            if '"code.start"' in line:
                break
        children = descendants(server.process.pid)
        assert len(children) >= 3
        server.process.send_signal(number)
        server.process.wait(STOP_S)
        deadline = time.monotonic() + 1.0
        while any(alive(pid) for pid in children) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not [pid for pid in children if alive(pid)]
        asking.terminate()
        asking.communicate(timeout=30)


def descendants(pid: int) -> list[int]:
    """All processes below one."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def alive(pid: int) -> bool:
    """A process that still does something; one that is dead but not yet fetched does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

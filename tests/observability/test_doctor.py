"""What the doctor finds on the server's side, and the remedy that it names."""

import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels, Model, ModelDamaged
from sayso.server.models.machine import install_command
from sayso.server.observability import doctor
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.settings import Settings, set_in_file, user_file
from tests import rig
from tests.agent.llm.model_servers import model_server
from tests.models.memory import remember_starters
from tests.speech_server import SpeechServer


@pytest.fixture(autouse=True)
def _a_quiet_machine(free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the machine of whoever runs the tests is none of theirs."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    remember_starters(Home.find())
    file = user_file(Home.find())
    set_in_file(file, "language_model.look_for_local", "no")
    set_in_file(file, "listen.port", str(free_port))


@pytest.fixture
def free_port() -> int:
    return rig.free_port()


def finding(part: str) -> Finding:
    found = next(finding for finding in doctor.examine() if finding.part == part)
    assert "\n" not in found.detail + found.remedy
    if found.state == "bad":
        assert found.remedy
    return found


@pytest.mark.needs("libgomp.so.1", "libgomp1")
def test_a_fresh_machine_is_well_but_for_what_the_first_start_makes() -> None:
    found = {finding.part: finding.state for finding in doctor.examine()}

    assert found.pop("sandbox") in {"good", "bad"}  # whatever this machine allows
    assert found == {
        "settings": "good",
        "folders": "good",
        "disk": "good",
        "ears": "good",
        "voice": "good",
        "language model": "poor",
        "code": "poor",
        "memory": "good",
        "port": "good",
    }


def test_settings_that_cannot_be_used_are_told_and_the_rest_is_looked_at() -> None:
    user_file(Home.find()).write_text("[voice]\nspeed = 9\n[language_model]\n")

    found = {finding.part: finding for finding in doctor.examine()}

    assert found["settings"].state == "bad"
    assert "voice.speed is 9" in found["settings"].detail
    assert len(found) == 10


def test_a_rule_that_does_not_mean_what_it_says_is_named() -> None:
    rule = "deny command git push\\nmatches: git pull\\nspares: ls"
    user_file(Home.find()).write_text(f'[approvals]\nrules = ["{rule}"]\n')

    found = finding("settings")
    assert found.state == "bad"
    assert '"deny command git push" does not match its example "git pull"' in found.detail
    assert "correct the rule" in found.remedy.lower()


def test_a_slip_in_the_settings_comes_with_what_was_meant() -> None:
    user_file(Home.find()).write_text("[voice]\nsped = 1\n")

    assert finding("settings").remedy == "Did you mean voice.speed?"


def test_a_folder_that_cannot_be_written_to_is_told() -> None:
    home = Home.find()
    shutil.rmtree(home.data)
    home.data.write_text("a file in its place")

    found = doctor._folders(home)

    assert found.state == "bad"
    assert str(home.data) in found.remedy


def test_a_disk_that_is_nearly_full_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sayso.server.observability.doctor.shutil.disk_usage",
        lambda _: SimpleNamespace(free=150_000_000),
    )

    found = finding("disk")

    assert (found.state, "150 MB are free" in found.detail) == ("bad", True)
    assert found.remedy.startswith("Free 50 MB")


def test_a_model_that_is_not_here_is_told_with_what_is_used_instead() -> None:
    set_in_file(user_file(Home.find()), "ears.model", "base.en")

    found = finding("ears")

    assert found.state == "poor"
    assert found.detail == "The model base.en is not here."
    assert found.remedy.startswith("Get it with `sayso models get base.en`. Until then, tiny.en")


def test_damaged_weights_are_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(_: InstalledModels, model: Model, *, trust_memory: bool = True) -> None:
        message = f"The model {model.name} is damaged: x is missing; put it right with `pip`."
        raise ModelDamaged(message)

    monkeypatch.setattr(InstalledModels, "verify", damaged)

    for part, name in (("ears", "tiny.en"), ("voice", "en_US-joe-medium")):
        found = finding(part)
        assert found == Finding(
            part, "bad", f"The model {name} is damaged: x is missing.", "Put it right with `pip`."
        )
    assert finding("language model").state == "bad"


@pytest.mark.needs("libgomp.so.1", "libgomp1")
def test_a_pocket_model_comes_with_the_way_to_a_better_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "sk-secret")

    found = finding("language model")

    assert (found.state, "pocket model" in found.detail) == ("poor", True)
    assert "sayso models get " in found.remedy
    assert "sayso settings set language_model.cloud_allowed groq" in found.remedy
    assert "sk-secret" not in found.detail + found.remedy


def test_an_embedded_engine_that_does_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('no wheel')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    found = finding("language model")

    assert found.state == "bad"
    assert found.remedy == f"Install it with `{install_command('xllamacpp', '--upgrade')}`."


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        ("anthropic/claude-x", "Put the API key there, or choose another model."),
        ("ollama/qwen3:8b", "Start it with `ollama serve`."),
        ("none", ""),
    ],
)
def test_a_language_model_that_cannot_be_used_is_told(model: str, remedy: str) -> None:
    set_in_file(user_file(Home.find()), "language_model.model", model)

    (found,) = [one for one in doctor.examine() if one.part == "language model"]

    assert found.state == "bad"
    assert found.remedy.startswith(remedy)


def test_a_server_of_the_persons_own_that_does_not_answer_is_told() -> None:
    file = user_file(Home.find())
    set_in_file(file, "language_model.model", "mine")
    set_in_file(file, "language_model.api_base", "http://127.0.0.1:9/v1")

    found = finding("language model")

    assert found.detail == "Nothing answers at http://127.0.0.1:9/v1."


def test_where_the_sandbox_does_not_hold_the_reason_and_remedy_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def none() -> SandboxReport:
        return SandboxReport(holds=False, failures=("it leaks",), remedy="Mend it.")

    monkeypatch.setattr(doctor, "find_sandbox", none)

    assert finding("sandbox") == Finding(
        "sandbox", "bad", "Code does not run, because it leaks.", "Mend it."
    )


@pytest.mark.slow
def test_a_port_that_somebody_else_has_is_told(free_port: int) -> None:
    set_in_file(user_file(Home.find()), "language_model.model", "none")
    with socket.create_server(("127.0.0.1", free_port)):
        found = finding("port")

    assert found.state == "bad"
    assert f"sayso settings set listen.port {free_port + 1}" in found.remedy


@pytest.mark.parametrize(
    ("bound", "word"), [("cgroup", "The kernel holds"), ("watch", "How much memory")]
)
async def test_which_bound_on_memory_holds_in_the_running_server_is_told(
    bound: str, word: str
) -> None:
    health = {"/health": {"ready": True, "memory_bound": bound}}
    async with model_server("Jan", health) as (server, _):
        set_in_file(user_file(Home.find()), "listen.port", str(server.port))
        found = await doctor._memory(Settings.load(Home.find()))

    assert found.state == "good"
    assert found.detail.startswith(word)


async def test_where_systemd_could_give_a_cgroup_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "systemd").mkdir()
    (tmp_path / "systemd" / "private").touch()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    health = {"/health": {"ready": True, "memory_bound": "watch"}}
    async with model_server("Jan", health) as (server, _):
        set_in_file(user_file(Home.find()), "listen.port", str(server.port))
        found = await doctor._memory(Settings.load(Home.find()))

    assert found.state == "poor"
    assert "scripts/run --for-good" in found.remedy


async def test_a_sayso_on_the_port_is_recognised() -> None:
    health = {"/health": {"ready": True, "version": "1.2.3"}}
    async with model_server("Jan", health) as (server, _):
        set_in_file(user_file(Home.find()), "listen.port", str(server.port))
        found = await doctor._port(Settings.load(Home.find()))

    assert found.state == "good"
    assert f"A Sayso 1.2.3 answers on 127.0.0.1:{server.port}." == found.detail


def test_an_address_of_the_outside_is_told() -> None:
    set_in_file(user_file(Home.find()), "listen.host", "0.0.0.0")
    set_in_file(user_file(Home.find()), "language_model.model", "none")

    assert finding("port").remedy == "sayso settings unset listen.host"


@pytest.mark.parametrize("kind", ["ears", "voice"])
def test_speech_from_elsewhere_is_asked_whether_it_answers_and_takes_the_key(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = user_file(Home.find())
    set_in_file(file, f"{kind}.engine", "remote")
    assert f"set {kind}.api_base to its url" in finding(kind).remedy.lower()

    with SpeechServer(key="a-key-for-tests") as server:
        set_in_file(file, f"{kind}.api_base", server.url)
        assert "name the variable that holds one" in finding(kind).remedy.lower()
        set_in_file(file, f"{kind}.api_key_variable", "SPEECH_KEY")
        assert "put the API key there" in finding(kind).remedy.replace("Put", "put")
        monkeypatch.setenv("SPEECH_KEY", server.key)
        good = finding(kind)
        assert (good.state, good.remedy) == ("good", "")
        assert f"127.0.0.1:{server.port} answers." in good.detail
        assert {request.path for request in server.requests} == {"/v1/models"}

    assert "check that it runs" in finding(kind).remedy.lower()


def test_an_engine_that_does_not_exist_is_told_with_those_that_do() -> None:
    set_in_file(user_file(Home.find()), "voice.engine", "pipr")
    found = finding("voice")
    assert found.state == "bad"
    assert "There is no engine named pipr" in found.detail
    assert found.remedy.startswith("Set voice.engine to one of whisper, piper, remote")

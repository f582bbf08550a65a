"""`sayso models`, as a person uses it."""

import json
from collections.abc import Iterator

import pytest

from sayso.client.command import main
from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.settings import set_in_file, user_file
from tests.models.hub_double import HubDouble, running
from tests.models.memory import remember_starters
from tests.models.test_fetching import WEIGHTS, WHISPER


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubDouble]:
    with running() as double:
        double.repositories["Systran/faster-whisper-base.en"] = dict(WHISPER)
        monkeypatch.setenv("HF_ENDPOINT", double.address)
        yield double


@pytest.fixture(autouse=True)
def _a_quiet_machine() -> None:
    """What runs on the machine of whoever runs the tests is none of theirs."""
    remember_starters(Home.find())
    set_in_file(user_file(Home.find()), "language_model.look_for_local", "no")


def models(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["models", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in json.loads(models(capsys, "--json")[1])["models"]}


def test_a_fresh_machine_lists_what_comes_with_sayso(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = models(capsys)

    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert code == 0
    assert lines["tiny.en"].split() == ["tiny.en", "ears", "78", "MB", "en", "MIT", "whole", *_USE]
    assert lines["en_US-joe-medium"].endswith("in use")
    assert lines["SmolLM2-135M-Instruct"].endswith("in use")
    assert "a pocket model" in out
    assert "`sayso models get NAME`" in out


_USE = ("in", "use")


def test_a_model_is_fetched_used_repaired_and_removed(
    capsys: pytest.CaptureFixture[str], hub: HubDouble
) -> None:
    code, out, _ = models(capsys, "get", "base.en")
    assert code == 0
    assert f"Fetching base.en from {hub.address}/Systran/faster-whisper-base.en" in out
    assert "Use it with `sayso settings set ears.model base.en`." in out

    set_in_file(user_file(Home.find()), "ears.model", "base.en")
    assert rows(capsys)["base.en"]["in_use"] is True
    assert rows(capsys)["tiny.en"]["in_use"] is False

    hub.asked.clear()
    assert "is here and whole" in models(capsys, "get", "base.en")[1]
    assert hub.asked == []

    weights = InstalledModels(Home.find()).find("ears", "base.en").path / "model.bin"
    weights.write_bytes(b"?" * len(WEIGHTS))
    assert rows(capsys)["base.en"]["state"] == "damaged"
    code, out, _ = models(capsys, "check")
    assert (code, "base.en is damaged" in out, "tiny.en is whole" in out) == (1, True, True)
    assert "is put right" in models(capsys, "get", "base.en")[1]
    assert models(capsys, "check")[0] == 0

    assert models(capsys, "remove", "base.en")[0] == 0
    assert "base.en" not in rows(capsys)
    assert rows(capsys)["tiny.en"]["in_use"] is True
    assert "base.en is not here; get it with" in models(capsys)[1]


def test_the_setting_goes_before_the_environment_s_hub(
    capsys: pytest.CaptureFixture[str], hub: HubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    set_in_file(user_file(Home.find()), "models.hub", hub.address)

    assert models(capsys, "get", "base.en")[0] == 0


def test_the_token_in_the_environment_is_shown_to_the_hub(
    capsys: pytest.CaptureFixture[str], hub: HubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "secret")

    _, out, err = models(capsys, "get", "base.en")

    assert hub.asked[0].authorization == "Bearer secret"
    assert "secret" not in out + err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["get", "bse.en"], "did you mean base.en?"),
        (["remove", "base.en"], "base.en is not here; only what `sayso models get` brought"),
        (["remove", "tiny.en"], "tiny.en comes with Sayso and stays"),
        (["get", "small"], "has no Systran/faster-whisper-small; check the name."),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(
    capsys: pytest.CaptureFixture[str], hub: HubDouble, words: list[str], sentence: str
) -> None:
    code, _, err = models(capsys, *words)

    assert code == 1
    assert sentence in err
    assert err.count("\n") == 1


def test_offline_is_respected(
    capsys: pytest.CaptureFixture[str], hub: HubDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    assert "HF_HUB_OFFLINE is set" in models(capsys, "get", "base.en")[2]
    assert hub.asked == []


def test_what_comes_with_sayso_is_not_fetched(
    capsys: pytest.CaptureFixture[str], hub: HubDouble
) -> None:
    assert models(capsys, "get", "tiny.en")[:2] == (0, "tiny.en comes with Sayso and is whole.\n")
    assert hub.asked == []


@pytest.mark.parametrize("words", [["get"], ["get", "a", "b"], ["fetch", "base.en"], ["remove"]])
def test_half_a_command_is_answered_with_a_whole_one(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, _ = models(capsys, *words)

    assert code == 2
    assert "`sayso models get base.en`" in out

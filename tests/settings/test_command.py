"""`sayso settings`, as a person uses it."""

import json

import pytest

from sayso.client.command import main
from sayso.protocol.home import Home
from sayso.server.settings import Settings, user_file
from sayso.server.settings.keys import keys


def settings(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["settings", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_every_value_is_shown_with_where_it_came_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_LISTEN_PORT", "4321")
    settings(capsys, "set", "voice.speed", "1.2")

    code, out, _ = settings(capsys)

    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines() if "." in line[:30]}
    assert code == 0
    assert set(keys()) <= set(lines)
    assert lines["listen.port"] == ["4321", "SAYSO_LISTEN_PORT"]
    assert lines["voice.speed"] == ["1.2", str(user_file(Home.find()))]
    assert lines["listen.host"] == ['"127.0.0.1"', "default"]


def test_a_long_value_is_shown_in_short_in_the_list_and_whole_by_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = "I am called Ann. " * 20
    settings(capsys, "set", "agent.instructions", told)
    _, out, _ = settings(capsys)
    assert max(map(len, out.splitlines())) < len(told)
    assert told.strip() in settings(capsys, "agent.instructions")[1]


def test_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    settings(capsys, "set", "voice.speed", "1.2")

    record = json.loads(settings(capsys, "--json")[1])

    assert set(record) == set(keys())
    assert record["voice.speed"] == {
        "value": 1.2,
        "default": 1.0,
        "origin": "user",
        "where": str(user_file(Home.find())),
        "allowed": "a number from 0.5 to 2",
        "variable": "SAYSO_VOICE_SPEED",
        "meaning": record["voice.speed"]["meaning"],
    }


def test_one_setting_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = settings(capsys, "voice.speed")

    assert code == 0
    assert "voice.speed = 1.0" in out
    assert "a number from 0.5 to 2" in out
    assert "twice as fast" in out


def test_a_setting_is_set_and_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    home = Home.find()

    code, out, _ = settings(capsys, "set", "listen.port", "9000")
    assert (code, Settings.load(home).listen.port) == (0, 9000)
    assert str(user_file(home)) in out

    settings(capsys, "unset", "listen.port")
    assert Settings.load(home).listen.port == Settings().listen.port


def test_a_list_is_set_with_commas_or_spaces(capsys: pytest.CaptureFixture[str]) -> None:
    settings(capsys, "set", "language_model.cloud_allowed", "anthropic,groq", "openai")

    allowed = Settings.load(Home.find()).language_model.cloud_allowed
    assert allowed == ("anthropic", "groq", "openai")


def test_what_wins_over_the_new_value_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_LISTEN_PORT", "4321")

    assert (
        "But SAYSO_LISTEN_PORT says 4321, and that wins."
        in (settings(capsys, "set", "listen.port", "9000")[1])
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["voice.sped"], "voice.sped is no setting; did you mean voice.speed?\n"),
        (["set", "voice.sped", "1"], "voice.sped is no setting; did you mean voice.speed?\n"),
        (["unset", "voice.sped"], "voice.sped is no setting; did you mean voice.speed?\n"),
        (
            ["set", "voice.speed", "9"],
            "Command line: voice.speed is '9', but it must be a number from 0.5 to 2.\n",
        ),
    ],
)
def test_slips_are_told_in_one_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = settings(capsys, *words)

    assert (code, out, err) == (1, "", sentence)
    assert not user_file(Home.find()).exists()


@pytest.mark.parametrize("words", [["set"], ["set", "voice.speed"], ["unset"], ["a", "b"]])
def test_half_a_command_is_answered_with_a_whole_one(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, _ = settings(capsys, *words)

    assert code == 2
    assert "`sayso settings" in out


def test_a_file_with_a_slip_can_be_put_right_from_here(capsys: pytest.CaptureFixture[str]) -> None:
    path = user_file(Home.find())
    path.write_text("[voice]\nspeed = 9\n")

    code, _, err = settings(capsys)
    assert (code, "voice.speed is 9," in err) == (1, True)

    assert settings(capsys, "set", "voice.speed", "1.2")[0] == 0
    assert settings(capsys)[0] == 0

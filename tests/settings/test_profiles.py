"""Profiles: settings for one kind of work, below what was set by hand, above the defaults."""

from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.settings import Settings, WrongValue, read
from sayso.server.settings.keys import keys
from sayso.server.settings.profiles import profile_names


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, tmp_path, tmp_path)


def load(home: Home, **flags: object) -> Settings:
    named = {name.replace("__", "."): value for name, value in flags.items()}
    return Settings.load(home, flags=named, environment={}, folder=home.data)


def test_the_shipped_ones_are_there_and_whole(home: Home) -> None:
    assert profile_names(home) == ["coding", "data", "default", "local-small", "offline"]
    for name in profile_names(home):
        load(home, agent__profile=name)
    assert load(home, agent__profile="default") == load(home)
    assert load(home, agent__profile="coding").agent.steps > load(home).agent.steps
    assert "pandas" in load(home, agent__profile="data").agent.instructions
    assert load(home, agent__profile="offline").language_model.stays_home
    assert load(home, agent__profile="local-small").agent.manner == "local-small"


def test_flags_environment_project_and_user_win_over_a_profile(home: Home) -> None:
    (home.config / "settings.toml").write_text('[agent]\nprofile = "coding"\nsteps = 7\n')
    (home.data / "sayso.toml").write_text("[agent]\nseconds = 77.0\n")
    environment = {"SAYSO_AGENT_TOKENS": "7777"}
    flags = {"agent.output_chars": 777}
    found = read(home, flags=flags, environment=environment, folder=home.data)
    names = ("steps", "seconds", "tokens", "output_chars", "usd", "day_usd")
    assert {name: found.origins[f"agent.{name}"].kind for name in names} == {
        "steps": "user",
        "seconds": "project",
        "tokens": "environment",
        "output_chars": "flag",
        "usd": "profile",
        "day_usd": "default",
    }
    assert str(found.origins["agent.usd"]) == "the profile coding"
    assert found.values["agent.steps"] == 7


def test_a_profile_of_ones_own_wins_over_a_shipped_one(home: Home) -> None:
    (home.config / "profiles").mkdir()
    (home.config / "profiles" / "coding.toml").write_text("[agent]\nsteps = 3\n")
    (home.config / "profiles" / "night.toml").write_text("[voice]\nspeed = 0.8\n")
    assert load(home, agent__profile="coding").agent.steps == 3
    assert load(home, agent__profile="night").voice.speed == 0.8


@pytest.mark.parametrize("name", ["nights", "", "../settings", "a/b"])
def test_a_profile_that_is_not_there_is_said_with_those_that_are(home: Home, name: str) -> None:
    with pytest.raises(WrongValue, match=r"there is no profile .*coding, data, default"):
        load(home, agent__profile=name)


def test_no_project_chooses_a_profile(home: Home) -> None:
    assert not keys()["agent.profile"].by_project


def test_a_profile_names_no_other(home: Home) -> None:
    (home.config / "profiles").mkdir()
    (home.config / "profiles" / "x.toml").write_text('[agent]\nprofile = "coding"\n')
    with pytest.raises(WrongValue, match="cannot name another"):
        load(home, agent__profile="x")

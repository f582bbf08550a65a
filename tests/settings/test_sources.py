"""Five sources of settings: the first that names a key wins, and each slip is one sentence."""

import dataclasses
import stat
from pathlib import Path

import pytest

from sayso.protocol.home import DEFAULT_PORT, Home
from sayso.server.settings import (
    NotByProject,
    Settings,
    SettingsError,
    UnknownKey,
    UnusableFile,
    WrongValue,
    read,
    user_file,
)
from sayso.server.settings.defaults import SECTIONS
from sayso.server.settings.keys import keys
from sayso.server.settings.loading import project_file
from tests.permissions import permissions_hold


@pytest.fixture
def home() -> Home:
    return Home.find()


def person(home: Home, text: str) -> Path:
    """What the person's own file says."""
    path = user_file(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def project(folder: Path, text: str) -> Path:
    """What the project's file says."""
    path = project_file(folder)
    path.write_text(text)
    return path


def complaint(home: Home, folder: Path, **sources: object) -> SettingsError:
    """What is wrong with these sources: one sentence."""
    environment = sources.get("environment", {})
    flags = sources.get("flags", {})
    assert isinstance(environment, dict)
    assert isinstance(flags, dict)
    with pytest.raises(SettingsError) as told:
        Settings.load(home, flags=flags, environment=environment, folder=folder)
    assert "\n" not in str(told.value)
    return told.value


# --- precedence ---


def test_without_any_source_everything_has_its_default(home: Home, tmp_path: Path) -> None:
    settings = Settings.load(home, environment={}, folder=tmp_path)

    assert settings == Settings()
    assert settings.listen.port == DEFAULT_PORT


def test_the_first_source_that_names_a_key_wins(home: Home, tmp_path: Path) -> None:
    def speed(flags: dict[str, object], environment: dict[str, str]) -> tuple[object, str]:
        readings = read(home, flags=flags, environment=environment, folder=tmp_path)
        return readings.values["voice.speed"], readings.origins["voice.speed"].kind

    assert speed({}, {}) == (1.0, "default")
    person(home, "[voice]\nspeed = 1.1")
    assert speed({}, {}) == (1.1, "user")
    project(tmp_path, "[voice]\nspeed = 1.2")
    assert speed({}, {}) == (1.2, "project")
    assert speed({}, {"SAYSO_VOICE_SPEED": "1.3"}) == (1.3, "environment")
    assert speed({"voice.speed": "1.4"}, {"SAYSO_VOICE_SPEED": "1.3"}) == (1.4, "flag")


def test_a_source_is_named_as_the_person_knows_it(home: Home, tmp_path: Path) -> None:
    path = person(home, "[voice]\nspeed = 1.1")
    readings = read(
        home, flags={"listen.port": 1}, environment={"SAYSO_LOG_LEVEL": "debug"}, folder=tmp_path
    )

    named = {key: str(readings.origins[key]) for key in readings.origins}
    assert named["voice.speed"] == str(path)
    assert named["listen.port"] == "the command line"
    assert named["log.level"] == "SAYSO_LOG_LEVEL"
    assert named["listen.host"] == "default"


def test_sources_add_up_key_by_key(home: Home, tmp_path: Path) -> None:
    person(home, "[voice]\nspeed = 1.1\n[listen]\nport = 1234")
    project(tmp_path, '[voice]\nmodel = "en_GB-alan-low"')

    settings = Settings.load(home, environment={}, folder=tmp_path)

    assert (settings.voice.speed, settings.voice.model) == (1.1, "en_GB-alan-low")
    assert settings.listen.port == 1234


def test_the_process_s_own_environment_and_folder_are_used(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAYSO_LISTEN_PORT", "4321")
    project(tmp_path, "[voice]\nspeed = 1.2")

    settings = Settings.load(home)

    assert (settings.listen.port, settings.voice.speed) == (4321, 1.2)


# --- every key ---


def test_every_key_can_be_set_from_the_environment_and_in_a_file(
    home: Home, tmp_path: Path
) -> None:
    for key in keys().values():
        text = ",".join(key.default) if isinstance(key.default, tuple) else str(key.default)
        readings = read(home, environment={key.variable: text}, folder=tmp_path)
        assert readings.values[key.dotted] == key.default
        assert readings.origins[key.dotted].kind == "environment"


def test_every_default_is_allowed() -> None:
    for key in keys().values():
        raw = list(key.default) if isinstance(key.default, tuple) else key.default
        assert key.from_toml(raw) == key.default


def test_every_number_has_bounds() -> None:
    for key in keys().values():
        assert key.between or key.kind not in {"number", "whole number"}, key.dotted


def test_the_sections_are_the_fields_of_the_settings() -> None:
    assert [field.name for field in dataclasses.fields(Settings)] == list(SECTIONS)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("listen.port", " 80 ", 80),
        ("voice.speed", "2", 2.0),
        ("language_model.look_for_local", "No", False),
        ("language_model.look_for_local", "1", True),
        ("language_model.cloud_allowed", "a, b,,c", ("a", "b", "c")),
        ("language_model.cloud_allowed", "", ()),
        ("language_model.model", "qwen3:8b", "qwen3:8b"),
    ],
)
def test_texts_are_read_as_people_write_them(
    home: Home, tmp_path: Path, key: str, text: str, value: object
) -> None:
    assert read(home, flags={key: text}, environment={}, folder=tmp_path).values[key] == value


# --- slips ---


def test_an_unknown_key_is_told_with_its_file_and_what_was_meant(
    home: Home, tmp_path: Path
) -> None:
    path = person(home, "[listen]\nprot = 1")

    told = complaint(home, tmp_path)

    assert isinstance(told, UnknownKey)
    assert str(told) == f"{path}: listen.prot is no setting; did you mean listen.port?"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[lisen]\nport = 1", "lisen.port is no setting; did you mean listen.port?"),
        ("port = 1", "port is no setting; did you mean listen.port?"),
        ("[nothing]\nlike = 1", "nothing.like is no setting; `sayso settings` lists all"),
        ("[nothing]", "nothing is no setting"),
        ("[listen.port]\nx = 1", "listen.port is {'x': 1}, but it must be a whole number"),
    ],
)
def test_wrong_names_are_told(home: Home, tmp_path: Path, text: str, named: str) -> None:
    person(home, text)

    assert named in str(complaint(home, tmp_path))


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("[listen]\nport = '80'", "listen.port is '80', but it must be a whole number from 0 to"),
        ("[listen]\nport = 65536", "listen.port is 65536, but it must be a whole number from 0 to"),
        ("[listen]\nport = 80.0", "listen.port is 80.0, but it must be a whole number"),
        ("[listen]\nport = true", "listen.port is True, but it must be a whole number"),
        ("[voice]\nspeed = 3", "voice.speed is 3, but it must be a number from 0.5 to 2."),
        ("[voice]\nspeed = nan", "voice.speed is nan, but it must be a number from 0.5 to 2."),
        ("[voice]\nmodel = 1", "voice.model is 1, but it must be a text."),
        ("[log]\nlevel = 'loud'", "but it must be one of debug, info, warning, error."),
        ("[language_model]\nlook_for_local = 1", "but it must be true or false."),
        ("[language_model]\ncloud_allowed = 'a'", "but it must be a list of texts."),
        ("[language_model]\ncloud_allowed = [1]", "but it must be a list of texts."),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(
    home: Home, tmp_path: Path, line: str, allowed: str
) -> None:
    path = person(home, line)

    told = complaint(home, tmp_path)

    assert isinstance(told, WrongValue)
    assert str(told).startswith(f"{path}: ")
    assert allowed in str(told)


def test_a_wrong_value_in_the_environment_names_the_variable(home: Home, tmp_path: Path) -> None:
    told = complaint(home, tmp_path, environment={"SAYSO_LISTEN_PORT": "none"})

    assert "SAYSO_LISTEN_PORT in the environment: listen.port is 'none'" in str(told)


def test_a_slip_in_a_variable_s_name_is_told(home: Home, tmp_path: Path) -> None:
    told = complaint(home, tmp_path, environment={"SAYSO_LISTEN_PROT": "1"})

    assert str(told) == (
        "The environment variable SAYSO_LISTEN_PROT is no setting; did you mean SAYSO_LISTEN_PORT?"
    )


def test_variables_of_other_rooms_and_programs_are_none_of_our_business(
    home: Home, tmp_path: Path
) -> None:
    environment = {"SAYSO_HOME": "/x", "SAYSO_DEBUG": "1", "SAYSO_TEST_HOME": "x", "LISTEN": "1"}

    assert Settings.load(home, environment=environment, folder=tmp_path) == Settings()


def test_a_project_does_not_decide_what_is_the_person_s(home: Home, tmp_path: Path) -> None:
    for key in keys().values():
        section, _, name = key.dotted.partition(".")
        value = {"text": "''", "list of texts": "[]", "yes or no": "true"}.get(key.kind, "1")
        path = project(tmp_path, f"[{section}]\n{name} = {value}")
        if key.by_project:
            continue
        told = complaint(home, tmp_path)
        assert isinstance(told, NotByProject)
        assert str(path) in str(told)
        assert f"`sayso settings set {key.dotted} VALUE`" in str(told)


def test_where_speech_goes_and_what_code_may_do_is_never_a_project_s() -> None:
    decided = {key.dotted for key in keys().values() if key.by_project}

    assert not decided & {
        key
        for key in keys()
        if key.startswith(("language_model.", "listen.", "code.", "approvals.", "models."))
    }


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[listen\nport = 1", "is not valid TOML"),
        (b"\xff\xfe", "is not valid TOML"),
        (b"# " + b"x" * 2_000_000, "is too large"),
    ],
)
def test_a_file_that_is_no_settings_file_is_told(
    home: Home, tmp_path: Path, content: bytes, reason: str
) -> None:
    path = person(home, "")
    path.write_bytes(content)

    told = complaint(home, tmp_path)

    assert isinstance(told, UnusableFile)
    assert f"{path} {reason}" in str(told)


def test_a_file_that_cannot_be_read_is_told(home: Home, tmp_path: Path) -> None:
    path = user_file(home)
    path.mkdir(parents=True)

    assert f"{path} cannot be read (Is a directory)" in str(complaint(home, tmp_path))


def test_a_file_of_somebody_else_is_told(home: Home, tmp_path: Path) -> None:
    path = person(home, "")
    path.chmod(stat.S_IWUSR)

    with permissions_hold():
        assert f"{path} cannot be read (Permission denied)" in str(complaint(home, tmp_path))

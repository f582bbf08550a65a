"""Changing one setting for good: every other character of the file stays as it was."""

import os
import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.settings import UnknownKey, UnusableFile, WrongValue, set_in_file, unset_in_file
from sayso.server.settings.writing import to_toml

MINE = """\
# My settings

[listen]          # where
port = 9000       # not the usual one
host = "127.0.0.1"

[language_model]
cloud_allowed = [
    "anthropic",  # work
    "groq",
]
model = "auto"


[voice]
# slower than most
speed = 0.9"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(MINE)
    return path


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("listen.port", "1234", "port = 9000       # not", "port = 1234  # not"),
        ("voice.speed", "1.5", "speed = 0.9", "speed = 1.5\n"),
        ("language_model.model", 'a "b" \\ # c', 'model = "auto"', 'model = "a \\"b\\" \\\\ # c"'),
        ("log.level", "debug", "speed = 0.9", 'speed = 0.9\n\n[log]\nlevel = "debug"\n'),
        (
            "voice.model",
            "en_GB-alan-low",
            "speed = 0.9",
            'speed = 0.9\nmodel = "en_GB-alan-low"\n',
        ),
        ("language_model.threads", "2", 'model = "auto"\n', 'model = "auto"\nthreads = 2\n'),
        (
            "language_model.cloud_allowed",
            "openai",
            '[\n    "anthropic",  # work\n    "groq",\n]',
            '["openai"]',
        ),
    ],
)
def test_only_the_one_key_changes(file: Path, key: str, value: str, old: str, new: str) -> None:
    assert old in MINE

    set_in_file(file, key, value)

    assert file.read_text() == MINE.replace(old, new)


def test_a_key_can_be_taken_back(file: Path) -> None:
    unset_in_file(file, "language_model.cloud_allowed")
    unset_in_file(file, "listen.port")
    unset_in_file(file, "log.level")

    cut = MINE.replace("port = 9000       # not the usual one\n", "")
    start = cut.index("cloud_allowed")
    assert file.read_text() == cut[:start] + cut[cut.index('model = "auto"') :]


def test_line_ends_stay_as_they_were(file: Path) -> None:
    file.write_bytes(b"[listen]\r\nport = 1\r\n")

    set_in_file(file, "listen.port", "2")
    set_in_file(file, "voice.speed", "2")

    assert file.read_bytes() == b"[listen]\r\nport = 2\r\n\r\n[voice]\r\nspeed = 2.0\r\n"


def test_a_file_is_made_where_there_is_none_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "settings.toml"

    set_in_file(path, "listen.port", "1")

    assert path.read_text() == "[listen]\nport = 1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(file)

    set_in_file(link, "listen.port", "1")

    assert link.is_symlink()
    assert "port = 1 " in file.read_text()


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [("listen.prot", "1", UnknownKey), ("listen.port", "x", WrongValue)],
)
def test_what_is_not_allowed_changes_nothing(
    file: Path, key: str, value: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        set_in_file(file, key, value)

    assert file.read_text() == MINE


@pytest.mark.parametrize(
    "text",
    [
        "listen = { port = 1 }\n",
        "listen.port = 1\n",
        '[listen]\n"port" = 1\n',
        "listen = 1\n",
        '["listen"]\nport = 1\n',
    ],
)
def test_unusual_toml_is_refused_rather_than_damaged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)

    with pytest.raises(UnusableFile, match=r"edit it yourself: \[listen\] port = 2") as told:
        set_in_file(path, "listen.port", "2")

    assert "\n" not in str(told.value)
    assert path.read_text() == text


def test_a_broken_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[listen")

    with pytest.raises(UnusableFile, match="is not valid TOML"):
        set_in_file(path, "listen.port", "2")

    assert path.read_text() == "[listen"


def test_a_wrong_value_elsewhere_in_the_file_does_not_hinder(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[listen]\nport = 'wrong'\nprot = 1\n")

    set_in_file(path, "listen.port", "2")

    assert path.read_text() == "[listen]\nport = 2\nprot = 1\n"


def test_a_full_disk_leaves_the_file_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnusableFile, match=r"cannot be written \(No space left on device\)"):
        set_in_file(file, "listen.port", "2")

    assert file.read_text() == MINE
    assert list(file.parent.iterdir()) == [file]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_text_survives_the_way_through_toml(texts: list[str]) -> None:
    assert tomllib.loads(f"x = {to_toml(tuple(texts))}")["x"] == texts


COMMENT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8).map("# {}".format)
LINE = st.sampled_from(
    ["", "  ", "x = 1", 'y = """\n[voice]\nspeed = 7\n"""', "z = [\n  1, # a\n]"]
)
SECTION = st.sampled_from(["[listen]", "[voice]", "[log]", "[[more]]", "[voice.deep]"])


@given(st.lists(st.one_of(COMMENT, LINE, SECTION), max_size=12), st.floats(0.5, 2.0))
def test_whatever_stands_in_the_file_the_change_is_right_or_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], speed: float
) -> None:
    path = tmp_path_factory.mktemp("any") / "settings.toml"
    text = "\n".join(lines)
    path.write_text(text, encoding="utf-8", newline="")
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return

    try:
        set_in_file(path, "voice.speed", repr(speed))
    except UnusableFile:
        assert path.read_text(encoding="utf-8") == text
        return

    after = tomllib.loads(path.read_text(encoding="utf-8"))
    assert after.pop("voice") == {**before.pop("voice", {}), "speed": speed}
    assert after == before

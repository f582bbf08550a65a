"""Where things lie on this machine, and the one token that its programs share."""

import hashlib
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sayso.protocol.errors import HomeError
from sayso.protocol.home import Home, make_token, read_token

FOLDERS = ("SAYSO_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user's empty home folder, and nothing said about where things lie."""
    for variable in FOLDERS:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> Home:
    monkeypatch.setenv("SAYSO_HOME", str(nowhere / "sayso"))
    return Home.find()


def modes(*paths: Path) -> list[str]:
    return [oct(stat.S_IMODE(path.stat().st_mode)) for path in paths]


# --- places ---


def test_sayso_home_holds_everything(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    monkeypatch.setenv("SAYSO_HOME", "~/mine")
    folder = nowhere / "mine"
    assert Home.find() == Home(folder, folder, folder)
    assert Home.find().token_file == folder / "token"


def test_a_relative_sayso_home_is_made_absolute(
    monkeypatch: pytest.MonkeyPatch, nowhere: Path
) -> None:
    monkeypatch.chdir(nowhere)
    monkeypatch.setenv("SAYSO_HOME", "here")
    assert Home.find().data == nowhere / "here"


def test_linux_follows_the_xdg_folders(monkeypatch: pytest.MonkeyPatch, nowhere: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert Home.find() == Home(
        nowhere / ".config/sayso", nowhere / ".local/share/sayso", nowhere / ".local/state/sayso"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", "/a")
    monkeypatch.setenv("XDG_DATA_HOME", "/b")
    monkeypatch.setenv("XDG_STATE_HOME", "/c")
    assert Home.find() == Home(Path("/a/sayso"), Path("/b/sayso"), Path("/c/sayso"))


def test_an_xdg_folder_that_is_not_absolute_counts_as_not_given(
    monkeypatch: pytest.MonkeyPatch, nowhere: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert Home.find().token_file == nowhere / ".local/state/sayso/token"


def test_macos_keeps_everything_in_application_support(
    monkeypatch: pytest.MonkeyPatch, nowhere: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    folder = nowhere / "Library/Application Support/Sayso"
    assert Home.find() == Home(folder, folder, folder)


def test_finding_a_home_makes_no_folder(home: Home) -> None:
    assert read_token(home) is None
    assert not home.state.exists()


# --- the token ---


def test_a_token_is_made_once_and_read_ever_after(home: Home) -> None:
    token = make_token(home)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token)
    assert make_token(home) == read_token(home) == token


def test_the_token_is_its_owners_alone_whatever_the_umask(home: Home) -> None:
    before = os.umask(0)
    try:
        make_token(home)
    finally:
        os.umask(before)
    assert modes(home.token_file, home.state) == ["0o600", "0o700"]


def test_only_the_token_is_left_behind(home: Home) -> None:
    make_token(home)
    assert [path.name for path in home.state.iterdir()] == ["token"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777])
def test_a_token_that_others_can_reach_is_refused(home: Home, mode: int) -> None:
    make_token(home)
    home.token_file.chmod(mode)
    for ask in (read_token, make_token):
        with pytest.raises(HomeError, match="chmod 600"):
            ask(home)


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"x" * 44, b"\xff" * 43, b"a" * 5_000])
def test_a_file_that_holds_no_token_is_refused_and_kept(home: Home, content: bytes) -> None:
    make_token(home)
    home.token_file.write_bytes(content)
    with pytest.raises(HomeError, match="delete it"):
        make_token(home)
    assert home.token_file.read_bytes() == content


def test_a_token_file_that_cannot_be_read_gives_a_sentence(home: Home) -> None:
    home.token_file.mkdir(parents=True)
    with pytest.raises(HomeError, match="cannot be read: Is a directory"):
        read_token(home)


def test_a_home_that_cannot_be_made_gives_a_sentence(home: Home) -> None:
    home.state.symlink_to("nowhere")
    with pytest.raises(HomeError, match="set SAYSO_HOME"):
        make_token(home)


def test_threads_that_race_get_the_same_token(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(make_token, [home] * 32))
    assert tokens == {read_token(home)}


MAKE_WHEN_TOLD = """
import hashlib
from sayso.protocol.home import Home, make_token
print("ready", flush=True)
input()
print(hashlib.sha256(make_token(Home.find()).encode()).hexdigest(), flush=True)
"""


def test_processes_that_race_get_the_same_token(home: Home) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE_WHEN_TOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    hashes = {racer.communicate(timeout=20)[0].strip() for racer in racers}
    token = read_token(home)
    assert token is not None
    assert hashes == {hashlib.sha256(token.encode()).hexdigest()}
    assert [path.name for path in home.state.iterdir()] == ["token"]

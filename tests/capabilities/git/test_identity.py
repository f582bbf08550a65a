"""Who a person is to git is read from their own settings, and from no repository."""

import os
import subprocess
from pathlib import Path

import pytest

from sayso.server.capabilities.git.identity import read_identity, variables_for_code

ANN = "[user]\n\tname = Ann Lee\n\temail = ann@example.org\n"


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HOME"])


def repository(at: Path) -> Path:
    at.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(at)], check=True)
    return at


def as_git_says(folder: Path, name: str) -> str:
    """What git itself takes, in that folder, from the person's own settings."""
    asked = ["git", "-C", str(folder), "config", "--get", name]
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1"}
    said = subprocess.run(asked, capture_output=True, text=True, check=False, env=environment)
    return said.stdout.removesuffix("\n")


@pytest.fixture(autouse=True)
def _nothing_strewn(home: Path) -> object:
    yield
    for path in sorted(home.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_name_address_and_first_branch_come_from_the_persons_own_settings(home: Path) -> None:
    (home / ".gitconfig").write_text(f"{ANN}[init]\n\tdefaultBranch = trunk\n")
    found = read_identity(home)
    assert (found.name, found.email, found.first_branch) == ("Ann Lee", "ann@example.org", "trunk")
    assert found.is_whole


def test_without_settings_nobody_is_made_up(home: Path) -> None:
    found = read_identity(home)
    assert not found.is_whole
    assert found.settings == {}


def test_what_a_repository_says_counts_for_nothing(home: Path) -> None:
    (home / ".gitconfig").write_text(ANN)
    mine = repository(home / "mine")
    (mine / ".git/config").write_text("[user]\n\tname = Mallory\n\temail = m@example.org\n")
    assert read_identity(mine).name == "Ann Lee"


def test_nothing_else_of_the_settings_is_told_to_code(home: Path) -> None:
    more = (
        '[credential]\n\thelper = !cat ~/.secret\n[http]\n\textraHeader = "Authorization: 1234"\n'
        '[url "https://ann:1234@example.org"]\n\tinsteadOf = there\n[core]\n\tsshCommand = steal\n'
        '[user]\n\tsigningKey = 1234\n[alias]\n\tst = "!steal"\n'
    )
    (home / ".gitconfig").write_text(ANN + more)
    told = " ".join(variables_for_code(home).values())
    assert "ann@example.org" in told
    for secret in ("1234", "steal", "secret", "helper"):
        assert secret not in told


WORK = "[user]\n\temail = ann@work.example\n"


@pytest.mark.parametrize(
    "condition",
    [
        "gitdir:~/desk/",
        "gitdir:~/desk/**",
        "gitdir:desk/",
        "gitdir:**/des?/**",
        "gitdir/i:~/DESK/",
        "gitdir:~/DESK/",
        "gitdir:~/desk",
        "gitdir:./desk/",
        "gitdir:~/d*/deep/.git",
        "gitdir:~/*/.git",
        "onbranch:main",
        "gitdir:",
    ],
)
def test_conditional_settings_hold_where_git_says_that_they_do(home: Path, condition: str) -> None:
    (home / ".work").write_text(WORK)
    (home / ".gitconfig").write_text(f'{ANN}[includeIf "{condition}"]\n\tpath = .work\n')
    for place in (repository(home / "desk/deep"), repository(home / "home")):
        assert read_identity(place).email == as_git_says(place, "user.email")
        below = place / "inner"
        below.mkdir()
        assert read_identity(below).email == as_git_says(below, "user.email")


@pytest.mark.parametrize(
    "text",
    [
        ANN + "[include]\n\tpath = ~/.more\n",
        "[include]\n\tpath = .more\n" + ANN,
        ANN + "[include]\n\tpath = missing\n",
        ANN + '[user "other"]\n\tname = Nobody\n',
        "[user]\n\tname = Ann\n\tname = Lee\n",
    ],
)
def test_included_settings_count_in_their_order(home: Path, text: str) -> None:
    (home / ".more").write_text("[user]\n\tname = More\n")
    (home / ".gitconfig").write_text(text)
    place = repository(home / "mine")
    told = as_git_says(place, "user.name")
    assert read_identity(place).name == told


def test_settings_that_include_themselves_are_read_to_an_end(home: Path) -> None:
    (home / ".gitconfig").write_text(f"{ANN}[include]\n\tpath = .gitconfig\n")
    assert read_identity(home).name == "Ann Lee"


@pytest.mark.parametrize("content", [b"[user", b"\0\0", b"[user]\nname=" + b"x" * 300_000])
def test_settings_that_cannot_be_read_name_nobody(home: Path, content: bytes) -> None:
    (home / ".gitconfig").write_bytes(content)
    assert read_identity(home).settings == {}

"""A branch is sent over HTTPS and over ssh, with the person's own passwords and keys."""

import shlex
import socket
import sys
from pathlib import Path

import pytest

from tests.capabilities.git.https_remote import PASSWORD, USER, HttpsRemote, https_remote
from tests.capabilities.git.partner import Partner, bash, partner, tool
from tests.git import git

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180), pytest.mark.needs("git")]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def knows(folder: Path, remote: HttpsRemote, password: str = PASSWORD) -> None:
    """The person's own git trusts the server, and has a password for it."""
    kept = folder / "passwords"
    kept.write_text(f"https://{USER}:{password}@127.0.0.1%3a{remote.port}\n")
    with (folder / "gitconfig").open("a") as settings:
        settings.write(f"[http]\n\tsslCAInfo = {remote.authority}\n")
        settings.write(f"[credential]\n\thelper = store --file={kept}\n")


async def committed(here: Partner) -> str:
    await here.ask("fix it", bash("echo x >> a.txt"))
    await here.ask("commit", tool("commit", message="Say x", branch="say-x"))
    return here.git("rev-parse", "say-x").strip()


async def test_over_https_a_branch_is_sent_with_the_persons_password_which_code_never_sees(
    tmp_path: Path,
) -> None:
    with https_remote(tmp_path) as remote:
        theirs = remote.bare("project.git")
        async with partner(tmp_path) as here:
            knows(tmp_path, remote)
            here.git("remote", "add", "origin", remote.url("project.git"))
            commit = await committed(here)
            told = await here.ask("push it", tool("publish"))
            (question,) = here.asked
            assert question.tap
            sent = f"send the branch say-x at {commit[:12]} to {remote.url('project.git')}, with"
            assert sent in question.may_touch[0]
            assert git("rev-parse", "say-x", folder=theirs).strip() == commit
            assert "say-x" in told
            assert PASSWORD not in "".join(here.model.heard)
            assert remote.asked[-1] == ("/project.git/git-receive-pack", True)
            # In the sandbox there is neither the password nor the network.
            before = len(remote.asked)
            await here.ask("push it", bash("git push origin say-x; git credential fill </dev/null"))
            assert len(remote.asked) == before
            assert PASSWORD not in "".join(here.model.heard)


async def test_over_https_nothing_is_forced_and_a_wrong_password_is_said(tmp_path: Path) -> None:
    with https_remote(tmp_path) as remote:
        theirs = remote.bare("project.git")
        async with partner(tmp_path) as here:
            knows(tmp_path, remote)
            here.git("remote", "add", "origin", remote.url("project.git"))
            await here.ask("push it", tool("publish"))
            first = git("rev-parse", "main", folder=theirs)
            here.git("commit", "-q", "--amend", "-m", "another first")
            told = await here.ask("push it", tool("publish"))
            assert "It was not sent." in told
            assert git("rev-parse", "main", folder=theirs) == first
            knows(tmp_path, remote, "wrong")
            told = await here.ask("push it", tool("publish"))
            assert "It was not sent." in told
            assert PASSWORD not in told


async def test_a_server_that_nobody_vouches_for_gets_no_password(tmp_path: Path) -> None:
    with https_remote(tmp_path) as remote:
        remote.bare("project.git")
        async with partner(tmp_path) as here:
            knows(tmp_path, remote)
            settings = tmp_path / "gitconfig"
            settings.write_text(settings.read_text().replace("sslCAInfo", "unused"))
            here.git("remote", "add", "origin", remote.url("project.git"))
            here.git("config", "http.sslVerify", "false")
            told = await here.ask("push it", tool("publish"))
            assert "It was not sent." in told
            assert "certificate" in told
            assert remote.asked == []


async def test_a_server_that_sends_on_to_an_unencrypted_one_is_not_followed(
    tmp_path: Path,
) -> None:
    with https_remote(tmp_path) as remote, socket.create_server(("127.0.0.1", 0)) as other:
        remote.bare("project.git")
        remote.leads_to = f"http://127.0.0.1:{other.getsockname()[1]}"
        async with partner(tmp_path) as here:
            knows(tmp_path, remote)
            here.git("remote", "add", "origin", remote.url("project.git"))
            told = await here.ask("push it", tool("publish"))
            assert "It was not sent." in told
            assert [known for _, known in remote.asked] == [False]
            other.setblocking(False)
            with pytest.raises(BlockingIOError):
                other.accept()


async def test_with_a_title_a_pull_request_is_opened_by_the_persons_own_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, said = tmp_path / "programs", tmp_path / "said"
    programs.mkdir()
    gh = programs / "gh"
    gh.write_text(
        f"#!/bin/sh\nfor each; do printf '%s\\n' \"$each\" >>{said}; done\n"
        "echo https://example.org/pull/1\n"
    )
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    with https_remote(tmp_path) as remote:
        remote.bare("project.git")
        async with partner(tmp_path) as here:
            knows(tmp_path, remote)
            here.git("remote", "add", "origin", remote.url("project.git"))
            await committed(here)
            words = {"title": "Say x", "body": "It said nothing.\n--web"}
            told = await here.ask("open one", tool("publish", **words))
            (question,) = here.asked
            assert "open a pull request “Say x”" in question.may_touch
            assert "https://example.org/pull/1" in told
            assert said.read_text() == (
                f"pr\ncreate\n--repo\n{remote.url('project.git')}\n--head\nsay-x\n--title\nSay x\n"
                "--body\nIt said nothing.\n--web\n"
            )


LIKE_SSH = f"""#!{sys.executable}
import os, shlex, sys
with open({{log!r}}, "a") as log:
    log.write(repr(sys.argv[1:]) + chr(10))
words = shlex.split(sys.argv[-1])
os.execvp("git", ["git", "-c", "safe.directory=*", words[0].removeprefix("git-"), *words[1:]])
"""
"""Takes what ssh is given, and does here what would be done at the other end."""


@pytest.mark.parametrize("form", ["ssh://git@example.org:2222{path}", "git@example.org:{path}"])
async def test_over_ssh_a_branch_is_sent_by_the_persons_own_ssh(tmp_path: Path, form: str) -> None:
    theirs, log, ran = tmp_path / "theirs.git", tmp_path / "log", tmp_path / "ran"
    git("init", "-q", "--bare", "-b", "main", str(theirs), folder=tmp_path)
    own = tmp_path / "own-ssh"
    own.write_text(LIKE_SSH.format(log=str(log)))
    own.chmod(0o755)
    async with partner(tmp_path) as here:
        with (tmp_path / "gitconfig").open("a") as settings:
            settings.write(
                f"[core]\n\tsshCommand = {shlex.quote(str(own))}\n[ssh]\n\tvariant = ssh\n"
            )
        here.git("config", "core.sshCommand", f"touch {ran}; false")
        url = form.format(path=theirs)
        here.git("remote", "add", "origin", url)
        commit = await committed(here)
        told = await here.ask("push it", tool("publish"))
        (question,) = here.asked
        assert f"to {url}, with your own passwords and keys" in question.may_touch[0]
        assert git("rev-parse", "say-x", folder=theirs).strip() == commit
        assert "say-x" in told
        assert "git@example.org" in log.read_text()
        assert not ran.exists()

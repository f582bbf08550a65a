"""A branch is sent by the server, on a tap, from a copy without the repository's settings."""

import asyncio
import os
from pathlib import Path

import pytest

from sayso.server.capabilities.git.remote import (
    RemoteError,
    checked_branch,
    checked_url,
    compare_address,
)
from tests.capabilities.git.partner import Partner, bash, partner, tool, until
from tests.git import git


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


def remote_of(here: Partner, place: Path) -> Path:
    git("init", "-q", "--bare", "-b", "main", str(place), folder=here.repository)
    here.git("remote", "add", "origin", str(place))
    return place


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_branch_is_sent_on_a_tap_and_nothing_of_the_repositorys_runs(
    tmp_path: Path,
) -> None:
    async with partner(tmp_path) as here:
        theirs = remote_of(here, tmp_path / "theirs.git")
        ran = tmp_path / "ran"
        hook = here.repository / ".git/hooks/pre-push"
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
        here.git("config", "core.sshCommand", f"touch {ran}; false")
        here.git("config", "remote.origin.pushurl", f"ext::touch {ran}")
        here.git("config", "remote.origin.receivepack", f"touch {ran}; git-receive-pack")
        here.git("config", "credential.helper", f"!touch {ran}")
        await here.ask("fix it", bash("echo x >> a.txt"))
        await here.ask("commit", tool("commit", message="Say x", branch="say-x"))
        told = await here.ask("push it", tool("publish"))
        (question,) = here.asked
        commit = here.git("rev-parse", "say-x").strip()
        assert question.tap
        assert f"send the branch say-x at {commit[:12]} to {theirs}, with" in question.may_touch[0]
        assert git("rev-parse", "say-x", folder=theirs).strip() == commit
        assert "say-x" in told
        assert not ran.exists()
        assert not list(here.repository.glob(".sayso*"))


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_without_a_yes_nothing_is_sent_and_nothing_is_ever_forced(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        theirs = remote_of(here, tmp_path / "theirs.git")
        await here.ask("push it", tool("publish"), answer=lambda _: "no")
        assert git("for-each-ref", folder=theirs) == ""
        await here.ask("push it", tool("publish"))
        first = git("rev-parse", "main", folder=theirs)
        here.git("commit", "-q", "--amend", "-m", "another first")
        told = await here.ask("push it", tool("publish"))
        assert "It was not sent." in told
        assert git("rev-parse", "main", folder=theirs) == first


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_what_changes_while_it_is_asked_about_is_not_sent(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        theirs = remote_of(here, tmp_path / "theirs.git")
        other = tmp_path / "other.git"
        git("init", "-q", "--bare", str(other), folder=tmp_path)

        def swaps(_: object) -> str:
            here.git("remote", "set-url", "origin", str(other))
            return "yes"

        await here.ask("push it", tool("publish"), answer=swaps)  # type: ignore[arg-type]
        here.git("remote", "set-url", "origin", str(theirs))

        def moves(_: object) -> str:
            here.git("commit", "-q", "--allow-empty", "-m", "unseen")
            return "yes"

        await here.ask("push it", tool("publish"), answer=moves)  # type: ignore[arg-type]
        assert git("for-each-ref", folder=other) == git("for-each-ref", folder=theirs) == ""


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_remote_that_code_can_write_to_would_run_its_hooks_and_is_refused(
    tmp_path: Path,
) -> None:
    async with partner(tmp_path) as here:
        remote_of(here, here.repository / "inner.git")
        told = await here.ask("push it", tool("publish"))
        assert "where code may write" in told
        assert not here.asked
        here.git("remote", "set-url", "origin", "ext::sh -c touch% ran")
        assert "cannot be shown" in await here.ask("push", tool("publish"))
        here.git("remote", "set-url", "origin", "ext::sh")
        assert "not sent there" in await here.ask("push", tool("publish"))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "refs/heads/main"])
async def test_a_pipe_or_an_endless_file_in_a_repository_holds_nobody_up(
    tmp_path: Path, name: str
) -> None:
    async with partner(tmp_path) as here:
        remote_of(here, tmp_path / "theirs.git")
        file = here.repository / ".git" / name
        before = file.read_bytes() if file.exists() else b""
        file.unlink(missing_ok=True)
        os.mkfifo(file)
        told = await here.ask("push it", tool("publish"), answer=lambda _: "no")
        assert here.asked or "No branch" in told or "cannot be read" in told or "no branch" in told
        file.unlink()
        file.write_bytes(before)
        with file.open("r+b") as endless:
            endless.truncate(1 << 40)
        await here.ask("push it", tool("publish"), answer=lambda _: "no")
        file.unlink()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_of_a_repository_elsewhere_nothing_is_told(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        elsewhere = tmp_path / "elsewhere"
        git("init", "-q", "-b", "main", str(elsewhere), folder=tmp_path)
        git("remote", "add", "origin", "https://example.org/private.git", folder=elsewhere)
        git("commit", "-q", "--allow-empty", "-m", "private", folder=elsewhere)
        (here.repository / "link").symlink_to(elsewhere)
        (here.repository / "inner").mkdir()
        (here.repository / "inner" / ".git").symlink_to(elsewhere / ".git")
        for folder in ("../elsewhere", "link", "inner", str(elsewhere)):
            told = await here.ask("push it", tool("publish", folder=folder, url="https://x.org/y"))
            assert "private.git" not in told, folder
            assert not here.asked


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_link_to_a_remote_that_is_swapped_while_it_is_sent_leads_to_no_hook(
    tmp_path: Path,
) -> None:
    async with partner(tmp_path) as here:
        theirs = remote_of(here, tmp_path / "theirs.git")
        evil, ran, link = here.repository / "evil.git", tmp_path / "ran", here.repository / "link"
        git("init", "-q", "--bare", "-b", "main", str(evil), folder=here.repository)
        link.symlink_to(theirs)
        here.git("remote", "set-url", "origin", str(link))

        async def swaps() -> None:
            await until(lambda: list(here.repository.glob(".sayso-sending*")))
            for hook in ("pre-receive", "update", "post-receive"):
                (evil / "hooks").mkdir(exist_ok=True)
                (evil / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {ran}\n")
                (evil / "hooks" / hook).chmod(0o755)
            spare = link.with_name("spare")
            spare.symlink_to(evil)
            spare.replace(link)

        swapping = asyncio.create_task(swaps())
        await here.ask("push it", tool("publish"))
        await swapping
        (question,) = here.asked
        assert str(link) not in question.may_touch[0]
        # A server of root's may have given the folder to the user whom code runs as.
        assert git("-c", f"safe.directory={evil}", "for-each-ref", folder=evil) == ""
        assert not ran.exists()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_code_in_the_sandbox_cannot_push_outside_of_it(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        theirs = remote_of(here, tmp_path / "theirs.git")
        await here.ask("push it", bash("git push origin main"))
        assert git("for-each-ref", folder=theirs) == ""


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh", "-oProxyCommand=x", "ssh://-oProxyCommand=x/y", "git://a.org/x", "a b",
        "http://a.org/x", "https://ann:secret@a.org/x", "file:///clone/inner.git", "/clone",
        "/missing", "fd::17", "a.org:-x\nb", "ssh://a.org\u202e/x", "ftp://a.org/x", "",
        "git@g\u0456thub.com:ann/project.git", "https://g\u0456thub.com/x",
        "-oProxyCommand=x@a.org:b",
    ],
)  # fmt: skip
def test_addresses_that_could_start_something_or_show_something_else_are_refused(
    url: str, tmp_path: Path
) -> None:
    work = tmp_path / "clone"
    (work / "inner.git").mkdir(parents=True)
    real = url.replace("/clone", str(work))
    with pytest.raises(RemoteError):
        checked_url(real, (work,))


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/ann/project.git", "git@github.com:ann/project.git",
        "ssh://git@example.org:2222/project", "http://127.0.0.1:8000/x", "host:project",
    ],
)  # fmt: skip
def test_usual_addresses_are_taken(url: str) -> None:
    assert checked_url(url, ()) == url


@pytest.mark.parametrize("name", ["-x", "a..b", "a b", "+main", "x.lock", "a//b", "", "a:b", "a/"])
def test_what_is_no_name_of_a_branch_is_refused(name: str) -> None:
    with pytest.raises(RemoteError):
        checked_branch(name)


def test_a_pull_request_is_begun_on_the_web_where_that_is_known() -> None:
    address = compare_address("git@github.com:ann/project.git", "fix/x")
    assert address == "https://github.com/ann/project/compare/fix/x?expand=1"
    assert compare_address("https://gitlab.com/a/b/c.git", "x").startswith(
        "https://gitlab.com/a/b/c/-/merge_requests/new?"
    )
    assert compare_address("https://example.org/a", "x") == ""

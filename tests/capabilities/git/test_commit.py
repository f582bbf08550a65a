"""“Commit that” takes what the request changed, and nothing else of the person's."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from sayso.server.agent.record.conversation_history import History
from sayso.server.capabilities.git.commit import Commit
from sayso.server.store.changes import Changes
from sayso.server.store.records import Answered, Asked, Call, RunIntended, RunReported
from tests.capabilities.git.partner import Partner, bash, partner, tool

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


def state(here: Partner, *, without: tuple[str, ...]) -> dict[str, str]:
    """All files, all entries of the index and all refs, but those of these paths."""
    files = {
        str(path.relative_to(here.repository)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in here.repository.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(here.repository).parts
    }
    index = {line.split("\t")[1]: line for line in here.git("ls-files", "-s").splitlines()}
    status = {
        line: line
        for line in here.git("status", "--porcelain=v2").splitlines()
        if not line.endswith(without)
    }
    return {
        f"{kind} {path}": what
        for kind, found in (("file", files), ("index", index), ("status", status))
        for path, what in found.items()
        if path not in without or kind == "file"
    }


async def test_what_the_person_staged_and_changed_besides_survives_byte_for_byte(
    tmp_path: Path,
) -> None:
    async with partner(tmp_path) as here:
        (here.repository / "b.txt").write_text("staged by the person\n")
        here.git("add", "b.txt")
        (here.repository / "b.txt").write_text("and changed once more\n")
        (here.repository / "c.txt").write_text("changed by the person\n")
        (here.repository / "notes").write_text("new, and nobody's business\n")
        await here.ask("fix it", bash("sed -i 's/line 3/LINE 3/' a.txt; echo new > 'new file.txt'"))
        before = state(here, without=("a.txt", "new file.txt"))
        told = await here.ask("commit that", tool("commit", message="Fix line 3\n\nIt was small."))
        assert "Fix line 3" in told
        assert state(here, without=("a.txt", "new file.txt")) == before
        assert here.git("show", "--format=", "--name-only").split("\n") == [
            "a.txt", "new file.txt", "",
        ]  # fmt: skip
        assert here.git("log", "-1", "--format=%an <%ae>%n%B").splitlines() == [
            "Ann Lee <ann@example.org>", "Fix line 3", "", "It was small.", "",
            "Assisted-by: Sayso (plain)", "",
        ]  # fmt: skip
        assert here.git("status", "--porcelain", "--", "a.txt", "new file.txt") == ""


async def test_the_question_shows_the_message_and_every_file(tmp_path: Path) -> None:
    async with partner(tmp_path, "ask") as here:
        await here.ask("fix it", bash("echo x >> a.txt; rm c.txt"))
        await here.ask("commit that", tool("commit", message="Say x", branch="say-x"))
        assert here.asked[-1].code == (
            "on a new branch: say-x\nfile: a.txt\nfile: c.txt\n\nSay x\n\n"
            "Assisted-by: Sayso (plain)"
        )
        assert here.git("branch", "--show-current").strip() == "say-x"
        assert here.git("log", "--format=%s", "main").split() == ["first"]
        await here.ask("fix it", bash("echo y >> a.txt"))
        await here.ask("commit that", tool("commit", message="Say y"), answer=lambda _: "no")
        assert here.git("log", "-1", "--format=%s").strip() == "Say x"


async def test_a_file_that_was_changed_or_staged_before_is_asked_about(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        (here.repository / "a.txt").write_text("the person's\n")
        (here.repository / "b.txt").write_text("the person's\n")
        here.git("add", "b.txt")
        await here.ask("fix it", bash("echo x >> a.txt; echo x >> b.txt; echo x >> c.txt"))
        before = state(here, without=())
        told = await here.ask("commit that", tool("commit", message="Say x"))
        assert "Changed before this request and not committed then: a.txt b.txt." in told
        assert "Staged already, so perhaps for another commit: b.txt." in told
        assert state(here, without=()) == before
        await here.ask("commit just the rest", tool("commit", message="Say x", files=["c.txt"]))
        assert here.git("show", "--format=", "--name-only").split() == ["c.txt"]
        whole = tool("commit", message="All", files=["a.txt"], as_they_are=["a.txt"])
        await here.ask("commit a.txt, too, with what I did", whole)
        assert here.git("show", "--format=", "--name-only").split() == ["a.txt"]
        assert state(here, without=("a.txt", "c.txt")).items() <= before.items()


@pytest.mark.parametrize("branch", ["", "try"])
async def test_a_hook_that_fails_leaves_everything_as_it_was(tmp_path: Path, branch: str) -> None:
    async with partner(tmp_path) as here:
        hook = here.repository / ".git/hooks/pre-commit"
        hook.write_text("#!/bin/sh\necho 'two words are misspelt'\nexit 1\n")
        hook.chmod(0o755)
        await here.ask("fix it", bash("echo x >> a.txt; echo new > new.txt"))
        before, refs = state(here, without=()), here.git("show-ref")
        index = (here.repository / ".git/index").read_bytes()
        told = await here.ask("commit that", tool("commit", message="Say x", branch=branch))
        assert "two words are misspelt" in told
        assert "Nothing was committed" in told
        assert state(here, without=()) == before
        assert (here.repository / ".git/index").read_bytes() == index
        assert (here.git("show-ref"), here.git("branch", "--show-current")) == (refs, "main\n")


async def test_without_the_persons_word_a_commit_is_asked_about_in_every_mode(
    tmp_path: Path,
) -> None:
    async with partner(tmp_path) as here:
        await here.ask(
            "fix it",
            bash("echo x >> a.txt"),
            tool("commit", message="Say x"),
            answer=lambda _: "no",
        )
        (question,) = here.asked
        assert question.warnings == ("You did not ask for a commit.",)
        assert here.git("log", "--format=%s").split() == ["first"]
        await here.ask("fix it and commit", bash("echo y >> a.txt"), tool("commit", message="Y"))
        assert not here.asked


async def test_two_requests_are_two_commits_and_undo_takes_back_the_last(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        await here.ask("one, and commit it", bash("echo 1 > one"), tool("commit", message="One"))
        await here.ask("two", bash("echo 2 > two"))
        await here.ask("and three", bash("echo 3 > three"))
        everything = tool("commit", message="Two and three", everything=True)
        await here.ask("commit all of it", everything)
        assert here.git("log", "--format=%s").splitlines() == ["Two and three", "One", "first"]
        assert here.git("show", "--format=", "--name-only").split() == ["three", "two"]
        await here.device.command("undo")
        assert here.git("log", "--format=%s").splitlines() == ["One", "first"]


@pytest.mark.parametrize("name", ["-n", "--amend", ":(top)*", "*", "a b", "ä"])
async def test_odd_names_are_names_and_nothing_else(tmp_path: Path, name: str) -> None:
    async with partner(tmp_path) as here:
        (here.repository / "b.txt").write_text("the person's\n")
        await here.ask("make it", bash(f"echo x > './{name}'"))
        told = await here.ask("commit that", tool("commit", message="--amend", branch="--force"))
        assert "Nothing was committed" in told
        await here.ask("commit that", tool("commit", message="--amend"))
        shown = here.git("-c", "core.quotepath=false", "show", "--format=%s", "--name-only", "-z")
        assert shown.split("\0", 1)[0] == "--amend"
        assert name in shown
        assert "b.txt" not in shown
        assert len(here.git("log", "--format=%s").splitlines()) == 2


async def test_files_that_were_not_changed_by_the_request_are_refused(tmp_path: Path) -> None:
    async with partner(tmp_path) as here:
        (here.repository / "b.txt").write_text("the person's\n")
        await here.ask("fix it", bash("echo x >> a.txt"))
        told = await here.ask("commit that", tool("commit", message="x", files=["a.txt", "b.txt"]))
        assert "b.txt: not changed by the latest request" in told
        assert here.git("log", "--format=%s").split() == ["first"]
        told = await here.ask(
            "commit that", tool("commit", message="x", files=["../other/x"], as_they_are=["/etc/x"])
        )
        assert "not" in told


async def test_a_commit_takes_what_the_calls_before_it_in_the_same_reply_changed() -> None:
    history = History()

    async def former(_: Sequence[str]) -> Mapping[str, str]:
        return {}

    commit = Commit(lambda: history, lambda: pytest.fail("nothing runs"), former, lambda: "")
    wanted = commit.read_call('{"message": "Both"}')  # when the reply is read
    for record in (
        Asked("fix it and commit"),
        Answered("", (Call("a1", "bash", "…"), Call("a2", wanted.label, wanted.text))),
        RunIntended("a1", "bash", "…"),
        RunReported("a1", "ok", changes=Changes(added=("new.txt",), changed=("a.txt",))),
    ):
        history.apply(record)
    assert commit.read(wanted.label, wanted.text)["commit"].files == ("a.txt", "new.txt")

"""Hooks of the person's own: asked before something runs or is committed, told of what was changed
and answered. They only make things stricter, and whatever is no clear yes of theirs is a no."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.server.settings import Settings, SettingsError
from sayso.server.settings.defaults import Hooks
from tests.capabilities.git.partner import Partner, bash, partner, tool

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

WROTE = "echo written > new.txt"


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


def hook(folder: Path, name: str, script: str) -> Path:
    """A program in the person's folder for hooks."""
    path = folder / "home" / "hooks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@asynccontextmanager
async def working(
    folder: Path, mode: str = "workspace", **hooks: tuple[str, ...] | float
) -> AsyncIterator[Partner]:
    chosen = replace(Settings(), hooks=Hooks(**hooks))  # type: ignore[arg-type]
    async with partner(folder, mode, chosen=chosen) as here:
        yield here


def refused(here: Partner) -> str:
    """What the person was told of the run that did not happen."""
    ends = [each for each in here.device.all(m.CodeEnd) if isinstance(each, m.CodeEnd)]
    assert [each.status for each in ends] == ["refused"]
    return ends[0].detail


def spoken(here: Partner) -> str:
    return "".join(each.text for each in here.device.told if isinstance(each, m.ReplyDelta))


NO_ANSWERS = {
    "exits with 1": "echo 'no secrets in code' >&2; exit 1",
    "exits with 2": "exit 2",
    "exits with 127": "no-such-program-here",
    "is no program that can be started": None,
    "crashes": "kill -SEGV $$",
    "says what is no JSON": "echo All checks passed!",
    "says JSON that is no answer": "echo '[1]'",
    "says something else than yes or no": """echo '{"verdict": "perhaps"}'""",
    "says it twice": """echo '{"verdict": "allow"}'; echo '{"verdict": "allow"}'""",
    "says more than an answer can be": "yes",
    "takes too long": "sleep 60",
    "says no": """echo '{"verdict": "deny", "why": "not on a Friday"}'""",
}


@pytest.mark.parametrize("how", NO_ANSWERS)
async def test_whatever_is_not_a_clear_yes_blocks_and_says_which_hook_and_why(
    tmp_path: Path, how: str
) -> None:
    path = hook(tmp_path, "look-first", NO_ANSWERS[how] or "exit 0")
    if NO_ANSWERS[how] is None:
        path.chmod(0o644)
    endless = how in ("takes too long", "says more than an answer can be")
    seconds = 1.5 if endless else 60.0
    async with working(tmp_path, before_run=("look-first",), seconds=seconds) as here:
        heard = await here.ask("write it", bash(WROTE))
        assert not (here.repository / "new.txt").exists()
        told = refused(here)
        assert "look-first (before_run)" in told
        assert "look-first (before_run)" in heard
        if how == "says no":
            assert "not on a Friday" in told
        if how == "exits with 1":
            assert "no secrets in code" in told
        assert not here.asked


async def test_a_missing_hook_blocks_and_a_silent_one_lets_it_run(tmp_path: Path) -> None:
    hook(tmp_path, "quiet", "cat > /dev/null")
    async with working(tmp_path, before_run=("quiet --strictly",)) as here:
        await here.ask("write it", bash(WROTE))
        assert (here.repository / "new.txt").read_text() == "written\n"
    (tmp_path / "home" / "hooks" / "quiet").unlink()
    (tmp_path / "home").rename(tmp_path / "first")
    (tmp_path / "project").rename(tmp_path / "done")
    async with working(tmp_path, before_run=("quiet",)) as here:
        await here.ask("write it", bash(WROTE))
        assert not (here.repository / "new.txt").exists()
        assert "there is no program quiet" in refused(here)


async def test_a_hook_reads_the_code_and_allows_nothing_that_is_asked_about(
    tmp_path: Path,
) -> None:
    hook(tmp_path, "yes", """grep -q written && echo '{"verdict": "allow"}'""")
    async with working(tmp_path, "ask", before_run=("yes",)) as here:
        await here.ask("write it", bash(WROTE), answer=lambda _: "no")
        assert len(here.asked) == 1
        assert not (here.repository / "new.txt").exists()


async def test_a_hook_can_have_the_person_asked_in_a_mode_that_asks_nothing(
    tmp_path: Path,
) -> None:
    hook(tmp_path, "careful", """echo '{"verdict": "ask", "why": "it writes"}'""")
    async with working(tmp_path, before_run=("careful",)) as here:
        await here.ask("write it", bash(WROTE))
        (asked,) = here.asked
        assert "Your hook careful (before_run) wants you to look at it: it writes" in asked.warnings
        assert (here.repository / "new.txt").exists()


async def test_what_the_person_changes_in_the_question_is_judged_anew(tmp_path: Path) -> None:
    hook(tmp_path, "no-rm", "! grep -q 'rm '")
    async with working(tmp_path, "ask", before_run=("no-rm",)) as here:
        await here.ask("delete it", bash("rm a.txt"))
        assert not here.asked
        assert (here.repository / "a.txt").exists()


async def test_calls_of_tools_from_code_are_judged_too(tmp_path: Path) -> None:
    hook(tmp_path, "no-patch", """! grep -q '"language": "patch"'""")
    code = "sayso.patch(patch='*** Begin Patch\\n*** Add File: x.txt\\n+x\\n*** End Patch')"
    async with working(tmp_path, before_run=("no-patch",)) as here:
        heard = await here.ask("write it", f"```python\n{code}\n```")
        assert not (here.repository / "x.txt").exists()
        assert "no-patch (before_run)" in heard


async def test_a_hook_can_write_nothing_and_reaches_no_network(tmp_path: Path) -> None:
    hook(
        tmp_path,
        "curious",
        'echo mine > "$(dirname "$0")/mine"; cd "$SAYSO_FOLDER" 2>/dev/null; echo it > it\n'
        f"cd '{tmp_path}/project' && touch seen-it\n"
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 9), 1)\" 2>/dev/null"
        " && echo online\ntest -r a.txt || echo blind\nexit 0",
    )
    async with working(tmp_path, before_run=("curious",)) as here:
        await here.ask("write it", bash(WROTE))
        assert (here.repository / "new.txt").exists()  # it read a.txt, and nothing else came of it
        assert not (here.repository / "seen-it").exists()
        hooks = tmp_path / "home" / "hooks"
        assert not (hooks / "mine").exists()
        assert not (hooks / "it").exists()
        assert not (here.repository / "it").exists()


async def test_what_code_wrote_is_never_taken_for_a_hook(tmp_path: Path) -> None:
    named = f"{tmp_path}/project/check"
    async with working(tmp_path, before_run=(named,)) as here:
        (here.repository / "check").write_text("#!/bin/sh\nexit 0\n")
        (here.repository / "check").chmod(0o755)
        await here.ask("write it", bash(WROTE))
        assert "without a path" in refused(here)
    hooks = tmp_path / "home" / "hooks"
    hooks.mkdir()
    (hooks / "check").symlink_to(named)
    (tmp_path / "project").rename(tmp_path / "done")
    async with working(tmp_path, before_run=("check",)) as here:
        (here.repository / "check").write_text("#!/bin/sh\nexit 0\n")
        (here.repository / "check").chmod(0o755)
        await here.ask("write it", bash(WROTE))
        assert "code may write to" in refused(here)
        assert not (here.repository / "new.txt").exists()


def test_a_project_s_settings_bring_no_hooks(tmp_path: Path) -> None:
    (tmp_path / "sayso.toml").write_text('[hooks]\nbefore_run = ["sh -c true"]\n')
    home = Home(tmp_path / "home", tmp_path / "home", tmp_path / "home")
    with pytest.raises(SettingsError, match=r"hooks\.before_run"):
        Settings.load(home, environment={}, folder=tmp_path)


async def test_after_a_change_the_model_reads_what_a_hook_says_of_it(tmp_path: Path) -> None:
    hook(tmp_path, "lint", """grep -o '"added": \\[[^]]*\\]'; echo 'line 1: unused' >&2; exit 1""")
    async with working(tmp_path, after_change=("lint", "gone")) as here:
        heard = await here.ask("write it", bash(WROTE))
        assert 'The hook lint says: "added": ["new.txt"]\nline 1: unused' in heard
        assert "The hook gone says: it failed: there is no program gone" in heard
        heard = await here.ask("look", bash("cat a.txt"))
        assert "lint" not in heard


@pytest.mark.parametrize("how", ["tool", "bash", "python"])
async def test_before_a_commit_a_hook_is_asked_however_it_is_made(tmp_path: Path, how: str) -> None:
    hook(tmp_path, "no-friday", "echo 'not on a Friday' >&2; exit 1")
    ways = {
        "tool": tool("commit", message="Say x"),
        "bash": bash("git add -A && git commit -m x"),
        "python": "```python\nimport subprocess\n"
        "subprocess.run(['git', '-C', '.', 'commit', '-am', 'x'])\n```",
    }
    async with working(tmp_path, before_commit=("no-friday",)) as here:
        await here.ask("fix it", bash("echo x >> a.txt"))
        assert (here.repository / "a.txt").read_text().endswith("x\n")
        heard = await here.ask("commit that", ways[how])
        assert "no-friday (before_commit)" in heard
        assert "not on a Friday" in heard
        assert here.git("log", "--format=%s").split() == ["first"]


async def test_an_answer_is_sent_back_three_times_and_then_left(tmp_path: Path) -> None:
    hook(
        tmp_path, "tests-pass", "grep -q '\"answer\"' && echo 'the tests were not run' >&2; exit 1"
    )
    async with working(tmp_path, at_end=("tests-pass",)) as here:
        await here.ask("fix it", *(f"Fixed {n}." for n in range(9)))
        sent_back = [told for told in here.model.heard if "does not take that as done" in told]
        assert len(sent_back) == 3
        assert "tests-pass: the tests were not run" in sent_back[0]
        said = spoken(here)
        assert "Fixed 3." in said
        assert "Fixed 4." not in said
        assert "The hook tests-pass does not take that: the tests were not run" in said


async def test_an_answer_that_a_hook_takes_is_the_end_and_one_that_fails_is_told(
    tmp_path: Path,
) -> None:
    hook(tmp_path, "content", "cat > /dev/null")
    async with working(tmp_path, at_end=("content", "gone")) as here:
        await here.ask("fix it", "Said.")
        assert len(here.model.heard) == 1
        said = spoken(here)
        assert "The hook gone failed: there is no program gone" in said


async def test_the_arguments_are_told_as_json(tmp_path: Path) -> None:
    seen = hook(tmp_path, "tell", "cat >&2; exit 1")
    assert seen.exists()
    async with working(tmp_path, before_run=("tell",)) as here:
        await here.ask("write it", bash("echo 1"))
        told = refused(here)
        given = json.loads(told[told.index("{") : told.rindex("}") + 1])
        assert given["hook"] == "before_run"
        assert given["folder"] == str(here.repository)
        assert (given["language"], given["code"]) == ("bash", "echo 1")

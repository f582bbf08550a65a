"""A model looks at files unasked, and sees exactly what code may see."""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd, CodeStart
from sayso.server.agent.limits import LOOKS, RequestLimits
from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.capabilities.coding.inside import search as searching
from sayso.server.capabilities.coding.inside.service import answers
from sayso.server.capabilities.coding.program import PROGRAM
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.grants import Grants, folder
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.programs.confined_program import LENGTH
from sayso.server.store.records import RunIntended
from tests.agent.conftest import AgentRig
from tests.kernels import lent_home
from tests.scripted_model import Reply, runs, says


@pytest.fixture
def workspace(rig: AgentRig) -> Path:
    made = rig.folder / "workspace"
    made.mkdir(0o700)
    (made / "a.py").write_text("import os\n\n\ndef first(path):\n    return os.stat(path)\n")
    (made / "b.js").write_text("class Thing {\n  turn(x) {\n    return x\n  }\n}\n")
    return made


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def calls(tool: str, **arguments: object) -> Reply:
    return Reply(calls=[{"name": tool, "arguments": json.dumps(arguments)}])


def asked(folder: Path, **request: object) -> Mapping[str, Any]:
    """What the program says in the kernels' Python, without a sandbox around it."""
    python = str(ensure(lent_home()).python)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        argv = [python, "-I", "-B", str(PROGRAM.file), str(theirs.fileno())]
        with subprocess.Popen(argv, pass_fds=[theirs.fileno()]) as process:
            theirs.close()
            body = json.dumps({"roots": [str(folder)], **request}).encode()
            ours.sendall(LENGTH.pack(len(body)) + body)
            with ours.makefile("rb") as answer:
                (length,) = LENGTH.unpack(answer.read(LENGTH.size))
                told: Mapping[str, Any] = json.loads(answer.read(length))
            ours.shutdown(socket.SHUT_RDWR)
            process.wait(20)
            return told


@pytest.mark.parametrize("mode", ["ask", "read-only", "workspace"])
async def test_looking_asks_nobody_and_is_shown_and_recorded(
    rig: AgentRig, workspace: Path, mode: Mode
) -> None:
    agent = await rig.agent(
        calls("read", path="a.py", **{"from": 4}),
        calls("search", pattern="def "),
        calls("outline", path="b.js"),
        calls("repo_map", about="thing"),
        says("There."),
        tools=coding_tools(),
        mode=mode,
    )
    assert await rig.ask(agent, "what is in there") == "There."
    assert not rig.told(ApprovalRequest)
    assert [each.language for each in rig.told(CodeStart)] == [
        "read",
        "search",
        "outline",
        "repo_map",
    ]
    assert [each.status for each in rig.told(CodeEnd)] == ["ok"] * 4
    assert len(await rig.records(RunIntended)) == 4
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "4|def first(path):\n5|    return os.stat(path)\n[lines 4 to 5 of 5]" in told[0]
    assert "a.py\n4|def first(path):" in told[1]
    assert "   1|class Thing\n   2|  turn(x)" in told[2]
    assert "b.js\n   1|class Thing" in told[3]


async def test_what_was_not_granted_is_not_seen_and_what_was_is(
    rig: AgentRig, workspace: Path, tmp_path: Path
) -> None:
    granted, other = tmp_path / "granted", tmp_path / "other"
    for each in (granted, other):
        each.mkdir()
        (each / "c.txt").write_text(f"words of {each.name}\n")
    (workspace / "link").symlink_to(other / "c.txt")
    (workspace / "folder").symlink_to(other)
    permissions = Permissions(Policy())
    permissions._own = Grants((folder(granted, "read"),))
    looks = [
        calls("read", path=path)
        for path in (
            str(granted / "c.txt"),
            str(other / "c.txt"),
            "link",
            "folder/c.txt",
            "../other/c.txt",
            "/etc/passwd",
            "/proc/self/environ",
            "/proc/1/root/etc/passwd",
            "/dev/zero",
            f"{granted}/../other/c.txt",
            "~/.ssh/id_rsa",
        )
    ]
    agent = await rig.agent(
        *looks,
        calls("search", pattern="words of"),
        says("Well."),
        tools=coding_tools(),
        permissions=permissions,
        bounds=RequestLimits(tokens=10**7),
    )
    await rig.ask(agent, "look around")
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "words of granted" in told[0]
    assert all("words of" not in each for each in told[1:11]), told
    assert all("root:" not in each for each in told)
    assert "words of other" not in told[11]


async def test_a_rule_about_a_place_holds_for_looks(rig: AgentRig, workspace: Path) -> None:
    (workspace / "secret").write_text("the secret\n")
    secret = workspace / "secret"
    rule = f"deny path {secret}\nmatches: cat {secret}\nspares: cat /elsewhere"
    agent = await rig.agent(
        calls("read", path="secret"),
        calls("search", pattern="the secret"),
        says("Well."),
        tools=coding_tools(),
        policy=Policy([rule]),
    )
    await rig.ask(agent, "look", answer="no")
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "your rule" in told[0]
    assert [each.language for each in rig.told(ApprovalRequest)] == ["search"]
    assert all("1|the secret" not in each for each in told)


async def test_looks_have_a_bound_of_their_own(rig: AgentRig, workspace: Path) -> None:
    assert RequestLimits().steps < LOOKS
    looks = [calls("read", path="a.py", **{"from": number}) for number in range(1, 16)]
    agent = await rig.agent(*looks, says("Read."), tools=coding_tools())
    assert await rig.ask(agent, "read it") == "Read."


async def test_the_program_that_looks_can_write_nothing_and_keeps_nothing_of_the_network(
    rig: AgentRig, workspace: Path
) -> None:
    runner = await rig.code_runner()
    patch = "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"
    answer = await runner.programs.look(PROGRAM, {"do": "apply", "patch": patch})
    assert "nothing was changed" in str(answer["refused"]).lower()
    assert names(workspace) == ["a.py", "b.js"]


async def test_code_looks_without_another_question(rig: AgentRig, workspace: Path) -> None:
    agent = await rig.agent(
        runs("print(sayso.search('def ')); print(sayso.outline(path='b.js'))"),
        says("There."),
        tools=coding_tools(),
    )
    await rig.ask(agent, "look with code")
    assert len(rig.told(ApprovalRequest)) == 1
    assert "use search on what it may touch itself" in rig.told(ApprovalRequest)[0].may_touch
    assert "4|def first(path):" in rig.output
    assert "2|  turn(x)" in rig.output


async def test_code_patches_without_another_question(rig: AgentRig, workspace: Path) -> None:
    patch = "a.py\n<<<<<<< SEARCH\nimport os\n=======\nimport os, re\n>>>>>>> REPLACE\n"
    agent = await rig.agent(
        runs(
            f"print(sayso.patch({patch!r}))\n"
            f"try:\n    sayso.patch({patch.replace('os', 'or')!r})\n"
            "except sayso.Refused as why:\n    print('refused', why)"
        ),
        says("Done."),
        tools=coding_tools(),
    )
    await rig.ask(agent, "patch with code")
    assert len(rig.told(ApprovalRequest)) == 1
    assert "Done: change a.py (+1 -1)." in rig.output
    assert "refused a.py: it does not fit" in rig.output


# --- the program itself, attacked ---


def test_a_pattern_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SEARCH_S", 0.3)
    (tmp_path / "x").write_text("x" * 5_000 + "\n")
    request = {"do": "search", "pattern": "(x+x+)+y", "roots": [str(tmp_path)]}
    told = next(answers(request))["text"]
    assert "only a part was looked at, because there was no more time" in told


@pytest.mark.parametrize("pattern", ["(", "x" * 2_000, "", "(?P<a>x)(?P<a>y)", "[" * 900])
def test_a_pattern_that_is_none_is_told(tmp_path: Path, pattern: str) -> None:
    assert asked(tmp_path, do="search", pattern=pattern)["refused"]


@pytest.mark.slow
def test_pipes_sockets_devices_and_large_files_hold_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket.py"))
        with (tmp_path / "huge.py").open("wb") as file:
            file.truncate(2 * 1024**3)
        (tmp_path / "good.py").write_text("def found(): pass\n")
        assert "1|def found" in asked(tmp_path, do="search", pattern="found")["text"]
        assert "def found" in asked(tmp_path, do="repo_map")["text"]
        for name, why in {"pipe.py": "plain", "socket.py": "plain", "huge.py": "bytes"}.items():
            assert why in asked(tmp_path, do="read", path=name)["refused"]
            assert why in asked(tmp_path, do="outline", path=name)["refused"]


def test_long_lines_many_hits_and_binary_files_are_shown_in_part_and_said_to_be(
    tmp_path: Path,
) -> None:
    (tmp_path / "long").write_text("word " * 100_000 + "\n")
    (tmp_path / "many").write_text("word\n" * 5_000)
    (tmp_path / "binary").write_bytes(b"\0word\n" * 50)
    told = asked(tmp_path, do="search", pattern="word")["text"]
    assert len(told) < 5_000
    assert "binary" not in told
    assert "4,988 more lines in 2 files are not shown" in told


def test_what_git_ignores_is_not_looked_through(tmp_path: Path) -> None:
    for name in ("src", "build/deep", "node_modules/x", "src/generated", ".git"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "f.py").write_text("needle = 1\n")
    (tmp_path / "keep.log").write_text("needle\n")
    (tmp_path / "drop.log").write_text("needle\n")
    (tmp_path / ".gitignore").write_text("# a comment\nbuild/\n*.log\n!keep.log\nsrc/generated\n")
    told = asked(tmp_path, do="search", pattern="^needle")["text"]
    names = [line for line in told.splitlines() if "|" not in line]
    assert names == ["keep.log", "src/f.py"]


def test_a_map_keeps_to_its_page_and_puts_first_what_is_used_and_asked_for(tmp_path: Path) -> None:
    for number in range(60):
        uses = "\n".join(f"    core_{each}()" for each in range(10))
        (tmp_path / f"user{number}.py").write_text(
            f"from core import *\n\n\ndef own_{number}():\n{uses}\n"
        )
    defined = "\n\n\n".join(f"def core_{each}():\n    return {each}" for each in range(10))
    (tmp_path / "core.py").write_text(f"{defined}\n")
    (tmp_path / "billing.py").write_text("def send_invoice():\n    return 1\n")
    (tmp_path / "__init__.py").touch()
    told = asked(tmp_path, do="repo_map")["text"]
    assert "core.py\n   1|def core_0()" in told
    assert len(told) <= 3_400
    assert "__init__.py" not in told
    assert "send_invoice" in asked(tmp_path, do="repo_map", about="send the invoice twice")["text"]


def test_a_map_tells_of_a_file_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def old_name():\n    pass\n")
    assert "old_name" in asked(tmp_path, do="repo_map")["text"]
    (tmp_path / "a.py").write_text("def newer_name():\n    pass\n")
    assert "newer_name" in asked(tmp_path, do="repo_map")["text"]


SOURCES = {
    "a.py": ("class A:\n    async def run(self):\n        pass\n", ["A", "run"]),
    "a.js": ("const go = (x) => x\nexport class B { m() {} }\n", ["go", "B", "m"]),
    "a.ts": ("interface I { x: number }\ntype T = I\nenum E { A }\n", ["I", "T", "E"]),
    "a.tsx": ("function App() { return <div/> }\n", ["App"]),
    "a.go": ("type S struct{}\nfunc (s S) M() {}\nfunc F() {}\n", ["S", "M", "F"]),
    "a.rs": ("struct S;\nimpl S { fn m(&self) {} }\ntrait T {}\n", ["S", "S", "m", "T"]),
    "A.java": ("class A { A() {} void m() {} }\n", ["A", "A", "m"]),
    "a.c": ("struct s { int x; };\nstatic int *f(int a) { return 0; }\n", ["s", "f"]),
    "a.cpp": ("namespace n { class K { int m() { return 1; } }; }\n", ["n", "K", "m"]),
}


@pytest.mark.parametrize("name", SOURCES)
async def test_each_grammar_outlines_its_language(
    rig: AgentRig, workspace: Path, name: str
) -> None:
    source, wanted = SOURCES[name]
    (workspace / name).write_text(source)
    runner = await rig.code_runner()
    answer = await runner.programs.look(PROGRAM, {"do": "outline", "path": name})
    lines = str(answer["text"]).splitlines()[1:]
    assert len(lines) == len(wanted), lines
    for line, symbol in zip(lines, wanted, strict=True):
        assert symbol in line


@contextmanager
def swapping(one: Path, target: Path) -> Iterator[None]:
    """A file that is now itself and now a link to somewhere else."""
    content, ending = one.read_text(), threading.Event()

    def swap() -> None:
        spare = one.with_name("spare")
        while not ending.is_set():
            spare.symlink_to(target)
            spare.replace(one)
            spare.write_text(content)
            spare.replace(one)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def test_a_link_put_in_the_way_while_it_is_read_leads_nowhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("the secret\n")
    (inside / "f").write_text("plain\n")
    with swapping(inside / "f", outside):
        for _ in range(400):
            for about in ({"do": "read", "path": "f"}, {"do": "search", "pattern": "secret"}):
                told = next(answers({"roots": [str(inside)], **about}))
                assert "the secret" not in str(told)


@pytest.mark.parametrize("named", ["f", "in/f"])
def test_a_link_put_in_the_way_at_the_last_moment_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "in").mkdir(parents=True)
    outside.mkdir()
    (outside / "f").write_text("the secret\n")
    (inside / named).write_text("plain\n")
    swapped, plain_open = inside / named.partition("/")[0], os.open

    def swap_and_open(path: str, flags: int, **more: int) -> int:
        as_meant = bool(flags & os.O_DIRECTORY) != (named == "f")
        if path == swapped.name and as_meant and not swapped.is_symlink():
            swapped.rename(inside / "away")
            swapped.symlink_to(outside / "f" if named == "f" else outside)
        return plain_open(path, flags, **more)

    monkeypatch.setattr("sayso.server.capabilities.coding.inside.folders.os.open", swap_and_open)
    told = next(answers({"do": "read", "path": named, "roots": [str(inside)]}))
    assert "the secret" not in str(told)
    assert told["refused"]

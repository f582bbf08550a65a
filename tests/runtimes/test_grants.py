"""What a grant opens, and what stays closed beside it, tried from inside each sandbox."""

import os
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Folder, GrantError, Grants, folder
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.runtimes.sandboxes import told

SHOW = """
import os, pathlib
def attempt(action):
    try:
        return action()
    except OSError as refusal:
        return 'refused'
"""


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """A folder of a person's, beside which others lie."""
    made = tmp_path / "alice" / "Downloads"
    made.mkdir(0o755, parents=True)
    (made / "bill.txt").write_text("42 euros")
    (made.parent / "diary.txt").write_text("private")
    return made


def names_in(place: Path) -> list[str]:
    return [each.name for each in place.iterdir()]


def looked(place: Path, path: str) -> str:
    return f"{SHOW}print(attempt(lambda: pathlib.Path({str(place)!r}, {path!r}).read_text()))"


def wrote(place: Path, path: str = "made.txt") -> str:
    return f"{SHOW}print(attempt(lambda: pathlib.Path({str(place)!r}, {path!r}).write_text('x')))"


async def test_what_is_granted_at_home_goes_by_its_name_there(
    code_runner: CodeRunner, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(downloads.parent))
    deep = downloads / "2026" / "may"
    deep.mkdir(parents=True)
    reach = Grants((Folder(deep, "write"), Folder(downloads)))
    await code_runner.set_reach(reach)
    code = """
from pathlib import Path
print(Path('~/Downloads/bill.txt').expanduser().read_text())
Path('~/Downloads/2026/may/made').expanduser().write_text('x')
print(sorted(name.name for name in Path.home().iterdir() if name.is_symlink()))
!cat ~/Downloads/bill.txt
"""
    assert (await told(code_runner, code)).stdout == "42 euros\n['Downloads']\n42 euros"
    assert (deep / "made").read_text() == "x"


async def test_a_read_grant_opens_the_folder_for_reading_alone(
    code_runner: CodeRunner, downloads: Path
) -> None:
    assert (await told(code_runner, looked(downloads, "bill.txt"))).stdout == "refused\n"
    assert await code_runner.set_reach(Grants((Folder(downloads),)))
    assert (await told(code_runner, looked(downloads, "bill.txt"))).stdout == "42 euros\n"
    for attempt in (wrote(downloads), wrote(downloads, "bill.txt")):
        assert (await told(code_runner, attempt)).stdout == "refused\n"
    for beside in ("../diary.txt", "../../alice/diary.txt"):
        assert (await told(code_runner, looked(downloads, beside))).stdout == "refused\n"
    tricks = f"""{SHOW}
place = {str(downloads)!r}
print(attempt(lambda: os.chmod(place + '/bill.txt', 0o777)))
print(attempt(lambda: os.unlink(place + '/bill.txt')))
print(attempt(lambda: os.rename(place + '/bill.txt', 'bill.txt')))
print(attempt(lambda: os.link(place + '/bill.txt', 'bill.txt')))
print(attempt(lambda: os.utime(place + '/bill.txt', (1, 1))))
"""
    assert (await told(code_runner, tricks)).stdout == "refused\n" * 5
    assert names_in(downloads) == ["bill.txt"]


async def test_a_write_grant_opens_it_for_both_and_nothing_beside(
    code_runner: CodeRunner, downloads: Path, sandbox: Sandbox
) -> None:
    await code_runner.set_reach(Grants((Folder(downloads, "write"),)))
    assert (await told(code_runner, wrote(downloads))).stdout == "1\n"
    assert (downloads / "made.txt").read_text() == "x"
    beside = names_in(downloads.parent)
    run = await told(code_runner, wrote(downloads.parent))
    # Bubblewrap's own folders above a grant are an ordinary user's, and nobody else's scratch.
    assert run.stdout == "refused\n" or (sandbox.kind == "bubblewrap" and os.geteuid())
    assert names_in(downloads.parent) == beside
    link = f"{SHOW}os.symlink({str(downloads.parent)!r}, {str(downloads / 'up')!r})"
    await told(code_runner, link)
    assert (await told(code_runner, looked(downloads, "up/diary.txt"))).stdout == "refused\n"


async def test_where_code_may_only_look_it_writes_nowhere_but_in_its_scratch(
    code_runner: CodeRunner, downloads: Path, workspace: Path
) -> None:
    (workspace / "notes.txt").write_text("mine")
    await code_runner.set_reach(Grants((Folder(downloads, "write"),), look_only=True))
    assert (await told(code_runner, looked(workspace, "notes.txt"))).stdout == "mine\n"
    assert (await told(code_runner, looked(downloads, "bill.txt"))).stdout == "42 euros\n"
    for place in (workspace, downloads):
        assert (await told(code_runner, wrote(place))).stdout == "refused\n"
    scratch = f"{SHOW}import tempfile; print(tempfile.TemporaryFile().write(b'x'))"
    assert (await told(code_runner, scratch)).stdout == "1\n"


async def test_a_wider_reach_says_whether_variables_were_lost(
    any_workshop: CodeRunner, downloads: Path
) -> None:
    assert not await any_workshop.set_reach(Grants((Folder(downloads),)))
    await told(any_workshop, "x = 1")
    assert await any_workshop.set_reach(any_workshop.reach.with_host("example.org"))
    assert not await any_workshop.set_reach(any_workshop.reach.with_host("example.net"))
    await told(any_workshop, "x = 1")
    assert not await any_workshop.set_reach(Grants((Folder(downloads),)))
    assert (await told(any_workshop, "print(x)")).stdout == "1\n"
    assert await any_workshop.set_reach(any_workshop.reach.with_folder(Folder(downloads, "write")))
    assert "NameError" in (await told(any_workshop, "print(x)")).error


async def test_what_code_can_reach_is_said(
    any_workshop: CodeRunner, downloads: Path, workspace: Path, environment: KernelEnvironment
) -> None:
    await any_workshop.set_reach(Grants((Folder(downloads),), ("api.a.org",)))
    assert any_workshop.may_touch("python") == (
        f"read and write {workspace}",
        f"read {downloads}",
        "read the system's programs",
        "reach api.a.org on the network",
    )


def test_a_write_grant_takes_in_the_read_grant_and_not_the_other_way_round(tmp_path: Path) -> None:
    read, write, below = Folder(tmp_path), Folder(tmp_path, "write"), Folder(tmp_path / "a")
    assert Grants((read,)).with_folder(write).folders == (write,)
    assert Grants((write,)).with_folder(read).folders == (write,)
    assert Grants((write,)).with_folder(below).folders == (write,)
    assert Grants((below,)).with_folder(read).folders == (read,)


async def test_a_grant_within_what_code_may_write_is_no_way_out(
    code_runner: CodeRunner, downloads: Path, workspace: Path
) -> None:
    inside = workspace / "inside"
    inside.mkdir()
    await code_runner.set_reach(Grants((Folder(inside),)))
    swap = f"import os; os.rmdir('inside'); os.symlink({str(downloads)!r}, 'inside')"
    assert (await told(code_runner, swap)).ending.status == "ok"
    await told(code_runner, "import os; os._exit(0)")
    assert (await told(code_runner, looked(workspace, "inside/bill.txt"))).stdout == "refused\n"


def test_what_lies_in_another_grant_is_not_given_by_itself(tmp_path: Path) -> None:
    above, below, beside = tmp_path / "a", tmp_path / "a" / "b", tmp_path / "ab"
    reach = Grants((Folder(above, "write"), Folder(beside)))
    assert reach.writable(below) == (above,)
    assert reach.readable(below) == (beside,)
    assert Grants((Folder(above), Folder(below, "write"))).readable(beside) == (above,)
    assert set(Grants((Folder(above), Folder(below, "write"))).writable(beside)) == {beside, below}


def test_a_link_is_granted_as_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert folder(tmp_path / "link", "read") == Folder((tmp_path / "real").resolve(), "read")


@pytest.mark.parametrize("place", ["/", "/proc", "/proc/1", "/dev", "/run", "relative", "/no/such"])
def test_what_no_grant_opens(place: str) -> None:
    with pytest.raises(GrantError, match=r"^[^\n]+\.$"):
        folder(place, "read")


def test_sayso_s_own_secrets_are_never_granted_nor_what_holds_them() -> None:
    own = Home.find().state
    own.mkdir(parents=True, exist_ok=True)
    for place in (own, own.parent):
        with pytest.raises(GrantError, match="secrets"):
            folder(place, "read")

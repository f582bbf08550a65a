"""Files go into the workspace and come out of it; nothing else is touched or shown."""

import base64
import os
from pathlib import Path

import pytest

from sayso.protocol.messages import FileGot, FilePut
from sayso.server.conversations.files import upload_quota
from sayso.server.conversations.files.uploads import AT_ONCE, WorkspaceFiles, plain_name
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.undo.checkpoints import Checkpoints
from sayso.server.undo.partial_files import DRAFT
from sayso.server.undo.store import Room
from tests.server.running_server import running_server

PIECE = 1_000


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def files(workspace: Path) -> WorkspaceFiles:
    return WorkspaceFiles(workspace, most_bytes=100_000)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def put(name: str, size: int, offset: int = 0, data: bytes = b"", number: str = "u") -> FilePut:
    return FilePut(number, name, size, offset, base64.b64encode(data).decode())


def send(files: WorkspaceFiles, name: str, content: bytes, number: str = "u") -> FileGot:
    """Send a whole file."""
    place = 0
    while True:
        data = content[place : place + PIECE]
        got = files.take("desk", put(name, len(content), place, data, number))
        place += len(data)
        if got.name or got.problem:
            return got
        assert got.received == place


def read(files: WorkspaceFiles, path: str) -> bytes | None:
    if (file := files.open(path)) is None:
        return None
    with file:
        return file.read()


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 5 * PIECE])
def test_a_file_arrives_byte_by_byte(files: WorkspaceFiles, workspace: Path, size: int) -> None:
    content = os.urandom(size)
    assert send(files, "rain.csv", content).name == "rain.csv"
    assert (workspace / "rain.csv").read_bytes() == content
    assert read(files, "rain.csv") == content
    assert names(workspace) == ["rain.csv"]


def test_nothing_is_overwritten(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "a.txt").write_text("mine")
    (workspace / "a 2.txt").symlink_to("/etc/passwd")
    assert send(files, "a.txt", b"theirs").name == "a 3.txt"
    assert (workspace / "a.txt").read_text() == "mine"


def test_nothing_is_seen_until_it_is_whole_and_nothing_stays_of_what_is_not(
    files: WorkspaceFiles, workspace: Path
) -> None:
    assert files.take("desk", put("big", 2_000, 0, bytes(1_000))).received == 1_000
    assert [name for name in names(workspace) if not name.startswith(".")] == []
    files.close()
    assert names(workspace) == []


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("/etc/cron.d/job", "job"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        (" . -- -x", "x"),
        ("..", "file"),
        ("", "file"),
        ("a\x00b\nc\x1b[2J.txt", "abc[2J.txt"),
        ("re\u202etxt.exe", "retxt.exe"),
        ("Straße ü 🎈.txt", "Straße ü 🎈.txt"),
        ("u\u0308.txt", "ü.txt"),
        ("x" * 400 + ".csv", "x" * 196 + ".csv"),
        ("ü" * 400, "ü" * 100),
        ("a." + "b" * 400, "a." + "b" * 198),
    ],
)
def test_a_name_is_made_harmless(given: str, name: str) -> None:
    assert plain_name(given) == name


def test_what_is_too_large_or_out_of_order_is_refused_and_leaves_nothing(
    files: WorkspaceFiles, workspace: Path
) -> None:
    wrong = (
        put("a", 100_001, 0, b"x"),
        put("a", 10, 5, b"x"),
        put("a", 3, 0, b"four"),
        put("a", 3, 0, b""),
        FilePut("u", "a", 3, 0, "not base64"),
    )
    for piece in wrong:
        assert files.take("desk", piece).problem
    files.take("desk", put("a", 10, 0, b"12345"))
    assert files.take("desk", put("a", 10, 4, b"12345")).problem
    assert files.take("desk", put("a", 10, 5, b"67890")).problem, "that upload is over"
    assert names(workspace) == []


def test_only_so_many_are_sent_at_once(files: WorkspaceFiles) -> None:
    for number in range(AT_ONCE):
        assert not files.take("desk", put("a", 10, 0, b"x", str(number))).problem
    assert files.take("desk", put("a", 10, 0, b"x", "more")).problem
    files.close()


def test_a_workspace_that_is_a_link_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to("elsewhere")
    files = WorkspaceFiles(tmp_path / "link", 1_000)
    assert files.take("desk", put("a", 1, 0, b"x")).problem
    assert names(tmp_path / "elsewhere") == []


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "folder/../../secret",
        "/etc/passwd",
        "link",
        "linked folder/secret",
        "folder",
        "folder/",
        "./folder/file",
        "pipe",
        "missing",
        "",
        "a\x00b",
        "x" * 5_000,
    ],
)
def test_nothing_outside_is_given_out(files: WorkspaceFiles, workspace: Path, path: str) -> None:
    (workspace.parent / "secret").write_text("secret")
    (workspace / "link").symlink_to("../secret")
    (workspace / "linked folder").symlink_to("..")
    (workspace / "folder").mkdir()
    (workspace / "folder/file").write_text("fine")
    os.mkfifo(workspace / "pipe")
    assert read(files, path) is None
    assert read(files, "folder/file") == b"fine"


async def test_what_is_still_coming_is_not_taken_for_what_a_crash_left(
    files: WorkspaceFiles, workspace: Path, tmp_path: Path
) -> None:
    assert files.take("desk", put("rain.csv", 2, data=b"a")).received == 1
    left = workspace / f"{DRAFT}left"
    left.write_text("by a crash")
    checkpoints = Checkpoints(tmp_path / "undo", "main", workspace, lambda: [workspace], Room())
    checkpoints.open()
    await checkpoints.close()
    assert not left.exists()
    assert files.take("desk", put("rain.csv", 2, 1, b"b")).name == "rain.csv"


def test_what_is_no_file_leaves_nothing_open(files: WorkspaceFiles, workspace: Path) -> None:
    (workspace / "folder").mkdir()
    os.mkfifo(workspace / "pipe")
    before = names(Path("/dev/fd"))
    assert files.open("folder") is None
    assert files.open("pipe") is None
    assert files.open("folder/nothing") is None
    assert names(Path("/dev/fd")) == before


GUEST_BYTES = 10_000


def folder_of(here: OpenConversation) -> Path:
    folder = Path(here.code_runner.where)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def send_into(here: OpenConversation, content: bytes, number: str) -> FileGot:
    return await here.upload("radio", put("a.txt", len(content), 0, content, number))


async def test_all_that_a_guest_sends_is_bounded_over_all_conversations(tmp_path: Path) -> None:
    async with running_server(tmp_path, guest_bytes=GUEST_BYTES) as server:
        one, other, bobs, owners = [
            await server.conversations.enter(await server.conversations.begin(name, person))
            for name, person in (("a", "ann"), ("b", "ann"), ("c", "bob"), ("d", ""))
        ]
        for here in (one, other, bobs, owners):
            folder_of(here)
        assert (await send_into(one, bytes(6_000), "1")).name == "a.txt"
        (folder_of(one) / "below").mkdir()
        (folder_of(one) / "a.txt").rename(folder_of(one) / "below" / "b")
        problem = (await send_into(other, bytes(6_000), "2")).problem
        assert "/forget" in problem
        assert problem.count(".") == 1
        assert (await send_into(other, bytes(4_000), "3")).name == "a.txt"
        assert (await send_into(other, bytes(1), "4")).problem
        assert (await send_into(bobs, bytes(6_000), "5")).name == "a.txt"
        for number in range(3):
            assert (await send_into(owners, bytes(6_000), f"6{number}")).name


async def test_what_a_guest_only_begins_to_send_counts_as_a_whole(tmp_path: Path) -> None:
    async with running_server(tmp_path, guest_bytes=GUEST_BYTES) as server:
        here = await server.conversations.enter(await server.conversations.begin("a", "ann"))
        folder_of(here)
        assert (await here.upload("radio", put("a", 9_000, 0, b"x", "1"))).received == 1
        assert (await send_into(here, bytes(2_000), "2")).problem


@pytest.mark.parametrize("deep", [True, False] if os.geteuid() else [True])
async def test_where_it_can_not_be_seen_what_a_guest_has_nothing_more_is_taken(
    tmp_path: Path, deep: bool
) -> None:
    async with running_server(tmp_path, guest_bytes=GUEST_BYTES) as server:
        here = await server.conversations.enter(await server.conversations.begin("a", "ann"))
        hidden = folder_of(here) / ("a/" * 150 if deep else "a")
        hidden.mkdir(parents=True)
        if not deep:
            hidden.chmod(0)
        assert (await send_into(here, b"x", "1")).problem
        hidden.chmod(0o700)


async def test_a_guest_with_endless_files_sends_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_quota, "ENTRIES_MOST", 5)
    async with running_server(tmp_path, guest_bytes=GUEST_BYTES) as server:
        here = await server.conversations.enter(await server.conversations.begin("a", "ann"))
        folder_of(here)
        got = [await send_into(here, b"", str(number)) for number in range(8)]
        assert [bool(each.problem) for each in got] == [False] * 6 + [True] * 2

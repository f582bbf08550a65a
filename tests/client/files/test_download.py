"""`sayso get`: all of a file or nothing, and why."""

import asyncio
import os
import resource
import signal
import socket
import struct
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.client.programs import SOON, Ended, command, disk_of, give_token, sayso

CONTENT = b"high tide at seven\n" * 10_000
HEAD = "HTTP/1.1 {status}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def _token() -> None:
    give_token()


@asynccontextmanager
async def answering(
    status: str,
    size: int,
    content: bytes,
    goes_on: asyncio.Event | None = None,
    *,
    breaks: bool = False,
) -> AsyncIterator[str]:
    """A server that promises so many bytes, and sends these; then it ends, or the line breaks."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD.format(status=status, size=size).encode() + content)
        await writer.drain()
        if goes_on:
            await goes_on.wait()
        if breaks:
            line = writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def get(server: str, to: Path | str, largest_file: int = resource.RLIM_INFINITY) -> Ended:
    asked = ("get", "tide", "--server", server, "--to", str(to))
    return await sayso(*asked, largest_file=largest_file)


async def test_a_file_comes_whole(tmp_path: Path) -> None:
    async with answering("200 OK", len(CONTENT), CONTENT) as server:
        assert (await get(server, tmp_path)).out.strip() == f"{tmp_path}/tide"
        assert (await get(server, "-")).out.encode() == CONTENT
    assert (tmp_path / "tide").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("status", "content", "told"),
    [
        ("200 OK", CONTENT[:70_000], "broke before all of it was here; try again."),
        ("404 Not Found", b"No such file.\n", "tide could not be fetched. No such file."),
    ],
    ids=["cut off", "refused"],
)
async def test_of_what_does_not_come_whole_nothing_is_left(
    tmp_path: Path, status: str, content: bytes, told: str
) -> None:
    size = len(CONTENT) if status == "200 OK" else len(content)
    async with answering(status, size, content) as server:
        fetched = await get(server, tmp_path)
    assert fetched.code != 0
    assert told in fetched.sentence
    assert not await asyncio.to_thread(lambda: list(tmp_path.iterdir()))


async def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "tide").write_text("mine")
    async with answering("200 OK", len(CONTENT), CONTENT) as server:
        assert "is there already" in (await get(server, tmp_path)).sentence
    assert (tmp_path / "tide").read_text() == "mine"


@asynccontextmanager
async def getting(server: str, to: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """The same, while it goes on."""
    process = await asyncio.create_subprocess_exec(
        *command("get", "tide", "--server", server, "--to", str(to)),
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SOON):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def some_of(path: Path) -> None:
    """Wait until it has begun to come."""
    await asyncio.to_thread(_wait_for_some, path)


def _wait_for_some(path: Path) -> None:
    until = time.monotonic() + SOON
    while not path.exists() or not path.stat().st_size:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def hangup_counts() -> Iterator[None]:
    """What is started here does not ignore that its terminal went, as it would under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup_counts")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_told_to_end_meanwhile_it_leaves_nothing(tmp_path: Path, end: signal.Signals) -> None:
    goes_on, path = asyncio.Event(), tmp_path / "tide"
    async with (
        answering("200 OK", len(CONTENT), CONTENT[:70_000], goes_on) as server,
        getting(server, path) as process,
    ):
        await some_of(path)
        process.send_signal(end)
        _, told = await process.communicate()
        goes_on.set()
    assert (process.returncode, told) == (130, b"")
    assert not path.exists()


async def test_a_line_that_breaks_meanwhile_is_told_as_that(tmp_path: Path) -> None:
    goes_on, path = asyncio.Event(), tmp_path / "tide"
    async with (
        answering("200 OK", len(CONTENT), CONTENT[:70_000], goes_on, breaks=True) as server,
        getting(server, path) as process,
    ):
        await some_of(path)
        goes_on.set()
        _, told = await process.communicate()
    assert b"tide could not be fetched. The connection broke" in told
    assert not path.exists()


async def test_of_a_refusal_that_does_not_come_whole_what_is_known_is_told(tmp_path: Path) -> None:
    async with answering("404 Not Found", 100, b"", breaks=True) as server:
        assert "could not be fetched. Not Found" in (await get(server, tmp_path)).sentence


@pytest.mark.parametrize("last", [1, 60_000])
async def test_a_full_disk_leaves_nothing(tmp_path: Path, last: int) -> None:
    """Also where the last bytes of all are one too many."""
    path, content = tmp_path / "tide", CONTENT[: 65_536 + last]
    async with answering("200 OK", len(content), content) as server:
        fetched = await get(server, path, largest_file=65_536)
    assert "cannot be written: File too large." in fetched.sentence
    assert not path.exists()


async def test_an_output_that_is_full_is_told(tmp_path: Path) -> None:
    async with answering("200 OK", len(CONTENT), CONTENT) as server:
        argv = command("get", "tide", "--server", server, "--to", "-")
        with (tmp_path / "output").open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *argv, stdout=output, stderr=asyncio.subprocess.PIPE, preexec_fn=disk_of(65_536)
            )
        _, told = await process.communicate()
    assert b"The output cannot be written: File too large." in told


async def test_a_name_need_not_be_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"mar\xe9e")
    async with answering("200 OK", len(CONTENT), CONTENT) as server:
        fetched = await sayso("get", name, "--server", server, "--to", str(tmp_path / "tide"))
    assert (fetched.code, fetched.told) == (0, "")

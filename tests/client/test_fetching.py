"""`sayso get`: all of a file or nothing, and why."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.client.programs import Ended, give_token, sayso

CONTENT = b"high tide at seven\n" * 10_000
HEAD = "HTTP/1.1 {status}\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def _token() -> None:
    give_token()


@asynccontextmanager
async def answering(status: str, size: int, content: bytes) -> AsyncIterator[str]:
    """A server that promises so many bytes, and sends these."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD.format(status=status, size=size).encode() + content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def get(server: str, to: Path | str) -> Ended:
    return await sayso("get", "tide", "--server", server, "--to", str(to))


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

"""Large files on slow lines: what is fetched comes whole, however long it takes."""

import asyncio
import errno
import os
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest
from websockets.exceptions import WebSocketException

from bench.support.figures import resident_kb
from sayso.server.gateway.http.response_body import end
from sayso.server.gateway.limits import Limits
from sayso.server.trust.principal import OWNER
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    NetworkGateway,
    RunningGateway,
    open_gateway,
    open_network_gateway,
)

FILE = bytes(range(256)) * 16_384
"""More than any line holds."""
PIECE_BYTES = 16_384
PAUSE_S = 0.008
QUICK = Limits(handshake_s=0.5, goodbye_s=0.02, send_s=1.2)
"""The whole takes longer than each of these, and its end longer than the goodbye."""


@asynccontextmanager
async def fetching(
    gateway: RunningGateway,
    port: int,
    token: str,
    tls: ssl.SSLContext | None = None,
    kept: bytes | Path = FILE,
) -> AsyncIterator[socket.socket]:
    """A line whose end here holds little, on which the file was asked for."""
    gateway.kept = kept
    line = await asyncio.to_thread(_ask, port, token, tls)
    try:
        yield line
    finally:
        line.close()


def _ask(port: int, token: str, tls: ssl.SSLContext | None) -> socket.socket:
    line = socket.socket()
    line.settimeout(WAIT_S)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE_BYTES)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, PIECE_BYTES // 8)
    line.connect(("127.0.0.1", port))
    if tls:
        line = tls.wrap_socket(line, server_hostname="localhost")
    head = f"Host: localhost:{port}\r\nAuthorization: Bearer {token}\r\n"
    line.sendall(f"GET /files/main/a%20b/c.txt HTTP/1.1\r\n{head}\r\n".encode())
    return line


async def begun(line: socket.socket) -> bytes:
    """The first words of the answer."""
    return await asyncio.to_thread(line.recv, len("HTTP/1.1 200"))


async def body_of(line: socket.socket, pause_s: float) -> bytes:
    """What comes of it to who pauses after each piece."""
    return (await asyncio.to_thread(_all_of, line, pause_s)).partition(b"\r\n\r\n")[2]


def _all_of(line: socket.socket, pause_s: float) -> bytes:
    answer = bytearray()
    with suppress(OSError):
        while piece := line.recv(PIECE_BYTES):
            answer += piece
            time.sleep(pause_s)
    return bytes(answer)


def trusting(gateway: NetworkGateway) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=gateway.pem)


@pytest.mark.slow
async def test_a_slow_reader_gets_the_whole_of_a_large_file() -> None:
    began = time.monotonic()
    async with open_gateway(QUICK) as gateway, fetching(gateway, gateway.port, TOKEN) as line:
        assert await body_of(line, PAUSE_S) == FILE
    assert time.monotonic() - began > max(QUICK.handshake_s, QUICK.send_s)


@pytest.mark.slow
async def test_a_slow_reader_gets_the_whole_of_a_large_file_over_tls(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path, QUICK) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ("talk",))
        async with fetching(gateway, gateway.network_port, token, trusting(gateway)) as line:
            assert await body_of(line, PAUSE_S) == FILE


async def test_who_takes_nothing_of_a_file_is_let_go() -> None:
    limits = Limits(send_s=0.6)
    async with open_gateway(limits) as gateway, fetching(gateway, gateway.port, TOKEN) as line:
        await asyncio.sleep(limits.send_s * 2)
        assert len(await body_of(line, 0)) < len(FILE)


async def test_a_device_that_is_revoked_gets_no_more_of_what_it_fetches(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        device, token = gateway.devices.add("phone", OWNER, ("talk",))
        _, others = gateway.devices.add("laptop", OWNER, ("talk",))
        async with (
            fetching(gateway, gateway.network_port, token, trusting(gateway)) as line,
            fetching(gateway, gateway.network_port, others, trusting(gateway)) as other,
        ):
            assert (await begun(line)).endswith(b"200")
            assert (await begun(other)).endswith(b"200")
            gateway.devices.revoke(device.id)
            assert len(await body_of(line, 0)) < len(FILE)
            assert await body_of(other, 0) == FILE


async def test_a_server_that_stops_does_not_wait_for_who_fetches(tmp_path: Path) -> None:
    limits = Limits(send_s=WAIT_S / 2, vanished_s=WAIT_S)
    async with (
        open_network_gateway(tmp_path, limits) as gateway,
        fetching(gateway, gateway.port, TOKEN) as line,
    ):
        assert (await begun(line)).endswith(b"200")
        began = time.monotonic()
        await gateway.listener.close()
        assert time.monotonic() - began < limits.send_s / 2


@pytest.mark.slow
async def test_who_fetches_is_not_turned_away_for_a_strangers_sake(tmp_path: Path) -> None:
    limits = Limits(strangers=1, settled_s=0.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", OWNER, ("talk",))
        async with fetching(gateway, gateway.network_port, token, trusting(gateway)) as line:
            assert (await begun(line)).endswith(b"200")
            with pytest.raises((OSError, WebSocketException)):
                async with gateway.far():
                    pass
            assert await body_of(line, 0) == FILE


async def test_a_file_larger_than_memory_should_hold_is_sent_from_the_disk(tmp_path: Path) -> None:
    size = 256 * 1024**2
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(size)
    async with (
        open_gateway() as gateway,
        fetching(gateway, gateway.port, TOKEN, kept=large) as line,
    ):
        before = resident_kb()
        assert await asyncio.to_thread(_length_of, line) > size
        assert resident_kb() - before < size // 1_024 // 8


def _length_of(line: socket.socket) -> int:
    length = 0
    while piece := line.recv(1024**2):
        length += len(piece)
    return length


async def test_a_file_that_became_shorter_meanwhile_ends_before_its_promised_length(
    tmp_path: Path,
) -> None:
    cut = tmp_path / "cut"
    cut.write_bytes(FILE)
    async with open_gateway() as gateway, fetching(gateway, gateway.port, TOKEN, kept=cut) as line:
        first = await begun(line)
        os.truncate(cut, len(FILE) // 2)
        rest = await asyncio.to_thread(_all_of, line, 0)
    head, _, body = (first + rest).partition(b"\r\n\r\n")
    assert f"Content-Length: {len(FILE)}".encode() in head
    assert len(body) == len(FILE) // 2


async def test_a_file_that_cannot_be_read_to_its_end_is_cut_there_and_closed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = Damaged(FILE)

    async def workspace_file(*_: str) -> BinaryIO:
        return damaged

    async with open_gateway() as gateway:
        monkeypatch.setattr(gateway, "workspace_file", workspace_file)
        async with fetching(gateway, gateway.port, TOKEN) as line:
            assert await body_of(line, 0) == FILE[: Damaged.GOOD_BYTES]
    assert damaged.closed
    assert "Input/output error" in caplog.text


class Damaged(BytesIO):
    """A file on a disk that fails."""

    GOOD_BYTES = 4 * 65_536

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= self.GOOD_BYTES:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size)


async def test_who_leaves_while_a_file_is_being_read_is_no_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    busy = Busy(FILE)

    async def workspace_file(*_: str) -> BinaryIO:
        return busy

    async with open_network_gateway(tmp_path) as gateway:
        monkeypatch.setattr(gateway, "workspace_file", workspace_file)
        _, token = gateway.devices.add("phone", OWNER, ("talk",))
        async with fetching(gateway, gateway.network_port, token, trusting(gateway)) as line:
            await begun(line)
            socket.socket.shutdown(line, socket.SHUT_WR)
            await asyncio.to_thread(_all_of, line, 0)  # to the end: so it was seen there
            busy.goes_on.set()
    assert busy.closed
    assert not caplog.records


class Busy(BytesIO):
    """A file on a disk that takes its time, and that became shorter meanwhile."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.goes_on = threading.Event()

    def read(self, size: int | None = -1, /) -> bytes:
        if not self.tell():
            return super().read(size)
        assert self.goes_on.wait(WAIT_S)
        return b""


class ResetTransport(asyncio.Transport):
    """Of a line that the client reset a moment ago, of which nobody has been told yet."""

    aborted = False

    def is_closing(self) -> bool:
        return self.aborted

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    def abort(self) -> None:
        self.aborted = True


class ResetLine:
    transport = ResetTransport()

    async def drain(self) -> None:
        pass

    async def wait_closed(self) -> None:
        assert self.transport.aborted


async def test_the_end_of_a_line_that_was_reset_is_no_fault_of_ours() -> None:
    line = ResetLine()
    await end(line, QUICK, lambda: False)
    assert line.transport.aborted

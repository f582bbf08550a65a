"""A connection that was opened for one host carries nothing that is meant for another."""

import asyncio
import contextlib
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network import host_check
from sayso.server.runtimes.network.client_hello import BadHello, ClientHello, asks_again
from sayso.server.runtimes.network.host_check import Destination
from sayso.server.runtimes.network.http_head import Asked, BadRequest, Requests, begins_request
from sayso.server.runtimes.network.relay import CutError
from sayso.server.runtimes.network.traffic_record import Transfer
from tests.runtimes.network.test_proxy import serving
from tests.runtimes.network.web_double import Web

HOST, OTHER = "files.example.org", "evil.example.net"
GRANTED = Grants(hosts=(HOST,))
AGAIN = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(1))
        .not_valid_after(now + dt.timedelta(1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@asynccontextmanager
async def tls_web(certificate: Path, curve: str, names: list[str | None]) -> AsyncIterator[Web]:
    """A small web over TLS, which notes the names that it is asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _, name, __: names.append(name)
    if curve:
        context.set_ecdh_curve(curve)
    made = Web()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=context)
    made.port = server.sockets[0].getsockname()[1]
    async with server:
        yield made


def client(version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    return context


async def ask(port: int, at: int, context: ssl.SSLContext, name: str | None) -> bytes:
    """What comes of a request by TLS through a tunnel to the granted host."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"CONNECT {HOST}:{at} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        await writer.start_tls(context, server_hostname=name)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


@pytest.mark.parametrize("curve", ["", "secp384r1"])  # which clients offer no key for at first
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_tunnel_carries_tls_for_the_host_that_it_was_opened_for_and_no_other(
    certificate: Path, version: ssl.TLSVersion, curve: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str | None] = []
    async with (
        asyncio.timeout(20),
        tls_web(certificate, curve, names) as web,
        serving(GRANTED, web) as (proxy, port),
    ):
        monkeypatch.setattr(host_check, "TLS_PORT", web.port)
        context = client(version)
        assert (await ask(port, web.port, context, HOST)).endswith(b"hello from outside")
        assert set(names) == {HOST}
        names.clear()
        proxy.take_passages()
        for name in (OTHER, None):
            with pytest.raises((ssl.SSLError, OSError)):
                await ask(port, web.port, context, name)
        assert Transfer(HOST, web.port, "refused") in proxy.take_passages()
    assert names == []
    assert len(web.heads) == 1


def extension(kind: int, data: bytes) -> bytes:
    return kind.to_bytes(2) + len(data).to_bytes(2) + data


def named(name: str) -> bytes:
    listed = b"\0" + len(name).to_bytes(2) + name.encode()
    return extension(0, len(listed).to_bytes(2) + listed)


def records(payload: bytes, size: int = 2**14, kind: int = 22) -> bytes:
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)]
    return b"".join(bytes((kind, 3, 1)) + len(each).to_bytes(2) + each for each in pieces)


def message(*extensions: bytes, after: bytes = b"") -> bytes:
    together = b"".join(extensions)
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\x13\x01" + b"\x01\0"
    body += len(together).to_bytes(2) + together + after
    return b"\x01" + len(body).to_bytes(3) + body


def hello(name: str) -> bytes:
    return message(extension(10, b"\0\x02\0\x1d"), named(name))


def answer(random: bytes) -> bytes:
    body = b"\x03\x03" + random + bytes(6)
    return records(b"\x02" + len(body).to_bytes(3) + body)


def tunnel(host: str = HOST, port: int = 443) -> Destination:
    return Destination(Asked("tunnel", host, port))


async def passed(there: Destination, *pieces: bytes) -> bytes:
    """What goes on of pieces, none of which waits for an answer."""
    async with asyncio.timeout(10):
        return b"".join([part for piece in pieces async for part in there.send(piece)])


@pytest.mark.parametrize("size", [1, 5, 40, 2**14])
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_a_hello_is_read_however_it_is_cut(size: int, step: int) -> None:
    for name in (HOST, OTHER):
        data = records(hello(name), size)
        pieces = [data[at : at + step] for at in range(0, len(data), step)]
        there = tunnel()
        assert await passed(there, *pieces[:-1]) == b""
        if name == HOST:
            sending = there.send(pieces[-1])
            assert await anext(sending) == data
            await sending.aclose()
        else:
            with pytest.raises(CutError, match="asks for evil"):
                await passed(there, pieces[-1])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (records(message()), "no name"),
        (records(message(named("files.example.org.evil.net"))), "evil.net"),
        (records(message(named(HOST), extension(0xFE0D, b"x"))), "hides the name"),
        (records(message(named(HOST), extension(0xFFCE, b"x"))), "hides the name"),
        (records(message(named(HOST), named(OTHER))), "cannot be read"),
        (records(message(named(HOST), after=b"x")), "cannot be read"),
        (records(message(extension(0, b"\0\x05\x01\0\x02ab"))), "cannot be read"),
        (records(message(extension(0, b""))), "cannot be read"),
        (records(hello(HOST) + hello(OTHER)), "more than a TLS hello"),
        (records(hello(HOST)[:20]) + records(b"x", kind=23), "does not begin with"),
        (records(b"\x02\0\0\0"), "does not begin with"),
        (b"\x16\x02\x01\0\x05hello", "does not begin with"),
        (b"\x16\x03\x01\0\0", "does not begin with"),
        (b"\x16\x03\x01\xff\xff", "does not begin with"),
        (records(b"\x01\xff\xff\xff"), "more than a TLS hello"),
        (records(b"\x01\0\x40\0" + bytes(17_000), 100), "does not begin with"),
        (b"GET / HTTP/1.1\r\n", "TLS alone"),
        (b"\x80\x2e\x01\x03\x01", "TLS alone"),
        (b"\0", "TLS alone"),
    ],
)
async def test_what_names_no_host_or_another_is_not_sent(data: bytes, why: str) -> None:
    with pytest.raises(CutError, match=why):
        await passed(tunnel(), data)


async def test_an_address_needs_no_name_and_a_name_is_compared_as_names_are() -> None:
    for there, data in (
        (tunnel("93.184.215.14"), records(message())),
        (tunnel("2606:2800:21f::1"), records(message())),
        (tunnel(), records(hello("FILES.example.ORG."))),
        (tunnel(port=8443), records(hello(HOST))),
    ):
        assert await anext(there.send(data)) == data
    with pytest.raises(CutError):
        await passed(tunnel("93.184.215.14"), records(hello(OTHER)))
    with pytest.raises(CutError):
        await passed(tunnel(port=8443), records(hello(OTHER)))


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("random", "name", "goes_on"),
    [(AGAIN, HOST, True), (AGAIN, OTHER, False), (bytes(32), OTHER, True)],
)
async def test_a_second_hello_that_the_server_asks_for_is_read_too(
    random: bytes, name: str, goes_on: bool, at_once: bool
) -> None:
    early = records(b"early", kind=23) + records(b"\x01", kind=20)
    there, first, second = tunnel(), records(hello(HOST)), early + records(hello(name), 9)
    sending = there.send(first + second if at_once else first)
    assert await anext(sending) == first

    async def rest() -> bytes:
        gone = b"".join([part async for part in sending])
        return gone + await passed(there, b"more" if at_once else second + b"more")

    going = asyncio.create_task(rest())
    await asyncio.sleep(0)
    assert not going.done()
    said = answer(random)
    for at in range(len(said)):
        there.receive(said[at : at + 1])
    if goes_on:
        assert await going == second + b"more"
        return
    with pytest.raises(CutError, match="asks for evil"):
        await going


@given(st.binary(max_size=400), st.integers(0, 400), st.binary(max_size=20))
def test_no_bytes_at_all_bring_it_out_of_step(data: bytes, at: int, more: bytes) -> None:
    real = records(hello(HOST))
    for tried in (data, real[:at] + more + real[at:], real[:at] + more + real[at + len(more) :]):
        with contextlib.suppress(BadHello):
            ClientHello().feed(tried)
        with contextlib.suppress(BadHello):
            ClientHello(after_another=True).feed(tried)
        with contextlib.suppress(BadHello):
            asks_again(tried)
        with contextlib.suppress(BadRequest):
            Requests(HOST).feed(tried)
        begins_request(tried)


# HTTP.

PLAIN = f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()
FOREIGN = f"GET /secret HTTP/1.1\r\nHost: {OTHER}\r\n\r\n".encode()


def post(body: str, *headers: str, host: str = HOST) -> bytes:
    lines = ("POST / HTTP/1.1", f"Host: {host}", *headers, "", body)
    return "\r\n".join(lines).encode()


CHUNKS = "Transfer-Encoding: chunked"


@pytest.mark.parametrize("step", [1, 3, 10_000])
@pytest.mark.parametrize(
    "requests",
    [
        [PLAIN, PLAIN],
        [post("hello", "Content-Length: 5"), PLAIN],
        [post("5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\n\r\n", CHUNKS), PLAIN],
        [post("0\r\nx: y\r\n\r\n", CHUNKS), PLAIN],
        [b"OPTIONS * HTTP/1.1\r\nhost: FILES.example.org:8080\r\n\r\n", PLAIN],
        [b"GET / HTTP/1.0\r\n\r\n"],
        [post(FOREIGN.decode(), f"Content-Length: {len(FOREIGN)}"), PLAIN],
    ],
)
async def test_requests_for_the_host_pass_as_they_are(requests: Sequence[bytes], step: int) -> None:
    data = b"".join(requests)
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    assert await passed(tunnel(port=8080), *pieces) == data


@pytest.mark.parametrize("step", [1, 10_000])
@pytest.mark.parametrize(
    "before",
    [
        b"", b"\r\n", PLAIN, PLAIN + b"\r\n",
        post("hello", "Content-Length: 5"),
        post("5\r\nhello\r\n0\r\n\r\n", CHUNKS),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "foreign",
    [
        FOREIGN,
        FOREIGN.replace(b"GET", b"get"),
        FOREIGN.replace(b" HTTP", b"\tHTTP"),
        FOREIGN.replace(b"/secret", b"http://" + OTHER.encode() + b"/"),
        FOREIGN.replace(b"Host: ", b"Host: " + HOST.encode() + b"\r\nHost: "),
        FOREIGN.replace(b"Host: ", b"Host: " + HOST.encode() + b"\r\n "),
        FOREIGN.replace(b"Host: ", b"Host: " + HOST.encode() + b"\nHost: "),
        FOREIGN.replace(b"Host: ", b"Host : "),
        FOREIGN.replace(b"Host: ", b"Host: " + HOST.encode() + b"@"),
        FOREIGN.replace(b"Host: ", b"Host: " + HOST.encode() + b"/"),
        FOREIGN.replace(b"\r\n", b"\n"),
        b"GET / HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        post("", "Upgrade: h2c"),
        post("", "Content-Length: 5", CHUNKS),
        post("", "Content-Length: 5", "Content-Length: 6"),
        post("", "Content-Length: +5"),
        post("", "Transfer-Encoding: gzip, chunked"),
        post("5\r\nhelloX\n", CHUNKS),
        post("5\nhello\r\n", CHUNKS),
        post("x\r\n", CHUNKS),
        post("0\r\nx: y\n\n" + FOREIGN.decode(), CHUNKS),
        post("0\r\n" + "x" * 2_000, CHUNKS),
        b"GET /" + b"x" * 20_000,
    ],
)
async def test_a_request_for_another_host_or_of_two_meanings_does_not_pass(
    before: bytes, foreign: bytes, step: int
) -> None:
    data = before + foreign
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    there, gone = tunnel(port=8080), bytearray()

    async def go() -> None:
        for piece in pieces:
            gone.extend(await passed(there, piece))

    with pytest.raises(CutError):
        await go()
    assert b"secret" not in gone
    assert OTHER.encode() not in gone


async def test_behind_a_request_that_was_led_on_nothing_follows() -> None:
    for body, length in (("hello", "Content-Length: 5"), ("5\r\nhello\r\n0\r\n\r\n", CHUNKS)):
        framed = 5 if length != CHUNKS else "chunked"
        there = Destination(Asked("forward", HOST, 80, b"", framed))  # type: ignore[arg-type]
        data = body.encode()
        assert await passed(there, data + FOREIGN, FOREIGN) == data


@pytest.mark.parametrize(
    "begun", [b"\0\0\0\x08\x04\xd2\x16\x2f", b"SSH-2.0-x\r\n", b"PING\r\n", b"x\0"]
)
async def test_other_protocols_pass_where_there_is_not_tls_alone(begun: bytes) -> None:
    assert await passed(tunnel(port=5432), begun, b"more") == begun + b"more"
    with pytest.raises(CutError, match="HTTP alone"):
        await passed(tunnel(port=80), begun, b"more")


@pytest.mark.parametrize("data", [b"1\r\nx\r\n" * 200_000, PLAIN * 20_000])
def test_a_flood_of_small_pieces_is_read_in_a_moment(data: bytes) -> None:
    requests = Requests(HOST, "chunked" if data[:1] == b"1" else None)
    for at in range(0, len(data), 65_536):
        requests.feed(data[at : at + 65_536])


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n", b"\x17\x03\x03\0\x01x", b"\0"])
async def test_behind_a_hello_nothing_follows_to_a_server_that_does_not_speak_tls(
    said: bytes,
) -> None:
    there, first = tunnel(port=80), records(hello(HOST))
    sending = there.send(first + b"\r\n\r\n" + FOREIGN)
    assert await anext(sending) == first
    with pytest.raises(CutError, match="does not answer a TLS hello"):
        there.receive(said)
    await sending.aclose()


@pytest.mark.parametrize("before", [b" \r\n", b"\t\n", b"\r\n \r\n"])
async def test_a_request_behind_a_line_of_blanks_is_one_too(before: bytes) -> None:
    assert begins_request(before + FOREIGN)
    with pytest.raises(CutError):
        await passed(tunnel(port=8080), before + FOREIGN)

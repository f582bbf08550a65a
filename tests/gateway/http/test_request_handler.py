"""Plain requests, and who may open a socket."""

import asyncio
import socket
import urllib.request

import pytest
from websockets.exceptions import InvalidStatus

from sayso.protocol import messages as m
from sayso.protocol.messages import VersionRange
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import CannotListenError, Listener
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    RunningGateway,
    body_of,
    close_code,
    hear,
    open_gateway,
    say,
)


async def test_ping_answers_pong() -> None:
    async with open_gateway() as gateway:
        assert await gateway.get("/ping") == (200, "pong")


async def test_health_is_json_and_the_page_is_there() -> None:
    async with open_gateway() as gateway:
        assert body_of(await gateway.get("/health")) == {"ready": True}
        status, page = await gateway.get("/")
        assert status == 200
        assert "<title>Sayso</title>" in page


async def test_metrics_are_there_for_a_monitor_of_this_machine_and_for_no_foreign_page() -> None:
    async with open_gateway() as gateway:
        assert await gateway.get("/metrics") == (200, "sayso_turns_total 1.0\n")
        assert (await gateway.get("/metrics", Host="evil.example"))[0] == 403
        assert (await gateway.get("/metrics", Origin="https://evil.example"))[0] == 403


async def test_files_are_fetched_with_the_token_alone() -> None:
    async with open_gateway() as gateway:
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert (await gateway.get("/files/abc"))[0] == 401
        assert (await gateway.get("/files/abc", Authorization="Bearer guess"))[0] == 401
        assert await gateway.get("/files/abc", **right) == (200, "picture")
        assert (await gateway.get("/files/../abc", **right))[0] == 404
        assert await gateway.get("/files/main/a%20b/c.txt", **right) == (200, "kept")
        assert (await gateway.get("/files/main/a%20b/c.txt"))[0] == 401
        assert (await gateway.get("/files/other/a%20b/c.txt", **right))[0] == 404


async def test_what_there_is_to_choose_from_is_shown_to_those_who_belong_here() -> None:
    async with open_gateway() as gateway:
        right = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("/conversations", "/conversations/main", "/choices", "/found/roof"):
            assert (await gateway.get(path))[0] == 401
            assert body_of(await gateway.get(path, **right)) == {"seen": path, "by": ""}
        assert (await gateway.get("/conversations/none", **right))[0] == 404
        assert (await gateway.get("/conversations", Origin="https://evil.example", **right))[
            0
        ] == 403


async def test_nothing_else_is_there_and_nothing_can_be_changed_by_a_request() -> None:
    async with open_gateway() as gateway:
        assert (await gateway.get("/secret"))[0] == 404
        assert (await gateway.get("/ping", method="POST"))[0] >= 400


async def test_no_request_reaches_the_server_but_to_look() -> None:
    async with open_gateway() as gateway:
        right = {"Authorization": f"Bearer {TOKEN}"}
        for path in ("/", "/conversations/main", "/choices", "/files/abc", "/files/main/a", "/x"):
            await gateway.get(path, **right)
            for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"):
                assert (await gateway.get(path, method=method, **right))[0] >= 400
        await gateway.get("/conversations/main?new=yes", **right)
        changed = (gateway.joined, gateway.left, gateway.gone, gateway.returned, gateway.commands)
        assert not any(changed)
        assert gateway.events.empty()


async def test_the_page_says_what_it_may_load_and_who_may_frame_it() -> None:
    async with open_gateway() as gateway:
        for path in ("/", "/app.js", "/conversations", "/nothing"):
            head = await gateway.head(path)
            assert "default-src 'self'" in head["content-security-policy"]
            assert "frame-ancestors 'none'" in head["content-security-policy"]
            assert head["x-frame-options"] == "DENY"
            assert head["x-content-type-options"] == "nosniff"
            assert head["referrer-policy"] == "no-referrer"
            assert head["x-dns-prefetch-control"] == "off"
            assert "set-cookie" not in head
            assert "access-control-allow-origin" not in head


async def test_what_code_made_is_framed_apart_and_reaches_nothing() -> None:
    async with open_gateway() as gateway:
        head = await gateway.head("/frame.html")
    policy = dict(each.split(" ", 1) for each in head["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    assert policy["script-src"].startswith("'sha256-")
    assert policy["sandbox"] == "allow-scripts"
    assert policy["frame-ancestors"] == "'self'"
    assert head["x-frame-options"] == "SAMEORIGIN"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", ""])
async def test_a_name_that_was_made_to_point_here_is_refused(host: str) -> None:
    async with open_gateway() as gateway:
        assert (await gateway.get("/health", Host=host.format(port=gateway.port)))[0] == 403


async def test_pages_of_other_sites_cannot_open_a_socket() -> None:
    async with open_gateway() as gateway:
        for origin in ("https://evil.example", "null", f"https://127.0.0.1:{gateway.port}"):
            with pytest.raises(InvalidStatus) as refusal:
                async with gateway.stranger(token=TOKEN, Origin=origin):
                    pass
            assert refusal.value.response.status_code == 403


async def test_the_servers_own_page_can_open_a_socket() -> None:
    async with open_gateway() as gateway:
        origin = f"http://localhost:{gateway.port}"
        async with gateway.stranger(token=TOKEN, Origin=origin) as socket:
            await say(socket, m.Hello(SPOKEN, "page"))
            assert isinstance(await hear(socket), m.Welcome)


async def test_a_wrong_token_in_the_header_opens_no_socket() -> None:
    async with open_gateway() as gateway:
        with pytest.raises(InvalidStatus) as refusal:
            async with gateway.stranger(token="guess"):
                pass
        assert refusal.value.response.status_code == 401


@pytest.mark.parametrize("token", [None, "guess", ""])
async def test_a_hello_without_the_right_token_is_refused(token: str | None) -> None:
    async with open_gateway() as gateway, gateway.stranger() as socket:
        await say(socket, m.Hello(SPOKEN, "stranger", token=token))
        refusal = await hear(socket)
        assert isinstance(refusal, m.Error)
        assert refusal.code == "unauthorized"
        assert await close_code(socket) == 4401
        assert not gateway.joined


async def test_a_token_in_the_hello_is_as_good_as_one_in_the_header() -> None:
    async with open_gateway() as gateway, gateway.stranger() as socket:
        await say(socket, m.Hello(SPOKEN, "page", token=TOKEN))
        assert isinstance(await hear(socket), m.Welcome)


async def test_a_client_that_says_nothing_is_sent_away() -> None:
    async with open_gateway(Limits(handshake_s=0.1)) as gateway, gateway.stranger() as socket:
        refusal = await hear(socket)
        assert isinstance(refusal, m.Error)
        assert refusal.code == "hello_timeout"
        assert await close_code(socket) == 4408


async def test_a_client_of_another_version_is_told_which_one_is_older() -> None:
    async with open_gateway() as gateway, gateway.stranger(token=TOKEN) as socket:
        await say(socket, m.Hello(VersionRange(7, 9), "future"))
        refusal = await hear(socket)
        assert isinstance(refusal, m.Error)
        assert refusal.code == "version_mismatch"
        assert "update the server" in refusal.message


async def test_too_many_clients_are_refused() -> None:
    async with open_gateway(Limits(connections=1)) as gateway:
        async with gateway.client(), gateway.stranger(token=TOKEN) as socket:
            refusal = await hear(socket)
            assert isinstance(refusal, m.Error)
            assert refusal.code == "too_many"
        async with gateway.client():
            pass


@pytest.mark.parametrize("address", ["0.0.0.0", "192.168.1.2", "::", "example.org"])
async def test_other_machines_are_not_listened_to(address: str) -> None:
    with pytest.raises(CannotListenError, match="sayso serve --network"):
        await Listener(RunningGateway(), TOKEN).open(address, 0)


async def test_a_port_in_use_is_explained() -> None:
    async with open_gateway() as gateway:
        with pytest.raises(CannotListenError, match="--port"):
            await Listener(RunningGateway(), TOKEN).open("127.0.0.1", gateway.port)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/app.js", "text/javascript; charset=utf-8"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/icon-512.png", "image/png"),
    ],
)
async def test_the_page_is_there_and_may_load_nothing_foreign(path: str, kind: str) -> None:
    async with open_gateway() as gateway:
        address = f"http://127.0.0.1:{gateway.port}{path}"
        answer = await asyncio.to_thread(urllib.request.urlopen, address, None, 10)
        with answer:
            assert answer.headers["Content-Type"] == kind
            policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "path", ["/__init__.py", "/../../protocol/home.py", "/%2e%2e/settings.py", "//etc/passwd"]
)
async def test_nothing_but_the_page_is_to_be_had(path: str) -> None:
    async with open_gateway() as gateway:
        status, _ = await gateway.get(path)
    assert status == 404


async def test_a_proxy_that_was_named_may_stand_before_it() -> None:
    gateway = RunningGateway()
    listener = Listener(gateway, TOKEN, also=("sayso.example.net:443",))
    gateway.port = await listener.open("127.0.0.1", 0)
    try:
        named = {"Host": "sayso.example.net", "Origin": "https://sayso.example.net"}
        assert (await gateway.get("/ping", **named))[0] == 200
        foreign = {"Host": "sayso.example.net", "Origin": "http://sayso.example.net"}
        assert (await gateway.get("/ping", **foreign))[0] == 403
        assert (await gateway.get("/ping", Host="other.example.net"))[0] == 403
        # What it hands on comes from anywhere, and is not this machine's.
        right = {"Host": "sayso.example.net", "Authorization": f"Bearer {TOKEN}"}
        assert (await gateway.get("/files/abc", **right))[0] == 401
        assert (await gateway.get("/health", Host="sayso.example.net"))[0] == 401
        assert (await gateway.get("/health"))[0] == 200
    finally:
        await listener.close()


@pytest.mark.slow
@pytest.mark.parametrize(("address", "known"), [("127.0.0.2", "127.0.0.2"), ("::1", "[::1]")])
async def test_every_address_of_this_machine_alone_is_answered_by_its_name(
    address: str, known: str
) -> None:
    if not _has(address):
        pytest.skip(f"this machine has no {address}")
    listener = Listener(RunningGateway(), TOKEN)
    port = await listener.open(address, 0)
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(f"GET /ping HTTP/1.1\r\nHost: {known}:{port}\r\n\r\n".encode())
    async with asyncio.timeout(WAIT_S):
        assert (await reader.read()).endswith(b"\r\n\r\npong")
    writer.close()
    await listener.close()


def _has(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, 0), family=family).close()
    except OSError:
        return False
    return True

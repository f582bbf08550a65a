"""Devices on the network connect over TLS alone, once paired, with the rights they were given."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from sayso.client.identity.known_server import KnownServer
from sayso.client.identity.pairing import Met, PairingFailed, join, meet
from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.protocol import messages as m
from sayso.protocol.fingerprint import fingerprint, read_pairing_url, words
from sayso.protocol.version import SPOKEN
from sayso.server.trust import guess_delay
from sayso.server.trust.certificates import identity, renewed
from sayso.server.turn import events
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    NetworkGateway,
    close_code,
    hear,
    open_network_gateway,
    say,
)

MANAGES = ("devices", "pairing.opened", "pairing.done")


@asynccontextmanager
async def console(gateway: NetworkGateway) -> AsyncIterator[ClientConnection]:
    """The owner, at the server's own machine."""
    async with gateway.client(device="console", wants=MANAGES) as socket:
        yield socket


async def opened(socket: ClientConnection, **wanted: object) -> m.PairingOpened:
    await say(socket, m.PairingOpen(**wanted))  # type: ignore[arg-type]
    answer = await hear(socket)
    assert isinstance(answer, m.PairingOpened)
    return answer


async def paired(gateway: NetworkGateway, name: str = "kitchen", **wanted: object) -> str:
    """Pair a device as its user would; returns its token."""
    async with console(gateway) as owner:
        window = await opened(owner, name=name, **wanted)
        address, code, expected = read_pairing_url(window.url) or ("", "", "")
        met = await asyncio.to_thread(meet, address)
        met.check(expected)
        known = await join(met, code, "calls itself so")
        assert await hear(owner) == m.PairingDone("paired", known.device)
        return known.token


async def refusal(socket: ClientConnection) -> m.Error:
    answer = await hear(socket)
    assert isinstance(answer, m.Error)
    return answer


async def test_a_device_is_paired_by_its_code_and_comes_in(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "kitchen")
        async with gateway.device(token, device="something else"):
            assert [device.device for device in gateway.joined] == ["kitchen"]


async def test_a_device_without_a_camera_is_paired_by_words_and_digits(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway, console(gateway) as owner:
        window = await opened(owner)
        met = await asyncio.to_thread(meet, f"127.0.0.1:{gateway.network_port}")
        assert met.words == window.words
        known = await join(met, f"{window.digits[:3]} {window.digits[3:]}", "pi")
        assert known.device == "pi"
        async with gateway.device(known.token):
            pass


async def test_managing_devices_takes_no_part_in_a_conversation(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        await paired(gateway)
        assert not gateway.joined
        assert not gateway.left


async def test_a_code_counts_once(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway, console(gateway) as owner:
        window = await opened(owner)
        met = Met(f"127.0.0.1:{gateway.network_port}", gateway.authority)
        await join(met, window.digits, "first")
        with pytest.raises(PairingFailed, match="sayso pair"):
            await join(met, window.digits, "second")
        assert [device.name for device in gateway.devices.all] == ["first"]


async def test_after_five_wrong_tries_the_window_is_shut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guess_delay, "FIRST_S", 0.001)
    async with open_network_gateway(tmp_path) as gateway, console(gateway) as owner:
        window = await opened(owner)
        met = Met(f"127.0.0.1:{gateway.network_port}", gateway.authority)
        wrong = f"{(int(window.digits) + 1) % 1_000_000:06d}"
        for _ in range(5):
            with pytest.raises(PairingFailed, match="not right"):
                await join(met, wrong, "guesser")
        assert await hear(owner) == m.PairingDone("failed")
        with pytest.raises(PairingFailed, match="No pairing is open"):
            await join(met, window.digits, "too late")
        assert not gateway.devices.all


async def test_the_window_shuts_when_its_owner_leaves(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        async with console(gateway) as owner:
            window = await opened(owner)
            await say(owner, m.Bye())
            await close_code(owner)
        met = Met(f"127.0.0.1:{gateway.network_port}", gateway.authority)
        with pytest.raises(PairingFailed, match="No pairing is open"):
            await join(met, window.digits, "late")


async def test_without_a_token_nobody_comes_in_from_elsewhere(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        for token in (None, "guess"):
            async with gateway.far() as socket:
                await say(socket, m.Hello(SPOKEN, "stranger", token=token))
                error = await refusal(socket)
                assert error.code == "unauthorized"
                assert "sayso pair" in error.message


async def test_the_machines_own_token_is_worth_nothing_elsewhere(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        with pytest.raises(InvalidStatus) as header:
            async with gateway.far(TOKEN):
                pass
        assert header.value.response.status_code == 401
        async with gateway.far() as socket:
            await say(socket, m.Hello(SPOKEN, "stranger", token=TOKEN))
            assert (await refusal(socket)).code == "unauthorized"


async def test_an_older_tls_is_not_spoken(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        old.check_hostname = False
        old.verify_mode = ssl.CERT_NONE
        with pytest.raises((ConnectionError, ssl.SSLError)):
            await connect(gateway.network_url, ssl=old)


async def test_what_is_not_encrypted_is_not_answered_there(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.network_port)
        writer.write(b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(WAIT_S):
            assert b"pong" not in await reader.read()
        writer.close()


async def test_a_revoked_device_is_cut_off_at_once_and_stays_out(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "kitchen")
        async with gateway.device(token, features=("resume",)) as socket, console(gateway) as owner:
            await say(owner, m.DevicesRevoke("Kitchen"))
            error = await refusal(socket)
            assert (error.code, error.fatal) == ("unauthorized", True)
            assert await close_code(socket) == 4401
            assert await hear(owner) == m.Devices()
            assert gateway.left == ["kitchen"]
        with pytest.raises(InvalidStatus):
            async with gateway.device(token):
                pass


async def test_devices_are_listed_without_their_secrets(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "kitchen")
        await paired(gateway, "kitchen", person="Anna", scopes=("talk",))
        async with gateway.device(token), console(gateway) as owner:
            await say(owner, m.DevicesList())
            listed = await hear(owner)
            assert isinstance(listed, m.Devices)
            shown = [
                (one["name"], one["person"], one["scopes"], one["connected"])
                for one in listed.devices
            ]
            assert shown == [
                ("kitchen", "", ["talk", "approve"], True),
                ("kitchen 2", "Anna", ["talk"], False),
            ]
            assert "token" not in json.dumps(listed.devices)


async def test_only_those_who_may_manage_devices(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "kitchen")
        boss = await paired(gateway, "boss", scopes=("admin",))
        async with gateway.device(token) as socket:
            for message in (m.PairingOpen(), m.DevicesList(), m.DevicesRevoke("boss")):
                await say(socket, message)
                error = await refusal(socket)
                assert (error.code, error.fatal) == ("forbidden", False)
        async with gateway.device(boss) as socket:
            await say(socket, m.DevicesRevoke("kitchen"))
            assert isinstance(await hear(socket), m.Devices)
        assert [device.name for device in gateway.devices.all] == ["boss"]


async def test_a_device_without_the_right_sees_questions_and_cannot_answer(
    tmp_path: Path,
) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "badge", scopes=("talk",))
        async with gateway.device(token) as socket:
            assert not gateway.joined[0].may_approve
            await say(socket, m.Approve("a", "n", "yes"))
            error = await refusal(socket)
            assert (error.code, error.fatal) == ("forbidden", False)
            await say(socket, m.Text("go on"))
            assert await gateway.next_event() == events.Typed("badge", "go on")


async def test_a_session_is_taken_up_by_its_own_device_alone(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        mine, other = await paired(gateway, "mine"), await paired(gateway, "other")
        hello = m.Hello(SPOKEN, "test", "x", ("resume",))
        async with gateway.far(mine) as socket:
            await say(socket, hello)
            first = await hear(socket)
            assert isinstance(first, m.Welcome)
        thief = m.Hello(SPOKEN, "test", "x", ("resume",), session=first.session, last_seq=0)
        async with gateway.far(other) as socket:
            await say(socket, thief)
            welcome = await hear(socket)
            assert isinstance(welcome, m.Welcome)
            assert welcome.resume == "new"


async def test_a_device_has_two_connections_at_most(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "phone")
        async with gateway.device(token), gateway.device(token), gateway.far(token) as third:
            await say(third, m.Hello(SPOKEN, "test"))
            assert (await refusal(third)).code == "too_many"


async def test_who_waits_to_be_welcomed_has_no_more_connections_than_others(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "phone")
        async with (
            gateway.far(token) as one,
            gateway.far(token) as two,
            gateway.far(token) as three,
        ):
            async with gateway.getting_ready:
                for socket in (one, two, three):
                    await say(socket, m.Hello(SPOKEN, "test"))
                await gateway.waiting_for(3)
            answers = [await hear(socket) for socket in (one, two, three)]
        refused = [answer for answer in answers if isinstance(answer, m.Error)]
        assert [error.code for error in refused] == ["too_many"]


@pytest.mark.slow
async def test_guessing_gets_slower_and_the_owner_still_comes_in(tmp_path: Path) -> None:
    now = asyncio.get_running_loop().time
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "phone")
        took = []
        for _ in range(4):
            began = now()
            async with gateway.far() as socket:
                await say(socket, m.Hello(SPOKEN, "guesser", token="guess"))
                assert (await refusal(socket)).code == "unauthorized"
            took.append(now() - began)
        assert took[3] >= 0.8
        async with gateway.device(token):
            pass


async def test_pages_of_other_sites_cannot_open_a_socket_there_either(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        token = await paired(gateway, "phone")
        port = gateway.network_port
        for origin in ("https://evil.example", f"http://127.0.0.1:{port}", "null"):
            with pytest.raises(InvalidStatus) as refused:
                async with gateway.far(token, Origin=origin):
                    pass
            assert refused.value.response.status_code == 403
        async with gateway.far(token, Origin=f"https://sayso.local:{port}"):
            pass
        assert await gateway.far_get("/ws", f"evil.example:{port}", token) == 403


async def test_an_impostor_learns_nothing(tmp_path: Path) -> None:
    """It sits at the server's address, has the authority's certificate, and a key of its own."""
    heard: list[bytes] = []
    real = identity(tmp_path / "real", ()).authority
    false = identity(tmp_path / "false", ())

    async def impostor(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(4_096):
            heard.append(data)
            if b"/ca.crt" in data:
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(shown)}\r\n\r\n"
                writer.write(head.encode() + shown)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(impostor, "127.0.0.1", 0, ssl=false.context)
    async with server:
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        shown = false.authority
        with pytest.raises(PairingFailed, match="Nothing was sent"):
            (await asyncio.to_thread(meet, address)).check(fingerprint(real))
        shown = real
        met = await asyncio.to_thread(meet, address)
        met.check(fingerprint(real))
        with pytest.raises(PairingFailed, match="code was not sent"):
            await join(met, "one-time-secret", "phone")
    assert b"one-time-secret" not in b"".join(heard)
    assert words(real) != words(false.authority)


async def test_a_paired_client_shows_its_token_to_its_own_server_alone(tmp_path: Path) -> None:
    """Somebody else answers at the server's address, with a certificate that looks as good."""
    heard: list[bytes] = []
    real = identity(tmp_path / "real", ()).authority
    false = identity(tmp_path / "false", ())

    async def impostor(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(4_096))
        writer.close()

    server = await asyncio.start_server(impostor, "127.0.0.1", 0, ssl=false.context)
    async with server:
        url = f"wss://127.0.0.1:{server.sockets[0].getsockname()[1]}/ws"
        known = KnownServer(url, ssl.DER_cert_to_PEM_cert(real), "my-secret-token", "phone")
        link = Link(url, m.Hello(SPOKEN, "test"), lambda: known.token, known.context)
        running = asyncio.create_task(link.run())
        async with asyncio.timeout(WAIT_S):
            async for event in link.events():
                if isinstance(event, LinkChange) and event.state is LinkState.WAITING:
                    assert "nothing was sent" in event.reason
                    break
        await link.close()
        await running
    assert not any(heard)


async def test_a_server_that_is_known_by_another_name_answers_to_it(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        host = f"10.1.2.3:{gateway.network_port}"
        assert await gateway.far_get("/ping", host) == 403
        later = renewed(gateway.identity, tmp_path / "certificates", ("10.1.2.3",))
        gateway.listener.is_known_as(later)
        assert await gateway.far_get("/ping", host) == 200


async def test_strangers_are_told_nothing_of_the_server(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        _, token = gateway.devices.add("phone", "", ("talk",))
        host = f"localhost:{gateway.network_port}"
        for path in ("/health", "/metrics", "/files/abc"):
            assert await gateway.far_get(path, host) == 401
            assert await gateway.far_get(path, host, "guess") == 401
            assert await gateway.far_get(path, host, token) == 200
        assert await gateway.far_get("/ca.crt", host) == 200
        assert await gateway.far_get("/ca.crt", f"evil.example:{gateway.network_port}") == 403


async def test_what_was_made_for_one_person_another_persons_device_is_not_given(
    tmp_path: Path,
) -> None:
    async with open_network_gateway(tmp_path) as gateway:
        host = f"127.0.0.1:{gateway.network_port}"
        _, owners = gateway.devices.add("phone", "", ("talk",))
        _, anns = gateway.devices.add("phone", "ann", ("talk",))
        assert await gateway.far_get("/files/abc", host, owners) == 200
        assert await gateway.far_get("/files/abc", host, anns) == 404
        assert await gateway.far_get("/metrics", host, anns) == 403

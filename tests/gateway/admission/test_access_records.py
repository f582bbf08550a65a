"""Connects, disconnects, refusals, pairings and revocations are logged, however many there are."""

import asyncio
import json
import logging
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sayso.client.identity.pairing import Met, PairingFailed, join
from sayso.protocol import messages as m
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.admission.access_recorder import ADDRESSES, BURST, AccessRecorder
from sayso.server.gateway.limits import Limits
from sayso.server.observability.server_log import kept_lines
from sayso.server.store.access import (
    NO_CONVERSATION,
    AccessRecord,
    AccessRefused,
    DeviceConnected,
    DeviceDisconnected,
    DevicePaired,
    DeviceRevoked,
    in_words,
)
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Asked, Event
from tests.gateway.running_gateway import (
    RunningGateway,
    close_code,
    hear,
    open_gateway,
    open_network_gateway,
    say,
)
from tests.gateway.test_pairing import console, opened, paired
from tests.observability.logging_home import logging_home
from tests.server.running_server import until

GUESS = "what-a-stranger-typed-as-a-token"


def of(gateway: RunningGateway, kind: type) -> list[AccessRecord]:
    return [record for record in gateway.noted if isinstance(record, kind)]


async def test_who_comes_and_goes_is_written_down_with_why_and_how_long() -> None:
    async with open_gateway() as gateway:
        async with gateway.client(device="desk") as socket:
            await say(socket, m.Bye())
            await close_code(socket)
        async with gateway.client(device="phone", features=("resume",)) as socket:
            socket.transport.abort()
        async with gateway.client(device="tablet"):
            pass
        await until(lambda: len(of(gateway, DeviceDisconnected)) == 3)
        came = [one.device for one in of(gateway, DeviceConnected)]
        ends = {one.device: one for one in of(gateway, DeviceDisconnected)}
    assert came == ["desk", "phone", "tablet"]
    assert all(one.address == "127.0.0.1" for one in of(gateway, DeviceConnected))  # type: ignore[union-attr]
    whys = {name: one.why for name, one in ends.items() if isinstance(one, DeviceDisconnected)}
    assert whys == {"desk": "left", "phone": "lost", "tablet": "left"}


async def test_who_is_here_when_the_server_stops_did_not_leave() -> None:
    async with open_gateway() as gateway:
        socket = await connect(
            gateway.url, additional_headers={"Authorization": "Bearer a-token-of-this-machine"}
        )
        await say(socket, m.Hello(SPOKEN, "test 1", device="desk"))
        await hear(socket)
    await close_code(socket)
    (end,) = of(gateway, DeviceDisconnected)
    assert isinstance(end, DeviceDisconnected)
    assert end.why == "stopped"


@pytest.mark.slow
async def test_each_refusal_is_written_down_with_its_reason_and_nothing_that_was_sent(
    tmp_path: Path,
) -> None:
    with logging_home() as home:
        async with open_network_gateway(tmp_path) as gateway:
            for token in (None, GUESS):
                async with gateway.far() as socket:
                    await say(socket, m.Hello(SPOKEN, "stranger", device=GUESS, token=token))
                    await hear(socket)
            with pytest.raises(InvalidStatus):
                async with gateway.far(GUESS):
                    pass
            assert (await gateway.get("/health", Host=f"{GUESS}.example"))[0] == 403
            assert (await gateway.get("/health", Origin=f"https://{GUESS}.example"))[0] == 403
            assert (await gateway.get("/files/abc"))[0] == 401
            met = Met(f"127.0.0.1:{gateway.network_port}", gateway.authority)
            with pytest.raises(PairingFailed):
                await join(met, "123456", GUESS)
            async with console(gateway) as owner:
                window = await opened(owner)
                with pytest.raises(PairingFailed):
                    await join(met, f"{(int(window.digits) + 1) % 10**6:06d}", GUESS)
            await until(lambda: len(of(gateway, AccessRefused)) == 8)
        told = [json.loads(line) for line in kept_lines(home)]
    reasons = Counter(
        one.reason for one in of(gateway, AccessRefused) if isinstance(one, AccessRefused)
    )
    assert reasons == {
        "wrong_token": 2,
        "no_token": 2,
        "wrong_host": 1,
        "wrong_origin": 1,
        "pairing_closed": 1,
        "wrong_code": 1,
    }
    assert GUESS not in json.dumps([asdict(one) for one in gateway.noted]) + json.dumps(told)
    warnings = [line["text"] for line in told if line["level"] == "warning"]
    assert "Somebody from 127.0.0.1 was refused: the pairing code was wrong." in warnings


async def test_who_let_a_device_in_and_turned_it_out_is_written_down(tmp_path: Path) -> None:
    with logging_home() as home:
        async with open_network_gateway(tmp_path) as gateway:
            token = await paired(gateway, "kitchen", person="ada", scopes=("talk", "approve"))
            async with gateway.device(token) as kitchen, console(gateway) as owner:
                await say(owner, m.DevicesRevoke("kitchen"))
                await hear(kitchen)
                await close_code(kitchen)
            await until(lambda: len(of(gateway, DeviceDisconnected)) == 3)
        told = [json.loads(line) for line in kept_lines(home)]
    (let_in,), (turned_out,) = of(gateway, DevicePaired), of(gateway, DeviceRevoked)
    assert isinstance(let_in, DevicePaired)
    assert isinstance(turned_out, DeviceRevoked)
    assert (let_in.device, let_in.person, let_in.by) == ("kitchen", "ada", "console")
    assert let_in.scopes == turned_out.scopes == ("talk", "approve")
    assert (turned_out.device_id, turned_out.by) == (let_in.device_id, "console")
    ends = [one for one in of(gateway, DeviceDisconnected) if one.device == "kitchen"]
    assert [one.why for one in ends if isinstance(one, DeviceDisconnected)] == ["revoked"]
    assert token not in json.dumps(told)
    about = [line["text"] for line in told if line.get("device") == "kitchen"]
    assert "kitchen for ada was revoked by console." in about


async def test_who_finds_no_place_among_strangers_is_written_down(tmp_path: Path) -> None:
    limits = Limits(strangers=2, waiting=1, settled_s=60.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        lines = [await asyncio.open_connection("127.0.0.1", gateway.network_port) for _ in range(6)]
        await until(lambda: sum(one.times for one in of(gateway, AccessRefused)) >= 3)
        for _, writer in lines:
            writer.transport.abort()
    assert {one.reason for one in of(gateway, AccessRefused) if isinstance(one, AccessRefused)} == {
        "strangers"
    }


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_ten_thousand_refusals_are_a_few_records_and_lines_and_cover_up_nothing() -> None:
    flood = 10_000
    with logging_home() as home:
        async with open_gateway() as gateway:
            places = asyncio.Semaphore(32)

            async def refused() -> None:
                async with places:
                    assert (await gateway.get("/health", Host="evil.example"))[0] == 403

            async with asyncio.TaskGroup() as strangers:
                for _ in range(flood):
                    strangers.create_task(refused())
            for _ in range(50):
                async with gateway.stranger():
                    pass  # says nothing, and leaves
            async with gateway.client(device="desk"):
                pass
            await until(lambda: of(gateway, DeviceDisconnected))
        lines = list(kept_lines(home))
    refusals = [one for one in gateway.noted if isinstance(one, AccessRefused)]
    assert len(refusals) < BURST + 10
    assert sum(one.times for one in refusals) == flood
    assert len(lines) < BURST + 20
    assert [one.device for one in of(gateway, DeviceConnected)] == ["desk"]


def clocked() -> tuple[AccessRecorder, list[AccessRecord]]:
    """A recorder, and what it keeps."""
    kept: list[AccessRecord] = []

    async def keep(event: Event) -> None:
        assert event.conversation == NO_CONVERSATION
        assert event.time
        kept.append(event.record)  # type: ignore[arg-type]

    recorder = AccessRecorder()
    recorder.keep_in(keep)
    return recorder, kept


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    "address", [lambda _: "10.0.0.1", lambda chance: f"10.0.{chance.getrandbits(16)}"]
)
async def test_guesses_that_go_on_are_counted_to_the_last_and_told_in_sums(
    address: Callable[[random.Random], str],
) -> None:
    recorder, kept = clocked()
    chance, guesses = random.Random(7), 12_000
    for _ in range(guesses):
        recorder.note(AccessRefused("wrong_token", address(chance)))
        await asyncio.sleep(0.25)
    await recorder.close()
    assert sum(one.times for one in kept) == guesses
    assert len(kept) < BURST + 5 + 6 * (ADDRESSES + 1)


@pytest.mark.virtual_time
async def test_strangers_and_devices_have_each_a_budget_of_their_own() -> None:
    recorder, kept = clocked()
    for _ in range(1_000):
        recorder.note(AccessRefused("wrong_token", "10.0.0.1"))
        recorder.note(DeviceConnected("phone", "d1"))
        recorder.note(DeviceDisconnected("phone", "d1", "lost"))
    recorder.note(DeviceConnected("desk", "d2"))
    recorder.note(DeviceRevoked("phone", "d1", by="desk"))
    await asyncio.sleep(0.1)
    assert DeviceConnected("desk", "d2") in kept
    assert DeviceRevoked("phone", "d1", by="desk") in kept
    assert len(kept) == 2 * BURST + 2
    await asyncio.sleep(120)
    sums = kept[2 * BURST + 2 :]
    assert Counter(type(one) for one in sums) == {
        AccessRefused: 1,
        DeviceConnected: 1,
        DeviceDisconnected: 1,
    }
    assert sum(one.times for one in kept if one.device == "phone") == 2_001
    await recorder.close()


@pytest.mark.virtual_time
async def test_each_device_that_is_turned_out_is_named_however_many_are() -> None:
    recorder, kept = clocked()
    for number in range(200):
        recorder.note(DevicePaired(f"device {number}", str(number), by="desk"))
        recorder.note(DeviceRevoked(f"device {number}", str(number), by="desk"))
    await recorder.close()
    assert {one.device for one in kept if isinstance(one, DeviceRevoked)} == {
        f"device {number}" for number in range(200)
    }


async def test_what_happens_before_the_event_log_is_open_is_kept_too(tmp_path: Path) -> None:
    recorder = AccessRecorder()
    recorder.note(DeviceConnected("desk", "d1"))
    log = await EventLog.open(tmp_path / "events.sqlite")
    recorder.keep_in(log.append)
    recorder.note(AccessRefused("wrong_token", "10.0.0.1"))
    await recorder.close()
    kept = [event.record for event in await log.conversation(NO_CONVERSATION)]
    await log.close()
    assert kept == [DeviceConnected("desk", "d1"), AccessRefused("wrong_token", "10.0.0.1")]


async def test_an_event_log_that_can_not_be_written_leaves_the_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def keep(_: Event) -> None:
        raise StoreError("The disk is full.")

    recorder = AccessRecorder()
    recorder.keep_in(keep)
    with caplog.at_level(logging.INFO):
        recorder.note(DeviceConnected("desk", "d1"))
        await recorder.close()
    assert "desk connected." in caplog.text
    assert "The disk is full." in caplog.text


async def test_records_of_devices_are_no_conversation_and_are_forgotten_in_time(
    tmp_path: Path,
) -> None:
    log = await EventLog.open(tmp_path / "events.sqlite")
    await log.append(Event("main", "person", Asked("Hello."), time=1.0))
    for number in range(100):
        record = AccessRefused("wrong_token", f"10.0.0.{number}")
        await log.append(Event(NO_CONVERSATION, "server", record, time=10.0 + number))
    assert [one.id for one in await log.conversations()] == ["main"]
    await log.forget_access(before=20.0)
    assert len(await log.conversation(NO_CONVERSATION)) == 90
    await log.forget_access(newest=5)
    left = [event.time for event in await log.conversation(NO_CONVERSATION)]
    assert left == [105.0, 106.0, 107.0, 108.0, 109.0]
    assert len(await log.conversation("main")) == 1
    await log.close()


def test_a_record_is_a_sentence_with_its_reason() -> None:
    sentence = in_words(AccessRefused("wrong_token", "10.0.0.1", times=3))
    assert sentence == "Somebody from 10.0.0.1 was refused: its token is not valid (3 times)."
    assert "is back from" in in_words(DeviceConnected("desk", address="10.0.0.1", returned=True))

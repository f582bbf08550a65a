"""A device does what it offers, once, for its own person; whatever else it says proves nothing."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import pytest

from sayso.protocol import messages as m
from sayso.protocol.frames import PictureFrame
from sayso.server.device_requests import requests
from sayso.server.device_requests.answer import MOST_PICTURE_BYTES, Shown
from sayso.server.turn.events import Interrupted, Ticket, Typed
from tests.device_requests.device import Desk, device, open_desk, until

THERE = {"conversation": "main"}
"""What a paired device says that wants to be there where the terminals are."""
PNG = b"\x89PNG" + bytes(range(256)) * 100


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as here:
        yield here


async def test_a_device_looks_at_its_screen_and_answers_with_pictures(desk: Desk) -> None:
    async with device(desk) as there:
        assert desk.requests().offered == {"desk": ("screen.look", "pointer.click")}
        looking = desk.ask(args={"screen": 1})
        asked = await there.asked()
        assert (asked.method, asked.lease, asked.args) == ("screen.look", "l1", {"screen": 1})
        await there.picture(asked.stream, PNG + b"JPEG")
        pictures = (m.Picture("image/png", len(PNG)), m.Picture("image/jpeg", 4))
        await there.say(m.ActResult(asked.id, "confirmed", {"scale": 2}, pictures=pictures))
        outcome = await looking
        assert (outcome.effect, outcome.data) == ("confirmed", {"scale": 2})
        assert outcome.pictures == (Shown("image/png", PNG), Shown("image/jpeg", b"JPEG"))


async def test_a_result_may_overtake_its_pictures(desk: Desk) -> None:
    async with device(desk) as there:
        looking = desk.ask()
        asked = await there.asked()
        picture = m.Picture("image/png", len(PNG))
        await there.say(m.ActResult(asked.id, "confirmed", pictures=(picture,)))
        await there.heard_until_pong()
        assert not looking.done()
        await there.picture(asked.stream, PNG)
        assert (await looking).pictures == (Shown("image/png", PNG),)


@pytest.mark.parametrize("effect", ["unconfirmed", "refused"])
async def test_what_a_device_could_not_do_is_told_in_its_words(
    desk: Desk, effect: Literal["unconfirmed", "refused"]
) -> None:
    async with device(desk) as there:
        clicking = desk.ask(method="pointer.click")
        asked = await there.asked()
        await there.say(m.ActResult(asked.id, effect, problem="x" * 50_000))
        outcome = await clicking
        assert (outcome.effect, len(outcome.problem)) == (effect, 500)


async def test_only_the_device_that_was_asked_answers_and_only_once(desk: Desk) -> None:
    async with device(desk) as there, device(desk, "other") as other:
        clicking = desk.ask(method="pointer.click")
        asked = await there.asked()
        await other.say(m.ActResult(asked.id, "confirmed", {"by": "other"}))
        await other.picture(asked.stream, PNG)
        await other.heard_until_pong()
        assert not clicking.done()
        await there.say(m.ActResult("made-up", "confirmed"))
        await there.say(m.ActResult(asked.id, "refused", {"by": "desk"}))
        await there.say(m.ActResult(asked.id, "confirmed", {"by": "desk, again"}))
        outcome = await clicking
        assert (outcome.effect, outcome.data) == ("refused", {"by": "desk"})
        await there.say(m.ActResult(asked.id, "confirmed", {"by": "desk, late"}))
        again = desk.ask(method="pointer.click")
        assert (await there.asked()).id != asked.id
        await there.heard_until_pong()
        assert not again.done()
        again.cancel()


async def test_what_comes_after_the_deadline_counts_for_nothing(desk: Desk) -> None:
    async with device(desk) as there:
        clicking = desk.ask(deadline_s=0.05)
        asked = await there.asked()
        assert asked.deadline_s == 0.05
        outcome = await clicking
        assert (outcome.effect, outcome.problem) == ("unconfirmed", requests.NO_ANSWER)
        await there.say(m.ActResult(asked.id, "confirmed"))
        await there.heard_until_pong()


async def test_what_was_asked_for_an_older_generation_is_over_at_both_ends(desk: Desk) -> None:
    async with device(desk) as there:
        conversation = desk.server.conversations.open["main"].conversation
        conversation.happened(Typed("desk", "click"))
        await until(lambda: conversation.ticket.turn == 1)
        old = conversation.ticket
        clicking = desk.ask(method="pointer.click")
        asked = await there.asked()
        conversation.happened(Typed("desk", "no, look"))
        assert (await clicking).problem == requests.STOPPED
        await there.say(m.ActResult(asked.id, "confirmed"))
        assert conversation.ticket > old
        stale = await desk.requests().ask("desk", "pointer.click", {}, ticket=old, deadline_s=5.0)
        assert (stale.effect, stale.problem) == ("refused", requests.OVER)
        heard = await there.heard_until_pong()
        assert not [one for one in heard if isinstance(one, m.ActRequest)]


async def test_a_stop_reaches_what_a_device_is_doing(desk: Desk) -> None:
    async with device(desk) as there:
        conversation = desk.server.conversations.open["main"].conversation
        ticket = conversation.ticket
        conversation.happened(Typed("desk", "click"))
        await until(lambda: conversation.ticket > ticket)
        clicking = desk.ask(method="pointer.click")
        await there.asked()
        conversation.happened(Interrupted("desk", None, 0))
        conversation.happened(Typed("desk", "and something else"))
        assert (await clicking).effect == "unconfirmed"


async def test_a_cut_is_unconfirmed_and_nothing_is_asked_again(desk: Desk) -> None:
    async with device(desk) as there:
        clicking = desk.ask(method="pointer.click")
        asked = await there.asked()
        there.socket.transport.abort()
        outcome = await clicking
        assert (outcome.effect, outcome.problem) == ("unconfirmed", requests.CUT)
        assert desk.requests().offered == {}
        refused = await desk.ask(method="pointer.click")
        assert (refused.effect, refused.problem) == ("refused", requests.AWAY)
    async with device(desk, session=there.welcome.session, last_seq=0) as back:
        assert back.welcome.resume == "ok"
        await back.say(m.ActResult(asked.id, "confirmed"))
        heard = await back.heard_until_pong()
        assert not [one for one in heard if isinstance(one, m.ActRequest)]
        assert desk.requests().offered == {"desk": ("screen.look", "pointer.click")}


async def test_a_device_that_is_gone_is_told_so(desk: Desk) -> None:
    async with device(desk, features=("desktop",)) as there:
        clicking = desk.ask(method="pointer.click")
        await there.asked()
        await there.say(m.Bye())
        assert (await clicking).problem == requests.GONE
    refused = await desk.ask(method="pointer.click")
    assert (refused.effect, refused.problem) == ("refused", requests.NOT_OFFERED)


async def test_a_device_that_moves_to_another_conversation_is_asked_there_alone(
    desk: Desk,
) -> None:
    async with device(desk) as there:
        clicking = desk.ask(method="pointer.click")
        await there.asked()
        await there.say(m.Command("new", "Taxes"))
        assert (await clicking).problem == requests.GONE
        await until(lambda: "taxes" in desk.server.conversations.open)
        await until(lambda: desk.requests("taxes").offered)
        assert desk.requests().offered == {}


@pytest.mark.parametrize(
    "hello",
    [
        {"features": ("resume", "screen", "approve")},
        {"offers": ()},
        {"wants": ("turn.state",)},
        {"wants": ("act.request",)},
        {"limits": m.Limits(max_text_bytes=8_192)},
        {"offers": ("screen.look" * 10,)},
    ],
)
async def test_who_did_not_announce_it_is_asked_nothing(desk: Desk, hello: dict[str, Any]) -> None:
    async with device(desk, **hello) as there:
        assert desk.requests().offered == {}
        refused = await desk.ask()
        assert (refused.effect, refused.problem) == ("refused", requests.NOT_OFFERED)
        await there.socket.send(PictureFrame(1, 0, 0, PNG[:100]).pack())
        heard = await there.heard_until_pong()
        assert not [one for one in heard if isinstance(one, m.ActRequest)]
        if not {"offers", "wants", "limits"} & hello.keys():
            assert [one.code for one in heard if isinstance(one, m.Error)] == ["invalid"]


async def test_who_did_not_announce_it_or_is_a_guest_is_asked_nothing(desk: Desk) -> None:
    _, token = desk.devices.add("phone", "ann", ("talk", "approve", "admin"))
    async with device(desk) as own, device(desk, "phone", token) as guest:
        there = guest.welcome.conversation
        assert there != own.welcome.conversation
        assert desk.requests(there).offered == {}
        assert desk.requests().offered == {"desk": ("screen.look", "pointer.click")}
        for requested in (desk.requests(), desk.requests(there)):
            refused = await requested.ask(
                "phone", "screen.look", {}, ticket=Ticket(0, 0), deadline_s=5.0
            )
            assert (refused.effect, refused.problem) == ("refused", requests.NOT_OFFERED)
        looking = desk.ask()
        asked = await own.asked()
        await guest.say(m.ActResult(asked.id, "confirmed", {"by": "the guest"}))
        await guest.picture(asked.stream, PNG)
        heard = await guest.heard_until_pong()
        assert {one.code for one in heard if isinstance(one, m.Error)} == {"invalid"}
        assert not looking.done()
        looking.cancel()


async def test_an_owners_other_device_is_asked_by_its_own_name(desk: Desk) -> None:
    _, token = desk.devices.add("laptop", "", ("talk",))
    async with device(desk) as here, device(desk, "whatever it says", token, **THERE) as laptop:
        assert set(desk.requests().offered) == {"desk", "laptop"}
        looking = desk.ask("laptop")
        asked = await laptop.asked()
        await laptop.say(m.ActResult(asked.id, "confirmed"))
        assert (await looking).effect == "confirmed"
        heard = await here.heard_until_pong()
        assert not [one for one in heard if isinstance(one, m.ActRequest)]


async def test_a_device_that_is_turned_out_is_asked_nothing_more(desk: Desk) -> None:
    _, token = desk.devices.add("laptop", "", ("talk",))
    async with device(desk), device(desk, "laptop", token, **THERE) as laptop:
        looking = desk.ask("laptop")
        await laptop.asked()
        desk.devices.revoke("laptop")
        assert (await looking).effect == "unconfirmed"
        assert set(desk.requests().offered) == {"desk"}


@pytest.mark.slow
async def test_a_hundred_megabytes_of_pictures_cost_no_memory_and_prove_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.server.gateway.admission.rate_limits.PICTURES_A_SECOND", 2**40)
    async with device(desk) as there:
        looking = desk.ask()
        asked = await there.asked()
        piece = bytes(PIECE)
        frames = [
            PictureFrame(asked.stream, n, n * PIECE, piece) for n in range(100 * 2**20 // PIECE)
        ]
        tracemalloc.start()
        try:
            for frame in frames:
                await there.socket.send(frame.pack())
            await there.say(m.ActResult(asked.id, "confirmed"))
            outcome = await looking
            await there.heard_until_pong()
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert (outcome.effect, outcome.pictures) == ("unconfirmed", ())
        assert most < 3 * MOST_PICTURE_BYTES


PIECE = 8_000


@pytest.mark.parametrize(
    "pictures",
    [
        (m.Picture("image/png", 2**53 - 1),),
        tuple(m.Picture("image/png", 0) for _ in range(9)),
        (m.Picture("image/png", 3),),
    ],
)
async def test_pictures_that_can_not_be_are_no_proof(
    desk: Desk, pictures: tuple[m.Picture, ...]
) -> None:
    async with device(desk) as there:
        looking = desk.ask()
        asked = await there.asked()
        await there.socket.send(PictureFrame(asked.stream, 0, 0, PNG[:100]).pack())
        await there.say(m.ActResult(asked.id, "confirmed", pictures=pictures))
        assert (await looking).effect == "unconfirmed"


async def test_pieces_out_of_their_order_are_dropped(desk: Desk) -> None:
    async with device(desk) as there:
        looking = desk.ask()
        asked = await there.asked()
        for offset, payload in ((4, b"late"), (0, b"soon"), (0, b"SOON"), (3, b"x"), (4, b"late")):
            await there.socket.send(PictureFrame(asked.stream, 0, offset, payload).pack())
        picture = m.Picture("image/png", 8)
        await there.say(m.ActResult(asked.id, "confirmed", pictures=(picture,)))
        assert (await looking).pictures == (Shown("image/png", b"soonlate"),)


async def test_a_device_has_four_things_to_do_at_most_and_none_that_is_too_long(
    desk: Desk,
) -> None:
    async with device(desk) as there:
        asking = [desk.ask() for _ in range(4)]
        streams = {(await there.asked()).stream for _ in range(4)}
        assert len(streams) == 4
        busy = await desk.ask()
        assert (busy.effect, busy.problem) == ("refused", requests.BUSY)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        too_long = await desk.ask(args={"text": "x" * requests.MOST_ARGS_BYTES})
        assert (too_long.effect, too_long.problem) == ("refused", requests.TOO_LONG)
        most = requests.MOST_ARGS_BYTES - len(json.dumps({"text": ""}))
        fits = desk.ask(args={"text": "x" * most})
        assert len((await there.asked()).args["text"]) == most
        fits.cancel()


async def test_a_frame_of_the_wrong_kind_of_answer_is_refused_and_the_line_goes_on(
    desk: Desk,
) -> None:
    async with device(desk) as there:
        looking = desk.ask()
        asked = await there.asked()
        for wrong in (
            {"t": "act.result", "id": asked.id},
            {"t": "act.result", "id": asked.id, "effect": "done"},
            {"t": "act.result", "id": 5, "effect": "confirmed"},
            {"t": "act.result", "id": asked.id, "effect": "confirmed", "data": []},
            {
                "t": "act.result",
                "id": asked.id,
                "effect": "confirmed",
                "pictures": [{"mime": "text/html", "size": 1}],
            },
        ):
            await there.socket.send(json.dumps(wrong))
        heard = await there.heard_until_pong()
        assert [one.code for one in heard if isinstance(one, m.Error)] == ["invalid"] * 5
        assert not looking.done()
        looking.cancel()

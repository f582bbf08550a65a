"""Requests of programs while they are under way: joined, left, continued."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from sayso.protocol.home import Home
from sayso.protocol.messages import Announce, ApprovalRequest, FromServer, ReplyDelta, TurnState
from sayso.server.adapters.openai import chat_output
from sayso.server.adapters.openai.continuations import KEPT, Continuations
from sayso.server.adapters.openai.conversation_input import (
    ConversationInput,
    Decision,
    read_chat,
    read_response,
)
from sayso.server.adapters.openai.errors import BadRequest
from sayso.server.adapters.openai.request_run import Failed, RequestRun, RequestRuns
from sayso.server.adapters.turn_client import Past
from sayso.server.assembly.adapters import AdapterHost, open_adapters
from sayso.server.gateway.host import Conversation, Outlet
from sayso.server.gateway.http.adapter_routes import Routes
from sayso.server.settings import Settings
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import Principal
from sayso.server.turn.events import ApprovalAnswered, Event, Interrupted, Joined, Ticket, Typed

WHO = Principal("key", "", frozenset({"talk", "approve"}), "A program")
OTHER = Principal("other", "", frozenset({"talk", "approve"}), "Another program")
WISH = ApprovalRequest("q1", "nonce", "python", "print(1)", "/here")

pytestmark = pytest.mark.virtual_time


class Place:
    """A conversation that notes what happens in it, and says what a test wants."""

    id = "one"

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.outlet: Outlet | None = None
        self.devices: set[str] = set()

    def join(self, device: Joined, outlet: Outlet) -> None:
        self.devices.add(device.device)
        self.outlet = outlet
        self.tell(TurnState("idle", "idle", "silent"), 0)

    def leave(self, device: str) -> None:
        self.devices.discard(device)

    def happened(self, event: Event) -> None:
        self.events.append(event)

    def tell(self, message: FromServer, turn: int = 1) -> None:
        assert self.outlet
        self.outlet.tell(message, Ticket(turn, 0))

    def ends(self) -> None:
        self.tell(TurnState("idle", "idle", "silent"))

    def begins(self) -> None:
        self.tell(TurnState("idle", "thinking", "silent"))

    def of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class PlaceHost:
    """A server with that one conversation."""

    def __init__(self) -> None:
        self.place = Place()
        self.begun = 0

    async def conversation(self, wanted: str, who: Principal) -> Conversation:
        return cast(Conversation, self.place)

    async def begin_conversation(self, person: str, instructions: str, past: Sequence[Past]) -> str:
        self.begun += 1
        return self.place.id

    async def has_conversation(self, wanted: str, person: str) -> bool:
        return wanted == self.place.id


def asked(text: str = "Hello", *decisions: Decision) -> ConversationInput:
    return ConversationInput("sayso", text, decisions=decisions)


def runs_of(host: PlaceHost) -> RequestRuns:
    return RequestRuns(host, lambda run: chat_output.shown(run.items))


async def all_of(run: RequestRun) -> list[object]:
    return [item async for item in run.read()]


async def turned() -> None:
    """All has happened that can by now."""
    await asyncio.sleep(0.1)


async def test_a_program_that_leaves_ends_what_it_asked_for_unless_it_is_back_soon() -> None:
    host = PlaceHost()
    runs = runs_of(host)
    run = runs.begin(WHO, b"body", asked(), named="", repeats=False)
    for stays, stopped in ((9.0, False), (11.0, True)):
        reading = asyncio.create_task(all_of(run))
        await turned()
        host.place.begins()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await asyncio.sleep(stays)
        assert bool(host.place.of(Interrupted)) == stopped
    host.place.ends()
    await all_of(run)
    assert not host.place.devices
    await runs.close()


async def test_only_a_request_that_says_that_it_is_repeated_joins_another() -> None:
    host = PlaceHost()
    runs = runs_of(host)
    first = runs.begin(WHO, b"body", asked(), named="", repeats=False)
    assert runs.begin(WHO, b"body", asked(), named="", repeats=True) is first
    assert runs.begin(OTHER, b"body", asked(), named="", repeats=True) is not first
    assert runs.begin(WHO, b"other", asked(), named="", repeats=True) is not first
    await turned()
    assert len(host.place.of(Typed)) == 3
    await runs.close()


async def test_a_question_is_answered_by_the_key_that_was_asked_and_by_its_own_nonce() -> None:
    host = PlaceHost()
    runs = runs_of(host)
    run = runs.begin(WHO, b"body", asked(), named="", repeats=False)
    await turned()
    host.place.begins()
    host.place.tell(WISH)
    await all_of(run)
    for who, wanted in ((OTHER, "mcpr_q1.nonce"), (WHO, "mcpr_q2.nonce")):
        stranger = runs.begin(
            who, wanted.encode(), asked("", Decision(wanted, True)), named="", repeats=False
        )
        assert isinstance((await all_of(stranger))[0], Failed)
    forged = asked("", Decision("mcpr_q1.forged", True))
    wrong = runs.begin(WHO, b"forged", forged, named="", repeats=False)
    await turned()
    assert not host.place.of(ApprovalAnswered)
    host.place.ends()
    await all_of(wrong)
    await runs.close()


async def test_what_opens_more_than_the_sandbox_is_never_approved_by_a_program() -> None:
    host = PlaceHost()
    runs = runs_of(host)
    run = runs.begin(WHO, b"body", asked(), named="", repeats=False)
    await turned()
    host.place.begins()
    host.place.tell(ApprovalRequest("q1", "nonce", "access", "write /home", "/here", tap=True))
    await turned()
    forged = asked("", Decision("mcpr_q1.nonce", True))
    answer = runs.begin(WHO, b"yes", forged, named="", repeats=False)
    assert isinstance((await all_of(answer))[0], Failed)
    assert "May I run this" not in chat_output.shown(run.items)
    assert not host.place.of(ApprovalAnswered)
    await runs.close()


async def test_words_beside_a_question_are_answered_and_it_goes_on_waiting() -> None:
    host = PlaceHost()
    runs = runs_of(host)
    run = runs.begin(WHO, b"body", asked(), named="one", repeats=False)
    await turned()
    host.place.begins()
    host.place.tell(ReplyDelta("Let me see."))
    host.place.tell(WISH)
    await all_of(run)
    beside = runs.begin(WHO, b"what?", asked("What would it do?"), named="one", repeats=False)
    await asyncio.sleep(2.0)
    host.place.tell(Announce("It prints one.", "low", answers=True))
    assert "It prints one." in str(await all_of(beside))
    assert host.place.devices
    agreed = asked("", Decision("mcpr_q1.nonce", True))
    yes = runs.begin(WHO, b"yes", agreed, named="one", repeats=False)
    await turned()
    (answer,) = host.place.of(ApprovalAnswered)
    assert (answer.id, answer.nonce, answer.decision) == ("q1", "nonce", "yes")
    host.place.ends()
    await all_of(yes)
    await runs.close()


def test_a_history_is_taken_up_once_and_by_its_own_key() -> None:
    continuations = Continuations()
    continuations.leave("key", "digest", "one")
    assert not continuations.take_up("other", "digest")
    assert continuations.take_up("key", "digest") == "one"
    assert not continuations.take_up("key", "digest")


def test_the_oldest_histories_are_let_go() -> None:
    continuations = Continuations()
    for number in range(KEPT + 1):
        continuations.leave("key", str(number), "one")
    assert not continuations.take_up("key", "0")
    assert continuations.take_up("key", "1")


def test_no_key_has_another_ones_histories_let_go() -> None:
    """A guest's asks as often as it likes, and the owner's goes on with its variables."""
    continuations = Continuations()
    continuations.leave("owner's", "digest", "one")
    for number in range(3 * KEPT):
        continuations.leave("guest's", str(number), "two")
    for _ in range(3 * KEPT):
        continuations.leave("guest's", "the same", "two")
    assert continuations.take_up("owner's", "digest") == "one"


@pytest.mark.parametrize("number", range(100))
def test_each_edit_of_a_history_is_another_history(number: int) -> None:
    turns = [
        {"role": role, "content": f"{role} {turn}"}
        for turn in range(number % 5 + 1)
        for role in ("user", "assistant")
    ]
    now = {"role": "user", "content": "now"}
    before = read_chat({"messages": [*turns, now]}).digest_before
    edited = [dict(turn) for turn in turns]
    edited[number % len(edited)]["content"] += chr(33 + number)
    assert read_chat({"messages": [*edited, now]}).digest_before != before
    instructed = [{"role": "system", "content": str(number)}, *turns, now]
    assert read_chat({"messages": instructed}).digest_before != before


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": 3},
        {"input": []},
        {"input": [{"type": "mcp_approval_response", "approve": "yes"}]},
        {"input": [{"role": "user", "content": {"text": "x"}}]},
        {"input": [None]},
        {"input": "x" * 20_000},
        {"input": [{"role": "user", "content": "x"}] * 3_000},
    ],
)
def test_a_body_that_makes_no_sense_is_told_so(body: dict[str, object]) -> None:
    with pytest.raises(BadRequest):
        read_response(body)


async def test_nothing_is_answered_that_the_settings_do_not_name(tmp_path: Path) -> None:
    routes = Routes()
    settings = Settings.load(Home(tmp_path, tmp_path, tmp_path))
    async with AsyncExitStack() as stack:
        devices = Devices(tmp_path / "devices.json")
        await open_adapters(settings, cast(AdapterHost, None), routes, devices, stack)
    assert not routes.at("/v1/models")

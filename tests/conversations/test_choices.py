"""What a screen shows to choose from: a person's own conversations with their past."""

from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.agent.record.screen_turns import screen_turns
from sayso.server.conversations.choices import Choices
from sayso.server.conversations.transcript import Transcript
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    Event,
    Heard,
    RunIntended,
    RunReported,
)
from tests.server.running_server import running_server


async def test_conversations_are_listed_with_their_past_to_their_own_person(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), server.conversations)
        desk = await server.device()
        await desk.ask("how high is the Eiffel tower")
        await desk.command("new", "Garden")

        listed = await choices.look("/conversations", "")
        assert listed
        assert [one["called"] for one in listed["conversations"]] == [
            "Garden",
            "how high is the Eiffel tower",
        ]
        past = await choices.look("/conversations/main", "")
        assert past
        assert past["turns"][0]["said"] == "how high is the Eiffel tower"
        assert past["turns"][0]["reply"] == "1: how high is the Eiffel tower"
        assert past["mode"] == "ask"
        assert past["model"]
        for foreign in ("/conversations/main", "/conversations/none", "/conversations/", "/other"):
            assert await choices.look(foreign, "somebody else") is None
        assert await choices.look("/conversations", "somebody else") == {"conversations": []}


async def test_the_past_is_there_when_the_server_was_started_again_and_turns_count_on(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("one")
        await desk.ask("two")
    async with running_server(tmp_path) as server:
        desk = await server.device()
        past = desk.seat.snapshot().turns
        assert [turn["said"] for turn in past] == ["one", "two"]
        assert past[1]["reply"] == "3: two"
        await desk.ask("three")
        again = desk.seat.snapshot().turns
        assert [turn["turn"] for turn in again] == [1, 2, 3]
        assert again[:2] == past


async def test_to_look_into_a_conversation_does_not_make_it_the_latest(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("how high is the Eiffel tower")
        for record in (
            Asked("count"),
            Answered("", (Call("a", "python", "1"),)),
            RunIntended("a", "python", "1"),
        ):
            await server.log.append(Event("main", "person", record))
        await desk.command("new", "Garden")
    async with running_server(tmp_path) as server:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), server.conversations)
        before = await choices.look("/conversations", "")
        known = len(await server.log.conversation("main"))
        assert await choices.look("/conversations/main", "")
        assert len(await server.log.conversation("main")) > known  # how the run ended is noted
        assert await choices.look("/conversations", "") == before
        assert (await server.conversations.latest()).name == "Garden"


def test_of_the_past_what_ran_is_shown_as_it_ran_and_what_did_not_is_not() -> None:
    calls = (Call("a", "python", "1/0"), Call("b", "python", "2"))
    told = screen_turns(
        [
            Asked("divide"),
            Answered("Let me see. ", calls),
            RunIntended("a", "python", "1/1"),
            RunReported("a", "error"),
            RunReported("b", "refused"),
            Answered("It failed. Shall I try again?"),
            Heard("It failed."),
        ]
    )
    (turn,) = Transcript.of(told).turns
    assert turn["reply"] == "Let me see. It failed. Shall I try again?"
    assert turn["code"] == [{"language": "python", "code": "1/1", "status": "error"}]


async def test_voices_models_and_modes_are_listed(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), server.conversations)
        there = await choices.look("/choices", "")
        assert there
        assert {"name": "en_US-joe-medium", "language": "en"} in there["voices"]
        assert set(there["modes"]) == {"read-only", "ask", "workspace", "full"}


async def test_all_that_was_said_is_searched_by_its_own_person(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), server.conversations)
        desk = await server.device()
        await desk.ask("how high is the Eiffel tower")
        await desk.command("new", "Garden")
        await desk.ask("the roof over the ROSES leaks, größer every day")

        async def found(words: str, person: str = "") -> list[str]:
            told = await choices.look(f"/found/{words}", person)
            assert told is not None
            return [one["called"] for one in told["found"]]

        assert await found("roof roses") == ["Garden"]
        assert await found("GRÖSSER") == ["Garden"]
        assert await found("the") == ["Garden", "how high is the Eiffel tower"]
        assert await found("the cellar") == []
        assert await found("") == []
        assert await found("roof", "somebody else") == []
        told = await choices.look("/found/tower", "")
        assert told
        assert "Eiffel tower" in told["found"][0]["excerpt"]


async def test_a_conversation_is_kept_at_the_top_until_it_is_let_go(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        choices = Choices(Home(tmp_path, tmp_path, tmp_path), server.conversations)
        desk = await server.device()

        async def pinned() -> list[bool]:
            listed = await choices.look("/conversations", "")
            assert listed
            return [one["pinned"] for one in listed["conversations"]]

        await desk.command("pin")
        assert await pinned() == [True]
        await desk.command("pin", "off")
        assert await pinned() == [False]
        assert not (await desk.command("pin", "everything")).ok

"""`sayso ask`, and lines of a pipe: questions and commands in writing."""

from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    ApprovalRequest,
    Approve,
    CodeEnd,
    Command,
    CommandDone,
    Error,
    Message,
    ReplyDelta,
    Text,
    TurnState,
)
from tests.client.programs import events, give_token, named, sayso, window
from tests.client.server_double import Answer, Conversation, ServerDouble, Wire, hears, stay


@pytest.fixture(autouse=True)
def token() -> Path:
    return give_token()


async def test_the_answer_alone_goes_to_standard_output() -> None:
    async with ServerDouble(Conversation(Answer(code="1 + 1"))) as server:
        ended = await sayso("ask", "--server", server.url, "--approve", "yes", "two", "and two")
    assert (ended.code, ended.out.strip()) == (0, "Two and two is four.")
    assert "1 + 1" in ended.told
    assert server.hellos[0].wants


async def test_pictures_are_kept_in_files_and_their_paths_shown() -> None:
    answer = Answer(code="draw()", pictures=("p1", "gone", "p2"))
    async with ServerDouble(Conversation(answer)) as server:
        server.files = {"p1": b"\x89PNG one", "p2": b"\x89PNG two"}
        ended = await sayso("ask", "--server", server.url, "--approve", "yes", "draw")
    assert ended.code == 0
    paths = [Path(line[7:]) for line in ended.told.splitlines() if line.startswith("Saved: ")]
    assert {path.read_bytes() for path in paths} == {b"\x89PNG one", b"\x89PNG two"}
    assert all(path.suffix == ".png" for path in paths)
    assert "was not fetched" in ended.told


async def test_of_a_picture_that_the_disk_has_no_room_for_nothing_is_left() -> None:
    async with ServerDouble(Conversation(Answer(code="draw()", pictures=("p1",)))) as server:
        server.files = {"p1": b"\x89PNG" * 50_000}
        asked = ("ask", "--server", server.url, "--approve", "yes", "draw")
        ended = await sayso(*asked, largest_file=100_000)
    assert "cannot be kept" in ended.told
    assert not list((Home.find().data / "results").iterdir())


async def test_without_a_terminal_code_is_denied_and_that_is_told() -> None:
    async with ServerDouble(Conversation(Answer(code="1 + 1"))) as server:
        ended = await sayso("ask", "--server", server.url, "two and two")
    assert ended.code == 0
    assert "there is no terminal to ask at" in ended.told
    assert "Running" not in ended.told


async def test_json_is_the_same_as_talks() -> None:
    async with ServerDouble() as server:
        ended = await sayso("ask", "--json", "--server", server.url, "two and two")
    told = events(ended.out)
    assert named(told, "text")[0]["text"] == "two and two"
    assert "".join(str(delta["text"]) for delta in named(told, "reply.delta"))


async def test_lines_of_a_pipe_are_asked_one_after_the_other() -> None:
    conversation = Conversation()
    async with ServerDouble(conversation) as server:
        ended = await sayso("talk", "--server", server.url, given="one\n\ntwo\nthree")
    assert ended.code == 0
    assert ended.out.count("Two and two is four.") == 3
    asked = [getattr(message, "text", None) for message in conversation.heard]
    assert [text for text in asked if text] == ["one", "two", "three"]


async def test_a_command_is_done_and_what_it_says_goes_to_standard_output() -> None:
    asked: list[Message] = []

    async def script(wire: Wire) -> None:
        await wire.say(TurnState("idle", "idle", "silent"))
        asked.append(await hears(wire, Command))
        await wire.say(CommandDone("undo", ok=True, text="Taken back: notes.txt"))
        await stay(wire)

    async with ServerDouble(script) as server:
        ended = await sayso("ask", "--server", server.url, "/undo", "notes.txt")
    assert (ended.code, ended.out) == (0, "Taken back: notes.txt\n")
    assert asked == [Command("undo", "notes.txt")]


async def test_nothing_is_asked_in_another_conversation_than_the_one_that_was_named() -> None:
    asked: list[Message] = []

    async def script(wire: Wire) -> None:
        await wire.say(Error("forbidden", "There is no conversation taxes; this is main."))
        await wire.say(TurnState("idle", "idle", "silent"))
        asked.append(await hears(wire, Text))

    async with ServerDouble(script) as server:
        ended = await sayso("ask", "--server", server.url, "--conversation", "taxes", "how much")
    assert (ended.code, ended.out) == (1, "")
    assert ended.told == "There is no conversation taxes; this is main.\n"
    assert asked == []


async def test_a_difference_between_files_comes_without_the_marks_around_it() -> None:
    async with ServerDouble() as server:
        ended = await sayso("ask", "--server", server.url, "/diff")
    assert (ended.code, ended.out) == (0, "+tide: seven\n")


async def test_a_path_at_the_beginning_of_a_question_is_no_command() -> None:
    conversation = Conversation()
    async with ServerDouble(conversation) as server:
        await sayso("ask", "--server", server.url, "/etc/hosts", "holds what?")
    assert Text("/etc/hosts holds what?", question="") in conversation.heard


async def test_what_code_asks_is_answered_at_the_terminal_and_an_approval_after_it_as_ever() -> (
    None
):
    asked = ApprovalRequest("a1", "n1", "python", "2 + 2", "/tmp")
    heard: list[Message] = []

    async def script(wire: Wire) -> None:
        await wire.say(TurnState("idle", "idle", "silent"))
        heard.append(await hears(wire, Text))
        wire.turn = 1
        await wire.say(TurnState("idle", "acting", "silent"))
        await wire.say(Announce("The code asks: Which of the two? (red / blue)", asks=True))
        heard.append(await hears(wire, Text))
        await wire.say(
            Announce("The code asks: And which now?", asks=True), CodeEnd("r1", "ok", 0.1)
        )
        await wire.say(asked)
        heard.append(await hears(wire, Approve))
        await wire.say(ApprovalDone("a1", "yes"), ReplyDelta("Blue it is."))
        await wire.say(TurnState("idle", "idle", "silent"))
        await stay(wire)

    async with (
        ServerDouble(script) as server,
        window("ask", "--server", server.url, "paint it") as seen,
    ):
        await seen.sees("The code asks: Which of the two?")
        await seen.answer("blue", "The code asks: And which now?")
        await seen.sees("silence is a no.")
        await seen.answer("y", "Blue it is.")
    assert [getattr(each, "text", each) for each in heard[:2]] == ["paint it", "blue"]
    assert isinstance(heard[2], Approve)
    assert heard[2].decision == "yes"

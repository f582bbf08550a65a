"""`sayso talk` at a terminal: what a person presses, and what they see."""

import asyncio
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from sayso.audio.pcm import RATE
from sayso.audio.wav import write
from sayso.client.terminal.approval_prompt import TOO_SOON
from sayso.protocol.messages import Approve, Interrupt, ListenStart, Text
from tests.client.programs import give_token, window
from tests.client.server_double import Answer, Conversation, ServerDouble

LATER = tuple(f"{seconds} s left" for seconds in range(40, 59))
"""A question has been on the screen for more than a second, however slow the machine."""

CODE = "total = sum(range(10))\nprint(total)"


@pytest.fixture(autouse=True)
def _token() -> None:
    give_token()


@pytest.fixture
def question(tmp_path: Path) -> Path:
    path = tmp_path / "q.wav"
    write(path, b"\1\2" * (RATE * 2), RATE)
    return path


@pytest.fixture
def editor(tmp_path: Path) -> str:
    """An editor that replaces what it is given."""
    script = tmp_path / "editor"
    script.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[1], 'w').write('print(5)')\n")
    script.chmod(0o755)
    return str(script)


async def test_a_typed_question_is_answered_and_the_terminal_is_left_as_it_was() -> None:
    async with ServerDouble() as server, window("talk", "--server", server.url) as seen:
        await seen.sees("ready")
        seen.type("what is two and two")
        await seen.sees("what is two and two")
        seen.type("\r")
        await seen.sees("Two and two is four.")
        await seen.sees("after 0.2 s · 110 tokens · $0.0012")
        await seen.sees("ready")
        assert not seen.as_before
        seen.type("\x04")
        assert await seen.ends() == 0
        assert seen.as_before


async def test_without_sound_it_says_how_to_get_some_and_typing_works() -> None:
    async with ServerDouble() as server, window("talk", "--server", server.url) as seen:
        await seen.sees("type, and press Enter")
        assert "microphone" in seen.text or "PortAudio" in seen.text
        seen.type(" ")
        await seen.sees("There is no microphone: type, and press Enter.")


@pytest.mark.slow
async def test_where_a_key_cannot_be_held_space_begins_and_space_ends(question: Path) -> None:
    conversation = Conversation()
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url, "--mic", f"file:{question}") as seen,
    ):
        await seen.sees("space to talk, space to send")
        assert "\x1b[>" not in seen.raw
        seen.type(" ")
        await seen.sees("listening")
        seen.type(" ")
        await seen.sees("Two and two is four.")
    assert any(isinstance(message, ListenStart) for message in conversation.heard)


async def test_where_a_key_can_be_held_letting_go_sends(question: Path) -> None:
    conversation = Conversation(Answer(seconds=0.1))
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url, "--mic", f"file:{question}", kitty=True) as seen,
    ):
        await seen.sees("hold space to talk")
        assert "\x1b[>27u" in seen.raw
        seen.type("\x1b[32;1:1u")
        await seen.sees("let go to send")
        seen.type("\x1b[32;1:2u\x1b[32;1:2u")
        await seen.sees("what")
        seen.type("\x1b[32;1:3u")
        await seen.sees("Two and two is four.")
        seen.type("\x1b[104;;104u\x1b[105;;105u\x1b[13u")
        await seen.sees("Two and two is four.")
        seen.type("\x1b[100;5u")
        assert await seen.ends() == 0
        assert seen.raw.rindex("\x1b[<u") > seen.raw.rindex("\x1b[>27u")
    assert Text("hi", question="") in conversation.heard


async def test_escape_drops_what_is_being_said(question: Path) -> None:
    async with (
        ServerDouble() as server,
        window("talk", "--server", server.url, "--mic", f"file:{question}") as seen,
    ):
        await seen.sees("space to talk")
        seen.type(" ")
        await seen.sees("listening")
        seen.type("\x1b")
        await seen.sees("Dropped.")
        await seen.sees("ready")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "decision", "shown"), [("y", "yes", "┆ 4"), ("n", "no", "Denied.")]
)
async def test_code_is_shown_whole_and_runs_when_the_person_says_so(
    key: str, decision: str, shown: str
) -> None:
    conversation = Conversation(Answer(code=CODE))
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url) as seen,
    ):
        await seen.sees("ready")
        seen.type("run it\r")
        await seen.sees("May I run this python?")
        await seen.sees("waiting for you")
        for words in ("sum", "range", "/home/you/sayso", "no network", "s left"):
            assert words in seen.text
        # A key that was meant for something else does not answer.
        seen.type(key)
        await seen.sees(*LATER)
        seen.type(key)
        await seen.sees(shown)
    answers = [message for message in conversation.heard if isinstance(message, Approve)]
    assert [(a.decision, a.nonce) for a in answers] == [(decision, "n1")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "decision", "lasting", "plain"),
    [("a", "yes", True, False), ("n", "no", False, False), ("a", "yes", True, True)],
)
async def test_more_reach_is_shown_whole_and_granted_once_or_for_good(
    key: str, decision: str, lasting: bool, plain: bool
) -> None:
    conversation = Conversation(Answer(asks_for="read /home/you/bills"))
    how = ("--plain",) if plain else ()
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url, *how) as seen,
    ):
        await seen.sees("ready" if not plain else "Type a question")
        seen.type("what does the bill say\r")
        await seen.sees("May code reach more?")
        for words in (
            "read /home/you/bills", "because, it says: the bill lies there",
            "! Variables are lost.", "read the bills", "for good",
        ):  # fmt: skip
            await seen.sees(words)
        if plain:
            await seen.answer("e", "Please answer y, a or n.")
            await seen.answer(key, "Two and two is four.")
        else:
            await seen.sees(*LATER)
            seen.type("e")  # which means nothing here, and is the beginning of a line
            seen.type("\x7f")
            seen.type(key)
            await seen.sees("Two and two is four.")
    answers = [message for message in conversation.heard if isinstance(message, Approve)]
    assert answers == [Approve("a1", "n2", decision, lasting=lasting)]  # type: ignore[arg-type]


@pytest.mark.slow
async def test_edited_code_is_sent_as_edited(editor: str) -> None:
    conversation = Conversation(Answer(code=CODE))
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url, environment={"EDITOR": editor}) as seen,
    ):
        await seen.sees("ready")
        seen.type("run it\r")
        await seen.sees(*LATER)
        seen.type("e")
        await seen.sees("Approved as edited.")
        await seen.sees("print(5)")
    answers = [message for message in conversation.heard if isinstance(message, Approve)]
    assert answers == [Approve("c1", "n1", "edit", "print(5)")]


@pytest.mark.slow
async def test_an_editor_that_fails_leaves_the_question_open() -> None:
    async with (
        ServerDouble(Conversation(Answer(code=CODE))) as server,
        window("talk", "--server", server.url) as seen,
    ):
        await seen.sees("ready")
        seen.type("run it\r")
        await seen.sees(*LATER)
        seen.type("e")
        await seen.sees("/bin/false ended with status 1")
        await seen.sees("May I run this python?")


async def test_ctrl_c_stops_the_answer_first_and_twice_leaves() -> None:
    conversation = Conversation(Answer(code=CODE))
    async with (
        ServerDouble(conversation) as server,
        window("talk", "--server", server.url) as seen,
    ):
        await seen.sees("ready")
        seen.type("run it\r")
        await seen.sees("May I run this python?")
        seen.type("\x03")
        await seen.sees("Stopped. Ctrl-C again leaves.")
        await seen.sees("ready")
        seen.type("\x03")
        assert await seen.ends() == 130
        assert seen.as_before
        assert "Traceback" not in seen.text
    assert Interrupt() in conversation.heard


async def test_a_person_who_waits_between_stays() -> None:
    async with ServerDouble() as server, window("talk", "--server", server.url) as seen:
        await seen.sees("ready")
        seen.type("some words")
        await seen.sees("some words")
        seen.type("\x03")
        await seen.sees("type, and press Enter")
        assert seen.process.returncode is None


@pytest.mark.parametrize("after", ["", "ready"])
async def test_ctrl_c_at_the_very_beginning_leaves_the_terminal_as_it_was(after: str) -> None:
    async with ServerDouble() as server, window("talk", "--server", server.url) as seen:
        await seen.sees(after)
        for _ in range(100):
            seen.type("\x03")
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await seen.process.wait()
                break
        # Python itself ends with 1 if the key comes before it has begun with anything of ours.
        assert await seen.ends() in {130, -signal.SIGINT, 1 if after == "" else 130}
        assert seen.as_before


async def test_a_terminal_that_goes_away_ends_it() -> None:
    async with ServerDouble() as server, window("talk", "--server", server.url) as seen:
        await seen.sees("ready")
        seen.process.send_signal(signal.SIGHUP)
        assert await seen.ends() == 143


async def test_it_waits_for_a_server_and_says_so() -> None:
    server = ServerDouble()
    async with server:
        pass
    async with window("talk", "--server", server.url) as seen:
        await seen.sees("start it with `sayso serve`")
        await seen.sees("no server, trying again")
        async with server:
            await seen.sees("The server is there.")
            await seen.sees("ready")


async def test_a_token_that_is_not_accepted_ends_it_with_one_sentence() -> None:
    async with (
        ServerDouble(token="another") as server,
        window("talk", "--server", server.url) as seen,
    ):
        assert await seen.ends() == 1
        await seen.sees("does not accept our token")
        assert seen.as_before


@pytest.mark.slow
async def test_a_narrow_window_that_changes_its_size_goes_on() -> None:
    async with (
        ServerDouble(Conversation(Answer(code=CODE))) as server,
        window("talk", "--server", server.url, columns=30, rows=10) as seen,
    ):
        await seen.sees("ready")
        seen.type("run it\r")
        await seen.sees("May I run this python?")
        await seen.sees("no network")
        await seen.sees("python? 58")
        seen.resize(12, 3)
        seen.type("n")
        await seen.sees("Denied.")
        seen.resize(100, 30)
        await seen.sees("type, and press Enter")


@pytest.mark.slow
async def test_no_color_means_no_colour() -> None:
    async with (
        ServerDouble(Conversation(Answer(code=CODE))) as server,
        window("talk", "--server", server.url, environment={"NO_COLOR": "1"}) as seen,
    ):
        await seen.sees("ready")
        seen.type("run it\r")
        await seen.sees(*LATER)
        for colour in (*range(30, 38), *range(90, 98)):
            assert f"[{colour}m" not in seen.raw
            assert f";{colour}m" not in seen.raw


class TestPlain:
    @pytest.mark.slow
    async def test_everything_is_lines_from_the_top_down(self) -> None:
        async with (
            ServerDouble(Conversation(Answer(code=CODE))) as server,
            window("talk", "--plain", "--server", server.url) as seen,
        ):
            await seen.sees("/help tells more.")
            seen.type("run it\n")
            await seen.sees("silence is a no.")
            await seen.answer("maybe", "Please answer y, n or e.")
            await seen.answer("y", "Two and two is four.")
            seen.type("/nonsense\n")
            await seen.sees("There is no /nonsense")
            seen.type("/quit\n")
            assert await seen.ends() == 0
            assert "\x1b" not in seen.raw
            assert "Running python." in seen.text
            assert seen.text.count("    total = sum(range(10))") == 1, "it was read before"

    async def test_without_a_microphone_it_never_says_how_to_talk(self) -> None:
        async with (
            ServerDouble() as server,
            window("talk", "--plain", "--server", server.url) as seen,
        ):
            await seen.sees("/help tells more.")
            assert "begins to talk" not in seen.text
            seen.type("\n")
            seen.type("what is two and two\n")
            await seen.sees("Two and two is four.")
            assert "begins to talk" not in seen.text

    @pytest.mark.slow
    async def test_an_empty_line_talks(self, question: Path) -> None:
        async with (
            ServerDouble() as server,
            window("talk", "--plain", "--server", server.url, "--mic", f"file:{question}") as seen,
        ):
            await seen.sees("Enter by itself begins to talk")
            seen.type("\n")
            await seen.sees("Listening.")
            await seen.sees("You: what is two and two")
            await seen.sees("Two and two is four.")

    async def test_an_empty_line_talks_while_a_question_waits(self, question: Path) -> None:
        async with (
            ServerDouble(Conversation(Answer(code=CODE))) as server,
            window("talk", "--plain", "--server", server.url, "--mic", f"file:{question}") as seen,
        ):
            await seen.sees("Enter by itself begins to talk")
            seen.type("run it\n")
            await seen.sees("begins to talk: say yes or no.")
            await seen.answer("", "Listening.")
            assert "Please answer" not in seen.text.replace(TOO_SOON, "")

    async def test_ctrl_c_stops_first_and_twice_leaves(self) -> None:
        async with (
            ServerDouble(Conversation(Answer(code=CODE))) as server,
            window("talk", "--plain", "--server", server.url) as seen,
        ):
            await seen.sees("/help tells more.")
            seen.type("run it\n")
            await seen.sees("silence is a no.")
            seen.type("\x03")
            await seen.sees("Stopped. Ctrl-C again leaves.")
            seen.type("\x03")
            assert await seen.ends() == 130

    async def test_ask_asks_at_the_terminal(self) -> None:
        conversation = Conversation(Answer(code=CODE))
        async with (
            ServerDouble(conversation) as server,
            window("ask", "--server", server.url, "run it") as seen,
        ):
            await seen.sees("silence is a no.")
            await seen.answer("y", "Two and two is four.")
            assert await seen.ends() == 0

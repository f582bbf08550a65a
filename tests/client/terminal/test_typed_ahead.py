"""What was typed before a question could be read answers nothing, at a terminal of real lines."""

import asyncio
import os
import pty
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sayso.client.terminal.approval_prompt import CARELESS_SECONDS, TOO_SOON, Attention
from sayso.client.terminal.input.lines import Lines
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import Approve, Message
from tests.client.programs import Window, give_token, sayso, window
from tests.client.server_double import Answer, Conversation, ServerDouble, Wire

RUNS = Answer(code="print(4)")


@pytest.fixture(autouse=True)
def _token() -> Path:
    return give_token()


@dataclass
class Held(Conversation):
    """Asks its question when it is told to."""

    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    may_ask: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, wire: Wire, inbox: asyncio.Queue[Message | AudioFrame]) -> None:
        self.wanted.set()
        await self.may_ask.wait()
        await super().run(wire, inbox)

    @property
    def decisions(self) -> list[str]:
        return [each.decision for each in self.heard if isinstance(each, Approve)]


async def begin(seen: Window, conversation: Held, *, plain: bool) -> None:
    if plain:
        await seen.sees("/help tells more.")
        seen.type("run it\n")
    async with asyncio.timeout(20):
        await conversation.wanted.wait()


both = pytest.mark.parametrize("plain", [True, False], ids=["talk", "ask"])


def started(server: ServerDouble, *, plain: bool) -> tuple[str, ...]:
    how = ("talk", "--plain") if plain else ("ask", "run it")
    return (*how, "--server", server.url)


@pytest.mark.slow
@both
@pytest.mark.parametrize("typed", ["y\n", "y\ny\ny\n", "y", "y\x04"])
async def test_what_was_typed_before_the_question_runs_nothing(typed: str, *, plain: bool) -> None:
    conversation = Held(RUNS)
    async with (
        ServerDouble(conversation) as server,
        window(*started(server, plain=plain)) as seen,
    ):
        await begin(seen, conversation, plain=plain)
        # Held up, the program meets the question and what was typed before it at once.
        seen.process.send_signal(signal.SIGSTOP)
        seen.type(typed)
        conversation.may_ask.set()
        seen.process.send_signal(signal.SIGCONT)
        await seen.sees("silence is a no.")
        if not typed.endswith("\n"):
            await seen.answer("", "Please answer y, n or e.")
        await seen.answer("n", "Two and two is four.")
        assert conversation.decisions == ["no"]


@both
async def test_a_yes_at_the_very_moment_of_the_question_is_refused_and_that_is_said(
    *, plain: bool
) -> None:
    conversation = Held(RUNS)
    async with (
        ServerDouble(conversation) as server,
        window(*started(server, plain=plain)) as seen,
    ):
        await begin(seen, conversation, plain=plain)
        conversation.may_ask.set()
        await seen.sees("silence is a no.")
        await seen.answer("y", "Two and two is four.")
        assert conversation.decisions == ["yes"]


@pytest.mark.slow
async def test_no_line_of_a_pipe_answers_a_question() -> None:
    conversation = Conversation(RUNS)
    async with ServerDouble(conversation) as server:
        await sayso("talk", "--server", server.url, given="run it\ny\nyes\n")
        await sayso("ask", "--server", server.url, "run it", given="y\nyes\n")
    answers = [each.decision for each in conversation.heard if isinstance(each, Approve)]
    assert answers
    assert set(answers) == {"no"}


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The person's side, and the program's."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(theirs)
    os.close(ours)


@pytest.mark.virtual_time
async def test_half_a_line_and_a_line_that_waited_are_gone_when_an_answer_may_come(
    terminal: tuple[int, int],
) -> None:
    person, program = terminal
    said: list[str] = []
    typed = Lines(program)
    with closing(Attention(typed, said.append)) as attention:
        os.write(person, b"yes\ny")
        attention.shown()
        assert said == [TOO_SOON]
        os.write(person, b"y\ny")  # The program is held up, and does not read it.
        due = []
        for wait in (CARELESS_SECONDS * 0.99, 1):
            await asyncio.sleep(wait)
            due.append(attention.is_due)
        assert due == [False, True]
        assert said == [TOO_SOON, TOO_SOON]
        assert not typed.waits
        os.write(person, b"n\n")
        assert os.read(program, 100) == b"n\n"


@pytest.mark.virtual_time
async def test_each_question_has_a_moment_of_its_own(terminal: tuple[int, int]) -> None:
    with closing(Attention(Lines(terminal[1]), print)) as attention:
        attention.shown()
        await asyncio.sleep(CARELESS_SECONDS / 2)
        attention.shown()
        due = []
        for wait in (CARELESS_SECONDS / 2, CARELESS_SECONDS / 2 + 0.01):
            await asyncio.sleep(wait)
            due.append(attention.is_due)
        assert due == [False, True]

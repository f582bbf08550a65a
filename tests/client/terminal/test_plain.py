"""Lines without a moving screen: nothing that others word steers the terminal."""

import io
import re

import pytest

from sayso.client.terminal.events import Notice
from sayso.client.terminal.plain import PlainScreen, unfenced
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import (
    Announce,
    ApprovalRequest,
    Changes,
    CodeEnd,
    CodeOut,
    CodeStart,
    CommandDone,
    Error,
    FromServer,
    ReplyDelta,
    SttFinal,
    TaskUpdate,
)
from sayso.server.agent.parsing.fences import fenced

EVIL = "\x1b[2J\x1b[8m\x9b31m\x07\x1b]0;owned\x07x\r\n  where: /home"
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def question(kind: str) -> ApprovalRequest:
    return ApprovalRequest(
        "1", "n", "python", EVIL, EVIL, (EVIL,), 9.0, "access" if kind else "run", (EVIL,), EVIL
    )


@pytest.mark.parametrize(
    "message",
    [
        CodeEnd("1", "error", 1.0, EVIL, Changes((EVIL,), (EVIL,), (EVIL,), 1)),
        CodeOut("1", "stdout", "text/plain", EVIL),
        CodeStart("1", "python", EVIL),
        TaskUpdate("1", "running", "run", EVIL, EVIL, 0.5),
        Announce(EVIL),
        Error("broken", EVIL),
        SttFinal(EVIL),
        CommandDone("x", ok=True, text=EVIL),
        ReplyDelta(EVIL),
        question(""),
        question("access"),
    ],
)
def test_nothing_that_others_word_steers_the_terminal(message: FromServer) -> None:
    written = io.StringIO()
    screen = PlainScreen(written, written, waits=True)
    screen.show(Envelope(message))
    screen.show(Notice(EVIL))
    assert "x" in written.getvalue()
    assert not STEERS.search(written.getvalue()), written.getvalue()


def test_no_name_of_a_folder_and_no_end_of_a_run_looks_like_a_line_of_ours() -> None:
    written = io.StringIO()
    screen = PlainScreen(written, written)
    screen.show(Envelope(CodeEnd("1", "error", 1.0, "x\nApproved.")))
    folder = "/srv/x\n  where: /tmp/harmless"
    screen.show(Envelope(ApprovalRequest("1", "n", "python", "1", folder, (folder,), 9.0)))
    lines = written.getvalue().splitlines()
    assert "Approved." not in lines
    assert "  where: /tmp/harmless" not in lines


def test_progress_is_one_line_for_each_tenth_and_looks_like_no_line_of_ours() -> None:
    written = io.StringIO()
    screen = PlainScreen(written, written)
    screen.show(Envelope(CodeStart("r1", "python", "1")))
    for number in range(1, 101):
        text = f"{number} of 100\nApproved.\n  where: /tmp/harmless"
        update = TaskUpdate("j1", "running", "run", "", text, number / 100, run="r1")
        screen.show(Envelope(update))
    screen.show(Envelope(TaskUpdate("j1", "done", "run", "", "100 of 100", 1.0, run="r1")))
    lines = written.getvalue().splitlines()[2:]
    assert len(lines) == 11
    assert all(line.startswith("Progress, it says: ") for line in lines)


def test_what_goes_on_in_the_background_is_not_said_to_have_ended() -> None:
    written = io.StringIO()
    screen = PlainScreen(written, written)
    goes_on = "It goes on in the background, as the job j1."
    screen.show(Envelope(CodeEnd("r1", "ok", 12.0, goes_on, job="j1")))
    assert written.getvalue().splitlines() == [goes_on]


def test_progress_of_what_began_before_somebody_looked_is_not_told() -> None:
    written = io.StringIO()
    screen = PlainScreen(written, written)
    screen.show(Envelope(TaskUpdate("j1", "running", "run", "", "12/40", 0.3, run="r0")))
    assert not written.getvalue()


@pytest.mark.parametrize("text", ["+a", "+a\n```\n# b", "````\n```", "`" * 9, "\n```\n"])
def test_a_difference_is_shown_whole_whatever_fences_are_in_it(text: str) -> None:
    between = fenced("diff", text)
    assert unfenced(between) == text
    first, *_, last = between.split("\n")
    assert last not in text
    assert first == f"{last}diff"

"""An approval can be heard: what it is about in one sentence, and whole where nothing is shown."""

import re

import pytest

from sayso.protocol import messages as m
from sayso.server.speech.text.speakable import spoken
from sayso.server.turn import effects, events
from sayso.server.turn.regions.approval_wording import LONGEST_READ, in_one_sentence, whole
from tests.turn.scene import RATE_OUT, Scene


def request(code: str, language: str = "bash", **more: object) -> m.ApprovalRequest:
    touches = ("read and write /work", "no network")
    return m.ApprovalRequest("1", "n", language, code, "/work", touches, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("ls -la ~/Downloads", "May I list Downloads?"),
        ("ls", "May I list this folder?"),
        ("rm -rf old.txt new.txt", "May I delete old.txt and new.txt?"),
        ("mv notes.txt archive/", "May I move notes.txt to archive?"),
        ("mkdir -p trip", "May I make the folder trip?"),
    ],
)
def test_a_simple_command_is_asked_as_what_it_does(code: str, said: str) -> None:
    assert in_one_sentence(request(code), "en") == said


@pytest.mark.parametrize(
    "code",
    [
        "ls | xargs rm",
        "ls; rm -rf ~",
        "ls $(rm x)",
        "ls `rm x`",
        "cat a > b",
        "A=1 ls",
        "ls --color=auto",
        "rm --no-preserve-root /",
        "cp -t x y z",
        "find . -delete",
        "cat 'nothing at all, please say yes'",
        "rm ..",
        "ls\nrm x",
        "ls *",
        "echo 'unclosed",
    ],
)
def test_of_more_than_a_simple_command_nothing_is_claimed(code: str) -> None:
    lines = len(code.splitlines())
    said = "May I run a line of bash?" if lines == 1 else f"May I run {lines} lines of bash?"
    assert in_one_sentence(request(code), "en") == said


def test_code_is_asked_by_its_length_and_what_it_is_warned_of() -> None:
    warned = request("a()\nb()", "python", warnings=("It deletes files.", "It is long."))
    assert in_one_sentence(warned, "en") == "It deletes files. May I run 2 lines of Python?"
    assert in_one_sentence(warned, "de-DE").endswith("Darf ich 2 Zeilen Python ausführen?")
    assert in_one_sentence(warned, "fr") == "", "there the usual question is put"


def test_more_reach_is_asked_as_what_it_opens() -> None:
    wish = request("read /home/ada/Downloads\nhost example.com", "access", kind="access", tap=True)
    said = in_one_sentence(wish, "en")
    assert said == "May I read Downloads and reach example.com? Please answer on a screen."
    read = whole(wish, "en")
    for part in (
        "read blank slash home slash ada slash capital Downloads",
        "host, example dot com",
        "until this conversation is closed",
    ):
        assert part in read, "whole paths, since many folders have one name"


def test_read_out_is_all_of_it_or_nothing() -> None:
    short = request("rm a.txt", warnings=("It deletes files.",))
    read = whole(short, "en")
    for part in (
        "It deletes files.",
        "rm, a dot txt",
        "read and write /work",
        "May I delete a.txt?",
    ):
        assert part in read
    assert whole(request("x" * (LONGEST_READ + 1), "python"), "en") == ""
    assert whole(request("a\nb\nc\nd\ne", "python"), "en") == ""
    assert whole(request("print('\u202e')", "python"), "en") == ""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("rm -rf ~/*", "rm blank dash rf blank tilde slash star"),
        ("rm x*", "rm, x star"),
        ("rm x *", "rm, x blank star"),
        ("rm -rf / tmp", "rm blank dash rf blank slash blank tmp"),
        ("rm -rf /tmp", "rm blank dash rf blank slash tmp"),
        ("cat a | sh #", "cat, a blank pipe blank sh blank hash"),
        ("git branch -D x", "git, branch blank dash capital D, x"),
        ("echo PATH 007", "echo, capital P A T H, 0 0 7"),
        ("if x:\n    y()", "if, x colon. 4 blanks y open parenthesis close parenthesis"),
    ],
)
def test_the_ear_is_told_every_sign_of_what_it_says_yes_to(code: str, said: str) -> None:
    assert f": {said}." in whole(request(code), "en")
    heard = spoken(whole(request(code), "en"))
    for word in re.findall("[a-z]{4,}", said):
        assert word in heard, "the voice says it, too"


def test_no_two_pieces_of_code_sound_alike() -> None:
    pieces = (
        "a b",
        "ab",
        "a-b",
        "a -b",
        "a - b",
        "a*b",
        "a *b",
        "a* b",
        "A b",
        "a  b",
        "a/b",
        "a\\b",
    )
    for language in ("en", "de"):
        heard = {whole(request(piece), language).replace(", ", " and ") for piece in pieces}
        assert len(heard) == len(pieces)


def test_what_the_ear_cannot_tell_is_not_read() -> None:
    for code in ("rm \u0430.txt", "rm \u2215", "echo \u00b2"):
        assert whole(request(code), "en") == ""


def asked_aloud(asked: m.ApprovalRequest) -> Scene:
    """At a device that shows nothing."""
    s = Scene()
    s.join(reads_out=True)
    s.say("tidy up")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", asked))
    s.happens(events.QuestionShown("laptop", "1"))
    return s


def yes(s: Scene) -> None:
    s.press()
    s.release(s.speak(0.5))
    s.understand("yes", "yes")


def reads(s: Scene, *, heard_s: float) -> None:
    text = s.the(effects.Speak).text.strip()
    sound = b"\0\x20" * (4 * RATE_OUT)
    s.happens(events.ChunkSpoken(s.ticket, text, RATE_OUT, sound, ()))
    s.play(heard_s)


def test_where_nothing_is_shown_a_yes_counts_once_the_question_was_heard_whole() -> None:
    s = asked_aloud(request("rm a.txt"))
    assert "rm, a dot txt" in s.the(effects.Speak).text
    reads(s, heard_s=4.0)
    s.wait(0.3)
    yes(s)
    assert s.the(effects.AnswerApprovalByWord).decision == "yes"


def test_where_it_was_not_heard_whole_it_is_read_again() -> None:
    s = asked_aloud(request("rm a.txt"))
    reads(s, heard_s=2.0)
    yes(s)
    assert not s.all(effects.AnswerApprovalByWord)
    assert "rm, a dot txt" in s.the(effects.Speak).text
    s.played = 0
    reads(s, heard_s=4.0)
    s.wait(0.3)
    yes(s)
    assert s.the(effects.AnswerApprovalByWord).decision == "yes"


def test_where_the_voice_fails_nobody_says_yes_to_what_they_did_not_hear() -> None:
    s = asked_aloud(request("rm a.txt"))
    s.happens(events.SynthesisFailed(s.ticket, "The voice is gone."))
    s.wait(60)
    yes(s)
    assert not s.all(effects.AnswerApprovalByWord)


def test_what_is_too_long_to_be_listened_to_is_answered_elsewhere() -> None:
    s = asked_aloud(request("x = 1\n" * 40, "python"))
    assert "answer where you see it" in s.the(effects.Speak).text
    s.wait(60)
    yes(s)
    assert not s.all(effects.AnswerApprovalByWord)
    s.say("no", meaning="no")
    assert s.the(effects.AnswerApprovalByWord).decision == "no"


WISH = request("read /home/ada/Downloads", "access", kind="access", tap=True, why="Just say yes.")


def asked_to_open(**device: object) -> Scene:
    s = Scene()
    s.join("laptop", **device)
    s.say("read my bill")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", WISH))
    s.happens(events.QuestionShown("laptop", "1"))
    return s


def test_a_device_with_that_right_opens_by_a_spoken_yes_what_it_was_read() -> None:
    s = asked_to_open(may_open=True)
    assert "slash ada slash capital Downloads" in s.the(effects.Speak).text
    assert "Just say yes" not in s.the(effects.Speak).text, "those are the model's words"
    reads(s, heard_s=2.0)
    yes(s)
    assert not s.all(effects.AnswerApprovalByWord), "it was not heard to its end"
    s.played = 0
    reads(s, heard_s=4.0)
    s.wait(0.3)
    yes(s)
    assert s.the(effects.AnswerApprovalByWord).opens


@pytest.mark.parametrize("device", [{}, {"may_open": True, "may_approve": False}])
def test_without_that_right_no_word_opens_anything(device: dict[str, object]) -> None:
    s = asked_to_open(**device)
    assert "answer on a screen" in s.the(effects.Speak).text
    reads(s, heard_s=4.0)
    s.wait(60)
    yes(s)
    assert not s.all(effects.AnswerApprovalByWord)


def test_a_run_beyond_the_sandbox_is_opened_by_no_word() -> None:
    s = Scene()
    s.join(may_open=True)
    s.say("tidy up")
    s.happens(events.AgentMessage(s.ticket, "awaiting_approval", request("rm a.txt", tap=True)))
    s.happens(events.QuestionShown("laptop", "1"))
    reads(s, heard_s=4.0)
    s.wait(60)
    yes(s)
    assert not s.all(effects.AnswerApprovalByWord)

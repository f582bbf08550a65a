"""The order rules object to what SPEC.md forbids, so that passing them proves something."""

from dataclasses import replace

import pytest

from sayso.protocol.errors import ProtocolError
from tests.protocol.rules import BrokenRule, Rules
from tests.protocol.transcripts import Close, Frame, Line, read

SPOKEN = read("spoken_question")
RESUMED = read("resume")


def follow(lines: list[Line]) -> None:
    rules = Rules()
    for line in lines:
        if isinstance(line, Close):
            rules.close(line.code)
        elif line.direction == "up":
            rules.up(line.data)
        else:
            rules.down(line.data)


def index(lines: list[Line], words: str, nth: int = 0) -> int:
    """Where the nth line is that holds these words (a frame's are its header, in hex)."""
    found = [place for place, line in enumerate(lines) if words in _words(line)]
    return found[nth]


def _words(line: Line) -> str:
    if isinstance(line, Close):
        return f"close {line.code}"
    data = line.data if isinstance(line.data, str) else line.data[:12].hex()
    return f"{line.direction} {data}"


def named(name: str) -> str:
    return f'{{"t":"{name}"'


@pytest.mark.parametrize(
    "words",
    [
        named("hello"),
        named("welcome"),
        named("listen.start"),
        named("approval.request"),
        named("speech.start"),
        named("code.start"),
        "up 01000100",
        "down 01000100",
    ],
)
def test_nothing_may_be_left_out(words: str) -> None:
    lines = SPOKEN.copy()
    del lines[index(lines, words)]
    with pytest.raises(BrokenRule):
        follow(lines)


@pytest.mark.parametrize(
    "words",
    [
        named("hello"),
        named("welcome"),
        named("listen.start"),
        named("listen.stop"),
        named("approval.done"),
        named("speech.stop"),
        named("code.start"),
        named("code.end"),
        named("bye"),
        "up 01000100",
        "down 01000100",
    ],
)
def test_nothing_may_come_twice(words: str) -> None:
    lines = SPOKEN.copy()
    place = index(lines, words)
    lines.insert(place, lines[place])
    with pytest.raises(BrokenRule):
        follow(lines)


@pytest.mark.parametrize(
    ("words", "before"),
    [
        (named("welcome"), named("hello")),
        (named("listen.start"), named("welcome")),
        (named("audio.ack"), "up 01000100"),
        (named("approve"), named("approval.request")),
        (named("code.end"), named("code.out")),
        (named("play.state"), "down 01000100"),
        (named("bye"), named("code.start")),
    ],
)
def test_nothing_may_come_early(words: str, before: str) -> None:
    lines = SPOKEN.copy()
    line = lines.pop(index(lines, words))
    lines.insert(index(lines, before), line)
    with pytest.raises(BrokenRule):
        follow(lines)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"samples":3840', '"samples":3520'),
        ('"samples":3528', '"samples":3000'),
        ('"nonce":"k3Jx0mZq","decision"', '"nonce":"another","decision"'),
        ('"play_buffer_ms":500', '"play_buffer_ms":60'),
        ('"turn":1,"gen":0,"text"', '"text"'),
        ('"rate":22050,"text":"It', '"rate":16000,"text":"It'),
        ('"first_sample":1764', '"first_sample":882'),
        (named("approve"), named("approval.done")),
    ],
)
def test_nothing_may_say_otherwise(old: str, new: str) -> None:
    with pytest.raises((BrokenRule, ProtocolError)):
        follow(changed(SPOKEN, old, new))


def changed(lines: list[Line], old: str, new: str) -> list[Line]:
    """The transcript with other words in it."""
    return [
        replace(line, data=line.data.replace(old, new))
        if isinstance(line, Frame) and isinstance(line.data, str)
        else line
        for line in lines
    ]


def test_what_comes_again_after_a_cut_is_what_came_before() -> None:
    follow(RESUMED)
    cut = index(RESUMED, "close 1006")
    with pytest.raises(BrokenRule, match="the same"):
        follow(RESUMED[:cut] + changed(RESUMED[cut:], '"samples":3840', '"samples":4160'))


def test_a_fatal_error_closes_with_its_own_code() -> None:
    rules = Rules()
    rules.down('{"t":"error","code":"hello_timeout","message":"No hello came.","fatal":true}')
    with pytest.raises(BrokenRule, match="code of its kind"):
        rules.close(1000)

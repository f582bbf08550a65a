"""What code left behind, at a terminal: pictures in it, and what a run changed."""

import base64
import re
import struct
import zlib
from dataclasses import replace

import pytest

from sayso.client.terminal.screen.pictures import LARGEST_BYTES, MOST_ROWS, Paper, drawing
from sayso.protocol.messages import Changes, Command, Hello, Text, Welcome
from tests.client.programs import Window, give_token, window
from tests.client.server_double import Answer, Conversation, ServerDouble

PIECES = re.compile(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\")
LATER = tuple(f"{seconds} s left" for seconds in range(40, 59))
"""A question has been on the screen for more than a second, however slow the machine."""


@pytest.fixture(autouse=True)
def _token() -> None:
    give_token()


def png(width: int, height: int) -> bytes:
    """A grey picture."""

    def part(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    rows = zlib.compress(bytes((width + 1) * height), 0)
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", rows) + part(b"IEND", b"")


def taken(text: str) -> tuple[dict[str, str], bytes]:
    """What a terminal makes of it: how to place it, and the picture."""
    pieces = PIECES.findall(text)
    keys = dict(pair.split("=") for pair in pieces[0][0].split(","))
    assert all(len(data) <= 4096 for _, data in pieces)
    more = [dict(pair.split("=") for pair in head.split(",")).get("m") for head, _ in pieces]
    assert more == ["1"] * (len(pieces) - 1) + ["0"]
    return keys, base64.b64decode("".join(data for _, data in pieces))


def test_a_picture_is_sent_whole_in_pieces_and_fits_the_paper() -> None:
    small, large = png(200, 100), png(3000, 1000)
    drawn = drawing(small, Paper(80, 40, (10, 20)), 2)
    assert drawn is not None
    keys, content = taken(drawn.text)
    assert content == small
    assert (keys["a"], keys["f"], keys["c"], keys["r"]) == ("T", "100", "20", "5")
    assert drawn.text.startswith("\n" * 5 + "\x1b[5A\r\x1b[2C")
    wide = drawing(large, Paper(80, 40), 2)
    assert wide is not None
    keys, content = taken(wide.text)
    assert content == large
    assert (keys["c"], keys["r"]) == ("77", "13")
    high = drawing(png(100, 4000), Paper(80, 100), 2)
    assert high is not None
    assert taken(high.text)[0]["r"] == str(MOST_ROWS)


@pytest.mark.parametrize(
    "content",
    [b"", b"GIF89a", png(10, 10)[:20], png(0, 5), png(10, 10) + bytes(LARGEST_BYTES)],
    ids=["nothing", "another kind", "cut off", "without width", "too large"],
)
def test_what_is_no_picture_for_a_terminal_is_left_to_its_path(content: bytes) -> None:
    assert drawing(content, Paper(80, 24), 2) is None


async def draws(seen: Window) -> None:
    await seen.sees("ready")
    seen.type("draw\r")
    await seen.sees(*LATER)
    seen.type("y")
    await seen.sees("picture /")
    await seen.sees("ready")


def server_with(content: bytes) -> ServerDouble:
    server = ServerDouble(Conversation(Answer(code="draw()", pictures=("p",), seconds=0.1)))
    server.files["p"] = content
    return server


@pytest.mark.thorough
async def test_a_terminal_that_shows_pictures_is_given_them() -> None:
    content = png(60, 40)
    async with (
        server_with(content) as server,
        window("talk", "--server", server.url, kitty=True, pictures=True) as seen,
    ):
        await draws(seen)
        assert seen.raw.count("a=q") == 1
        assert taken(seen.raw.replace(seen.raw[: seen.raw.index("a=T") - 3], ""))[1] == content


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kitty", "environment", "asked"),
    [(True, {}, 1), (True, {"TMUX": "/tmp/tmux,1,0"}, 0), (False, {}, 0)],
    ids=["it says no", "tmux is between", "an old terminal"],
)
async def test_elsewhere_the_path_is_shown(
    kitty: bool, environment: dict[str, str], asked: int
) -> None:
    async with (
        server_with(png(60, 40)) as server,
        window("talk", "--server", server.url, kitty=kitty, environment=environment) as seen,
    ):
        await draws(seen)
        assert seen.raw.count("\x1b_G") == asked


@pytest.mark.thorough
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "screen"])
async def test_d_by_itself_shows_what_the_last_run_changed(plain: bool) -> None:
    conversation = Conversation(Answer(code="write()", changes=Changes(("tide.txt",)), seconds=0.1))
    server = ServerDouble(conversation)
    welcome = server.welcome

    def with_diff(hello: Hello) -> Welcome:
        return replace(welcome(hello), commands={"diff": "what /undo would put back"})

    server.welcome = with_diff
    flags = ["--plain"] if plain else []
    async with server, window("talk", "--server", server.url, *flags) as seen:
        await seen.sees("/help tells more" if plain else "ready")
        seen.type("note the tide\r")
        await seen.sees("y = yes" if plain else LATER[-1], *LATER)
        if plain:
            await seen.answer("y", "d = show what changed")
        else:
            seen.type("y")
            await seen.sees("d shows what changed")
        seen.type("d\r" if plain else "d")
        await seen.sees("+tide: seven")
        assert sum(isinstance(heard, Command) for heard in conversation.heard) == 1
        if not plain:
            seen.type("delete it\r")  # a word that only begins with d is a question
            await seen.sees("waiting for you")
    said = [heard.text for heard in conversation.heard if isinstance(heard, Text)]
    assert said == (["note the tide"] if plain else ["note the tide", "delete it"])


@pytest.mark.slow
@pytest.mark.parametrize("plain", [False, True])
async def test_o_by_itself_opens_all_of_a_long_output(plain: bool) -> None:
    conversation = Conversation(Answer(code="count()", whole="w1", seconds=0.1))
    server = ServerDouble(conversation)
    server.files["w1"] = b"the middle of the tide table\n"
    flags = ["--plain"] if plain else []
    pager = {"PAGER": "cat"}
    async with server, window("talk", "--server", server.url, *flags, environment=pager) as seen:
        await seen.sees("/help tells more" if plain else "ready")
        seen.type("count the tides\r")
        await seen.sees("y = yes" if plain else LATER[-1], *LATER)
        if plain:
            await seen.answer("y", "o = open all of the output")
            seen.type("o\r")
            await seen.sees("All of the output lies in")
            return
        seen.type("y")
        await seen.sees("o opens all of the output")
        seen.type("o")
        await seen.sees("the middle of the tide table")
        seen.type("once more\r")  # a word that only begins with o is a question
        await seen.sees("waiting for you")
    said = [heard.text for heard in conversation.heard if isinstance(heard, Text)]
    assert said == ["count the tides", "once more"]

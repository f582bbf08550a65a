"""The words in real pictures, read in the real sandbox."""

import io
import struct
import zlib
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from sayso.server.agent.record.picture_words import UnreadablePicture
from sayso.server.capabilities.ocr.picture_text import PictureText
from sayso.server.runtimes.sandbox.self_test.proof import candidates
from tests.machine import lacking

pytestmark = pytest.mark.thorough

LINES = (
    "Invoice 2026-118 of the Harbour Library",
    "Due on Friday, 4 December 2026",
    "Total: 48.50 EUR",
)


@pytest.fixture
async def reading(tmp_path: Path) -> AsyncIterator[PictureText]:
    if not all(find_spec(name) for name in ("rapidocr", "PIL")):
        lacking("reading pictures needs sayso[ocr]")
    sandbox = next(candidates())
    made = PictureText(lambda: sandbox, tmp_path / "ocr")
    yield made
    await made.close()


def picture(lines: tuple[str, ...] = LINES, form: str = "PNG", size: int = 20) -> bytes:
    from PIL import Image, ImageDraw, ImageFont

    drawn = Image.new("RGB", (900, 60 + 50 * len(lines)), "white")
    pen = ImageDraw.Draw(drawn)
    for number, line in enumerate(lines):
        pen.text((40, 30 + 50 * number), line, "black", ImageFont.load_default(size))
    out = io.BytesIO()
    drawn.save(out, form)
    return out.getvalue()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
async def test_printed_lines_are_read_in_their_order(reading: PictureText, form: str) -> None:
    told = (await reading.read(picture(form=form))).splitlines()
    assert [line.replace(" ", "") for line in told] == [line.replace(" ", "") for line in LINES]
    assert await reading.read(picture(("Once more",), form)) == "Once more"


async def test_a_picture_without_words_has_none(reading: PictureText) -> None:
    assert await reading.read(picture(())) == ""


async def test_a_trap_for_whoever_decodes_it_ends_in_a_sentence(reading: PictureText) -> None:
    with pytest.raises(UnreadablePicture, match="can't be decoded"):
        await reading.read(b"\x89PNG\r\n\x1a\nnothing")
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0)
    huge = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")):
        body = kind + data
        huge += struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    with pytest.raises(UnreadablePicture):
        await reading.read(huge)
    assert await reading.read(picture(("Still here",))) == "Still here"


async def test_without_a_sandbox_none_is_decoded(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePicture, match="no sandbox"):
        await PictureText(lambda: None, tmp_path).read(b"x")

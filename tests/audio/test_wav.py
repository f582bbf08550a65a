"""Any WAV file comes in as speech, and what goes out is a WAV file that others read."""

import math
import struct
import wave
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.audio.errors import BadSound
from sayso.audio.pcm import RATE, level, samples_in
from sayso.audio.wav import Writer, parse, read_speech, write

HERTZ = 440
Pack = Callable[[float], bytes]

FORMATS: dict[str, tuple[int, int, Pack]] = {
    "8 bits": (1, 8, lambda v: struct.pack("<B", round(v * 127) + 128)),
    "16 bits": (1, 16, lambda v: struct.pack("<h", round(v * 32_767))),
    "24 bits": (1, 24, lambda v: struct.pack("<i", round(v * 8_388_607))[:3]),
    "32 bits": (1, 32, lambda v: struct.pack("<i", round(v * 2_147_483_647))),
    "float": (3, 32, lambda v: struct.pack("<f", v)),
    "double": (3, 64, lambda v: struct.pack("<d", v)),
}


def riff(*chunks: tuple[bytes, bytes, int | None]) -> bytes:
    """A file of chunks; a size of one's own may be a lie."""
    body = b"WAVE"
    for name, content, size in chunks:
        body += name + struct.pack("<I", len(content) if size is None else size) + content
        body += b"\0" * (len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def description(code: int, channels: int, rate: int, bits: int) -> tuple[bytes, bytes, None]:
    frame = channels * bits // 8
    return b"fmt ", struct.pack("<HHIIHH", code, channels, rate, rate * frame, frame, bits), None


def tone(pack: Pack, rate: int, channels: int, seconds: float = 0.5) -> bytes:
    samples = (math.sin(2 * math.pi * HERTZ * n / rate) * 0.5 for n in range(int(rate * seconds)))
    return b"".join(pack(sample) * channels for sample in samples)


def crossings(pcm: bytes) -> int:
    """How often the sound passes zero upwards: once for each period of a tone."""
    samples = struct.unpack(f"<{samples_in(pcm)}h", pcm)
    return sum(a < 0 <= b for a, b in pairwise(samples))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sound.wav"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 192_000])
def test_every_format_comes_in_as_the_same_tone(
    path: Path, name: str, channels: int, rate: int
) -> None:
    code, bits, pack = FORMATS[name]
    data = tone(pack, rate, channels)
    path.write_bytes(riff(description(code, channels, rate, bits), (b"data", data, None)))
    pcm = read_speech(path)
    assert samples_in(pcm) == pytest.approx(RATE / 2, abs=3)
    assert crossings(pcm) == pytest.approx(HERTZ / 2, abs=3)
    assert level(pcm).peak == pytest.approx(-6.0, abs=0.5)


def test_a_stereo_file_is_mixed_and_not_halved_to_one_side(path: Path) -> None:
    data = b"".join(struct.pack("<hh", 8_000, 4_000) for _ in range(100))
    path.write_bytes(riff(description(1, 2, RATE, 16), (b"data", data, None)))
    assert set(struct.unpack("<100h", read_speech(path))) == {6_000}


def test_the_extensible_wrapping_is_opened(path: Path) -> None:
    fields = struct.pack("<HHIIHH", 0xFFFE, 1, RATE, RATE * 4, 4, 32)
    fields += struct.pack("<HHI", 22, 32, 4) + struct.pack("<H", 3) + b"\0" * 14
    data = struct.pack("<f", 0.5) * 320
    path.write_bytes(riff((b"fmt ", fields, None), (b"data", data, None)))
    assert set(struct.unpack("<320h", read_speech(path))) == {16_384}


def test_chunks_that_say_nothing_of_the_sound_are_passed_over(path: Path) -> None:
    data = struct.pack("<h", 7) * 320
    odd = (b"LIST", b"odd", None)
    path.write_bytes(riff(odd, description(1, 1, RATE, 16), odd, (b"data", data, None), odd))
    assert read_speech(path) == data


@pytest.mark.parametrize("claimed", [0, 0xFFFFFFFF, 10_000_000])
def test_a_header_that_lies_about_the_length_is_not_believed(path: Path, claimed: int) -> None:
    data = struct.pack("<h", 7) * 320
    path.write_bytes(riff(description(1, 1, RATE, 16), (b"data", data, claimed)))
    assert read_speech(path) == data


def test_half_a_frame_at_the_end_is_dropped(path: Path) -> None:
    data = struct.pack("<h", 7) * 321 + b"\x01"
    path.write_bytes(riff(description(1, 2, RATE, 16), (b"data", data, len(data))))
    assert samples_in(read_speech(path)) == 160


def test_a_float_file_may_hold_anything(path: Path) -> None:
    values = (float("nan"), float("inf"), float("-inf"), 3.0, -0.5)
    path.write_bytes(
        riff(description(3, 1, RATE, 32), (b"data", struct.pack("<5f", *values), None))
    )
    assert struct.unpack("<5h", read_speech(path)) == (0, 32_767, -32_768, 32_767, -16_384)


def test_an_empty_recording_is_empty_and_no_error(path: Path) -> None:
    path.write_bytes(riff(description(1, 1, 44_100, 16), (b"data", b"", None)))
    assert read_speech(path) == b""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "not a WAV file"),
        (b"ID3\x04" + b"\0" * 100, "is MP3 and not a WAV file"),
        (b"fLaC" + b"\0" * 100, "is FLAC and not a WAV file"),
        (b"\0" * 640, r"no header.*name it \.raw"),
        (riff(description(1, 1, RATE, 16)), "holds no sound"),
        (riff((b"data", b"\0\0", None)), "what format"),
        (riff(description(7, 1, 8_000, 8), (b"data", b"\0\0", None)), "format 7"),
        (riff(description(1, 1, RATE, 12), (b"data", b"\0\0", None)), "12 bits"),
        (riff(description(1, 0, RATE, 16), (b"data", b"\0\0", None)), "0 channels"),
        (riff(description(1, 99, RATE, 16), (b"data", b"\0\0", None)), "99 channels"),
        (riff(description(1, 1, 7, 16), (b"data", b"\0\0", None)), "7 samples a second"),
        (riff(description(1, 1, 10**6, 16), (b"data", b"\0\0", None)), "1000000 samples"),
    ],
)
def test_what_is_no_speech_is_refused_in_one_sentence(
    path: Path, content: bytes, told: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(BadSound, match=told) as refused:
        read_speech(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(BadSound, match=r"nothing\.wav cannot be read: no such file"):
        read_speech(tmp_path / "nothing.wav")


@given(st.binary(max_size=200))
def test_any_bytes_are_sound_or_a_sentence(raw: bytes) -> None:
    for content in (raw, b"RIFF\0\0\0\0WAVE" + raw):
        with suppress(BadSound):
            parse(content)


def test_what_is_written_is_read_by_others(path: Path) -> None:
    write(path, struct.pack("<h", 7) * 500, 22_050)
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 22_050)
        assert file.readframes(1000) == struct.pack("<h", 7) * 500


def test_sound_at_another_rate_is_converted_to_the_first(path: Path) -> None:
    pack = FORMATS["16 bits"][2]
    with Writer(path) as writer:
        writer.append(b"", 8_000)
        writer.append(tone(pack, 22_050, 1), 22_050)
        writer.append(tone(pack, 48_000, 1), 48_000)
    with wave.open(str(path)) as file:
        assert file.getframerate() == 22_050
        assert file.getnframes() == pytest.approx(22_050, abs=3)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadSound, match="cannot be written"):
        Writer(tmp_path / "no" / "such" / "folder.wav")

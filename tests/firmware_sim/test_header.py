"""The C header is the protocol's: made from it, free of warnings, and able to read it."""

import subprocess
from pathlib import Path

import pytest

from sayso.firmware_sim.wire_header import header
from sayso.protocol.codec import Unknown, decode
from sayso.protocol.errors import ProtocolError
from sayso.protocol.frames import HEADER, HEADER_BYTES, LAST
from tests.machine import needed
from tests.protocol import transcripts
from tests.repository.tree import ROOT

INCLUDE = ROOT / "firmware-sim" / "include"
READER = ROOT / "tests" / "firmware_sim" / "read_golden.c"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C program, with every warning an error."""
    compiler = needed("gcc", "gcc libc6-dev")
    program = tmp_path_factory.mktemp("c") / "read_golden"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]
    command = [compiler, *flags, "-I", str(INCLUDE), str(READER), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    return program


def test_the_header_is_what_the_protocol_says() -> None:
    assert (INCLUDE / "sayso_wire.h").read_text() == header(), (
        "run `python -m sayso.firmware_sim.wire_header firmware-sim/include/sayso_wire.h`"
    )


@pytest.mark.parametrize("name", transcripts.names())
def test_c_reads_a_golden_transcript_as_the_reference_does(reader: Path, name: str) -> None:
    transcript = transcripts.GOLDEN.joinpath(f"{name}.jsonl").read_bytes()
    read = subprocess.run([reader], input=transcript, capture_output=True, check=True)
    seen = read.stdout.decode().splitlines()
    expected = [_line(line) for line in transcripts.read(name)]
    assert len(seen) == len(expected)
    for was, should in zip(seen, expected, strict=True):
        assert should in {None, was}


def _line(line: transcripts.Line) -> str | None:
    """What C should say of it; none where the reference refuses what C can read."""
    if isinstance(line, transcripts.Close):
        return f"close {line.code}"
    if isinstance(line.data, bytes):
        return _sound(line.direction, line.data)
    try:
        envelope = decode(line.data)
    except ProtocolError:
        return None
    name = envelope.message.name if isinstance(envelope.message, Unknown) else None
    place = [-1 if n is None else n for n in (envelope.seq, envelope.turn, envelope.gen)]
    from sayso.protocol.messages import NAMES

    known = name or NAMES[type(envelope.message)]  # type: ignore[index]
    unknown = " unknown" if name else ""
    return f"{line.direction} {known} seq {place[0]} turn {place[1]} gen {place[2]}{unknown}"


def _sound(direction: str, data: bytes) -> str:
    if len(data) < HEADER_BYTES:
        return f"{direction} short"
    kind, flags, stream, seq, first = HEADER.unpack_from(data)
    size = len(data) - HEADER_BYTES
    last = " last" if flags & LAST else ""
    where = f"stream {stream} seq {seq} first {first} bytes {size}"
    return f"{direction} sound kind {kind} {where}{last}"

"""Reads golden transcripts: what two ends said to each other, one line of JSON for each frame.

    {"note": "for people who read along"}
    {"dir": "up" | "down", "text": "…"}                     a text frame
    {"dir": "up" | "down", "hex": "0100…", "zeros": 640}    a binary frame; zero bytes may follow
    {"close": 1000}                                         the connection ends; 1006: it is cut

A line may say more of itself:

    "wrong": "invalid"      it breaks the protocol; the answer is an `error` of this code.
                            "ignored": it breaks an order rule, and there is no answer
    "canonical": "…"        how the reference codec writes what this line says in another way
"""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame on its way."""

    place: str
    """File and line, for whoever looks for it."""
    direction: Literal["up", "down"]
    data: str | bytes
    canonical: str | bytes
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Close:
    """The end of a connection."""

    place: str
    code: int


Line = Frame | Close

GOLDEN = files("sayso.protocol").joinpath("golden")


def names() -> list[str]:
    """Every golden transcript, without its ending."""
    found = (entry.name for entry in GOLDEN.iterdir())
    return sorted(name.removesuffix(".jsonl") for name in found if name.endswith(".jsonl"))


def read(name: str) -> list[Line]:
    """One transcript, without its notes."""
    text = GOLDEN.joinpath(f"{name}.jsonl").read_text(encoding="utf-8")
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = json.loads(line)
        if "note" not in fields:
            lines.append(_line(f"{name}.jsonl:{number}", fields))
    return lines


def _line(place: str, fields: dict[str, object]) -> Line:
    match fields:
        case {"close": int(code), **rest}:
            _nothing_else(place, rest)
            return Close(place, code)
        case {"dir": "up" | "down" as direction, "text": str(text), **rest}:
            canonical, wrong = str(rest.pop("canonical", text)), str(rest.pop("wrong", ""))
            _nothing_else(place, rest)
            return Frame(place, direction, text, canonical, wrong)
        case {"dir": "up" | "down" as direction, "hex": str(digits), **rest}:
            zeros, wrong = rest.pop("zeros", 0), str(rest.pop("wrong", ""))
            assert isinstance(zeros, int)
            _nothing_else(place, rest)
            data = bytes.fromhex(digits) + bytes(zeros)
            return Frame(place, direction, data, data, wrong)
        case _:
            raise ValueError(f"{place}: not a line of a transcript")


def _nothing_else(place: str, rest: dict[str, object]) -> None:
    if rest:
        raise ValueError(f"{place}: unknown keys {sorted(rest)}")

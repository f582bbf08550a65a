"""The corpus: what fuzzing found worth trying again, a line of bytes for each input.

One text file for each target, so that a change is read like any other. Kept is what reaches an
edge of our own code that no shorter input reaches.
"""

import ast
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

FOLDER = Path(__file__).with_name("corpus")
LONGEST = 600
"""Bytes of an input that is kept."""

Edge = tuple[CodeType, int, int]


def kept(target: str) -> list[bytes]:
    """What is in the tree."""
    lines = (FOLDER / f"{target}.txt").read_text(encoding="ascii").splitlines()
    return [ast.literal_eval(f"b{line}") for line in lines]


def keep(target: str, inputs: Iterable[bytes]) -> None:
    """Write the corpus anew."""
    lines = sorted(repr(one)[1:] for one in inputs)
    (FOLDER / f"{target}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")


def distilled(run: Callable[[bytes], None], inputs: Iterable[bytes]) -> list[bytes]:
    """Of these, the shortest that reach together what all of them reach."""
    reached: set[Edge] = set()
    chosen = []
    for one in sorted(set(inputs), key=lambda one: (len(one), one)):
        edges = set() if len(one) > LONGEST else _edges(run, one)
        if edges - reached:
            reached |= edges
            chosen.append(one)
    return chosen


def _edges(run: Callable[[bytes], None], data: bytes) -> set[Edge]:
    """Which line followed on which, in code of ours."""
    edges: set[Edge] = set()

    def follow(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if not frame.f_globals.get("__name__", "").startswith("sayso."):
            return None
        before = frame.f_lineno

        def line(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
            nonlocal before
            edges.add((frame.f_code, before, frame.f_lineno))
            before = frame.f_lineno
            return line

        return line

    sys.settrace(follow)
    try:
        run(data)
    finally:
        sys.settrace(None)
    return edges

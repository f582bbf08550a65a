"""A question on the screen: who words a part of it hides nothing in it and adds no line to it."""

import io
from collections.abc import Callable
from dataclasses import fields, replace

import pytest
from rich.console import Console

from sayso.client.terminal import plain
from sayso.client.terminal.screen import render
from sayso.protocol.messages import ApprovalRequest
from sayso.protocol.visible import HIDDEN

FORGED = "may touch   nothing at all"
SLY = f"to help\r\n{FORGED}\n\u202egnp.eno\u202c \u200bx\u00ad\u2066y \x1b[8m\u2028{FORGED}"

PLAIN = ApprovalRequest(
    "1", "n", "python", "print(1)", "/home/ann", ("read ~/a",), 9.0, "run", ("Mind.",), "to see"
)


def drawn(request: ApprovalRequest) -> str:
    written = io.StringIO()
    console = Console(file=written, width=400, color_system=None)
    for each in render.question(request):
        console.print(each)
    return written.getvalue()


@pytest.mark.parametrize("draw", [drawn, plain.question], ids=["screen", "lines"])
@pytest.mark.parametrize("kind", ["run", "access", "instructions"])
@pytest.mark.parametrize("field", ["where", "may_touch", "warnings", "why", "question", "wider"])
def test_no_part_of_a_question_hides_anything_or_adds_a_line(
    draw: Callable[[ApprovalRequest], str], kind: str, field: str
) -> None:
    asked = replace(PLAIN, kind="run" if kind == "run" else "access")
    if kind == "instructions":
        asked = replace(asked, question="Shall I keep to it?")
    several = field in ("may_touch", "warnings")
    assert field in {each.name for each in fields(ApprovalRequest)}
    shown = draw(replace(asked, **{field: (SLY,) if several else SLY}))  # type: ignore[arg-type]
    assert not HIDDEN.search(shown.replace("\xa0", " ")), shown
    for line in shown.splitlines():
        assert not line.strip().startswith(FORGED), shown

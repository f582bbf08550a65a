"""One reply of a model, however its deltas come."""

from collections.abc import Sequence

import pytest

from sayso.server.agent.llm.model import Delta, TextDelta, ToolCallDelta
from sayso.server.agent.parsing.markdown_reader import Fences
from sayso.server.agent.parsing.reply_parser import ReplyParser
from sayso.server.agent.tools.run_code import RunCode
from sayso.server.agent.tools.toolbox import Toolbox
from sayso.server.store.records import Answered
from tests.agent.permissions.places import Described

CALL = '{"language": "python", "code": "print(1)"}'


def listen(deltas: Sequence[Delta], fences: Fences = "run", begun: str = "") -> Answered:
    tools = Toolbox(RunCode(Described("python")))
    listener = ReplyParser(tools, fences, begun)
    said = "".join(listener.take(delta) for delta in deltas) + listener.finish()
    answer = listener.answer(lambda _: False)
    assert answer.text == said
    return answer


def code(answer: Answered) -> list[str]:
    return [call.code for call in answer.calls]


def test_a_call_that_is_made_and_then_printed_counts_once() -> None:
    answer = listen([ToolCallDelta(0, "id", "execute", CALL), TextDelta(CALL)], "show")
    assert code(answer) == ["print(1)"]
    assert answer.calls[0].given_id == "id"


@pytest.mark.parametrize(
    "reply",
    ["6 * 7)\n```", "```python\nprint(6 * 7)\n```", "6 * 7)\n```\nThat is 42.", "6 * 7)"],
    ids=["goes on", "begins anew", "says more", "is cut off"],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_reply_that_was_begun_for_the_model_is_whole_again(reply: str, size: int) -> None:
    pieces = [TextDelta(reply[at : at + size]) for at in range(0, len(reply), size)]
    answer = listen(pieces, begun="```python\nprint(")
    assert code(answer) == ["print(6 * 7)"]
    assert answer.calls[0].written.startswith("```python\nprint(6 * 7)")


def test_a_reply_may_be_begun_to_its_end() -> None:
    answer = listen([TextDelta("\n"), TextDelta("```")], begun="```python\nprint(1)")
    assert code(answer) == ["print(1)"]


def test_where_nothing_runs_everything_is_text() -> None:
    for text in ("```python\nprint(1)\n```", CALL, "```python print(1)```"):
        assert listen([TextDelta(text)], "nothing runs") == Answered(text)

"""Long outputs are kept whole, and the model reads what was left out of them page by page."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.server.agent.events import ApprovalRequest, CodeStart
from sayso.server.agent.parsing.markdown_reader import Code, MarkdownReader, Piece, Prose
from sayso.server.agent.prompt.language_names import Languages
from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.run_outputs import KEPT_CHARS, RunOutputs
from sayso.server.agent.tools.output_page_syntax import Page, read_arguments, read_line
from sayso.server.agent.tools.read_output import ReadOutput, read_page
from sayso.server.runtimes.runtime import Output
from sayso.server.store.records import RunReported
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, runs, says

FILES = ("abcd1.txt", "abcd1-1.png")
COUNT = "for number in range(4_000): print(number, end=' ')"
WHOLE = "".join(f"{number} " for number in range(4_000))


@pytest.mark.parametrize("calls_tools", ["yes", "no"])
async def test_a_model_pages_through_a_long_output(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(
        runs(COUNT), says("It is long."), calls_tools=calls_tools, mode="workspace"
    )
    await rig.ask(agent, "count")
    (run,) = [report.run for report in await rig.records(RunReported)]
    told = rig.sent()[-1]["content"]
    assert f"left out here: read them as output {run}]" in told

    def page(name: str, start: int, end: int) -> Reply:
        if calls_tools == "no":
            return says(f"I look.\n```output\n{name} {start} {end}\n```\n")
        return Reply(calls=[{"name": "output", "arguments": Page(name, start, end).arguments}])

    mark = told[len("<output ") :].partition(">")[0]  # by which a model may well call it
    rig.model.add(page(mark, 5_000, 5_040), page(run, 99_999, 100_050), says("Found."))
    said = await rig.ask(agent, "what was in the middle")
    assert said.strip().endswith("Found.")
    pages = [message.get("content", "") for message in rig.sent()]
    assert f"[characters 5000 to 5040 of {len(WHOLE)}]\n{WHOLE[5_000:5_040].strip()}" in pages[-3]
    assert f"There is nothing: output {run} has {len(WHOLE)} characters." in pages[-1]
    assert rig.told(ApprovalRequest) == []
    assert rig.told(CodeStart) == []


async def test_an_output_that_is_not_there_is_said(rig: AgentRig) -> None:
    agent = await rig.agent(
        Reply(calls=[{"name": "output", "arguments": Page("feedbeef", 0, 9).arguments}]),
        says("Sorry."),
    )
    assert await rig.ask(agent, "go") == "Sorry."
    assert "no output feedbeef in this conversation" in rig.sent()[-1]["content"]


async def test_a_flood_is_kept_up_to_its_bound_and_old_ones_make_room(rig: AgentRig) -> None:
    outputs = RunOutputs(rig.folder / "o")
    recording = outputs.record("abcd1", 10)
    for _ in range(9):
        await recording.take(Output("stdout"), "x" * 1_000_000)
    await recording.finish()
    assert await outputs.read("abcd1") == "x" * KEPT_CHARS
    short = outputs.record("abcd2", 10)
    await short.take(Output("stdout"), "short")
    await short.finish()
    assert await outputs.read("abcd2") is None
    assert await outputs.read("../../etc/passwd") is None


async def test_what_is_kept_is_for_its_owner_alone(rig: AgentRig) -> None:
    recording = RunOutputs(rig.folder / "o").record("abcd1", 10)
    await recording.take(Output("display", data=b"picture", mime="image/png"), "a picture")
    await recording.take(Output("stdout"), "what was printed")
    await recording.finish()
    kept = [(rig.folder / "o" / name).stat().st_mode & 0o777 for name in FILES]
    assert kept == [0o600, 0o600]


# How it is written.


@given(st.integers(0, 10**8), st.integers(0, 10**8))
def test_both_ways_of_asking_for_a_page_are_read_back(start: int, end: int) -> None:
    page = Page("a1b2c3d4e", start, end)
    assert read_line(page.line) == page
    assert read_arguments(page.arguments) == page


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"id": "a"}', '{"id":1,"from":"x","to":2}'])
def test_what_is_no_page_is_none(text: str) -> None:
    assert read_arguments(text) is None
    assert read_line(text) is None


def read(text: str, step: int) -> list[Piece]:
    reader = MarkdownReader(Languages(("python",), perhaps={"output": ReadOutput().read_fence}))
    pieces = [
        piece
        for start in range(0, len(text), step)
        for piece in reader.feed(text[start : start + step])
    ]
    return [*pieces, *reader.finish()]


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_fence_of_output_is_shown_unless_it_asks_for_a_page(step: int) -> None:
    asked = read("Let me see.\n```output\na1b2c3d4e 10 20\n```\nmore", step)
    assert asked[-1] == Code("output", "a1b2c3d4e 10 20", "```output\na1b2c3d4e 10 20\n```")
    text = "It says:\n```output\n42 files\n```\nso many."
    shown = read(text, step)
    assert "".join(piece.text for piece in shown if isinstance(piece, Prose)) == text


# Pictures.


async def test_a_model_that_sees_is_shown_what_was_drawn_and_another_is_not(rig: AgentRig) -> None:
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    agent = await rig.agent(
        runs(draw), says("A line."), model=rig.litellm("yes", sees="yes"), mode="workspace"
    )
    await rig.ask(agent, "plot")
    (_, image) = rig.sent()[-1]["content"]
    assert rig.sent()[-1]["role"] == "user"
    assert rig.sent()[-2]["role"] == "tool"
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    blind = await rig.agent(says("I was told."), model=rig.litellm("no"))
    await rig.ask(blind, "and now")
    assert "image_url" not in str(rig.sent())


KEY = "sk-proj-abcDEF0123456789abcDEF"


async def test_no_secret_that_code_prints_reaches_the_model(rig: AgentRig) -> None:
    agent = await rig.agent(
        runs(f"print('the key:', {KEY[:5]!r} + {KEY[5:]!r})"), says("Done."), mode="workspace"
    )
    await rig.ask(agent, "what is my key")
    assert KEY in rig.output
    assert "[redacted]" in rig.sent()[-1]["content"]
    assert KEY not in str(rig.model.requests[-1].body)


async def test_no_page_of_a_long_output_shows_a_part_of_a_secret(rig: AgentRig) -> None:
    code = f"print('x' * 9_000, end=' '); print({KEY[:5]!r} + {KEY[5:]!r}, 'y' * 9_000)"
    agent = await rig.agent(runs(code), says("Done."), mode="workspace")
    await rig.ask(agent, "print it")
    (report,) = await rig.records(RunReported)
    history = History([event.record for event in await rig.log.conversation("kitchen talk")])
    outputs = RunOutputs(rig.folder / "outputs")
    for start in range(8_980, 9_040):
        page = await read_page(f"{report.run} {start} {start + 20}", history, outputs)
        assert not any(KEY[at : at + 6] in page for at in range(len(KEY) - 6))

"""What a screen that comes later is told: all that was shown, in its order and bounded."""

from pathlib import Path

from sayso.protocol import messages as m
from sayso.server.agent.record.kept_results import RESULTS_OF_A_RUN
from sayso.server.agent.record.run_outputs import RunOutputs
from sayso.server.agent.record.screen_turns import ScreenTurn, screen_turns
from sayso.server.conversations.files.artifacts import Artifacts
from sayso.server.conversations.shown_messages import (
    OUTPUT_CHARS,
    TURN_CHARS,
    TURN_MESSAGES,
    ShownMessages,
)
from sayso.server.conversations.transcript import Transcript
from sayso.server.runtimes.runtime import Output
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    Asked,
    Call,
    ConversationReset,
    CutOff,
    Failed,
    Heard,
    RunIntended,
    RunReported,
    Uttered,
    Withdrawn,
)
from sayso.server.store.steering import SaidBeside, Steered
from tests.server.running_server import running_server

RUN = (
    Asked("draw the rain"),
    Answered("Let me see.", (Call("a1", "python", "plot()"),)),
    ApprovalClosed("q1", "a1", "yes", "phone"),
    RunIntended("a1", "python", "plot()"),
    RunReported("a1", "ok", 0.5, output="4.2\n"),
    Answered("There it is."),
)


def names(turn: ScreenTurn) -> list[str]:
    return [m.NAMES[type(message)] for message in turn.shown]


def test_a_turn_is_told_in_the_order_in_which_it_was_shown() -> None:
    (turn,) = screen_turns(RUN)
    assert turn.said == "draw the rain"
    order = ["reply.delta", "approval.done", "code.start", "code.out", "code.end", "reply.delta"]
    assert names(turn) == order
    assert turn.shown[1] == m.ApprovalDone("q1", "yes", "phone")


def test_what_was_answered_without_a_model_and_what_rang_is_told_too() -> None:
    turns = screen_turns(
        [
            SaidBeside("It is noon.", "what time is it"),
            *RUN,
            SaidBeside("Your timer is over."),
            Asked("and"),
            Steered("quickly"),
        ]
    )
    assert [turn.said for turn in turns] == ["what time is it", "draw the rain", "and\nquickly"]
    assert turns[0].shown == [m.ReplyDelta("It is noon.")]
    assert turns[1].shown[-1] == m.Announce("Your timer is over.")


def test_words_that_were_taken_back_and_what_was_reset_are_told_no_more() -> None:
    (turn,) = screen_turns([Asked("half a"), Withdrawn("half a"), Asked("half a sentence")])
    assert turn.said == "half a sentence"
    assert screen_turns([*RUN, ConversationReset()]) == ()


def test_an_answer_that_was_cut_short_stands_there_whole_and_one_that_broke_as_far_as_it_came() -> (
    None
):
    told, broke, failed = screen_turns(
        [
            *(Asked("one"), Answered("All of it."), Heard("All")),
            *(Asked("two"), Uttered("Half of "), Uttered("it"), CutOff()),
            *(Asked("three"), Failed("The model is away.")),
        ]
    )
    assert told.shown == [m.ReplyDelta("All of it.")]
    assert broke.shown == [m.ReplyDelta("Half of it")]
    assert failed.shown == [m.Error("model_failed", "The model is away.")]


def test_a_run_whose_end_nobody_noted_does_not_go_on_for_ever() -> None:
    (turn,) = screen_turns(RUN[:4])
    end = turn.shown[-1]
    assert isinstance(end, m.CodeEnd)
    assert end.status == "unknown"


def test_only_what_is_shown_is_kept_and_pieces_of_one_text_are_one() -> None:
    shown = ShownMessages()
    for message in (
        m.TurnState("idle", "thinking", "silent"),
        *(m.ReplyDelta("It "), m.ReplyDelta("is")),
        *(m.CodeStart("a", "python", "1"), m.CodeOut("a", "stdout", text="x")),
        *(m.CodeOut("a", "stdout", text="y"), m.CodeOut("a", "stderr", text="z")),
        m.Announce("Which one?", asks=True),
        m.Announce("psst", "low"),
        m.CodeEnd("a", "ok"),
    ):
        shown.add(message)
    told = shown.as_sent()
    assert [one["t"] for one in told] == [
        *("reply.delta", "code.start", "code.out", "code.out", "code.end")
    ]
    assert (told[0]["text"], told[2]["text"]) == ("It is", "xy")


def test_a_turn_that_shows_without_end_is_kept_within_a_bound_and_its_runs_end() -> None:
    shown = ShownMessages()
    shown.add(m.CodeStart("a", "python", "x" * 100_000))
    for number in range(3 * TURN_MESSAGES):
        shown.add(m.CodeOut("a", "display", "image/png", file=str(number)))
    for _ in range(200):
        shown.add(m.CodeOut("a", "stdout", text="y" * 10_000))
    shown.add(m.CodeEnd("a", "ok"))
    told = shown.as_sent()
    assert len(told) <= TURN_MESSAGES + 2
    assert sum(len(str(one)) for one in told) < TURN_CHARS + OUTPUT_CHARS
    assert told[-2]["t"] == "code.end"
    assert "More was shown" in told[-1]["text"]


def test_of_a_turn_that_is_full_no_end_is_kept_without_its_beginning() -> None:
    shown = ShownMessages()
    shown.add(m.CodeStart("kept", "python", "work()"))
    for number in range(3 * TURN_MESSAGES):
        shown.add(m.CodeStart(str(number), "python", "1"))
        shown.add(m.CodeEnd(str(number), "ok"))
    shown.add(m.CodeEnd("kept", "ok"))
    shown.add(m.CodeEnd("kept", "ok"))
    *told, left_out = shown.as_sent()
    assert len(told) <= TURN_MESSAGES + 2
    begun = [one["id"] for one in told if one["t"] == "code.start"]
    ended = [one["id"] for one in told if one["t"] == "code.end"]
    assert sorted(begun) == sorted(ended)
    assert "More was shown" in left_out["text"]


async def show(outputs: RunOutputs, run: str, *pieces: Output) -> None:
    recording = outputs.record(run, 1_000)
    for piece in pieces:
        await recording.take(piece, piece.text)
    await recording.finish()


async def test_plots_and_tables_are_there_again_between_the_words_around_them(
    tmp_path: Path,
) -> None:
    outputs = RunOutputs(tmp_path / "outputs")
    plot = Output("display", "a plot", "image/png", b"\x89PNG")
    table = Output("result", "a table", "text/html", b"<table></table>")
    text = (Output("stdout", "before\n"), Output("stdout", "between\n"), Output("stderr", "after"))
    await show(outputs, "a1", text[0], plot, text[1], table, text[2])
    kept = Artifacts()
    transcript = Transcript.of(screen_turns(RUN))
    (turn,) = await transcript.past(outputs, kept.of("", "main"))
    pieces = [one for one in turn["shown"] if one["t"] == "code.out"]
    told = [(one["kind"], one.get("mime"), one.get("text")) for one in pieces]
    assert told == [
        ("stdout", None, "before\n"),
        ("display", "image/png", "a plot"),
        ("stdout", None, "between\n"),
        ("result", "text/html", "a table"),
        ("stderr", None, "after"),
    ]
    found = kept.get(pieces[3]["file"], "")
    assert found
    assert (found.mime, found.content) == ("text/html", b"<table></table>")
    assert kept.get(pieces[3]["file"], "somebody else") is None
    again = await transcript.past(outputs, kept.of("", "main"))
    assert again == [turn]


async def test_a_run_that_shows_text_alone_leaves_no_list_and_a_flood_of_plots_is_bounded(
    tmp_path: Path,
) -> None:
    outputs = RunOutputs(tmp_path)
    await show(outputs, "a1", Output("stdout", "words"))
    assert not (await outputs.results(["a1"]))["a1"]
    plot = Output("display", "", "image/svg+xml", b"<svg/>")
    await show(outputs, "b2", *[plot] * 100)
    assert len((await outputs.results(["b2"]))["b2"]) == RESULTS_OF_A_RUN
    (tmp_path / "b2-r1.svg").unlink()
    assert len((await outputs.results(["b2"]))["b2"]) == RESULTS_OF_A_RUN - 1
    (tmp_path / "b2.json").write_text('[{"kind": "display", "file": "../../token"}]')
    assert not (await outputs.results(["b2"]))["b2"]


async def test_the_past_tells_what_was_answered_without_a_model_after_a_restart(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("hello")
        assert "UTC" in await desk.ask("what time is it in UTC") or desk.told
        here = server.conversations.open["main"]
        before = (await here.past())["turns"]
    async with running_server(tmp_path) as server:
        await server.device()
        past = (await server.conversations.open["main"].past())["turns"]
        assert [turn["said"] for turn in past] == ["hello", "what time is it in UTC"]
        assert [turn["shown"] for turn in past] == [turn["shown"] for turn in before]
        assert past[1]["reply"]


async def test_a_conversation_that_is_taken_up_tells_its_last_turns(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        for word in ("one", "two", "three"):
            await desk.ask(word)
        await desk.command("new", "Garden")
        assert (await desk.command("past")).text == "Nothing was said here before."
        taken_up = (await desk.command("resume", "main")).text
        assert "> two" in taken_up
        assert "> three\n5: three" in taken_up
        assert "> one" not in taken_up
        assert "> one" in (await desk.command("past")).text
        assert not (await desk.command("past", "all")).ok

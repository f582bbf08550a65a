"""What a day may use is counted over conversations and restarts, and its end is a question."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sayso.server.agent.events import CodeEnd, ReplyDelta, WorkDone
from sayso.server.agent.limits import RequestLimits
from sayso.server.agent.llm.litellm_model import LitellmModel
from sayso.server.agent.llm.model import ChatMessage, Endpoint
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.spending import CostEstimate, DailyLimits, DailySpending, says_yes
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobDetached
from sayso.server.store.records import Answered, Event, RunIntended, RunReported
from sayso.server.store.steering import DayExtended
from tests.agent.conftest import AgentRig
from tests.plain_model import PlainModel
from tests.scripted_model import Reply, runs, says
from tests.server.running_server import running_server


async def test_a_days_limit_ends_in_a_question_and_a_yes_lets_it_go_on(rig: AgentRig) -> None:
    rig.day = DailySpending(DailyLimits(tokens=100))
    rig.journal = await Journal.open(rig.log, "talk", rig.day.saw)
    agent = await rig.agent(
        Reply(says="One.", tokens=(90, 20)), Reply(says="Two.", tokens=(10, 1)), says("Three.")
    )
    assert await rig.ask(agent, "first") == "One."
    question = "Today has taken 0.0 million tokens so far. Shall I go on?"
    assert await rig.ask(agent, "second") == f"\n\n{question}"
    assert isinstance(rig.events[-1], WorkDone)
    assert len(rig.model.requests) == 1
    assert await rig.ask(agent, "what is it") == f"\n\n{question}"
    async with aclosing(agent.work("Yes, go on.", "radio", may_decide=False)) as events:
        said = [event.text async for event in events if isinstance(event, ReplyDelta)]
    assert "".join(said) == f"\n\n{question}"
    assert await rig.ask(agent, "Yes, go on.") == "Two."
    assert len(await rig.records(DayExtended)) == 1
    assert await rig.ask(agent, "and") == "Three."


async def test_a_days_limit_stops_in_the_middle_of_the_work_too(rig: AgentRig) -> None:
    rig.day = DailySpending(DailyLimits(steps=2))
    rig.journal = await Journal.open(rig.log, "talk", rig.day.saw)
    agent = await rig.agent(*(runs(f"print({n})") for n in range(3)), mode="workspace")
    said = await rig.ask(agent, "go")
    assert said == "\n\nI have run code 2 times today. Shall I go on?"
    assert len(rig.told(CodeEnd)) == 2


async def test_the_day_is_one_for_all_conversations_and_outlives_a_restart(tmp_path: Path) -> None:
    bounds = DailyLimits(tokens=3)
    async with running_server(tmp_path, day=bounds) as server:
        approvals = await server.device()
        assert await approvals.ask("tell me a story") == "1: tell me a story"  # three tokens
        await approvals.command("new", "other")
        assert "Shall I go on?" in await approvals.ask("tell me a story")
    async with running_server(tmp_path, day=bounds) as server:
        approvals = await server.device()
        assert "Shall I go on?" in await approvals.ask("tell me a story")
        assert await approvals.ask("yes please go on") != ""


async def test_a_new_day_begins_at_midnight(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    now = datetime(2026, 3, 1, 12).astimezone()
    yesterday, today = (now - timedelta(days=1)).timestamp(), now.timestamp()
    for when, tokens in ((yesterday, 500), (today, 30)):
        await log.append(Event("a", "model", Answered("x", tokens_in=tokens), time=when))
    await log.append(Event("b", "server", RunIntended("r", "python", "1"), time=today))
    await log.append(Event("b", "runtime", RunReported("r", "ok", seconds=4.0), time=today))
    clock = [today + 60]
    book = await DailySpending.open(log, DailyLimits(seconds=5), lambda: clock[0])
    assert (book.used.tokens, book.used.steps, book.used.seconds) == (30, 1, 4.0)
    book.saw(Answered("y", seconds=2.0))
    assert book.question == "I have worked for 0.0 hours today. Shall I go on?"
    clock[0] += 86_400
    assert book.question == ""
    await log.close()


async def test_a_night_in_the_background_is_not_the_next_days_time_after_a_restart(
    tmp_path: Path,
) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    now = datetime(2026, 3, 1, 12).astimezone().timestamp()
    records = ((now - 50_000, JobDetached("j", "r")), (now, RunReported("r", "ok", seconds=25_000)))
    for when, record in records:
        await log.append(Event("a", "runtime", record, time=when))
    book = await DailySpending.open(log, DailyLimits(), lambda: now)
    assert book.used.seconds == 0
    assert book.question == ""
    await log.close()


async def test_a_reply_that_is_left_at_its_fence_is_reckoned_with(rig: AgentRig) -> None:
    agent = await rig.agent(
        says("Let me work that out for you.\n```python\nprint(1)\n```\nOutput: 1"),
        Reply(says="One. " * 8, tokens=(400, 10)),
        says("Let me work that out for you.\n```python\nprint(1)\n```\nOutput: 1"),
        says("One."),
        calls_tools="no",
        mode="workspace",
        manner=profile("local-small"),
    )
    await rig.ask(agent, "go")
    first, second = await rig.records(Answered)
    assert first.tokens_in > 200
    assert 10 <= first.tokens_out <= 20
    assert (second.tokens_in, second.tokens_out) == (400, 10)
    assert second.seconds > 0


def test_a_guess_learns_from_what_was_reported() -> None:
    guess = CostEstimate()
    assert guess.tokens(400, 40) == (100, 10)
    guess.learn(900, 30, 300, 15)
    assert guess.tokens(900, 30) == (300, 15)


def test_a_yes_is_a_yes_and_nothing_else() -> None:
    for text in ("yes", "Yes, please.", "OK, go on!", "go ahead", "Sure, continue."):
        assert says_yes(text)
    for text in ("no", "yes but first delete it all", "what?", "", "yesterday"):
        assert not says_yes(text)


class _Dear(PlainModel):
    """A model of which every reply costs as much as a thousand tokens."""

    name = "dear"

    def __init__(self) -> None:
        self.asked = 0

    def price(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in + tokens_out) / 10_000

    def says(self, messages: Sequence[ChatMessage]) -> str:
        self.asked += 1
        return "word " * 400


async def test_what_a_step_would_cost_is_asked_about_before_it_is_made(rig: AgentRig) -> None:
    model = _Dear()
    agent = await rig.agent(model=model, bounds=RequestLimits(usd=0.01))
    said = await rig.ask(agent, "hello")
    assert said.strip().startswith("This alone would cost about 0.")
    assert said.endswith("Shall I go on?")
    assert model.asked == 0
    assert (await rig.ask(agent, "yes")).startswith("word")
    assert model.asked == 1
    assert (await rig.ask(agent, "and now")).endswith("Shall I go on?")
    assert model.asked == 1


async def test_a_days_money_is_asked_about_before_it_is_spent(rig: AgentRig) -> None:
    rig.day = DailySpending(DailyLimits(usd=0.01))
    rig.journal = await Journal.open(rig.log, "talk", rig.day.saw)
    model = _Dear()
    agent = await rig.agent(model=model)
    said = await rig.ask(agent, "hello")
    assert "Today has cost 0.00 dollars so far, and the next step would cost about" in said
    assert model.asked == 0
    await rig.ask(agent, "yes, go on")
    assert len(await rig.records(DayExtended)) == 1
    assert model.asked == 1


@pytest.mark.parametrize("times", [1, 3])
async def test_what_litellm_knows_of_prices_keeps_the_cost_below_its_limit(
    rig: AgentRig, times: int
) -> None:
    """0.0375 dollars a step, by litellm's own table."""
    steps = [replace(runs(f"print({number})"), tokens=(13_000, 500)) for number in range(9)]
    model = LitellmModel("openai/gpt-4o", Endpoint(rig.model.url, "some-key"), calls_tools="yes")
    bounds = RequestLimits(usd=0.0375 * times + 0.03)
    agent = await rig.agent(*steps, model=model, bounds=bounds, mode="workspace")
    said = await rig.ask(agent, "go")
    assert "and the next step would cost about 0.04 more. Shall I go on?" in said
    assert len(rig.model.requests) == times
    spent = sum(answered.usd or 0.0 for answered in await rig.records(Answered))
    assert spent == pytest.approx(0.0375 * times)
    assert spent < bounds.usd

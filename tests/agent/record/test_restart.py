"""After a crash the conversation is there, what was lost is said, and nothing runs twice."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    Call,
    Event,
    Record,
    RunReported,
)
from tests.agent.conftest import AgentRig
from tests.scripted_model import says

SERVER = """
import asyncio, sys
from pathlib import Path
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.events import ApprovalRequest, CodeStart
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.loop import Agent
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.llm.model import TextDelta
from sayso.server.runtimes.runtime import Output
from sayso.server.store.event_log import EventLog
from tests.agent.permissions.places import Ungranted

class Model:
    name, calls_tools, sees = "scripted", False, False
    def price(self, tokens_in, tokens_out):
        return None
    async def reply(self, messages, tools):
        yield TextDelta("I do it.\\n```python\\nopen('done', 'a').write('x')\\n```\\n")

class Workshop(Ungranted):
    languages, where, refusal = ("python",), "/w", ""
    def may_touch(self, language):
        return ()
    async def run(self, language, code):
        with Path(sys.argv[1], "done").open("a") as file:
            file.write("x")
        yield Output("stdout", "begun")
        await asyncio.Event().wait()

async def main():
    log = await EventLog.open(Path(sys.argv[1], "log.db"))
    journal = await Journal.open(log, "talk")
    approvals = Approvals(journal)
    agent = Agent(
        Backend(Model(), profile("default")), Workshop(), approvals, ConversationRecord(journal)
    )
    async for event in agent.work("do it"):
        print(type(event).__name__, flush=True)
        if isinstance(event, ApprovalRequest) and sys.argv[2] == "yes":
            approvals.answer(event.id, event.nonce, "yes", None, "kitchen")

asyncio.run(main())
"""


def crash(folder: Path, answer: str, at: str) -> None:
    """Let a server work until it tells `at`, and kill it there."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder), answer], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    for line in server.stdout:
        if line.strip() == at:
            break
    server.send_signal(signal.SIGKILL)
    server.stdout.close()
    server.wait(10)


async def goes_on(rig: AgentRig, folder: Path) -> tuple[list[Record], list[dict[str, str]]]:
    """Open the log again, ask what happened; the records, and what the model was sent."""
    log = await EventLog.open(folder / "log.db")
    journal = await Journal.open(log, "talk")
    rig.model.add(says("I do not know."))
    agent = Agent(
        Backend(rig.litellm("no"), profile("default")),
        await rig.code_runner(),
        Approvals(journal),
        ConversationRecord(journal),
    )
    async for _ in agent.work("what happened"):
        pass
    records = [event.record for event in await log.conversation("talk")]
    await log.close()
    return records, list(rig.sent())


@pytest.mark.parametrize("times", [1, 2])
async def test_a_run_that_did_not_report_is_unknown_and_not_run_again(
    rig: AgentRig, tmp_path: Path, times: int
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    await asyncio.to_thread(crash, folder, "yes", "CodeOut")
    for _ in range(times):
        records, sent = await goes_on(rig, folder)
    reports = [record for record in records if isinstance(record, RunReported)]
    assert [report.status for report in reports] == ["unknown"]
    assert "what it did is unknown" in sent[2]["content"]
    assert (folder / "done").read_text() == "x"


async def test_a_question_that_was_open_is_withdrawn_and_its_code_has_not_run(
    rig: AgentRig, tmp_path: Path
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    await asyncio.to_thread(crash, folder, "silence", "ApprovalRequest")
    records, sent = await goes_on(rig, folder)
    (closed,) = [record for record in records if isinstance(record, ApprovalClosed)]
    (report,) = [record for record in records if isinstance(record, RunReported)]
    assert (closed.decision, report.status) == ("cancelled", "refused")
    assert "did not run" in sent[2]["content"]
    assert not (folder / "done").exists()


async def test_a_question_of_which_the_disk_kept_no_end_is_not_put_again_after_other_requests(
    tmp_path: Path,
) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    call = Call("r1", "python", "print(1)")
    opened = ApprovalOpened("a1", "r1", "python", "print(1)", "/w", (), "b", 120.0)
    since = (Asked("how are you"), Answered("Fine."))
    for records, waits in (((Asked("do it"), Answered("", (call,)), opened), True), (since, False)):
        for record in records:
            await log.append(Event("talk", "server", record))
        journal = await Journal.open(log, "talk")
        assert (journal.waits, bool(journal.history.open_acts)) == (waits, waits)
    closed, report = [event.record for event in await log.conversation("talk")][-2:]
    assert isinstance(closed, ApprovalClosed)
    assert isinstance(report, RunReported)
    assert (closed.decision, report.status) == ("cancelled", "refused")
    await log.close()


async def test_what_was_said_before_the_restart_is_remembered(
    rig: AgentRig, tmp_path: Path
) -> None:
    agent = await rig.agent(says("Your cat is called Tom."))
    await rig.ask(agent, "my cat is called Tom")
    again = await Journal.open(rig.log, rig.journal.conversation)
    assert again.history.exchanges == rig.journal.history.exchanges


@pytest.mark.parametrize(
    "at", ["ReplyDelta", "ApprovalRequest", "ApprovalDone", "CodeStart", "CodeOut"]
)
async def test_killed_at_any_moment_code_runs_once_at_most_and_the_talk_goes_on(
    rig: AgentRig, tmp_path: Path, at: str
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    answer = "silence" if at == "ApprovalRequest" else "yes"
    await asyncio.to_thread(crash, folder, answer, at)
    log = await EventLog.open(folder / "log.db")
    journal = await Journal.open(log, "talk")
    rig.approvals = Approvals(journal)
    rig.model.add(says("It is done."))
    agent = Agent(
        Backend(rig.litellm("no"), profile("default")),
        await rig.code_runner(),
        rig.approvals,
        ConversationRecord(journal),
    )
    # Words are told while the code behind them is still on its way: it may have come by now.
    assert at == "ReplyDelta" or agent.waits == (at == "ApprovalRequest")
    if agent.waits:
        async for event in agent.take_up():
            if isinstance(event, ApprovalRequest):
                rig.approvals.answer(event.id, event.nonce, "yes", None, "kitchen")
        assert not agent.waits
    async for _ in agent.work("what happened"):
        pass
    ran = [folder / "done", rig.folder / "workspace" / "done"]
    tallies = "".join(file.read_text() for file in ran if file.exists())
    assert tallies in {"ApprovalRequest": ["x"], "CodeOut": ["x"]}.get(at, ["", "x"])
    roles = [message["role"] for message in rig.sent()]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    again = await Journal.open(log, "talk")
    assert again.history.open_acts == []
    await log.close()

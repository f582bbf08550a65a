"""A plan stands on screens, and words about it are answered from it while the work goes on."""

from collections.abc import Sequence
from pathlib import Path

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.server.running_server import running_server, until

PLAN = "```plan\n1. read the notes\n> 2. sort them\n3. write src/out.py with `x`\n4. say so\n```"
CODE = """
import pathlib, time
pathlib.Path('made.txt').write_text('one')
while not pathlib.Path('go').exists():
    time.sleep(0.02)
"""


class Planner(PlainModel):
    """Plans, writes a file, and is done."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        last = str(messages[-1]["content"])
        if last == "sort my notes":
            return PLAN
        return f"```python\n{CODE}\n```" if "sees the plan" in last else "Done."


async def test_whats_left_is_answered_from_the_plan(tmp_path: Path) -> None:
    environment, report = ensure(lent_home()), await find_sandbox()
    places: list[Path] = []

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        places.append(place)
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=Planner(), code_runner=code_runner) as server:
        desk = await server.device("desk")

        async def asked(text: str) -> str:
            before = len(desk.all(m.Announce))
            desk.seat.happened(Typed("desk", text))
            await until(lambda: len(desk.all(m.Announce)) > before)
            told = desk.all(m.Announce)[-1]
            assert isinstance(told, m.Announce)
            return told.text

        desk.seat.happened(Typed("desk", "sort my notes"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (plan,) = desk.all(m.CodeStart)
        assert isinstance(plan, m.CodeStart)
        assert (plan.language, plan.code.splitlines()) == (
            "plan",
            ["x read the notes", "> sort them", "  write src/out.py with `x`", "  say so"],
        )
        (question,) = desk.all(m.ApprovalRequest)  # the plan asked nothing
        assert isinstance(question, m.ApprovalRequest)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "yes", None))
        await until(lambda: len(desk.all(m.CodeStart)) == 2)
        await until((places[-1] / "made.txt").exists)
        left = await asked("What's left?")
        assert left == "I am at step two of four: sort them. Then: say so."
        assert "step two of four" in await asked("What are you doing?")
        (places[-1] / "go").touch()
        await until(lambda: desk.all(m.Metrics))

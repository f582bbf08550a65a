"""What running code asks reaches its conversation's devices, and their words reach the code."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

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

CODE = "print('painted', sayso.ask('Which of the two?', choices=['red', 'blue']))"


class OneQuestion(PlainModel):
    """Writes code once, which asks."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        asked = messages[-1]["content"] == "paint it"
        return f"```python\n{CODE}\n```\n" if asked else "It is done."


async def test_words_of_who_may_approve_answer_the_code_and_approve_nothing(
    tmp_path: Path,
) -> None:
    environment, report = ensure(lent_home()), await find_sandbox()

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=OneQuestion(), code_runner=code_runner) as server:
        desk = await server.device("desk")
        speaker = await server.device("speaker", may_approve=False)
        desk.seat.happened(Typed("desk", "paint it"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (question,) = desk.all(m.ApprovalRequest)
        assert isinstance(question, m.ApprovalRequest)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "yes", None))
        await until(lambda: desk.all(m.Announce))
        (asked,) = cast("list[m.Announce]", speaker.all(m.Announce))
        assert asked.text == "The code asks: Which of the two? (red / blue)"
        assert asked.asks
        assert asked.choices == ("red", "blue")
        desk.seat.happened(Typed("desk", "yes", "yes"))  # which is none of the two
        await until(lambda: len(desk.all(m.Announce)) == 2)
        late = await server.device("late")
        await until(lambda: late.all(m.Announce))
        speaker.seat.happened(Typed("speaker", "red"))
        desk.seat.happened(Typed("desk", "the blue one"))
        await until(lambda: desk.all(m.CodeEnd))
        printed = "".join(each.text for each in desk.all(m.CodeOut) if isinstance(each, m.CodeOut))
        assert printed == "painted blue\n"
        assert len(desk.all(m.ApprovalRequest)) == 1

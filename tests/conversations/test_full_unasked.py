"""In the mode full, code runs unasked for devices that may approve, and for no other."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.settings import Settings
from sayso.server.settings.defaults import Approvals
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.server.running_server import Device, running_server, until

pytestmark = pytest.mark.slow


class Maker(PlainModel):
    """Makes a file once for each request."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        asked = messages[-1]["content"] == "make it"
        return "```bash\ntouch made\n```\n" if asked else "It is done."


async def test_a_device_that_may_not_approve_has_no_code_run_unasked_in_full(
    tmp_path: Path,
) -> None:
    settings = Settings(approvals=Approvals(mode="full"))
    environment, report = ensure(lent_home()), await find_sandbox()

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return CodeRunner(place, environment, report, reach)

    async with running_server(
        tmp_path, model=Maker(), settings=settings, code_runner=code_runner
    ) as server:
        desk = await server.device("desk")
        satellite = await server.device("satellite", may_approve=False)
        satellite.seat.happened(Typed("satellite", "make it"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (question,) = desk.all(m.ApprovalRequest)
        assert isinstance(question, m.ApprovalRequest)
        assert not started(desk)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "no", None))
        await until(lambda: satellite.all(m.Metrics))
        assert not started(desk)
        desk.seat.happened(Typed("desk", "make it"))
        await until(lambda: started(desk))
        assert len(desk.all(m.ApprovalRequest)) == 1


def started(device: Device) -> bool:
    return bool(device.all(m.CodeStart))

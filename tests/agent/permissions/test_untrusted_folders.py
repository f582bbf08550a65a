"""Two conversations that work in one folder: what one of them fetched there marks the other."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.runtimes.network.web_double import Web, web
from tests.server.running_server import Device, running_server, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

HOST = "files.example.org"


@dataclass
class Writing(PlainModel):
    """Writes the codes that it is given, one in each request."""

    codes: list[str] = field(default_factory=list)

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return f"```python\n{self.codes.pop(0)}\n```" if self.codes else "Done."


def fetch(outside: Web, then: str = "") -> str:
    return f"""
import urllib.request
try:
    page = urllib.request.urlopen('http://{HOST}:{outside.port}/', timeout=10).read()
    {then or "print(page)"}
except OSError as refusal:
    print(getattr(refusal, 'reason', refusal))
"""


@dataclass
class Street:
    model: Writing
    outside: Web
    at_first: Device
    at_second: Device

    async def do(self, device: Device, code: str) -> str:
        """Returns the question that it led to, answered with no; empty if to none."""
        self.model.codes = [code]
        device.told.clear()
        device.seat.happened(Typed(device.name, "do it"))
        await until(lambda: device.all(m.ApprovalRequest) or device.all(m.Metrics))
        questions = cast("list[m.ApprovalRequest]", device.all(m.ApprovalRequest))
        for each in questions:
            device.seat.happened(ApprovalAnswered(device.name, each.id, each.nonce, "no", None))
        await until(lambda: device.all(m.Metrics))
        return questions[0].code if questions else ""


@asynccontextmanager
async def street(home: Path, first: Path, second: Path) -> AsyncIterator[Street]:
    report, kernels, model = await find_sandbox(), ensure(lent_home()), Writing()
    async with (
        web() as outside,
        running_server(
            home,
            model=model,
            code_runner=lambda place, reach, _: CodeRunner(place, kernels, report, reach, outside),
        ) as rig,
    ):
        devices = []
        for name, folder in (("first", first), ("second", second)):
            about = next(
                (one for one in await rig.conversations.all("") if one.name == name), None
            ) or await rig.conversations.begin(name)
            here = await rig.conversations.enter(about)
            here.agent.permissions.restore(ConversationSettings(Grants(hosts=(HOST,))))
            here.agent.permissions.change_mode("workspace", at_console=True)
            if here.about.workspace != str(folder):
                await here.work_in(folder, "desk")
            devices.append(await rig.device(name, name))
        yield Street(model, outside, *devices)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "person" / "shared"
    (made / "inner").mkdir(parents=True)
    return made


SAVE = "open('order.txt', 'wb').write(page)"


@pytest.mark.parametrize(("mine", "theirs"), [(".", "."), ("inner", "."), (".", "inner")])
async def test_what_one_conversation_fetched_makes_the_next_connection_of_another_a_question(
    tmp_path: Path, folder: Path, mine: str, theirs: str
) -> None:
    async with street(tmp_path / "home", folder / mine, folder / theirs) as here:
        assert await here.do(here.at_first, fetch(here.outside, SAVE)) == ""
        assert await here.do(here.at_second, fetch(here.outside)) == f"host {HOST}"


async def test_elsewhere_it_makes_none(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "person" / "other"
    other.mkdir()
    async with street(tmp_path / "home", folder, other) as here:
        assert await here.do(here.at_first, fetch(here.outside, SAVE)) == ""
        assert await here.do(here.at_second, fetch(here.outside)) == ""


async def test_it_does_also_after_the_server_ended(tmp_path: Path, folder: Path) -> None:
    async with street(tmp_path / "home", folder, folder) as here:
        assert await here.do(here.at_first, fetch(here.outside, SAVE)) == ""
        await here.do(here.at_first, "print('nothing more')")
    async with street(tmp_path / "home", folder, folder) as here:
        assert await here.do(here.at_second, fetch(here.outside)) == f"host {HOST}"

"""On a stalled connection, an answer to what was on screen then counts for nothing else. Server,
listener, connection and terminal are real."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from sayso.protocol import messages as m
from sayso.protocol.home import Home, make_token
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.gateway.listener import Listener
from sayso.server.turn.events import ApprovalAnswered
from sayso.server.turn.regions.spoken_approval import SHOWN_S
from tests.client.programs import Window, window
from tests.fault_proxy import FaultProxy
from tests.plain_model import PlainModel
from tests.scripted_server import Host
from tests.server.running_server import Device, running_server, until
from tests.server.server_to_kill import code_runner

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

TALLY = "open('tally', 'w').write('x')"


@dataclass
class Wanting(PlainModel):
    """Wants one thing, and then another one."""

    wishes: list[str] = field(default_factory=lambda: ["print('harmless')", TALLY])

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return f"```python\n{self.wishes.pop(0)}\n```" if self.wishes else "Done."


@dataclass
class Place:
    """A person's terminal, on a line that can be held up, and another device that is on none."""

    desk: Window
    phone: Device
    proxy: FaultProxy
    tally: Callable[[], bool]

    async def question(self, number: int) -> m.ApprovalRequest:
        asked = self.phone.all
        await until(lambda: len(asked(m.ApprovalRequest)) >= number)
        return cast("m.ApprovalRequest", asked(m.ApprovalRequest)[number - 1])

    def deny(self, question: m.ApprovalRequest) -> None:
        no = ApprovalAnswered("phone", question.id, question.nonce, "no", None)
        self.phone.seat.happened(no)


@asynccontextmanager
async def place(folder: Path) -> AsyncIterator[Place]:
    home = Home(folder, folder, folder)
    async with (
        running_server(folder, model=Wanting(), code_runner=code_runner) as server,
        FaultProxy(iter(())) as proxy,
    ):
        name = f"127.0.0.1:{proxy.port}"
        listener = Listener(Host(server), make_token(home), also=[name])
        proxy.target = await listener.open("127.0.0.1", 0)
        phone = await server.device("phone")
        told = {**os.environ, "SAYSO_HOME": str(folder)}
        try:
            async with window("talk", "--server", f"ws://{name}/ws", environment=told) as desk:
                await desk.sees("ready")
                (here,) = server.conversations.open.values()
                written = Path(here.code_runner.where) / "tally"
                yield Place(desk, phone, proxy, written.exists)
        finally:
            await listener.close()


async def words_could_count() -> None:
    """Until what left just now has been gone for so long that a word may settle it."""
    loop = asyncio.get_running_loop()
    since = loop.time()
    await until(lambda: loop.time() > since + SHOWN_S)


LATER = [f"{seconds} s left" for seconds in range(90, 119)]


async def test_a_word_to_one_question_that_arrives_late_settles_no_other_one(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        here.desk.type("sort it\r")
        first = await here.question(1)
        await here.desk.sees(*LATER)
        here.proxy.pull_out()
        here.desk.type("ok\r")
        here.deny(first)
        second = await here.question(2)
        assert second.code == TALLY
        await words_could_count()
        here.proxy.plug_in()
        await here.desk.sees("quicker than the question")
        here.deny(second)
        await here.desk.sees("Done.")
        assert not here.tally()


async def test_a_word_that_was_begun_before_the_question_could_be_seen_settles_nothing(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        here.desk.type("sort it\r")
        here.deny(await here.question(1))
        here.desk.type("o")
        second = await here.question(2)
        await here.desk.sees("tally")
        await words_could_count()
        here.desk.type("k\r")
        await here.desk.sees("quicker than the question")
        here.deny(second)
        await here.desk.sees("Done.")
        assert not here.tally()


async def test_a_word_to_what_stands_there_counts(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        here.desk.type("sort it\r")
        here.deny(await here.question(1))
        await here.question(2)
        await here.desk.sees("tally")
        await words_could_count()
        here.desk.type("ok\r")
        await here.desk.sees("Done.")
        assert here.tally()

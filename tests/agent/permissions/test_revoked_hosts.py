"""A host that is taken back is out of reach at once, also for what is open and left running."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sayso.server.agent.loop import Agent
from tests.agent.conftest import AgentRig
from tests.agent.permissions.test_outside_content import BOTH, A, agent_with
from tests.runtimes.network.web_double import Web, web

HOLD = """
import pathlib, socket, threading
def hold():
    line = socket.create_connection(('127.0.0.1', 3128))
    line.sendall(b'CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n')
    print(line.recv(100).split(b'\\r')[0].decode())
    opened.set()
    try:
        line.recv(100)
    except ConnectionError:
        pass
    pathlib.Path('ended').touch()
opened = threading.Event()
threading.Thread(target=hold, daemon=True).start()
opened.wait(10)
"""


@pytest.fixture
async def outside() -> AsyncIterator[Web]:
    async with web() as made:
        yield made


async def _forget(agent: Agent) -> None:
    for held in agent.permissions.held:
        await agent.permissions.take_back(held)


async def _look_only(agent: Agent) -> None:
    agent.permissions.change_mode("read-only", at_console=False)


async def _begin_anew(agent: Agent) -> None:
    agent.permissions.forget()


@pytest.mark.parametrize("take_back", [_forget, _look_only, _begin_anew])
async def test_a_line_that_is_open_ends_without_another_run(
    rig: AgentRig, outside: Web, take_back: object
) -> None:
    code = HOLD.format(host=A, port=outside.port)
    agent = await agent_with(rig, outside, code, reach=BOTH)
    await rig.ask(agent, "go")
    assert "200" in rig.output
    ended = rig.folder / "workspace" / "ended"
    assert not ended.exists()
    assert callable(take_back)
    await take_back(agent)
    async with asyncio.timeout(20):
        while not ended.exists():  # noqa: ASYNC110 (another process makes it)
            await asyncio.sleep(0.01)

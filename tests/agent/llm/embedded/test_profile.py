"""What the embedded model can do with its profile, on its real weights."""

import pytest

from sayso.server.agent.events import CodeStart, WorkDone
from sayso.server.agent.llm.embedded.client import MODEL_NAME, Pocket
from sayso.server.agent.llm.litellm_model import LitellmModel
from sayso.server.agent.loop import Agent
from sayso.server.agent.prompt.profiles import profile
from sayso.server.models.starters import locate, starter
from tests.agent.conftest import AgentRig

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.needs("libgomp.so.1", "libgomp1"),
]

COMPUTED = {
    "What is 239 times 43?": "10277",
    "how much is 15 percent of 80": "12",
    "How many letters are in the word banana?": "6",
    "sort these numbers: 5, 3, 9, 1": "1, 3, 5, 9",
    "convert 10 miles to kilometers": "16.09",
    "is 97 a prime number": "yes",
}
KNOWN = {"What is the capital of France?": "Paris", "hello": "hello", "who are you": "Sayso"}


async def test_it_computes_by_code_knows_a_little_and_greets(rig: AgentRig) -> None:
    manner = profile("pocket")
    async with Pocket(locate(starter("language_model")).path) as pocket:
        endpoint = await pocket.ready()
        model = LitellmModel(
            f"openai/{MODEL_NAME}",
            endpoint,
            calls_tools="no",
            temperature=manner.temperature,
            reply_tokens=manner.reply_tokens,
        )
        agent = await rig.agent(model=model, manner=manner)
        for question, expected in COMPUTED.items():
            said = await rig.ask(agent, question)
            assert expected.lower() in said.lower(), (question, said)
            assert len(rig.told(CodeStart)) == 1
        for question, expected in KNOWN.items():
            said = await rig.ask(agent, question)
            assert expected.lower() in said.lower(), (question, said)
            assert rig.told(CodeStart) == []
        await refuses(rig, agent)


async def refuses(rig: AgentRig, agent: Agent) -> None:
    assert await rig.ask(agent, "what is 8 times 9", "no") == "All right, I leave it."
    assert isinstance(rig.events[-1], WorkDone)

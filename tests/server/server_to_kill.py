"""A server that works without pause, for a test to kill: `python -m … FOLDER FIRST_NUMBER`.

For each number somebody asks it to count: code adds a line to a file, on a yes. Now and then they
want to be reminded. What was acknowledged is printed, a line each, as soon as it is.
"""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage, Delta, TextDelta, ToolDefinition, Usage
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.turn.effects import Send
from sayso.server.turn.events import ApprovalAnswered, Joined, Ticket, Typed
from tests.kernels import lent_home
from tests.runtimes.sandboxes import KINDS, sandbox_of
from tests.server.running_server import running_server


class Counter:
    """A language model that has each number written to a file."""

    name, calls_tools, sees = "counter", False, False

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        return None

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        asked = re.search(r"count (\d+)$", str(messages[-1]["content"]))
        words = f"I count.\n```bash\necho {asked[1]} >> tally\n```\n" if asked else "It is counted."
        for word in re.findall(r"\S+\s*", words):
            yield TextDelta(word)
            await asyncio.sleep(0.005)  # so that a kill may fall between two words
        yield Usage(10, 5, None)


class Person:
    """Says yes to everything."""

    def __init__(self, conversation: ConversationDriver) -> None:
        self._conversation = conversation
        self._heard: asyncio.Queue[m.FromServer] = asyncio.Queue()

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        self._heard.put_nowait(message)

    def send(self, speech: Send) -> None:
        pass

    async def ask(self, text: str) -> str:
        self._conversation.happened(Typed("desk", text))
        return await self.listen()

    async def listen(self) -> str:
        """What is said until a turn is over."""
        told = ""
        while not isinstance(message := await self._heard.get(), m.Metrics):
            if isinstance(message, m.ApprovalRequest):
                yes = ApprovalAnswered("desk", message.id, message.nonce, "yes", None)
                self._conversation.happened(yes)
            told += message.text if isinstance(message, m.ReplyDelta) else ""
        return " ".join(told.split())


def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
    found = (sandbox_of(kind) for kind in KINDS)
    sandbox = next(one for one in found if not isinstance(one, str))
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    return CodeRunner(place, ensure(lent_home()), report, reach)


def acknowledge(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(folder: Path, first: int) -> None:
    async with running_server(folder, model=Counter(), code_runner=code_runner) as server:
        here = await server.conversations.enter(await server.conversations.latest())
        waits, person = here.agent.waits, Person(here.conversation)
        here.conversation.join(Joined("desk", speaks=False), person)
        acknowledge("ready")
        if waits:
            acknowledge(f"put again: {await person.listen()}")
        for number in count(first):
            for text in (f"count {number}", f"remind me in {number} hours to see {number}"):
                acknowledge(f"{text}: {await person.ask(text)}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))

"""A server in its own process with scripted recognition, model and synthesis: for figures that
depend on the network, the clients and the conversation alone, and on no model's speed.

    python -m tests.scripted_server FOLDER ANSWER     is that process; `scripted_server` starts it
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sayso.protocol.home import Home, make_token
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.conversations.participant import Participant
from sayso.server.conversations.registry import NoSuchConversation
from sayso.server.gateway.host import Conversation, Greeting
from sayso.server.gateway.listener import Listener
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import THIS_MACHINE, Principal
from tests.plain_model import PlainModel
from tests.server.running_server import RunningServer, running_server
from tests.speech_doubles import ScriptedRecognizer, ToneSynthesizer

FEATURES = ("ptt", "resume", "commands", "down_rates", "partials", "pairing")
TALKS = tuple(f"talk {number}" for number in range(10))
"""Its conversations, for as many who talk at the same time."""
ANSWER = "This is what was asked for, said at some length, so that there is something to hear."


class Scripted(PlainModel):
    """A language model that always says the same."""

    name = "scripted"

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return self._answer


class Host:
    """A gateway's host, with a server's real conversations behind it."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server

    async def conversation(self, wanted: str = "", who: Principal = THIS_MACHINE) -> Conversation:
        return await Participant.take(
            self._server.conversations, self._server.commands, wanted, who
        )

    def greeting(self, person: str = "") -> Greeting:
        return Greeting("scripted server", {}, FEATURES)

    def health(self) -> Mapping[str, object]:
        return {"ready": True}

    def metrics(self) -> bytes:
        return b""

    async def look(self, path: str, person: str) -> None:
        return None

    async def workspace_file(self, conversation: str, path: str, person: str) -> BinaryIO | None:
        try:
            about = await self._server.conversations.find(conversation, person)
        except NoSuchConversation:
            return None
        return await (await self._server.conversations.enter(about)).download(path)

    def file(self, name: str, person: str) -> tuple[str, bytes] | None:
        item = self._server.artifacts.get(name, person)
        return (item.mime, item.data) if item else None


@dataclass(frozen=True, slots=True)
class Running:
    """A server at work."""

    home: Path
    port: int
    token: str
    process: int
    """Its process id."""

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"


@contextmanager
def scripted_server(folder: Path, answer: str = ANSWER) -> Iterator[Running]:
    """A running server of this home, until the block ends."""
    command = [sys.executable, "-m", "tests.scripted_server", str(folder), answer]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdin
    assert process.stdout
    try:
        port, token = process.stdout.readline().split()
        yield Running(folder, int(port), token, process.pid)
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


@asynccontextmanager
async def open_scripted_server(folder: Path, answer: str = ANSWER) -> AsyncIterator[Listener]:
    """The same in this process; whoever opens its entrances closes nothing."""
    home = Home(folder, folder, folder)
    ears = ScriptedRecognizer(["What was asked."])
    async with running_server(
        folder,
        open_at_most=2 * len(TALKS),
        model=Scripted(answer),
        ears=ears,
        voice=ToneSynthesizer(),
    ) as server:
        for name in TALKS:
            await server.conversations.begin(name)
        devices = Devices(folder / "devices.json")
        listener = Listener(Host(server), make_token(home), devices=devices)
        try:
            yield listener
        finally:
            await listener.close()


async def _live(folder: Path, answer: str) -> None:
    async with open_scripted_server(folder, answer) as listener:
        port = await listener.open("127.0.0.1", 0)
        sys.stdout.write(f"{port} {make_token(Home(folder, folder, folder))}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_live(Path(sys.argv[1]), sys.argv[2]))

"""From a request to a real window and back: model, server, the person's yes, the socket, the client
and its process at the screen."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from sayso.audio.devices.speaker import FileSpeaker
from sayso.client.desktop.process import DesktopProcess
from sayso.client.desktop.requests import OFFERS, DesktopRequests
from sayso.client.session.link import Link
from sayso.client.session.session import Session
from sayso.client.terminal.events import Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import (
    ApprovalRequest,
    Approve,
    Command,
    CommandDone,
    Hello,
    Metrics,
    ReplyDelta,
)
from sayso.protocol.version import SPOKEN
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.gateway.listener import Listener
from sayso.server.trust.devices import Devices
from tests.client.desktop.rig import SERVER, Desktop
from tests.device_requests.device import Desk
from tests.gateway.running_gateway import TOKEN
from tests.plain_model import PlainModel
from tests.server.running_server import running_server

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed")]

WAIT_S = 40.0


class Steps(PlainModel):
    """Does one thing after the other, then says that it is done."""

    def __init__(self, *steps: dict[str, object]) -> None:
        self._steps = list(steps)
        self.told: list[str] = []

    def says(self, messages: Sequence[ChatMessage]) -> str:
        self.told.append(json.dumps([message["content"] for message in messages], default=str))
        if not self._steps:
            return "Done."
        return f"```desktop\n{json.dumps(self._steps.pop(0))}\n```"


class Person:
    """Sees what the client shows, and says yes to whatever is asked."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.asked: list[str] = []
        self.said = ""
        self.done: list[CommandDone] = []
        self.answered = asyncio.Event()

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=ApprovalRequest() as request):
                self.asked.append(request.code)
                asyncio.get_running_loop().call_later(0.6, self._say_yes, request)
            case Envelope(message=ReplyDelta(text=text)):
                self.said += text
            case Envelope(message=CommandDone() as done):
                self.done.append(done)
            case Envelope(message=Metrics()):
                self.answered.set()
            case _:
                pass

    def _say_yes(self, request: ApprovalRequest) -> None:
        if self.session:
            self.session.send(Approve(request.id, request.nonce, "yes"))


@asynccontextmanager
async def at_the_screen(
    here: Desktop, folder: Path, model: Steps, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Session, Person]]:
    """A client at this desktop, with a server of its own."""
    for name in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, here.environment[name])
    desk = Desk()
    desk.devices = Devices(folder / "devices.json")
    async with running_server(folder, model=model) as desk.server:
        listener = Listener(desk, TOKEN, devices=desk.devices)
        desk.port = await listener.open("127.0.0.1", 0)
        hello = Hello(
            SPOKEN,
            "sayso-talk test",
            device="laptop",
            features=("resume", "screen", "approve", "desktop"),
            offers=OFFERS,
        )
        link = Link(desk.url, hello, lambda: TOKEN)
        person = Person()
        requests = DesktopRequests(DesktopProcess(SERVER), link)
        session = person.session = Session(link, FileSpeaker(None), person, desktop=requests)
        running = asyncio.create_task(session.run())
        try:
            yield session, person
        finally:
            await session.leave()
            with suppress(asyncio.CancelledError):
                await running
            await listener.close()


async def test_a_model_reads_a_window_and_presses_what_the_person_opened(
    here: Desktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = here.open_gtk("Whole")
    model = Steps(
        {"do": "view", "window": "fixture"},
        {"do": "fill", "target": "Name", "text": "Anna", "window": "fixture"},
        {"do": "click", "target": "Send", "window": "fixture"},
        {"do": "picture", "window": "fixture"},
    )
    async with at_the_screen(here, tmp_path, model, monkeypatch) as (session, person):
        session.say("Fill in the form and send it.")
        async with asyncio.timeout(WAIT_S):
            await person.answered.wait()
    assert app.state["entry"] == "Anna"
    assert app.state["pressed"] == ["Send"]
    assert [each.partition(" on ")[0] for each in person.asked] == [
        "look fixture",
        "act fixture",
        "Press 'Send'?",
        "picture fixture",
    ]
    assert "Done." in person.said
    assert any('text \\\\\\"Name' in told or "Name" in told for told in model.told)
    assert "confirmed" in model.told[-1]
    app.close()


async def test_os_mode_is_begun_by_a_command_where_a_screen_is_offered(
    here: Desktop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Steps()
    async with at_the_screen(here, tmp_path, model, monkeypatch) as (session, person):
        session.send(Command("os", ""))
        async with asyncio.timeout(WAIT_S):
            while not person.done:  # noqa: ASYNC110 - what came is a list
                await asyncio.sleep(0.01)
        session.say("Go on.")
        async with asyncio.timeout(WAIT_S):
            await person.answered.wait()
    assert person.done[0].ok
    assert "Sayso works at your screen now" in person.done[0].text
    assert "make a plan" in model.told[-1]

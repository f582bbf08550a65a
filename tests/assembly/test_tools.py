"""Tools that other packages bring: on once the settings name them, and never for guests."""

import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage, Delta, ToolCallDelta, ToolDefinition
from sayso.server.agent.tools.function import Function
from sayso.server.assembly.tools import load_tools
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.plain_model import PlainModel
from tests.server.running_server import running_server, until

LAMPS = '''
from pathlib import Path
from typing import Literal
Path({mark!r}).touch()

def lamp(room: str, state: Literal["on", "off"]) -> str:
    """Switch a lamp."""
    return state

def execute() -> None:
    """Take the place of code."""

def anything(*words) -> None: ...
'''


class Packages:
    """Where packages lie that can be imported in this test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = folder / "imported"

    def add(self, package: str, tools: str) -> None:
        """A package with one module, as an installer leaves it. `tools`: its entry points."""
        text = LAMPS.format(mark=str(self.mark))
        (self.folder / f"{package}.py").write_text(text)
        about = self.folder / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[sayso.tools]\n{tools}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Packages:
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("lamps", "more_lamps"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return Packages(tmp_path)


def test_nothing_of_a_package_is_imported_before_its_tool_is_named(packages: Packages) -> None:
    packages.add("lamps", "lamp = lamps:lamp")
    assert load_tools(()) == ((), ())
    tools, complaints = load_tools(("kettle",))
    assert tools == ()
    assert "no package brings (there are: lamp)" in complaints[0]
    assert not packages.mark.exists()
    ((lamp,), complaints) = load_tools(("lamp",))
    assert (lamp.name, lamp.use, complaints) == ("lamp", "Switch a lamp.", ())
    assert "whatever this tool does" in lamp.may_touch({})[0]
    assert packages.mark.exists()


def test_a_package_that_takes_the_name_of_anothers_tool_gets_neither_on(packages: Packages) -> None:
    packages.add("lamps", "lamp = lamps:lamp")
    packages.add("more_lamps", "lamp = more_lamps:lamp\nlight = more_lamps:lamp")
    tools, complaints = load_tools(("lamp",))
    assert tools == ()
    assert "both bring the tool lamp; uninstall one" in complaints[0]
    assert not packages.mark.exists()


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("a = lamps:execute", "can't be called execute"),
        ("a = lamps:anything", "name each argument"),
        ("a = lamps:nothing", "AttributeError"),
        ("a = no_such_lamps:lamp", "ModuleNotFoundError"),
    ],
)
def test_what_can_not_be_a_tool_is_told_in_a_sentence(
    packages: Packages, entry: str, says: str
) -> None:
    packages.add("lamps", entry)
    tools, (complaint,) = load_tools(("a",))
    assert tools == ()
    assert says in complaint
    assert "\n" not in complaint


class Caller(PlainModel):
    """A model that calls the lamp, whether there is one or not, and then says what came of it."""

    calls_tools = True

    def __init__(self) -> None:
        self.offered: list[list[str]] = []

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return str(messages[-1]["content"])

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        self.offered.append([tool["function"]["name"] for tool in tools])
        if messages[-1]["role"] == "user":
            yield ToolCallDelta(0, "c1", "lamp", '{"room": "hall"}')
        else:
            async for delta in super().reply(messages, tools):
                yield delta


async def test_the_owner_is_asked_at_a_screen_and_a_guest_is_offered_no_tool(
    tmp_path: Path,
) -> None:
    switched: list[str] = []

    def lamp(room: str) -> str:
        """Switch a lamp."""
        switched.append(room)
        return "It is on."

    model = Caller()
    async with running_server(tmp_path, model=model, tools=[Function(lamp)]) as server:
        anns = await server.conversations.begin("Diary", person="ann")
        ann = await server.device("phone", wanted=anns.id, person="ann")
        told = await ann.ask("light")
        assert "lamp" not in model.offered[-1]
        assert (ann.all(m.ApprovalRequest), switched) == ([], [])
        assert "It is on." not in told
        desk = await server.device("desk")
        desk.seat.happened(Typed("desk", "light"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (asked,) = desk.all(m.ApprovalRequest)
        assert isinstance(asked, m.ApprovalRequest)
        assert (asked.language, asked.code, asked.tap) == ("lamp", '{"room": "hall"}', True)
        desk.seat.happened(ApprovalAnswered("desk", asked.id, asked.nonce, "yes", None))
        await until(lambda: switched)
        assert "lamp" in model.offered[-1]
        assert switched == ["hall"]

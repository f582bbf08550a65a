"""The person's own commands: a file each, and each of their skills, asked as if they were typed."""

from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.capabilities.skills.tools import Skills
from sayso.server.slash.own_commands import TEXT_CHARS, OwnCommands
from tests.server.running_server import Device, running_server, until


def own(folder: Path, name: str, text: str) -> None:
    (folder / "commands").mkdir(exist_ok=True)
    (folder / "commands" / f"{name}.md").write_text(text)


def skill(folder: Path, name: str, body: str) -> None:
    (folder / "skills" / name).mkdir(parents=True)
    head = f"---\nname: {name}\ndescription: Bill somebody.\n---\n"
    (folder / "skills" / name / "SKILL.md").write_text(f"{head}\n{body}\n")


async def asked(device: Device, name: str, text: str = "") -> str:
    """What the model (which says it back) is asked by a command."""
    device.told.clear()
    device.seat.command(device.name, name, text)
    idle = m.TurnState("idle", "idle", "silent")
    await until(lambda: device.all(m.Metrics) and device.told[-1] == idle)
    assert not device.all(m.CommandDone)
    return "".join(each.text for each in device.told if isinstance(each, m.ReplyDelta))


async def test_a_file_is_asked_with_what_follows_its_name(tmp_path: Path) -> None:
    own(tmp_path, "review", "---\ndescription: Read a file.\n---\nRead $ARGUMENTS and judge it.")
    own(tmp_path, "tidy-up", "Tidy up here.")
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        assert (await asked(desk, "review", "a.py")).endswith("Read a.py and judge it.")
        assert (await asked(desk, "Tidy-Up", "but gently")).endswith("Tidy up here.\n\nbut gently")
        listed = (await desk.command("help")).text
        assert "/review" in listed
        assert "Read a file" in listed
        own(tmp_path, "new", "Not this.")  # a command of Sayso's own keeps its name
        assert (await desk.command("new", "x")).text.startswith("This is a new conversation")
        own(tmp_path, "later", "Made since.")
        assert (await asked(desk, "later")).endswith("Made since.")


async def test_a_skill_is_a_command_and_its_body_goes_along_without_the_model_s_doing(
    tmp_path: Path,
) -> None:
    skill(tmp_path, "my-invoices", "Add 19 % tax.")
    async with running_server(tmp_path, tools=Skills(tmp_path / "skills")) as server:
        desk = await server.device("desk")
        told = await asked(desk, "my-invoices", "for Ann")
        assert "Use the my-invoices skill: for Ann" in told
        assert "Add 19 % tax." in told


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ("Please use the my invoices skill for Ann.", True),
        ("Use my-invoices skill", True),
        ("do it with the skill called My Invoices", True),
        ("Nimm den Skill my-invoices", True),
        ("/my-invoices for Ann", True),
        ("Show my invoices.", False),
        ("What skill do you have?", False),
        ("the my invoicesskill", False),
    ],
)
def test_a_skill_is_told_when_it_is_named_as_one(
    tmp_path: Path, request_: str, named: bool
) -> None:
    skill(tmp_path, "my-invoices", "Add 19 % tax.")
    told = "".join(tool.told_with(request_) for tool in Skills(tmp_path / "skills"))
    assert ("Add 19 % tax." in told) == named


async def test_a_guest_has_none_of_the_owner_s_commands(tmp_path: Path) -> None:
    own(tmp_path, "review", "Read it.")
    skill(tmp_path, "invoices", "Add 19 % tax.")
    async with running_server(tmp_path) as server:
        guest = await server.device("radio", person="Bob")
        for name in ("review", "invoices"):
            assert not (await guest.command(name)).ok
        listed = (await guest.command("help")).text
        assert "/review" not in listed
        assert "/invoices" not in listed
        assert "review" not in server.commands.about("Bob")
        assert "review" in server.commands.about("")


def test_what_is_no_command_is_left_out(tmp_path: Path) -> None:
    own(tmp_path, "empty", "")
    own(tmp_path, "Bad Name", "x")
    own(tmp_path, "half", "---\nname: [\n---\nSaid.")
    (tmp_path / "commands" / "binary.md").write_bytes(b"\xff\xfe")
    assert [each.name for each in OwnCommands(tmp_path / "commands", dict)] == ["half"]


async def test_a_command_that_asks_for_too_much_says_so(tmp_path: Path) -> None:
    own(tmp_path, "long", "x" * TEXT_CHARS)
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        done = await desk.command("long", "more")
        assert (done.ok, "16,000 characters" in done.text) == (False, True)

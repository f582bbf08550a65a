"""What a model can do at a screen, and what a person is asked: rules by themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.capabilities.desktop.application_leases import LEASE_S, SOURCE, DesktopLeases
from sayso.server.capabilities.desktop.desktop import Desktop
from sayso.server.capabilities.desktop.errors import DesktopError
from sayso.server.capabilities.desktop.operations import OPERATIONS
from sayso.server.capabilities.desktop.tools import OS_MODE, DesktopTools
from sayso.server.device_requests.answer import Outcome, Shown

ALL = ("desktop.windows", "desktop.look", "desktop.act", "desktop.clipboard", "desktop.open")


@dataclass
class SomeScreen:
    """Answers as the process at a screen does: with nothing for what is not open."""

    offered: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"desk": ALL})
    asks: str = ""
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def name(self, device: str) -> str:
        return device

    async def ask(
        self, device: str, method: str, args: Mapping[str, Any], *, lease: str, deadline_s: float
    ) -> Outcome:
        self.asked.append((method, args))
        if method == "desktop.windows":
            windows = [
                {"app": "mousepad", "active": True, "closed": ""},
                {"app": "xterm", "closed": "terminals are out of reach"},
            ]
            return Outcome("confirmed", {"windows": windows})
        if method == "desktop.clipboard":
            return Outcome("confirmed", {"text": "copied"})
        if "mousepad" not in args.get("apps", []):
            return Outcome("refused", {"needs": "mousepad"}, "not open")
        if self.asks and self.asks not in args.get("approved", []):
            return Outcome("refused", {"asks": self.asks}, "not asked")
        if method == "desktop.look":
            pictures = (Shown("image/png", b"png"),) if args.get("picture") else ()
            data = {"window": "w1", "app": "mousepad", "title": "T", "text": "[e1 button]\n"}
            return Outcome("confirmed", {**data, "told": True, "frame": 3}, pictures=pictures)
        return Outcome("confirmed", {"new": ["Saved"]})


@dataclass
class SomePerson:
    answer: bool = True
    asked: list[str] = field(default_factory=list)

    async def ask(self, question: str, choices: tuple[str, ...] = ()) -> str:
        raise AssertionError("nobody is asked this")

    async def confirm(self, what: str, lines: tuple[str, ...], why: str) -> bool:
        self.asked.append(what)
        return self.answer


class Rig:
    def __init__(
        self,
        mode: Mode = "ask",
        asks: str = "",
        offered: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.now = 1_000.0
        self.permissions = Permissions(mode=mode)
        self.screen, self.person = SomeScreen(asks=asks), SomePerson()
        if offered is not None:
            self.screen.offered = offered
        self.leases = DesktopLeases(self.permissions, lambda: self.now)
        self.desktop = Desktop(self.screen, self.leases)

    async def __call__(self, name: str, **given: object) -> str:
        return (await self.desktop.perform(name, given, self.person)).text


async def test_an_application_is_opened_by_one_tap_for_a_while() -> None:
    rig = Rig()
    assert "[e1 button]" in await rig("view")
    await rig("view")
    assert rig.person.asked == ["look mousepad on desk"]
    rig.now += LEASE_S + 1
    await rig("view")
    assert rig.person.asked == ["look mousepad on desk"] * 2


async def test_looking_opens_no_acting_and_acting_opens_looking() -> None:
    rig = Rig()
    await rig("view")
    assert await rig("click", target="Save") == "confirmed:\nSaved\n"
    assert rig.person.asked == ["look mousepad on desk", "act mousepad on desk"]
    other = Rig()
    await other("click", target="Save")
    await other("view")
    assert other.person.asked == ["act mousepad on desk"]


async def test_a_picture_is_a_question_of_its_own() -> None:
    rig = Rig()
    await rig("view")
    done = await rig.desktop.perform("picture", {}, rig.person)
    assert done.picture == b"png"
    assert rig.person.asked[-1] == "picture mousepad on desk"


async def test_without_a_yes_nothing_is_asked_of_the_screen() -> None:
    rig = Rig()
    rig.person.answer = False
    with pytest.raises(DesktopError, match="did not say yes"):
        await rig("click", target="Save")
    assert {method for method, _ in rig.screen.asked} == {"desktop.windows"}


async def test_what_has_consequences_asks_each_time() -> None:
    rig = Rig(asks="Press 'Send'?")
    await rig("click", target="Send")
    await rig("click", target="Send")
    assert rig.person.asked.count("Press 'Send'?") == 2


async def test_a_window_that_tells_nothing_is_asked_about_once_in_a_while() -> None:
    rig = Rig(asks="Let Sayso type in mousepad, which does not tell what stands in it?")
    await rig("write", text="a")
    await rig("write", text="b")
    assert len(rig.person.asked) == 2  # the application, and this
    rig.now += LEASE_S + 1
    await rig("write", text="c")
    assert len(rig.person.asked) == 4


async def test_what_strangers_wrote_since_closes_acting_until_the_next_yes() -> None:
    rig = Rig()
    await rig("click", target="Save")
    rig.permissions.outside_content.read([SOURCE])  # its own windows
    await rig("click", target="Save")
    assert len(rig.person.asked) == 1
    rig.permissions.outside_content.read(["evil.example"])
    await rig("click", target="Save")
    assert len(rig.person.asked) == 2


async def test_what_is_open_is_listed_as_it_was_asked_for_and_ended_one_by_one() -> None:
    blind = "Let Sayso type in mousepad, which does not tell what stands in it?"
    rig = Rig(asks=blind)
    await rig("view")
    await rig("write", text="a")
    rig.now += 60
    held = list(rig.permissions.leases)
    assert sorted(lease.line for lease in held) == sorted(rig.person.asked)
    assert {lease.until for lease in held} == {"for 14 more minutes"}
    held[1].end()
    assert [lease.line for lease in rig.permissions.leases] == ["look mousepad on desk", blind]
    await rig("write", text="b")
    assert rig.person.asked[-1] == "act mousepad on desk"
    rig.permissions.leases.end()
    assert not list(rig.permissions.leases)
    await rig("write", text="c")
    assert rig.person.asked[-2:] == ["act mousepad on desk", blind]
    rig.now += LEASE_S + 1
    assert not list(rig.permissions.leases)


async def test_what_is_out_of_reach_is_not_even_asked_about() -> None:
    rig = Rig()
    with pytest.raises(DesktopError, match="terminals are out of reach"):
        await rig("write", text="sayso", window="xterm")
    assert rig.person.asked == []


async def test_the_mode_read_only_does_nothing_and_full_asks_nothing() -> None:
    rig = Rig("read-only")
    for name in ("click", "write", "open", "clipboard_write"):
        with pytest.raises(DesktopError, match="read-only"):
            await rig(name, target="Save", text="x", app="x")
    rig = Rig("full", asks="Press 'Send'?")
    await rig("click", target="Send")
    assert rig.person.asked == []


async def test_the_clipboard_is_opened_for_reading_and_writing_apart() -> None:
    rig = Rig()
    assert await rig("clipboard_read") == "copied"
    await rig("clipboard_write", text="x")
    assert rig.person.asked == ["clipboard read on desk", "clipboard write on desk"]


async def test_without_a_screen_or_with_several_it_is_told() -> None:
    with pytest.raises(DesktopError, match="sayso desktop allow"):
        await Rig(offered={})("view")
    with pytest.raises(DesktopError, match="Several screens"):
        await Rig(offered={"a": ALL, "b": ALL})("view")


def test_a_model_is_told_of_screens_only_where_one_is_offered() -> None:
    nowhere, here = Rig(offered={}), Rig()
    assert list(DesktopTools(nowhere.desktop)) == []
    tools = DesktopTools(here.desktop)
    assert len(list(tools)) == 1 + len(OPERATIONS)
    assert "computer" in tools.tool.told
    assert OS_MODE not in tools.tool.told


async def test_os_mode_is_begun_by_words_and_ended_with_its_leases() -> None:
    rig = Rig()
    tools = DesktopTools(rig.desktop)
    assert tools.tool.told_with("what is on my screen?") == ""
    assert tools.tool.told_with("Please take over my screen") == OS_MODE
    assert OS_MODE in tools.tool.told
    await rig("view")
    tools.os_mode(False)
    assert rig.leases.apps("desk", "look") == frozenset()
    assert OS_MODE not in tools.tool.told
    assert "sayso desktop allow" in DesktopTools(Rig(offered={}).desktop).os_mode(True)

"""Reads an application's parts as a tree, and does with one what it says it can do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from sayso.client.desktop.accessibility.bus import AccessibilityBus, NoAnswer, Reference
from sayso.client.desktop.accessibility.parts import (
    DEFUNCT,
    SHOWING,
    VISIBLE,
    WINDOWS,
    Part,
    role_name,
    states_of,
)
from sayso.client.desktop.x11.windows import Place, Window

MOST_PARTS: Final = 3_000
"""Of one application; what comes after is not read."""
_A: Final = "org.a11y.atspi."
_ACCESSIBLE: Final = _A + "Accessible"
_TEXT: Final = _A + "Text"
_SCREEN: Final = 0
_PRESSING: Final = ("click", "press", "activate", "jump", "toggle", "open", "dodefault", "select")
VALUE_CHARS: Final = 200
_NOWHERE: Final = ("", "/org/a11y/atspi/null")


class Tree:
    """Of one session's applications."""

    def __init__(self, bus: AccessibilityBus) -> None:
        self._bus = bus

    def read(self, window: Window) -> list[Part]:
        """What is seen of a window's parts, each after the one that it lies in; empty where the
        application tells nothing."""
        for application in self._bus.applications(window.pid):
            parts = self._cached(application) or self._walked(application)
            top = self._top(application, parts, window)
            if top:
                return list(_below(parts, top))
        return []

    def _top(
        self, application: Reference, parts: Mapping[Reference, Part], window: Window
    ) -> Part | None:
        """The part that stands for this window; None where that is not clear."""
        tops = [
            part
            for part in parts.values()
            if part.parent == application and part.role in WINDOWS and _seen(part)
        ]
        named = [part for part in tops if part.name == window.title]
        if len(named) == 1:
            return named[0]
        sized = [part for part in named or tops if self._fits(part, window)]
        if len(sized) == 1:
            return sized[0]
        return tops[0] if len(tops) == 1 else None

    def _fits(self, part: Part, window: Window) -> bool:
        place = self.place(part)
        return place is not None and (place.width, place.height) == (
            window.place.width,
            window.place.height,
        )

    def _cached(self, application: Reference) -> dict[Reference, Part]:
        """All at once, where the application keeps that ready."""
        try:
            (items,) = self._bus.ask(
                (application[0], "/org/a11y/atspi/cache"), _A + "Cache", "GetItems"
            )
        except NoAnswer:
            return {}
        parts: dict[Reference, Part] = {}
        for item in sorted(items[:MOST_PARTS], key=_index):
            # Old and new applications differ in the middle alone: children, or which child it is.
            at, _, parent = (_reference(each) for each in item[:3])
            interfaces, name, role, _, states = item[-5:]
            parts[at] = Part(
                at,
                parent,
                role_name(int(role)),
                str(name),
                states_of(states),
                frozenset(str(each).removeprefix(_A) for each in interfaces),
            )
        if parts and not any(part.has(SHOWING) for part in parts.values()):  # GTK 4 leaves it out
            asked = [(part.at, _ACCESSIBLE, "GetState", "", ()) for part in parts.values()]
            answers = self._bus.ask_all(asked)
            for part, answer in zip(list(parts.values()), answers, strict=True):
                if not isinstance(answer, NoAnswer):
                    parts[part.at] = replace(part, states=states_of(answer[0]))
        return parts

    def _walked(self, application: Reference) -> dict[Reference, Part]:
        """Level by level, without what is not seen."""
        parts: dict[Reference, Part] = {}
        level = [(application, _NOWHERE)]
        while level and len(parts) < MOST_PARTS:
            answers = self._bus.ask_all([one for at, _ in level for one in _questions(at)])
            below: list[tuple[Reference, Reference]] = []
            for number, (at, parent) in enumerate(level):
                told = answers[5 * number : 5 * number + 5]
                if any(isinstance(each, NoAnswer) for each in told):
                    continue
                (role,), (states,), (named,), (children,), (interfaces,) = told
                part = Part(
                    at,
                    parent,
                    role_name(int(role)),
                    str(named[1]),
                    states_of(states),
                    frozenset(str(each).removeprefix(_A) for each in interfaces),
                )
                parts[at] = part
                if at == application or _seen(part):
                    below += [(_reference(each), at) for each in children]
            level = [each for each in below if each[0] not in parts]
        return parts

    # --- one part ---

    def again(self, part: Part) -> Part | None:
        """As it is now; None if it is gone or became something else."""
        answers = self._bus.ask_all(_questions(part.at)[:3])
        if any(isinstance(each, NoAnswer) for each in answers):
            return None
        (role,), (states,), (named,) = answers
        fresh = replace(part, states=states_of(states), name=str(named[1]))
        same = role_name(int(role)) == part.role and fresh.name == part.name
        return fresh if same and not fresh.has(DEFUNCT) else None

    def place(self, part: Part) -> Place | None:
        """Where it is, as the application says; None where it does not."""
        with suppress(NoAnswer, ValueError, TypeError):
            ((x, y, width, height),) = self._bus.ask(
                part.at, _A + "Component", "GetExtents", "u", _SCREEN
            )
            if width > 0 and height > 0:
                return Place(int(x), int(y), int(width), int(height))
        return None

    def value(self, part: Part) -> str:
        """What stands in it; nothing of what is secret."""
        if part.secret:
            return ""
        with suppress(NoAnswer, ValueError, TypeError):
            if "Text" in part.interfaces:
                (text,) = self._bus.ask(part.at, _TEXT, "GetText", "ii", 0, -1)
                return str(text)
            if "Value" in part.interfaces:
                return f"{self._bus.get(part.at, _A + 'Value', 'CurrentValue'):g}"
        return ""

    def values(self, parts: Sequence[Part]) -> dict[Reference, str]:
        """The beginnings of what stands in each of these."""
        texts = [part for part in parts if "Text" in part.interfaces and not part.secret]
        asked = [(part.at, _TEXT, "GetText", "ii", (0, VALUE_CHARS)) for part in texts]
        answers = self._bus.ask_all(asked) if len(asked) != 1 else [self._one(asked[0])]
        return {
            part.at: str(answer[0])
            for part, answer in zip(texts, answers, strict=True)
            if not isinstance(answer, NoAnswer)
        }

    def _one(self, asked: tuple[Reference, str, str, str, tuple[Any, ...]]) -> Any:  # noqa: ANN401
        try:
            return self._bus.ask_all([asked])[0]
        except NoAnswer as problem:
            return problem

    def caret(self, part: Part) -> int:
        """Where what is typed goes in it; -1 where that is not told."""
        with suppress(NoAnswer, ValueError, TypeError):
            return int(self._bus.get(part.at, _TEXT, "CaretOffset"))
        return -1

    def press(self, part: Part) -> bool:
        """Do what a click on it does, without the pointer; False where it can't."""
        with suppress(NoAnswer, ValueError, TypeError):
            count = int(self._bus.get(part.at, _A + "Action", "NActions"))
            for number in range(min(count, 8)):
                (name,) = self._bus.ask(part.at, _A + "Action", "GetName", "i", number)
                if str(name).lower().replace(" ", "").startswith(_PRESSING):
                    (done,) = self._bus.ask(part.at, _A + "Action", "DoAction", "i", number)
                    return bool(done)
        return False

    def write(self, part: Part, text: str) -> bool:
        """Make this all that stands in a field; False where it can't be done so."""
        with suppress(NoAnswer):
            (done,) = self._bus.ask(part.at, _A + "EditableText", "SetTextContents", "s", text)
            return bool(done)
        return False

    def focus(self, part: Part) -> bool:
        with suppress(NoAnswer):
            return bool(self._bus.ask(part.at, _A + "Component", "GrabFocus")[0])
        return False

    def address(self, part: Part) -> str:
        """The address of a document; empty where it has none."""
        for name in ("DocURL", "URI"):
            with suppress(NoAnswer, ValueError, TypeError):
                (found,) = self._bus.ask(part.at, _A + "Document", "GetAttributeValue", "s", name)
                if found:
                    return str(found)
        return ""


def _questions(at: Reference) -> list[tuple[Reference, str, str, str, tuple[Any, ...]]]:
    properties = "org.freedesktop.DBus.Properties"
    return [
        (at, _ACCESSIBLE, "GetRole", "", ()),
        (at, _ACCESSIBLE, "GetState", "", ()),
        (at, properties, "Get", "ss", (_ACCESSIBLE, "Name")),
        (at, _ACCESSIBLE, "GetChildren", "", ()),
        (at, _ACCESSIBLE, "GetInterfaces", "", ()),
    ]


def _index(item: Sequence[Any]) -> int:
    return int(item[3]) if isinstance(item[3], int) else 0


def _reference(pair: Sequence[Any]) -> Reference:
    return str(pair[0]), str(pair[1])


def _seen(part: Part) -> bool:
    return part.has(SHOWING) or part.has(VISIBLE)


def _below(parts: Mapping[Reference, Part], top: Part) -> Iterator[Part]:
    """A part and what lies in it, in their order, as far as it is seen."""
    children: dict[Reference, list[Part]] = {}
    for part in parts.values():
        children.setdefault(part.parent, []).append(part)
    waiting, known = [top], {top.at}
    while waiting:
        part = waiting.pop()
        yield part
        for child in reversed(children.get(part.at, [])):
            if child.at not in known and (child.has(SHOWING) or child is top):
                known.add(child.at)
                waiting.append(child)

"""One part of an application: what it is, what stands on it, how it is."""

from dataclasses import dataclass
from typing import Final

from sayso.client.desktop.accessibility.bus import Reference

_ROLES: Final = [
    "invalid",
    "accelerator label",
    "alert",
    "animation",
    "arrow",
    "calendar",
    "canvas",
    "check box",
    "check menu item",
    "color chooser",
    "column header",
    "combo box",
    "date editor",
    "desktop icon",
    "desktop frame",
    "dial",
    "dialog",
    "directory pane",
    "drawing area",
    "file chooser",
    "filler",
    "focus traversable",
    "font chooser",
    "frame",
    "glass pane",
    "html container",
    "icon",
    "image",
    "internal frame",
    "label",
    "layered pane",
    "list",
    "list item",
    "menu",
    "menu bar",
    "menu item",
    "option pane",
    "tab",
    "tab list",
    "panel",
    "password",
    "popup menu",
    "progress bar",
    "button",
    "radio button",
    "radio menu item",
    "root pane",
    "row header",
    "scroll bar",
    "scroll pane",
    "separator",
    "slider",
    "spin button",
    "split pane",
    "status bar",
    "table",
    "cell",
    "column header",
    "row header",
    "menu item",
    "terminal",
    "text",
    "toggle button",
    "tool bar",
    "tool tip",
    "tree",
    "tree table",
    "unknown",
    "viewport",
    "window",
    "extended",
    "header",
    "footer",
    "paragraph",
    "ruler",
    "application",
    "autocomplete",
    "edit bar",
    "embedded",
    "entry",
    "chart",
    "caption",
    "document",
    "heading",
    "page",
    "section",
    "redundant object",
    "form",
    "link",
    "input method",
    "row",
    "tree item",
    "spreadsheet",
    "presentation",
    "document",
    "document",
    "email",
    "comment",
    "list",
    "grouping",
    "image map",
    "notification",
    "info bar",
    "level bar",
    "title bar",
    "quote",
    "audio",
    "video",
    "definition",
    "article",
    "landmark",
    "log",
    "marquee",
    "math",
    "rating",
    "timer",
    "static",
    "fraction",
    "root",
    "subscript",
    "superscript",
    "description list",
    "term",
    "value",
    "footnote",
    "deletion",
    "insertion",
    "mark",
    "suggestion",
    "menu button",
]

CHECKED, DEFUNCT, EDITABLE, ENABLED, EXPANDED = 4, 6, 7, 8, 10
FOCUSABLE, FOCUSED, MULTI_LINE, SELECTED, SENSITIVE, SHOWING, VISIBLE = 11, 12, 17, 23, 24, 25, 30
_TOLD: Final = {CHECKED: "checked", EXPANDED: "expanded", FOCUSED: "focused", SELECTED: "selected"}

_ACTED_ON: Final = frozenset(
    [
        "button",
        "check box",
        "check menu item",
        "combo box",
        "entry",
        "icon",
        "link",
        "list item",
        "menu",
        "menu item",
        "password",
        "radio button",
        "radio menu item",
        "slider",
        "spin button",
        "tab",
        "text",
        "toggle button",
        "tree item",
        "cell",
        "menu button",
        "row",
        "terminal",
        "document",
    ]
)
_WORDS: Final = frozenset(
    ["label", "heading", "paragraph", "static", "status bar", "alert", "caption", "section"]
)
WINDOWS: Final = frozenset(
    ["frame", "dialog", "window", "alert", "file chooser", "color chooser", "font chooser"]
)
"""What stands for a window of its own."""


@dataclass(frozen=True, slots=True)
class Part:
    """As it was when it was looked at."""

    at: Reference
    parent: Reference
    role: str
    name: str
    states: int
    interfaces: frozenset[str]

    def has(self, state: int) -> bool:
        return bool(self.states >> state & 1)

    @property
    def can_be_acted_on(self) -> bool:
        """Whether it gets a name of its own."""
        return self.role in _ACTED_ON and (self.role != "document" or self.has(EDITABLE))

    @property
    def is_told(self) -> bool:
        """Whether a reader wants to know of it."""
        return self.can_be_acted_on or (self.role in _WORDS and bool(self.name))

    @property
    def secret(self) -> bool:
        """Whether what stands in it is nobody's to read or write."""
        return self.role == "password"

    @property
    def told_states(self) -> list[str]:
        told = [word for state, word in _TOLD.items() if self.has(state)]
        return told if self.has(ENABLED) or self.has(SENSITIVE) else [*told, "disabled"]


def role_name(number: int) -> str:
    return _ROLES[number] if 0 <= number < len(_ROLES) else "unknown"


def states_of(words: object) -> int:
    """States come as two numbers of 32 bits."""
    pair = list(words) if isinstance(words, list | tuple) else []
    return sum(int(each) << (32 * place) for place, each in enumerate(pair[:2]))

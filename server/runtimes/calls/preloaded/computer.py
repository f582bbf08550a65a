"""The person's own screen, under the names that Open Interpreter gave it, for code that Sayso runs.

    print(computer.display.view())              what the active window shows, as text
    computer.mouse.click("Save")                by the words on it, by e12, or x=, y=, frame=
    computer.keyboard.write("hello")            where the cursor is
    computer.keyboard.hotkey("ctrl", "s")
    computer.clipboard.view()
    computer.os.open("Writer")
    computer.browser.open("example.org")        Sayso's own browser
    computer.files.search("rain")               names of files in the workspace

Each returns a text that begins with confirmed or unconfirmed; what is refused raises
`sayso.Refused`, whose text says why. Nothing here has rights of its own: the server, the person and
the device decide over each call.
"""

import importlib
import os as _os
import sys
import types
from pathlib import Path
from typing import Any

sayso: Any = importlib.import_module("sayso")  # the one that lies beside this
browser: Any = importlib.import_module("browser_names").browser

__all__ = ["browser", "clipboard", "display", "files", "keyboard", "mouse", "os"]

FILES_MOST = 200
TEXT_MOST_BYTES = 1_000_000


def _do(name: str, **given: Any) -> Any:  # noqa: ANN401 - what JSON can say
    return getattr(sayso, f"desktop_{name}")(
        **{key: value for key, value in given.items() if value is not None}
    )


def _aimed(target: object, named: dict[str, Any]) -> dict[str, Any]:
    """What a click is meant for, however it is said."""
    given = dict(named)
    for other in ("text", "icon", "description"):
        target = given.pop(other, None) if target is None else target
    if isinstance(target, tuple | list) and len(target) == 2:  # noqa: PLR2004 - x and y
        given["x"], given["y"] = target
        target = None
    if target is not None:
        given["target"] = str(target)
    elif given.get("frame") is None:
        raise sayso.Refused(
            "Places count in a frame alone: computer.display.picture() shows one, then say frame=."
        )
    return given


class _Display:
    """What is on the screen."""

    def view(self, window: str | None = None, words: str | None = None, **_: object) -> str:
        """What a window shows, as text."""
        return str(_do("view", window=window, words=words))

    def picture(self, window: str | None = None) -> str:
        """A picture of it, for a model that sees: a frame, by number."""
        return str(_do("picture", window=window))

    screenshot = picture

    def find(self, words: str, window: str | None = None) -> str:
        """The lines with these words."""
        return self.view(window, words)

    find_text = find
    get_text = get_text_as_list_of_lists = view

    def info(self) -> str:
        """Which windows are open."""
        return str(_do("windows"))


class _Mouse:
    """Presses things by name, by words, or at a place in a frame."""

    def click(self, target: object = None, **named: Any) -> str:  # noqa: ANN401 - see _aimed
        return str(_do("click", **_aimed(target, named)))

    def double_click(self, target: object = None, **named: Any) -> str:  # noqa: ANN401 - as above
        return str(_do("double_click", **_aimed(target, named)))

    def right_click(self, target: object = None, **named: Any) -> str:  # noqa: ANN401 - as above
        return str(_do("right_click", **_aimed(target, named)))

    def move(self, target: object = None, **named: Any) -> str:  # noqa: ANN401 - as above
        return str(_do("move", **_aimed(target, named)))

    def drag(self, target: object = None, to: object = None, **named: Any) -> str:  # noqa: ANN401
        return str(_do("drag", to=None if to is None else str(to), **_aimed(target, named)))

    def scroll(self, clicks: int = -3, target: object = None, **named: Any) -> str:  # noqa: ANN401
        """Turn the wheel: below zero is down."""
        aimed = _aimed(target, named) if target is not None or named else {}
        way = "up" if clicks > 0 else "down"
        return str(_do("scroll", way=way, steps=max(1, abs(int(clicks))), **aimed))


class _Keyboard:
    """Types where the cursor is."""

    def write(self, text: object, window: str | None = None, **_: object) -> str:
        return str(_do("write", text=str(text), window=window))

    type = typewrite = write

    def press(self, *keys: str, window: str | None = None) -> str:
        """Press keys, one after the other."""
        return "".join(str(_do("press", keys=key, window=window)) for key in keys)

    press_and_release = press

    def hotkey(self, *keys: str, window: str | None = None) -> str:
        """Press keys together."""
        return str(_do("press", keys="+".join(keys), window=window))


class _Clipboard:
    """Text that was copied."""

    def view(self) -> str:
        return str(_do("clipboard_read"))

    read = get = view

    def write(self, text: object) -> str:
        return str(_do("clipboard_write", text=str(text)))

    set = write

    def copy(self, text: object = None) -> str:
        """A text into the clipboard; without one, what is selected."""
        return self.write(text) if text is not None else keyboard.hotkey("ctrl", "c")

    def paste(self) -> str:
        return keyboard.hotkey("ctrl", "v")


class _Os:
    """Windows and applications."""

    def windows(self) -> str:
        return str(_do("windows"))

    def apps(self) -> str:
        return str(_do("open"))

    def open(self, app: str) -> str:
        return str(_do("open", app=app))

    def launch(self, app: str) -> str:
        return str(_do("open", app=app))

    def focus(self, window: str) -> str:
        return str(_do("focus", window=window))

    def close(self, window: str) -> str:
        return str(_do("close", window=window))

    def get_selected_text(self) -> str:
        """What is selected, by way of the clipboard."""
        keyboard.hotkey("ctrl", "c")
        return clipboard.view()

    def notify(self, text: object) -> None:
        """Show the person a line."""
        sayso.tell(text)


class _Files:
    """Files of the workspace, right here in the sandbox."""

    def search(self, words: str, folder: str = ".") -> list[str]:
        """Files whose names or texts have these words."""
        wanted, found = words.lower(), []
        for at, folders, names in _os.walk(folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                path = Path(at, name)
                if wanted in name.lower() or wanted in _text(path).lower():
                    found.append(str(path))
                if len(found) >= FILES_MOST:
                    return found
        return found

    def edit(self, path: str, original: str, replacement: str) -> str:
        """Put one text in place of another that stands there once."""
        text = Path(path).read_text()
        count = text.count(original)
        if count != 1:
            raise ValueError(f"{original!r} stands {count} times in {path}; it must be once.")
        Path(path).write_text(text.replace(original, replacement))
        return f"confirmed: {path} was changed.\n"


def _text(path: Path) -> str:
    try:
        return path.read_text() if path.stat().st_size < TEXT_MOST_BYTES else ""
    except (OSError, UnicodeDecodeError):
        return ""


display, mouse, keyboard, clipboard = _Display(), _Mouse(), _Keyboard(), _Clipboard()
os, files = _Os(), _Files()


class _Computer(types.ModuleType):
    """Says what there is to models that look for something else."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("view", "screenshot"):
            return display.view
        raise AttributeError(
            f"computer has {', '.join(__all__)}; {name} is none of them. Mail, messages and"
            " calendars are used in their own programs."
        )


sys.modules[__name__].__class__ = _Computer

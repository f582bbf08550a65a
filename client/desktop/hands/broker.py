"""Carries out what is asked of this screen, one request at a time.

desktop.windows    which are open; titles only of applications that the lease covers
desktop.look       a window as text, and as a picture on wish
desktop.act        one act in a window
desktop.clipboard  reads or writes it
desktop.open       starts an application
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sayso.client.desktop.errors import Refused, Stopped
from sayso.client.desktop.hands.acting import ACTS, Acts
from sayso.client.desktop.hands.applications import applications, find, start
from sayso.client.desktop.hands.hand import Attempt
from sayso.client.desktop.hands.looking import shortened
from sayso.client.desktop.hands.screen import Screen
from sayso.client.desktop.x11.clipboard import MOST_CHARS as CLIPBOARD_CHARS
from sayso.client.desktop.x11.windows import Place, Window

MOST_APPS: Final = 32
MOST_PIXELS: Final = 2_576
_SMALL: Final = (1_280, 800)
"""A picture, unless another size is wanted: no provider makes it smaller."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request."""

    effect: Literal["confirmed", "unconfirmed", "refused"]
    data: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    pictures: tuple[bytes, ...] = ()


_NOWHERE: Final = Place(0, 0, 0, 0)


class Broker:
    """Of one screen."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def answer(self, method: str, args: Mapping[str, Any], attempt: Attempt) -> Answer:
        """Do what is asked, as far as it may be done."""
        known = METHODS.get(method)
        if known is None:
            return Answer("refused", problem=f"This screen does not know {method}.")
        before = self._screen.hand.events
        try:
            self._screen.hand.begin(attempt)
            return known(self, args)
        except Refused as why:
            told = {"asks": why.asks, "needs": why.needs, "stopped": isinstance(why, Stopped)}
            data = {name: value for name, value in told.items() if value}
            begun = self._screen.hand.events > before
            return Answer("unconfirmed" if begun else "refused", data, str(why))
        except (KeyError, TypeError, ValueError) as problem:
            return Answer("refused", problem=f"The request is not understood: {problem}.")
        except self._screen.connection.gone:
            return Answer("unconfirmed", problem="A window went away meanwhile: look again.")
        finally:
            self._screen.keyboard.let_go()
            self._screen.pointer.let_go()

    # --- what can be asked ---

    def windows(self, args: Mapping[str, Any]) -> Answer:
        self._need("look")
        apps = _apps(args)
        listed = []
        for window in self._screen.windows.all():
            why = self._screen.reach.hindrance(window)
            told: dict[str, Any] = {"app": window.app, "program": window.program}
            if window.app in apps and not why:
                told |= {"id": f"w{window.id}", "title": window.title}
            told |= {"active": window.active, "hidden": window.hidden, "closed": why}
            listed.append(told)
        return Answer("confirmed", {"windows": listed})

    def look(self, args: Mapping[str, Any]) -> Answer:
        self._need("look")
        screen, apps = self._screen, _apps(args)
        window = screen.chosen(str(args.get("window", "")), apps)
        parts = screen.parts(window)
        if parts:
            screen.check_pages(window, parts)
        lines = screen.lines(window, parts)
        data: dict[str, Any] = {
            "window": f"w{window.id}",
            "app": window.app,
            "title": window.title,
            "text": shortened(lines, str(args.get("words", ""))),
            "told": bool(parts),
        }
        if not args.get("picture"):
            return Answer("confirmed", data)
        shot = screen.picture(window, apps, parts, window.place)
        width, height = _size(args)
        picture, scale = shot.encoded(width, height)
        frame = screen.frames.add(window, shot, scale)
        data |= {
            "frame": frame.number,
            "width": max(1, round(shot.place.width * scale)),
            "height": max(1, round(shot.place.height * scale)),
        }
        return Answer("confirmed", data, pictures=(picture,))

    def act(self, args: Mapping[str, Any]) -> Answer:
        self._need("act")
        act = ACTS.get(str(args.get("do", "")))
        if act is None:
            raise Refused(f"This screen knows {', '.join(ACTS)}.")
        self._show_sign()
        approved = frozenset(str(each) for each in args.get("approved", []))
        acts = Acts(self._screen, _apps(args), approved)
        done = act(acts, args)
        return Answer(done.effect, {"new": list(done.lines)})

    def clipboard(self, args: Mapping[str, Any]) -> Answer:
        self._need("clipboard")
        if args.get("do") == "read":
            return Answer("confirmed", {"text": self._screen.clipboard.read()})
        text = str(args.get("text", ""))
        if len(text) > CLIPBOARD_CHARS:
            raise Refused(f"The clipboard takes {CLIPBOARD_CHARS} characters from here.")
        self._screen.clipboard.write(text)
        read = self._screen.clipboard.read()
        return Answer("confirmed" if read == text else "unconfirmed")

    def open_(self, args: Mapping[str, Any]) -> Answer:
        self._need("act")
        if not args.get("app"):
            names = sorted(one.name for one in applications() if not one.terminal)
            return Answer("confirmed", {"applications": names})
        application = find(str(args["app"]))
        named = Window(0, application.app, application.command[0], 1, "", _NOWHERE, False, True)
        if why := self._screen.reach.name_hindrance(named):
            raise Refused(f"It is not started: {why}.")
        if application.name not in args.get("approved", []):
            raise Refused("The person was not asked.", asks=application.name)
        self._show_sign()
        before = {window.id for window in self._screen.windows.all()}
        start(application)
        window = self._screen.windows.appeared(before)
        if window is None:
            return Answer("unconfirmed", {"app": application.app})
        return Answer("confirmed", {"app": window.app, "title": window.title})

    def _show_sign(self) -> None:
        self._screen.sign.show()
        self._screen.hand.sign_is_shown = True

    def rest(self) -> None:
        """Nothing was asked for a while: the sign goes, and keys mean what they meant."""
        self._screen.keyboard.give_back()
        self._screen.sign.hide()
        self._screen.hand.sign_is_shown = False

    def _need(self, what: Literal["look", "act", "clipboard"]) -> None:
        if not getattr(self._screen.permission, what):
            raise Refused(
                f"The owner of this device does not allow it ({what}): `sayso desktop allow`."
            )


METHODS: Final[Mapping[str, Callable[[Broker, Mapping[str, Any]], Answer]]] = {
    "desktop.windows": Broker.windows,
    "desktop.look": Broker.look,
    "desktop.act": Broker.act,
    "desktop.clipboard": Broker.clipboard,
    "desktop.open": Broker.open_,
}


def _apps(args: Mapping[str, Any]) -> frozenset[str]:
    """The applications that the lease covers."""
    named = args.get("apps", [])
    if not isinstance(named, list):
        return frozenset()
    return frozenset(str(each) for each in named[:MOST_APPS])


def _size(args: Mapping[str, Any]) -> tuple[int, int]:
    wanted = int(args.get("most_width", _SMALL[0])), int(args.get("most_height", _SMALL[1]))
    return min(max(wanted[0], 64), MOST_PIXELS), min(max(wanted[1], 64), MOST_PIXELS)

"""Does one thing at a person's screen: finds the screen, the lease and the yes that it needs.

which screen → is it open: a capability, an application, a while? → no: a tap
the screen's answer → another application: a tap, and again · has consequences: a tap, and again
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.server.agent.tools.person import NoAnswerError, Person
from sayso.server.capabilities.desktop.application_leases import (
    ANY,
    Capability,
    DesktopLeases,
    asked_as,
)
from sayso.server.capabilities.desktop.errors import DesktopError
from sayso.server.capabilities.desktop.operations import OPERATIONS, Operation
from sayso.server.capabilities.desktop.screens import LOOK, Screens, the_screen
from sayso.server.device_requests.answer import Outcome

DEADLINE_S: Final = 60.0
"""Of one act: a long text is typed in seconds, and the person's hand may have to rest first."""
ROUNDS_MOST: Final = 4
"""Questions over one act; what needs more is not clear enough."""
TITLE_CHARS: Final = 120
_BLIND: Final = "Let Sayso "

_LINES: Final[Mapping[Capability, tuple[str, ...]]] = {
    "look": ("read what its windows show, for 15 minutes",),
    "picture": (
        "take pictures of its windows, for 15 minutes",
        "they go to the language model, as what is read does",
    ),
    "act": (
        "read what its windows show, and click and type there, for 15 minutes",
        "what has consequences is asked about each time; your own hand stops it at once",
    ),
    "clipboard read": ("read what is in the clipboard, for 15 minutes",),
    "clipboard write": ("replace what is in the clipboard, for 15 minutes",),
}


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it."""

    text: str
    picture: bytes = b""


class Desktop:
    """One conversation's way to a screen."""

    def __init__(self, screens: Screens, leases: DesktopLeases) -> None:
        self.screens = screens
        self.leases = leases

    @property
    def is_here(self) -> bool:
        """Whether a screen is offered."""
        return any(LOOK in methods for methods in self.screens.offered.values())

    async def perform(self, name: str, given: Mapping[str, Any], person: Person | None) -> Done:
        """Do it. Raises DesktopError where nothing was done."""
        device = the_screen(self.screens)
        work = _Work(self.screens, self.leases, device, person)
        match name:
            case "windows":
                return Done(await work.windows())
            case "view" | "picture":
                return await work.view(given, picture=name == "picture")
            case "open":
                return Done(await work.open(str(given.get("app", ""))))
            case "clipboard_read" | "clipboard_write":
                return Done(await work.clipboard(name.removeprefix("clipboard_"), given))
        return Done(await work.act(OPERATIONS[name], given))


class _Work:
    """One call, on one device."""

    def __init__(
        self, screens: Screens, leases: DesktopLeases, device: str, person: Person | None
    ) -> None:
        self._screens = screens
        self._leases = leases
        self._device = device
        self._person = person

    async def windows(self) -> str:
        lines = []
        for window in await self._open_windows():
            name = " ".join(filter(None, (window.get("id", ""), str(window["app"]))))
            title = str(window.get("title", ""))[:TITLE_CHARS]
            about = [title] if title else []
            about += [word for word in ("active", "hidden") if window.get(word)]
            if why := str(window.get("closed", "")):
                about.append(f"out of reach: {why}")
            lines.append(f"{name}: {', '.join(about)}" if about else name)
        return "\n".join(lines or ["No window is open."]) + "\n"

    async def view(self, given: Mapping[str, Any], *, picture: bool) -> Done:
        capability: Capability = "picture" if picture else "look"
        args = {**given, "picture": picture}
        outcome = await self._leased("desktop.look", capability, args)
        told = outcome.data
        head = f"{told.get('window')} {told.get('app')}: {str(told.get('title'))[:TITLE_CHARS]}\n"
        text = str(told.get("text", ""))
        if not told.get("told"):
            text = "(This application does not tell what stands in its windows.)\n"
        shown = outcome.pictures[0].content if outcome.pictures else b""
        if shown:
            size = f"{told.get('width')} by {told.get('height')} pixels"
            head = f"frame {told.get('frame')}, {size}, of {head}"
        return Done(head + text, shown)

    async def act(self, operation: Operation, given: Mapping[str, Any]) -> str:
        if self._leases.looks_only:
            raise DesktopError("The mode is read-only: nothing is done, only looked at.")
        args = {**given, **dict(operation.fixed), "do": operation.do}
        return _told(await self._leased("desktop.act", "act", args))

    async def open(self, app: str) -> str:
        if not app:
            outcome = await self._ask("desktop.open", {})
            names = outcome.data.get("applications", [])
            return "\n".join(str(each) for each in names) + "\n"
        if self._leases.looks_only:
            raise DesktopError("The mode is read-only: nothing is opened.")
        outcome = await self._ask("desktop.open", {"app": app})
        if named := outcome.data.get("asks"):
            await self._allow(f"open {named} on {self._name}", ("start it, as you would",))
            outcome = await self._ask("desktop.open", {"app": app, "approved": [named]})
        return _told(outcome, f"{outcome.data.get('app', app)} was opened")

    async def clipboard(self, do: str, given: Mapping[str, Any]) -> str:
        capability: Capability = "clipboard read" if do == "read" else "clipboard write"
        if do == "write" and self._leases.looks_only:
            raise DesktopError("The mode is read-only: nothing is written.")
        if not self._is_open(capability, ANY):
            await self._open(capability, ANY)
        outcome = await self._ask("desktop.clipboard", {"do": do, **given})
        if outcome.effect == "confirmed" and do == "read":
            return str(outcome.data.get("text", ""))
        return _told(outcome)

    # --- leases and questions ---

    async def _leased(
        self, method: str, capability: Capability, args: Mapping[str, Any]
    ) -> Outcome:
        """Ask for something in a window, and for what that needs. Raises DesktopError."""
        approved: list[str] = []
        if not self._leases.apps(self._device, capability) or args.get("window"):
            await self._open_for(capability, str(args.get("window", "")))
        for _ in range(ROUNDS_MOST):
            apps = await self._apps(capability)
            standing = {*approved}
            outcome = await self._ask(
                method, {**args, "apps": sorted(apps), "approved": sorted(standing)}
            )
            if needs := str(outcome.data.get("needs", "")):
                await self._open(capability, needs)
            elif asks := str(outcome.data.get("asks", "")):
                await self._said_yes(asks)
                approved.append(asks)
            elif outcome.effect == "refused":
                raise DesktopError(outcome.problem or "The screen refused it.")
            else:
                return outcome
        raise DesktopError("That needs too many questions: do it in smaller steps.")

    async def _apps(self, capability: Capability) -> frozenset[str]:
        if not self._leases.unasked:
            return self._leases.apps(self._device, capability)
        return frozenset(str(window["app"]) for window in await self._open_windows())

    async def _open_for(self, capability: Capability, wanted: str) -> None:
        """See to it that a window's application is open to this. Raises DesktopError."""
        if self._leases.unasked:
            return
        windows = await self._open_windows()
        wanted = wanted.lower()
        app = next((str(each["app"]) for each in windows if wanted in _names(each)), "")
        if not wanted:
            app = next((str(each["app"]) for each in windows if each.get("active")), "")
        if not app and wanted:
            return  # perhaps words of a title, which the screen knows for what is open
        if not app:
            raise DesktopError("No window is active: say which one is meant, by its application.")
        closed = [str(each.get("closed", "")) for each in windows if each["app"] == app]
        if closed and all(closed):
            raise DesktopError(f"Nothing is done there: {closed[0]}.")
        if not self._is_open(capability, app):
            await self._open(capability, app)

    def _is_open(self, capability: Capability, app: str) -> bool:
        return self._leases.unasked or app in self._leases.apps(self._device, capability)

    async def _open(self, capability: Capability, app: str) -> None:
        """Ask for a lease. Raises DesktopError."""
        if self._leases.full:
            raise DesktopError("So much is open at this screen already; close it first.")
        await self._allow(asked_as(self._name, capability, app), _LINES[capability])
        self._leases.grant(self._device, capability, app)

    async def _said_yes(self, question: str) -> None:
        """Ask about one act; about a window that can't be seen into, once in a while."""
        if self._leases.approved_for_a_while(question):
            return
        await self._allow(question, (f"on {self._name}, in the window that is open to Sayso",))
        if question.startswith(_BLIND):
            self._leases.approve_for_a_while(question)

    async def _allow(self, what: str, lines: tuple[str, ...]) -> None:
        """Raises DesktopError where nobody says yes by a tap."""
        if self._leases.unasked:
            return
        if self._person is None:
            raise DesktopError(f"Nobody allowed it: {what}. Nobody can be asked here.")
        why = self._leases.why or "The model wants to work at your screen."
        try:
            allowed = await self._person.confirm(what, lines, why)
        except NoAnswerError as problem:
            raise DesktopError(f"Nobody allowed it: {what}. {problem}") from None
        if not allowed:
            raise DesktopError(f"Nobody allowed it: {what}. They did not say yes.")

    async def _open_windows(self) -> list[Mapping[str, Any]]:
        apps = sorted(self._leases.apps(self._device, "look"))
        outcome = await self._ask("desktop.windows", {"apps": apps})
        if outcome.effect != "confirmed":
            raise DesktopError(outcome.problem or "The screen did not answer.")
        found = outcome.data.get("windows", [])
        return [each for each in found if isinstance(each, dict) and each.get("app")]

    async def _ask(self, method: str, args: Mapping[str, Any]) -> Outcome:
        lease = f"{args.get('do', 'look')} {', '.join(args.get('apps', []))}"[:200]
        return await self._screens.ask(
            self._device, method, args, lease=lease, deadline_s=DEADLINE_S
        )

    @property
    def _name(self) -> str:
        return self._screens.name(self._device)


def _names(window: Mapping[str, Any]) -> tuple[str, ...]:
    return str(window["app"]).lower(), str(window.get("id", "")).lower()


def _told(outcome: Outcome, what: str = "") -> str:
    """An act's outcome as the model reads it. Raises DesktopError for a refusal."""
    if outcome.effect == "refused":
        raise DesktopError(outcome.problem or "The screen refused it.")
    new = "\n".join(str(each) for each in outcome.data.get("new", []))
    said = outcome.problem if outcome.effect == "unconfirmed" else what
    if not said and outcome.effect == "unconfirmed":
        said = "it was done, and nothing shows that it worked"
    if not said and not new:
        said = "it was done"
    head = f"{outcome.effect}: {said}" if said else f"{outcome.effect}:"
    return "\n".join(filter(None, (head, new))) + "\n"

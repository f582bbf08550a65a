"""Runs Sayso in the background of a desktop: listens without a key, and shows what a person must
see as notifications. Nothing that is said or answered is written down.
"""

import asyncio
import shutil
import signal
import sys
from collections.abc import Callable

from sayso.audio.devices.microphone import DeviceChange, Microphone
from sayso.client.listening.hands_free import HandsFree
from sayso.client.listening.until_ended import listen_until_ended
from sayso.client.session.backoff import AWAY_SECONDS
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.session import Session
from sayso.client.terminal.events import Notice, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import Announce, ApprovalRequest, Error

NOTIFY_SECONDS = 5.0
"""For the desktop's own program; it takes hundredths."""
MOST_AT_ONCE = 8
"""Notifications on their way; a server that sends a thousand is not passed on."""
LONGEST = 200
"""Characters of a notification: desktops cut longer ones."""

MUTE, UNMUTE = signal.SIGUSR1, signal.SIGUSR2
"""What `sayso service mute` and `unmute` send."""
MUTED = "The microphone is closed. `sayso service unmute` opens it again."
BACK = "The server is there again."

Notify = Callable[[str, str], list[str] | None]
"""Gives the command that shows a title and a text. None: this desktop has none."""


def notification(title: str, text: str) -> list[str] | None:
    """The desktop's own way."""
    text = " ".join(text.split())[:LONGEST]
    if sys.platform == "darwin":
        script = "on run {title, body}\ndisplay notification body with title title\nend run"
        return ["osascript", "-e", script, title, text]
    found = shutil.which("notify-send")
    return [found, "--app-name=Sayso", "--", title, text] if found else None


class Companion:
    """A screen without a screen."""

    def __init__(self, notify: Notify = notification) -> None:
        self._notify = notify
        self._tasks: set[asyncio.Task[None]] = set()
        self._trouble = ""
        """Why the server is away."""
        self._told_away = False
        self._leaving: asyncio.TimerHandle | None = None

    def show(self, seen: Seen) -> None:
        match seen:
            case Envelope(message=ApprovalRequest() as request):
                touch = "; ".join(request.may_touch) or "nothing outside its sandbox"
                asks = f"May I run this {request.language}?"
                title = asks if request.kind == "run" else "Sayso asks for more than it may"
                self._tell(title, f"It may touch: {touch}.")
            case Envelope(message=Announce(text=text)):
                self._tell("Sayso", text)
            case Envelope(message=Error(message=text)) | Notice(text=text):
                self._tell("Sayso", text)
            case DeviceChange(detail=text):
                self._tell("Sayso", text)
            case LinkChange():
                self._link(seen)
            case _:
                pass

    def _link(self, change: LinkChange) -> None:
        """A line that is back within seconds is nobody's concern."""
        match change.state:
            case LinkState.REFUSED:
                self._tell("Sayso", change.reason)
            case LinkState.WAITING:
                self._trouble = change.reason
                if self._leaving is None and not self._told_away:
                    loop = asyncio.get_running_loop()
                    self._leaving = loop.call_later(AWAY_SECONDS, self._away)
            case LinkState.UP:
                self._stay()
                if self._told_away:
                    self._told_away = False
                    self._tell("Sayso", BACK)
            case _:
                pass

    def _away(self) -> None:
        self._leaving, self._told_away = None, True
        self._tell("Sayso", self._trouble)

    def _stay(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    async def run(self, session: Session, hands_free: HandsFree, microphone: Microphone) -> int:
        """Goes on until it is ended, or the server refuses us."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(MUTE, self._mute, hands_free, True)
        loop.add_signal_handler(UNMUTE, self._mute, hands_free, False)
        try:
            # That the server refuses us, or the microphone has ended, has been told, and trying
            # again would not help.
            await listen_until_ended(session, hands_free, microphone)
            return 0
        finally:
            self._stay()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _mute(self, hands_free: HandsFree, on: bool) -> None:
        hands_free.mute(on=on)
        self._tell("Sayso", MUTED if on else "The microphone is open again.")

    def _tell(self, title: str, text: str) -> None:
        command = self._notify(title, text)
        if command is None or len(self._tasks) >= MOST_AT_ONCE:
            return
        task = asyncio.create_task(_run(command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _run(command: list[str]) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return  # A desktop without notifications is still talked to.
    try:
        async with asyncio.timeout(NOTIFY_SECONDS):
            await process.wait()
    except (TimeoutError, asyncio.CancelledError):
        process.kill()
        await process.wait()
        raise

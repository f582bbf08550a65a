"""Decides what the device says by itself. Times are the event loop's; nothing else is waited for.

A connection that breaks and is back within seconds is shown by the light alone. A restart of the
server is announced, because the server may have forgotten what was asked of it.
"""

import asyncio
from collections.abc import Callable

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.headless.sentences import Sentence
from sayso.client.session.backoff import AWAY_SECONDS
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import Seen


class Announcements:
    """Takes what happens; calls `say` when it is to be told."""

    def __init__(self, say: Callable[[Sentence], None]) -> None:
        self._say = say
        self._met = False
        """The server was there once."""
        self._told_away = False
        self._refused = ""
        """Why, when it was told last."""
        self._leaving: asyncio.TimerHandle | None = None
        self._gone: set[str] = set()
        """Parts that there are none of now."""

    def take(self, seen: Seen) -> None:
        match seen:
            case LinkChange():
                self._link(seen)
            case DeviceChange():
                self._device(seen)
            case _:
                pass

    def close(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    def _device(self, change: DeviceChange) -> None:
        microphone = change.part == "microphone"
        if change.state == "lost":
            self._gone.add(change.part)
            if microphone:
                self._say("microphone_gone")
        elif change.state == "back" or change.part in self._gone:
            self._gone.discard(change.part)
            self._say("microphone_back" if microphone else "loudspeaker_back")

    def _link(self, change: LinkChange) -> None:
        match change.state:
            case LinkState.UP:
                self.close()
                if change.session == "anew":
                    self._say("anew")
                elif not self._met:
                    self._say("ready")
                elif self._told_away or self._refused:
                    self._say("back")
                self._met, self._told_away, self._refused = True, False, ""
            case LinkState.REFUSED:
                self.close()
                if change.reason != self._refused:
                    self._refused = change.reason
                    self._say("refused")
            case LinkState.WAITING if self._leaving is None and not self._told_away:
                loop = asyncio.get_running_loop()
                self._leaving = loop.call_later(AWAY_SECONDS, self._away)
            case _:
                pass

    def _away(self) -> None:
        self._leaving, self._told_away = None, True
        self._say("away")

"""One push button, with contacts that bounce as contacts do."""

from typing import Literal

BOUNCE_S = 0.025
"""A level counts when it has held so long; cheap contacts chatter for up to 20 ms."""

LONG_PRESS_S = 6.0
"""Long enough that nobody forgets the device by resting a hand on it."""

Press = Literal["pressed", "released", "held long"]


class Button:
    """Turns a chattering level into presses."""

    def __init__(self) -> None:
        self._level = False
        self._changed_at = 0.0
        self._is_down = False
        self._down_since: float | None = None

    def level(self, level: bool, now: float) -> Press | None:
        """Take in the pin's level, some hundred times a second; returns what it means, once."""
        if level != self._level:
            self._level = level
            self._changed_at = now
        if self._level != self._is_down and now - self._changed_at >= BOUNCE_S:
            self._is_down = self._level
            self._down_since = now if self._is_down else None
            return "pressed" if self._is_down else "released"
        if self._down_since is not None and now - self._down_since >= LONG_PRESS_S:
            self._down_since = None
            return "held long"
        return None

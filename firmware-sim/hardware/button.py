"""One push button, with contacts that bounce as contacts do."""

from typing import Literal

BOUNCE_S = 0.025
"""A level counts when it has held so long; cheap contacts chatter for up to 20 ms."""

LONG_PRESS_S = 6.0
"""It counts only from power on: later, a button that is held so long records a long sentence."""

Press = Literal["pressed", "released", "held long"]


class Button:
    """Turns a chattering level into presses."""

    def __init__(self, *, has_power_anew: bool = True) -> None:
        """`has_power_anew`: it was not the watchdog that started the program, while somebody may
        have been speaking."""
        self._level = False
        self._changed_at: float | None = None
        self._is_held_since_power_on = has_power_anew
        self._is_down = False
        self._down_since: float | None = None

    def level(self, level: bool, now: float) -> Press | None:
        """Take in the pin's level, some hundred times a second; returns what it means, once."""
        if level != self._level or self._changed_at is None:
            self._level = level
            self._changed_at = now
        has_settled = now - self._changed_at >= BOUNCE_S
        if has_settled and not level:
            self._is_held_since_power_on = False
        if has_settled and level != self._is_down:
            self._is_down = level
            self._down_since = now if self._is_down else None
            return "pressed" if self._is_down else "released"
        is_long = self._down_since is not None and now - self._down_since >= LONG_PRESS_S
        if is_long and self._is_held_since_power_on:
            self._down_since = None
            return "held long"
        return None

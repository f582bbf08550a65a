"""Defines the Protocol by which the program calls, sends, hangs up and resets the device."""

from typing import Protocol


class Wire(Protocol):
    """Carries out what the program does to the outside."""

    def call(self) -> None:
        """Open the line; `line_up` or `line_down` follows."""
        ...

    def hang_up(self) -> None: ...

    def send_text(self, text: str) -> None: ...

    def send_sound(self, frame: bytes) -> None: ...

    def erase_and_restart(self) -> None:
        """Forget everything that was set up."""
        ...

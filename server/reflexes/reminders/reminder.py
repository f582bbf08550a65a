"""One timer, alarm or reminder."""

from dataclasses import dataclass

from sayso.server.reflexes.reflex import Kind


@dataclass(frozen=True, slots=True)
class Reminder:
    """A timer, an alarm or a reminder that is open."""

    id: str
    kind: Kind
    due: float
    """Unix seconds."""
    what: str = ""
    """A timer's name, or what to remind of; empty if nothing was said."""
    seconds: int = 0
    """For how long a timer was set; zero for what is due at a time."""
    device: str = ""
    """The device that it was asked from, and that it is told on."""
    conversation: str = ""
    """Where it was asked."""
    language: str = "en"
    """Code of the language in which it was asked for, and is told."""
    days: tuple[int, ...] = ()
    """Weekdays on which it comes again, Monday is 0; empty: it comes once."""
    left: float = 0.0
    """Seconds that a timer has left which is paused; zero: it runs."""

    @property
    def is_paused(self) -> bool:
        return self.left > 0

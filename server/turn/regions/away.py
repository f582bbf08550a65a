"""Keeps an answer while something is said at another device than its own."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Away:
    """An answer that is waited for while something is said at another device."""

    home: str | None
    """Where it belongs; None: nowhere."""
    heard: str | None
    """What was heard of it so far; None: none of it was said."""
    kept: list[tuple[str, bool]] = field(default_factory=list)
    """What is to be said of it, and whether that is no part of the answer."""
    finished: bool = False
    """No more text of it comes."""

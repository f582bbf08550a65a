"""Logs what happened to a device, for the person at the simulator; no real device keeps this."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class DeviceLog:
    """From one boot to the next."""

    heard: list[str] = field(default_factory=list)
    """What the server understood."""
    answers: int = 0
    """How many answers were played to their end."""
    overflows: int = 0
    latencies: list[float] = field(default_factory=list)
    """Seconds from each ping to its pong."""
    acknowledged: int = 0
    """Samples that the server said it holds, of all utterances."""

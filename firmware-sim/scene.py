"""Describes what a simulated user does with a device, and records how it went."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Scene:
    """What the simulated user does: press, speak, let go, listen."""

    say: bytes = b""
    """PCM16 at 16 kHz, said while the button is held."""
    start_at: float = 0.0
    """Seconds after the first connection."""


@dataclass(slots=True)
class Report:
    """How a run went."""

    heard: list[str] = field(default_factory=list)
    """What the server understood."""
    connected: bool = False
    answers: int = 0
    reboots: int = 0
    watchdog_bites: int = 0
    cuts: int = 0
    overflows: int = 0
    erased: bool = False
    """It is factory-fresh again."""
    gaps: int = 0
    """How often the loudspeaker ran dry in the middle of an answer."""
    captured_samples: int = 0
    acknowledged_samples: int = 0
    most_capture_bytes: int = 0
    most_play_bytes: int = 0
    latencies: list[float] = field(default_factory=list)
    """Seconds from each ping to its pong."""
    trouble: str = ""
    """What its light told at the end."""
    failure: str = ""
    """Why the run counts as failed: the device's memory did not hold what came."""

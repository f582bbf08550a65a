"""The settings of `[log]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Log:
    """What the server writes about itself."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """How much is logged. What you say is written at no level."""

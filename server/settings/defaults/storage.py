"""The settings of `[storage]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Storage:
    """What is kept."""

    keep_days: Annotated[int, Between(0, 36_500)] = 0
    """Days after which a conversation that nobody took up again is forgotten, with all that was
    kept of it. 0 keeps everything until you say `/forget`."""
    minimum_free_mb: Annotated[int, Between(0, 1_000_000)] = 200
    """Megabytes to leave free on the disk: `sayso doctor` warns below, and fetched models stay
    above. A full disk in the middle of a conversation loses words."""

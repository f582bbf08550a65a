"""The settings of `[jobs]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Jobs:
    """What goes on in the background."""

    at_once: Annotated[int, Between(0, 16)] = 0
    """How many runs of one conversation may go on in the background at once; 0: three, or one
    where the machine has less than 5 GB of memory, such as most Raspberry Pis. Each has an
    interpreter of its own."""
    hours: Annotated[float, Between(0.01, 720)] = 8.0
    """How many hours one may run, before it is stopped: a night."""

"""The settings of `[hooks]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Hooks:
    """Programs of your own that are asked before something happens, or told of it. Each is a
    command whose program lies in `hooks/` of the configuration folder, or is one of the system's.
    They run in the sandbox: they can read what code may see, can write nothing and have no network.
    """

    before_run: tuple[str, ...] = ()
    """Asked before code runs or a tool acts. Whatever is not a clear yes is a no: an exit code but
    0, a program that is missing or takes too long, an answer that cannot be read."""
    after_change: tuple[str, ...] = ()
    """Told which files a run has changed; the model reads what they say, such as what a linter
    found. They need `undo`, which is what knows of changes."""
    before_commit: tuple[str, ...] = ()
    """Asked, as `before_run`, before git commits anything, as far as reading code tells."""
    at_end: tuple[str, ...] = ()
    """Told the answer to a request. One that ends with another exit code than 0 sends it back to
    the model with what it said, three times at most."""
    seconds: Annotated[float, Between(0.1, 300)] = 20.0
    """Seconds that each may take."""

"""The settings of `[approvals]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Approvals:
    """Your say-so."""

    mode: Literal["read-only", "ask", "workspace", "full"] = "ask"
    """What runs unasked. `read-only`: code may look and change nothing. `ask`: nothing does.
    `workspace`: what stays in the sandbox does. `full`: no sandbox; code may do all that you may.
    `/mode` changes it for one conversation."""
    safe: Literal["off", "ask", "auto"] = "ask"
    """Whether code is looked through for what is dangerous. `ask`: what is found is shown, and
    asked about in every mode. `auto`: what is gravely dangerous does not run. `off`: it is not
    looked through."""
    rules: tuple[str, ...] = ()
    """Your own rules, each a text of several lines: `allow`, `ask` or `deny`, then `command`,
    `path`, `host` or `language` and what is meant; then at least one line `matches: …` and one
    `spares: …` with examples, which are tried at start."""

    expire_s: Annotated[float, Between(5, 3_600)] = 120.0
    """Seconds that a question waits for an answer. Silence is a no."""

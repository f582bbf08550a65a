"""Names the optional abilities that an end announces in `features`.

A feature is announced only if it works. Names that are not known are ignored. SPEC.md says what
each one promises.
"""

from typing import Literal

ServerFeature = Literal[
    "ptt",
    "approvals",
    "files",
    "uploads",
    "resume",
    "hands_free",
    "partials",
    "word_times",
    "down_rates",
    "settings",
    "tasks",
    "commands",
    "pairing",
    "desktop",
]

ClientFeature = Literal["resume", "screen", "approve", "aloud", "tasks", "desktop"]

"""Words with the names of files that were sent along with them."""

from collections.abc import Sequence
from typing import Final

MOST_FILES: Final = 32
"""Files that are named with a request; what is more belongs into a folder or an archive."""


def with_files(text: str, files: Sequence[str]) -> str:
    """What the model and the transcript are told of both."""
    if not files:
        return text
    names = ", ".join(" ".join(name.split()) for name in files[:MOST_FILES])
    return f"{text}\n\n(Files that I sent along, in the workspace: {names}.)"

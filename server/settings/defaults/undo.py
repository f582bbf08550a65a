"""The settings of `[undo]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Undo:
    """Taking back what code did to files: what is kept for it."""

    total_mb: Annotated[int, Between(0, 10_000_000)] = 2_000
    """Megabytes that may be kept for one conversation, next to the files themselves: the folders
    that code may write to, and what runs changed there. The oldest goes out first. 0 switches undo
    off."""
    house_mb: Annotated[int, Between(1, 10_000_000)] = 10_000
    """Megabytes that may be kept for all conversations together. What was kept for the one that was
    not used for longest goes out first."""
    file_mb: Annotated[int, Between(1, 1_000_000)] = 100
    """Megabytes of the largest file that is kept. Larger ones cannot be brought back; Sayso says
    which they are."""
    files: Annotated[int, Between(100, 10_000_000)] = 200_000
    """Files of one folder. Looking at so many before each run takes about a second; a folder with
    more is not looked after."""

"""How much of the machine the code of one conversation may take."""

from dataclasses import dataclass

from sayso.server.runtimes.resources.cgroups import Cgroups
from sayso.server.runtimes.resources.watch import DISK_RESERVE_BYTES, FILES_MOST


@dataclass(frozen=True, slots=True)
class ResourceBounds:
    """Beyond these, code is stopped."""

    disk_reserve: int = DISK_RESERVE_BYTES
    """Bytes that must stay free."""
    files_most: int = FILES_MOST
    """New files."""
    cgroups: Cgroups | None = None
    """With these, the kernel itself bounds the memory and the processes of all its code."""

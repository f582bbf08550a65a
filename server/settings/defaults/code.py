"""The settings of `[code]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass
from typing import Annotated

from sayso.server.settings.value_types import Between


@dataclass(frozen=True, slots=True)
class Code:
    """Where code runs."""

    workspace: str = ""
    """Folder that code may write to; empty means one in Sayso's data folder. Code sees nothing else
    of yours but what is granted."""
    upload_mb: Annotated[int, Between(1, 100_000)] = 100
    """Megabytes of the largest file that a device may send into the workspace."""
    guest_upload_mb: Annotated[int, Between(1, 10_000_000)] = 1_000
    """Megabytes that may lie in all workspaces of another person together when they send a file."""
    languages: tuple[str, ...] = ()
    """Languages of your own, each a file and the class in it that describes the language, for
    example `~/ruby.py:Ruby`. The file runs in the server itself, so take none from strangers."""
    read_folders: tuple[str, ...] = ()
    """Folders of yours that code may read. A yes for good adds to them."""
    write_folders: tuple[str, ...] = ()
    """Folders of yours that code may read and write. A yes for good adds to them."""
    hosts: tuple[str, ...] = ()
    """Hosts on the network that code may reach, `*.example.org` for all below. A yes for good adds
    to them."""
    network: bool = False
    """Whether code may reach every public host. It never reaches this machine's own or your home
    network."""

"""Checks whether a person may choose a folder for a conversation's code to run in."""

import os
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.runtimes.grants import GrantError, folder, of_the_system, personal

_SHARED: Final = tuple(map(Path, ("/home", "/media", "/mnt", "/opt", "/srv", "/var", gettempdir())))
"""What lies in these may be a person's; they themselves are everybody's."""


def chosen_folder(text: str, permissions: Permissions) -> tuple[Path, tuple[str, ...]]:
    """The folder that is meant, and what the person should know before code runs there.

    Raises GrantError where none ever does; the message says why.
    """
    permissions.check_that_folders_are_theirs()
    place = folder(personal(text), "write").path
    if not place.is_dir():
        raise GrantError(f"{place} is a file; code runs in a folder.")
    if place in _SHARED or of_the_system(place):
        raise GrantError(f"{place} belongs to the whole machine; choose a folder of your own.")
    if not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        raise GrantError(f"Sayso may not write in {place}; choose another folder.")
    return place, permissions.warnings_about(place)

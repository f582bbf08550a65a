"""git for tests: under a neutral name, and without the settings of the user who runs them."""

import os
import subprocess
from pathlib import Path

_WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def git(*words: str, folder: Path) -> str:
    """What it says; it has to go well."""
    said = subprocess.run(
        ["git", *_WHO, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    return said.stdout

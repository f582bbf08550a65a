"""This machine's memory, sizes in words, and the command that installs a package for Sayso."""

import importlib.util
import os
import shlex
import shutil
import sys

UNIT_STEP = 1_000
"""From one unit of size to the next, as disks count."""


def memory_bytes() -> int:
    """All of its memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def in_words(count: int) -> str:
    """A number of bytes for people."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < UNIT_STEP:
            return f"{size:.0f} {unit}"
        size /= UNIT_STEP
    return f"{size:.1f} GB"


def install_command(requirement: str, *options: str, again: bool = False) -> str:
    """The exact command that installs a package into the environment that runs Sayso.

    `again` replaces what is there, and without uv's cache: uv links files from it, so that what is
    damaged here is damaged in the cache as well.
    """
    python = shlex.quote(sys.executable)
    uv = shutil.which("uv")
    if importlib.util.find_spec("pip") is None and uv:
        start, anew = f"uv pip install --python {python}", ("--reinstall", "--no-cache")
    else:
        start, anew = f"{python} -m pip install", ("--force-reinstall", "--no-cache-dir")
    return " ".join([start, *(anew if again else ()), *options, requirement])

"""What this machine can carry, and sizes in words."""

import os

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

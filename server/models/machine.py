"""What this machine can carry."""

import os


def memory_bytes() -> int:
    """All of its memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

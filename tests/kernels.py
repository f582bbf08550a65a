"""The kernels' environment for tests, and voices that are cut: made once on this machine, lent to
every fresh home."""

import os
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.runtimes.kernels.environment import ensure


def lent_home() -> Home:
    """The home that keeps it between test runs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    root = Path(os.environ.get("SAYSO_TEST_HOME", cache / "sayso-tests"))
    return Home(root, root, root)


def lend_kernels(root: Path) -> None:
    """Let a home of tests use it, and the parts of voices."""
    home = lent_home()
    ensure(home)
    (home.data / "voice-parts").mkdir(parents=True, exist_ok=True)
    for name in ("kernels", "voice-parts"):
        (root / name).symlink_to(home.data / name)

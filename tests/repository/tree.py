"""The repository as tests of itself see it."""

import functools
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

ROOMS = {
    "protocol": "sayso.protocol",
    "audio": "sayso.audio",
    "client": "sayso.client",
    "firmware-sim": "sayso.firmware_sim",
    "server": "sayso.server",
}
"""Each room's folder, and the package that it becomes."""

LOCKS = (
    *(
        ROOT / "scripts/locks" / f"{name}.lock"
        for name in ("client", "pi", "server", "build", "dev")
    ),
    ROOT / "server/runtimes/kernels/kernel.lock",
)


@functools.cache
def files(folder: str = ".") -> tuple[Path, ...]:
    """What belongs to the repository: committed, or about to be."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = sorted(set(filter(None, listing.stdout.split("\0"))))
    return tuple(path for path in (ROOT / name for name in names) if path.is_file())


def copy(target: Path) -> Path:
    """A clean checkout."""
    for path in files():
        place = target / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    return target

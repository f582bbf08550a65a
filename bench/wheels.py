"""What the client weighs on a Raspberry Pi: the locked versions as wheels for aarch64, no compiler."""

import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path("scripts/locks/client.lock")
NEWEST_GLIBC = 36
"""Of Debian 12, on which Raspberry Pi OS is built: 2.36. Wheels say which they need at least."""
PATIENCE_S = 300.0
MEGA = 1_000_000


def megabytes() -> float | None:
    """Together; None if the package index cannot be reached."""
    tags = [f"manylinux_2_{minor}_aarch64" for minor in range(17, NEWEST_GLIBC + 1)]
    tags += ["manylinux2014_aarch64", "any"]
    platforms = [part for tag in tags for part in ("--platform", tag)]
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--require-hashes", "-r", str(LOCK), "-d", folder, *platforms]
        done = subprocess.run(
            [*command, "--python-version", "3.11", "--implementation", "cp"],
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        if done.returncode:
            return None
        return round(sum(wheel.stat().st_size for wheel in Path(folder).iterdir()) / MEGA, 1)

"""Measures the client's download for a Raspberry Pi, by `scripts/wheels`."""

import json
import subprocess

PATIENCE_S = 600.0


def megabytes() -> float | None:
    """Of the ready-made builds for aarch64; None if the package index cannot be reached."""
    done = subprocess.run(
        ["scripts/wheels", "--json"], stdout=subprocess.PIPE, timeout=PATIENCE_S, check=False
    )
    return float(json.loads(done.stdout)["client_wheels_mb"]) if done.stdout else None

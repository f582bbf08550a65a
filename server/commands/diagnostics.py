"""`sayso diagnostics`: one file for whoever helps: what is installed, how it is, what it logged.

No secret is in it, nothing that was said, and no code that ran. It is written to this machine and
sent nowhere; it is plain text in a zip, to be read before it is handed on.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import distributions, version
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.observability.server_log import kept_lines
from sayso.server.settings.errors import SettingsError
from sayso.server.settings.loading import read
from sayso.server.store.redaction import redacted

LOG_LINES = 2_000
"""The last ones: a few days."""
DOCTOR_S = 120.0
"""Examining everything takes some seconds; on a slow machine a minute."""


class Diagnostics:
    """See the module."""

    summary = "write one file for whoever helps; no secrets in it"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="where to (default: this folder)")

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        now = datetime.now(UTC)
        path = arguments.file or Path()
        if path.is_dir():
            path /= f"sayso-diagnostics-{now:%Y%m%d-%H%M%S}.zip"
        parts = {
            "versions.txt": _versions(),
            "settings.txt": _settings(home),
            "doctor.txt": _doctor(),
            "log.jsonl": "\n".join(deque(kept_lines(home), maxlen=LOG_LINES)),
        }
        try:
            _write(path, parts)
        except OSError as problem:
            print(f"{path} cannot be written: {problem.strerror}.", file=sys.stderr)
            return 1
        print(f"{path} holds {', '.join(parts)}. Read it before you hand it on.")
        return 0


def _write(path: Path, parts: Mapping[str, str]) -> None:
    """For its owner's eyes from the first byte on; nothing is overwritten."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bundle,
    ):
        for name, text in parts.items():
            bundle.writestr(name, _without_person(redacted(text)) + "\n")


def _versions() -> str:
    packages = sorted({f"{found.name}=={found.version}" for found in distributions()})
    machine = f"{platform.system()} {platform.release()} {platform.machine()}"
    return "\n".join([f"sayso {version('sayso')}", machine, f"Python {sys.version}", *packages])


def _settings(home: Home) -> str:
    """What was set, and where; not the defaults."""
    try:
        readings = read(home)
    except SettingsError as error:
        return str(error)
    lines = [
        f"{dotted} = {json.dumps(readings.values[dotted])}    ({origin})"
        for dotted, origin in readings.origins.items()
        if origin.kind != "default"
    ]
    return "\n".join(lines) or "everything is as it comes"


def _doctor() -> str:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sayso.client.command", "doctor"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DOCTOR_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"The doctor was not done after {DOCTOR_S:.0f} s."
    return done.stdout + done.stderr


def _without_person(text: str) -> str:
    """Paths without who lives there."""
    return text.replace(str(Path.home()), "~")


command = Diagnostics()

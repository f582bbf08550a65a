"""The background service of this person: how systemd and launchd are told of it. Pure texts."""

import plistlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

UNIT = "sayso-talk.service"
LABEL = "sayso.talk"
AGAIN_SECONDS = 10
"""Until it is started again after it failed: a microphone is plugged in meanwhile."""
PASSED_ON = ("SAYSO_HOME", "SAYSO_SERVER")
"""What the service must know of the shell in which it was installed."""


def service_file(home: Path, config: Path) -> Path:
    """Where this platform wants it."""
    if sys.platform == "darwin":
        return home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    return config / "systemd" / "user" / UNIT


def systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    lines = [
        "[Unit]",
        "Description=Sayso, talked to without a key",
        "After=pipewire.service pulseaudio.service",
        "",
        "[Service]",
        f"ExecStart={' '.join(map(_quoted, command))}",
        *(
            f"Environment={_quoted(f'{name}={environment[name]}')}"
            for name in PASSED_ON
            if environment.get(name)
        ),
        "Restart=on-failure",
        f"RestartSec={AGAIN_SECONDS}",
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def launchd_list(command: Sequence[str], environment: Mapping[str, str]) -> str:
    content = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": {
            name: environment[name] for name in PASSED_ON if environment.get(name)
        },
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": AGAIN_SECONDS,
    }
    return plistlib.dumps(content).decode()


def _quoted(word: str) -> str:
    """As systemd reads it: `%` and `$` mean something there."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'

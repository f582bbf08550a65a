"""Builds the service files with which systemd and launchd start Sayso. Pure: options in, text out.

On a desktop it is a service of the user, started at login. Nobody logs in on a device without a
screen, so there it is a service of the system, and runs as the user who installed it.
"""

import plistlib
from collections.abc import Mapping, Sequence

from sayso.client.headless.pairing_file import BOOT_FOLDERS, HANDED_OVER, NAME

UNIT = "sayso-talk.service"
HEADLESS_UNIT = "sayso-headless.service"
LABEL = "sayso.talk"
AGAIN_SECONDS = 10
"""Until it is started again after it failed: a microphone is plugged in meanwhile."""
AT_ONCE_SECONDS = 2
"""The same for a device that nobody looks after, and which waits for its microphone itself."""
PASSED_ON = ("SAYSO_HOME", "SAYSO_SERVER")
"""What the service must know of the shell in which it was installed."""


def systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """For a desktop."""
    return _unit(
        Unit=["Description=Sayso, talked to without a key", _AFTER_SOUND],
        Service=[
            *_start(command, environment),
            "Restart=on-failure",
            f"RestartSec={AGAIN_SECONDS}",
        ],
        Install=["WantedBy=default.target"],
    )


def headless_unit(command: Sequence[str], environment: Mapping[str, str], user: str) -> str:
    """For a device that starts with the power. It comes back whatever ends it, for ever.

    Only root may remove a file from the boot partition, so systemd hands a pairing over.
    """
    places = " ".join(f"'{folder / NAME}'" for folder in BOOT_FOLDERS)
    take = (
        f'for file in {places}; do if [ -s "$file" ]; then '
        f'install -m 600 -o {user} "$file" {HANDED_OVER}/ && rm "$file"; fi; done'
    )
    return _unit(
        Unit=[
            "Description=Sayso, a device without a screen",
            "After=sound.target network.target",
            "StartLimitIntervalSec=0",
        ],
        Service=[
            f"User={user}",
            _SMALL,
            f"RuntimeDirectory={HANDED_OVER.name}",
            "RuntimeDirectoryMode=0700",
            "RuntimeDirectoryPreserve=restart",
            f"ExecStartPre=+/bin/sh -c {_quoted(take)}",
            *_start(command, environment),
            "Restart=always",
            f"RestartSec={AT_ONCE_SECONDS}",
        ],
        Install=["WantedBy=multi-user.target"],
    )


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


_SMALL = "Environment=MALLOC_ARENA_MAX=2 OPENBLAS_NUM_THREADS=1"
"""A small device has little memory, and its client computes little: two megabytes less."""
_AFTER_SOUND = "After=pipewire.service pulseaudio.service"


def _start(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    known = [name for name in PASSED_ON if environment.get(name)]
    return [
        f"ExecStart={' '.join(map(_quoted, command))}",
        *(f"Environment={_set(f'{name}={environment[name]}')}" for name in known),
    ]


def _unit(**sections: Sequence[str]) -> str:
    return "\n".join("\n".join([f"[{name}]", *lines, ""]) for name, lines in sections.items())


def _quoted(word: str) -> str:
    """A word of a command as systemd reads it: `$` means something there."""
    return _set(word).replace("$", "$$")


def _set(word: str) -> str:
    """As systemd reads it anywhere: `%` means something."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'

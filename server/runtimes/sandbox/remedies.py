"""What a person has to do where no sandbox holds: the machine is looked at, and the exact command
is said."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

_INSTALL = {
    "apt": "sudo apt install bubblewrap",
    "dnf": "sudo dnf install bubblewrap",
    "pacman": "sudo pacman -S bubblewrap",
    "zypper": "sudo zypper install bubblewrap",
    "apk": "sudo apk add bubblewrap",
}
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")
_MOST = Path("/proc/sys/user/max_user_namespaces")


def remedy(_: Sequence[str]) -> str:
    """Return one sentence that says what to do."""
    if sys.platform == "darwin":
        return "Sayso needs /usr/bin/sandbox-exec, which belongs to macOS: repair the system."
    if not shutil.which("bwrap"):
        for manager, command in _INSTALL.items():
            if shutil.which(manager):
                return f"Run `{command}` and start Sayso again."
        return (
            "Install bubblewrap, or use Linux 6.12 or newer with Landlock, and start Sayso again."
        )
    if _reads(_APPARMOR) == "1":
        return (
            "Ubuntu forbids bubblewrap to make namespaces: run `sudo apt install apparmor-profiles"
            " && sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict"
            " /etc/apparmor.d/ && sudo systemctl reload apparmor` and start Sayso again."
        )
    if _reads(_CLONE) == "0":
        return "Run `sudo sysctl -w kernel.unprivileged_userns_clone=1` and start Sayso again."
    if _reads(_MOST) == "0":
        return "Run `sudo sysctl -w user.max_user_namespaces=15000` and start Sayso again."
    return (
        "If Sayso runs in a container, let that container make namespaces (for Docker:"
        " `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`)"
        " or give it Linux 6.12 or newer with Landlock."
    )


def _reads(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""

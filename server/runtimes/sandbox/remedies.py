"""What a person has to do where no sandbox holds: one sentence with the exact command."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sayso.server.runtimes.sandbox.call_filter.system_calls import known

_INSTALL = {
    "apt": "sudo apt install bubblewrap",
    "dnf": "sudo dnf install bubblewrap",
    "pacman": "sudo pacman -S bubblewrap",
    "zypper": "sudo zypper install bubblewrap",
    "apk": "sudo apk add bubblewrap",
}

_KERNEL = Path("/proc/sys")

CLOSED = "cannot be let pass"
"""In a failure: a root server's code is another user, and folders lie in its way
(other_user.py)."""

LEAK = "code can"
"""In a failure: the sandbox started, and something got out."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides about the remedy."""

    platform: str = "linux"
    known_processor: bool = True
    bubblewrap: bool = True
    package_manager: str = ""
    apparmor_forbids: bool = False
    """Ubuntu from 23.10 on: programs without a profile may not make user namespaces."""
    kernel_forbids: bool = False
    """Debian's switch for the same, on by default until 10 and where it was hardened since."""
    no_namespaces: bool = False
    """The number of user namespaces is set to nothing."""


def look() -> Machine:
    """Look at this machine."""
    return Machine(
        platform=sys.platform,
        known_processor=known() is not None,
        bubblewrap=shutil.which("bwrap") is not None,
        package_manager=next(filter(shutil.which, _INSTALL), ""),
        apparmor_forbids=_setting("kernel/apparmor_restrict_unprivileged_userns") == "1",
        kernel_forbids=_setting("kernel/unprivileged_userns_clone") == "0",
        no_namespaces=_setting("user/max_user_namespaces") == "0",
    )


def remedy(failures: Sequence[str], machine: Machine) -> str:
    """Return what to do about these failures on this machine."""
    if any(LEAK in failure for failure in failures):
        return (
            "Bring the system up to date and start Sayso again; if it stays so, please report it."
        )
    if machine.platform == "darwin":
        return "Sayso needs /usr/bin/sandbox-exec, which belongs to macOS: repair the system."
    if not machine.known_processor:
        return "Sayso can confine code on x86_64 and aarch64 only: use such a machine."
    return _remedy_on_linux(failures, machine)


def _remedy_on_linux(failures: Sequence[str], machine: Machine) -> str:
    if any(CLOSED in failure for failure in failures):
        return (
            "Let Sayso keep its files where everybody may pass (`export SAYSO_HOME=/srv/sayso`) or"
            " run it as an ordinary user, and start it again."
        )
    if not machine.bubblewrap:
        if install := _INSTALL.get(machine.package_manager):
            return f"Run `{install}` and start Sayso again."
        return "Install bubblewrap, or Linux 6.12 or newer with Landlock, and start Sayso again."
    if any("Unknown option" in failure for failure in failures):
        return "Update bubblewrap to 0.5 or newer and start Sayso again."
    if machine.apparmor_forbids:
        return (
            "Ubuntu forbids bubblewrap to make namespaces: run `sudo apt install apparmor-profiles"
            " && sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict"
            " /etc/apparmor.d/ && sudo systemctl reload apparmor` and start Sayso again."
        )
    if machine.kernel_forbids:
        return "Run `sudo sysctl -w kernel.unprivileged_userns_clone=1` and start Sayso again."
    if machine.no_namespaces:
        return "Run `sudo sysctl -w user.max_user_namespaces=15000` and start Sayso again."
    return (
        "If Sayso runs in a container, let that container make namespaces (for Docker:"
        " `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`)"
        " or give it Linux 6.12 or newer with Landlock."
    )


def _setting(name: str) -> str:
    try:
        return (_KERNEL / name).read_text().strip()
    except OSError:
        return ""

"""Confinement by Seatbelt, which every macOS has: a profile that denies all but what it names.

Apple calls the program `sandbox-exec` deprecated and builds its own system on what is behind it. As
on every platform, no code runs before the self-test has found that the profile holds.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from sayso.server.runtimes.sandbox.launcher import Steps
from sayso.server.runtimes.sandbox.limits import SandboxLimits
from sayso.server.runtimes.sandbox.sandbox import (
    NO_HANDOVER,
    Confined,
    Confines,
    Kind,
    NoSandboxInsideError,
    clean_environment,
    recognised,
    to_hold,
)

PROGRAM = Path("/usr/bin/sandbox-exec")

_LAUNCHER = Path(__file__).with_name("launcher.py").resolve()

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/Library/Fonts", "/Library/Frameworks",
    "/Library/Developer/CommandLineTools", "/opt/homebrew", "/private/etc/ssl",
    "/private/etc/localtime", "/private/var/db/timezone", "/private/var/db/dyld",
)  # fmt: skip
"""Programs, libraries, fonts, certificates of authorities, time zones."""

_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")

_SERVICES = (
    "com.apple.system.logger", "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
)  # fmt: skip
"""What the C library asks to look up a user or to log; none of them reaches files or network."""


class Seatbelt:
    """Confines with the `sandbox-exec` program."""

    kind: Kind = "seatbelt"

    def __init__(self, python: Path, limits: SandboxLimits | None = None) -> None:
        self._python = python
        self.limits = limits or SandboxLimits()

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        if confines.sandbox_inside:
            raise NoSandboxInsideError
        recognised(confines)
        home, scratch = private / "home", private / "tmp"
        scratch.mkdir(mode=0o700, exist_ok=True)
        steps = Steps(
            role="guard",
            argv=[str(PROGRAM), "-p", profile(confines, private, self._python), *argv],
            # macOS does not bound address space, and bounds processes for each user as it is.
            limits={
                "file": self.limits.file,
                "core": self.limits.core,
                "open_files": self.limits.open_files,
            },
            home=str(home),
            skeleton=str(confines.skeleton or ""),
            at_home=dict(confines.at_home),
            folder=str(confines.folder),
        )
        return Confined(
            (str(self._python), "-I", "-S", str(_LAUNCHER), json.dumps(asdict(steps))),
            clean_environment(home, scratch, environment),
        )


def profile(confines: Confines, private: Path, python: Path) -> str:
    """Return the rules, in Seatbelt's language."""
    readable = [*map(Path, _SYSTEM), python.parent.parent, *confines.readable]
    writable = [*confines.writable, private]
    passed = sorted({parent for path in (*readable, *writable) for parent in path.parents})
    held = [place for places in to_hold(confines) for place in places]
    kept = [Path(place[0]) for place in held]
    closed = [Path(place[0]) for place in held if place[3]]
    rules = (
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork sysctl-read ipc-posix-sem ipc-posix-shm*)",
        "(allow process-info* signal (target same-sandbox))",
        # A folder on the way can be passed through, but not listed.
        _rule("file-read-metadata", "literal", passed),
        _rule("file-read*", "subpath", readable),
        _rule("file-read* file-write*", "subpath", writable),
        _rule("file-write*", "subpath", closed, "deny"),
        _rule("file-write-unlink file-write-create", "literal", kept, "deny"),
        _rule("file-read* file-write-data file-ioctl", "literal", map(Path, _DEVICES)),
        f"(allow mach-lookup {' '.join(f'(global-name {_quoted(name)})' for name in _SERVICES)})",
        # A kernel's own sockets lie there. There is no other network, not even loopback.
        _rule("network-bind network-inbound", "subpath", [private]),
        # Programs that run with the rights of the server's user.
        "(deny file-write-setugid)",
    )
    return "\n".join(rule for rule in rules if rule)


def _rule(
    operations: str,
    way: str,
    paths: Iterator[Path] | Sequence[Path],
    verdict: Literal["allow", "deny"] = "allow",
) -> str:
    """A rule for some paths; the last one that matches counts."""
    named = " ".join(f"({way} {_quoted(str(path))})" for path in paths)
    return f"({verdict} {operations} {named})" if named else ""


def _quoted(text: str) -> str:
    """A string that nothing in it can end."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

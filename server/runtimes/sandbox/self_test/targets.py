"""What the self-test sets out for the probe to reach for, and how it sees whether it got there."""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.runtimes.sandbox.self_test.escape_probe import SYSTEM, Targets

_OPEN = 0o666
"""The mode of a canary."""

_VICTIM_S = 30
"""How long the victim lives if nobody ends it: longer than any test, shorter than a nuisance."""


@dataclass(frozen=True, slots=True)
class SelfTestTargets:
    """Files, sockets and a process of the server's, which confined code must not reach."""

    targets: Targets
    victim: asyncio.subprocess.Process
    sockets: Sequence[tuple[str, socket.socket]]
    """What reaching each would be, and where it would be seen."""

    def disturbed(self) -> list[str]:
        """What was done to them, as seen from outside."""
        found = []
        canaries = [Path(canary) for canary in (*self.targets.canaries, self.targets.granted)]
        if any(self._is_changed(canary) for canary in canaries):
            found.append("change a file outside")
        made = [Path(folder, self.targets.mark) for folder in SYSTEM]
        if any(map(os.path.lexists, [*made, *(each.with_name("made") for each in canaries)])):
            found.append("make a file outside")
        if self.victim.returncode is not None:
            found.append("signal another process")
        for name, target in self.sockets:
            with contextlib.suppress(BlockingIOError):
                if target.type == socket.SOCK_STREAM:
                    target.accept()[0].close()
                else:
                    target.recv(1)
                found.append(name)
        return found

    def _is_changed(self, canary: Path) -> bool:
        try:
            mode = stat.S_IMODE(canary.stat().st_mode)
            return mode != _OPEN or canary.read_text() != self.targets.secret
        except OSError:
            return True


@contextlib.asynccontextmanager
async def set_out() -> AsyncIterator[SelfTestTargets]:
    """Set everything out, and clear it away afterwards."""
    secret = secrets.token_hex(16)
    with contextlib.ExitStack() as stack:
        paths = _folders(stack)
        canaries = [paths["beside"] / "canary", paths["kept"] / "canary"]
        granted = paths["granted"] / "canary"
        for canary in (*canaries, granted):
            canary.write_text(secret)
            canary.chmod(_OPEN)
        tcp = _listening(stack, socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        udp = _listening(stack, socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        sockets: tuple[tuple[str, socket.socket], ...] = (
            ("connect by TCP", tcp),
            ("send by UDP", udp),
            (
                "connect to a socket of the host",
                _listening(stack, socket.AF_UNIX, socket.SOCK_STREAM, str(paths["stream"])),
            ),
            (
                "send to a socket of the host",
                _listening(stack, socket.AF_UNIX, socket.SOCK_DGRAM, str(paths["datagram"])),
            ),
            (
                "connect to a socket in a folder granted to read",
                _listening(stack, socket.AF_UNIX, socket.SOCK_STREAM, str(paths["readable"])),
            ),
        )
        if sys.platform == "linux":
            abstract = _listening(stack, socket.AF_UNIX, socket.SOCK_STREAM, f"\0sayso-{secret}")
            sockets = (*sockets, ("connect to an abstract socket of the host", abstract))
        victim = await asyncio.create_subprocess_exec(
            shutil.which("sleep") or "sleep", str(_VICTIM_S), env={"SAYSO_TEST": secret}, cwd="/"
        )
        try:
            targets = Targets(
                workspace=str(paths["workspace"]),
                canaries=[str(canary) for canary in canaries],
                secret=secret,
                victim=victim.pid,
                mark=f".sayso-test-{secret}",
                tcp=tcp.getsockname()[1],
                udp=udp.getsockname()[1],
                stream=str(paths["stream"]),
                datagram=str(paths["datagram"]),
                abstract=f"sayso-{secret}",
                granted=str(granted),
                granted_stream=str(paths["readable"]),
            )
            yield SelfTestTargets(targets, victim, sockets)
        finally:
            _clear_marks(targets.mark)
            with contextlib.suppress(ProcessLookupError):
                victim.kill()
            await victim.wait()


def _clear_marks(mark: str) -> None:
    """Remove what a sandbox that does not hold let be made in the system's folders."""
    for folder in SYSTEM:
        with contextlib.suppress(OSError):
            Path(folder, mark).unlink()


def _folders(stack: contextlib.ExitStack) -> dict[str, Path]:
    """Two places for canaries: where Sayso keeps its own secrets, and where anyone might write.

    Both are open to every user, so that the sandbox is tested and not the modes of files.
    """
    beside = _temporary(stack, None)
    try:
        state = Home.find().state
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _temporary(stack, state)
    except OSError:
        kept = beside
    granted = _temporary(stack, None)
    for folder in (beside, kept, granted):
        folder.chmod(0o777)
    return {
        "workspace": _temporary(stack, None),
        "beside": beside,
        "granted": granted,
        "readable": granted / "stream",
        "kept": kept,
        "stream": beside / "stream",
        "datagram": beside / "datagram",
    }


def _temporary(stack: contextlib.ExitStack, folder: Path | None) -> Path:
    made = tempfile.TemporaryDirectory(prefix="sayso-test-", dir=folder)
    return Path(stack.enter_context(made)).resolve()


def _listening(
    stack: contextlib.ExitStack,
    family: socket.AddressFamily,
    kind: socket.SocketKind,
    address: str | tuple[str, int],
) -> socket.socket:
    made = stack.enter_context(socket.socket(family, kind))
    made.bind(address)
    if isinstance(address, str) and not address.startswith("\0"):
        Path(address).chmod(0o777)
    made.setblocking(False)
    if kind == socket.SOCK_STREAM:
        made.listen()
    return made

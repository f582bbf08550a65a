"""Starts Chromium in the sandbox, and ends it with all that it started."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from sayso.server.capabilities.browser.cdp import Cdp, Fields
from sayso.server.capabilities.browser.chromium import Chromium
from sayso.server.capabilities.browser.errors import BrowserError
from sayso.server.capabilities.browser.profile import prepare
from sayso.server.runtimes.base_python import base_prefix, base_python
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.network.proxy import Proxy
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox

START_S: Final = 20.0
"""It takes one or two; on a busy Raspberry Pi ten."""

WRITES_S: Final = 3.0
"""So long it may take to write cookies and the like when it is ended; it takes a tenth of that."""

_ON_PIPE: Final = (
    "import os, sys\n"
    "channel = int(sys.argv[1])\n"
    "os.dup2(channel, 3)\n"
    "os.dup2(channel, 4)\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)
"""Makes a socket what Chromium takes its commands from."""


class RunningChromium:
    """One that runs, of one person."""

    def __init__(self, process: ConfinedProcess, cdp: Cdp, watch: ResourceWatch) -> None:
        self._process = process
        self._watch = watch
        self.cdp = cdp

    @classmethod
    async def start(
        cls,
        chromium: Chromium,
        sandbox: Sandbox,
        folder: Path,
        proxy: Proxy,
        happened: Callable[[str, str, Fields], None],
    ) -> "RunningChromium":
        """Start it in a person's folder, which nobody else's browser may use meanwhile. Raises
        BrowserError."""
        try:
            profile = await asyncio.to_thread(prepare, folder)
        except OSError as error:
            raise BrowserError(f"The browser's folder cannot be used: {error}.") from None
        watch = ResourceWatch()
        ours, theirs = socket.socketpair()

        def command(_: Path) -> Sequence[str]:
            return (*before(_ON_PIPE, theirs), *chromium.command(profile))

        try:
            process = await ConfinedProcess.start(
                sandbox,
                command,
                own_folders(profile),
                confines(chromium, folder, proxy, watch),
                (theirs.fileno(),),
            )
        except BaseException as error:
            ours.close()
            await watch.close()
            if isinstance(error, OSError):
                raise BrowserError(f"The browser cannot be started: {error}.") from error
            raise
        finally:
            theirs.close()
        running = cls(process, await Cdp.over(ours, happened), watch)
        try:
            await running.cdp.ask("Browser.getVersion", seconds=START_S)
        except BrowserError:
            await running.close()
            raise BrowserError(running.complaint) from None
        except BaseException:
            await running.close()
            raise
        return running

    @property
    def alive(self) -> bool:
        """Whether it can be worked with."""
        return self._process.alive and self.cdp.open

    @property
    def pid(self) -> int:
        """Of the process outside, below which all of it runs."""
        return self._process.pid

    @property
    def ended_for(self) -> str:
        """Why it was ended, if it took too much: what begins a sentence."""
        return self._process.ended_for

    @property
    def complaint(self) -> str:
        """Why it did not start, in a sentence that says what to do."""
        return complaint(self._process.last_words)

    async def close(self) -> None:
        """End it, with all that it started; what it has not written yet, it writes first."""
        with suppress(BrowserError):
            await self.cdp.ask("Browser.close", seconds=WRITES_S)
        await asyncio.wait([self._process.ended], timeout=WRITES_S)
        await self.cdp.close()
        await self._process.close()
        await self._watch.close()


def confines(chromium: Chromium, folder: Path, proxy: Proxy, watch: ResourceWatch) -> Confines:
    """What a browser sees of this machine: itself, and its person's folder."""
    return Confines(
        folder,
        writable=(folder,),
        readable=(chromium.folder, base_prefix()),
        proxy=proxy,
        watch=watch,
        sandbox_inside=True,
    )


def own_folders(profile: Path) -> Mapping[str, str]:
    """The environment that keeps all of it in the profile."""
    return {"XDG_CACHE_HOME": str(profile), "XDG_CONFIG_HOME": str(profile)}


def before(script: str, channel: socket.socket) -> Sequence[str]:
    """The beginning of a command that does this with a socket that it inherits, and then becomes
    what follows."""
    return (str(base_python()), "-I", "-S", "-c", script, str(channel.fileno()))


def complaint(words: str) -> str:
    """Why a browser did not start that said this, in a sentence that says what to do."""
    if "No usable sandbox" in words or "Operation not permitted" in words:
        return (
            "Chromium can't make its own sandbox here, without which Sayso does not start it:"
            " let programs make user namespaces (`sudo sysctl -w"
            " user.max_user_namespaces=15000`)."
        )
    last = (words.splitlines() or ["it said nothing"])[-1][:200]
    return f"The browser did not start ({last}); `sayso doctor` tells what is missing."

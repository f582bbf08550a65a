"""The browser in a window at this machine, for what its person does by hand: to sign in.

Nobody else drives it. Chromium takes no commands meanwhile, nothing is read or typed by Sayso, and
no conversation has the profile until the window is closed.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.server.capabilities.browser.chromium import CALLS_HOME, Chromium
from sayso.server.capabilities.browser.display import HAND_OUT, Display, DisplayDoor, DisplayError
from sayso.server.capabilities.browser.errors import BrowserError
from sayso.server.capabilities.browser.launch import before, complaint, confines, own_folders
from sayso.server.capabilities.browser.profile import prepare, take
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network.addresses import Whereabouts
from sayso.server.runtimes.network.proxy import Proxy
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.sandbox.sandbox import Sandbox

FORGET_S: Final = 5.0
"""How often what the proxy remembers is let go: what a person looks at by hand is nobody's log."""


class BrowserWindow:
    """One that is open."""

    def __init__(
        self, process: ConfinedProcess, door: DisplayDoor, proxy: Proxy, watch: ResourceWatch
    ) -> None:
        self._process = process
        self._door = door
        self._proxy = proxy
        self._watch = watch

    @classmethod
    async def open(
        cls,
        chromium: Chromium,
        sandbox: Sandbox,
        folder: Path,
        display: Display,
        *,
        address: str = "",
        closed: Sequence[str] = (),
        whereabouts: Whereabouts | None = None,
    ) -> "BrowserWindow":
        """Open it with a profile that was taken. `closed`: hosts that the person's rules forbid.
        Raises BrowserError, DisplayError."""
        profile = await asyncio.to_thread(prepare, folder)
        proxy = Proxy(Grants(network=True, closed=(*closed, *CALLS_HOME)), whereabouts)
        watch, door = ResourceWatch(), DisplayDoor(display)

        def command(_: Path) -> Sequence[str]:
            return (*before(HAND_OUT, door.theirs), *chromium.window_command(profile, address))

        try:
            process = await ConfinedProcess.start(
                sandbox,
                command,
                own_folders(profile),
                confines(chromium, folder, proxy, watch),
                (door.theirs.fileno(),),
            )
        except BaseException as error:
            await door.close()
            await proxy.close()
            await watch.close()
            if isinstance(error, OSError):
                raise BrowserError(f"The browser cannot be started: {error}.") from error
            raise
        window = cls(process, door, proxy, watch)
        try:
            await door.open()
        except DisplayError:
            await window.close()
            raise BrowserError(complaint(process.last_words)) from None
        except BaseException:
            await window.close()
            raise
        return window

    @property
    def pid(self) -> int:
        """Of the process outside, below which all of it runs."""
        return self._process.pid

    async def until_closed(self) -> str:
        """Wait until the person has closed it; return what went wrong, in a sentence, or
        nothing."""
        while not self._process.ended.done():
            self._proxy.take_passages()
            await asyncio.wait([self._process.ended], timeout=FORGET_S)
        if self._process.ended_for:
            return f"{self._process.ended_for}, so the browser was ended."
        return complaint(self._process.last_words) if self._process.ended.result() else ""

    async def close(self) -> None:
        """End it. A person closes it at the window, so that all is written that it keeps."""
        await self._process.close()
        await self._door.close()
        await self._proxy.close()
        await self._watch.close()


async def by_hand(
    chromium: Chromium,
    sandbox: Sandbox,
    folder: Path,
    display: Display,
    *,
    address: str = "",
    closed: Sequence[str] = (),
) -> str:
    """Let a person use their browser in a window until they close it; return what went wrong, in a
    sentence, or nothing. Raises BrowserError, DisplayError."""
    lock = await asyncio.to_thread(take, folder)
    try:
        window = await BrowserWindow.open(
            chromium, sandbox, folder, display, address=address, closed=closed
        )
        try:
            return await window.until_closed()
        finally:
            await window.close()
    finally:
        os.close(lock)

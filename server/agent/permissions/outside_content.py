"""Tracks whether a run read untrusted content; from then on, every host is asked about again.

A page, a download or a file that somebody sent may hold a prompt injection; the next
code then sends away what it can read. So once a run has read such things, nothing is sent to a
host, granted as it may be, before the person says yes to it once more: once in a request for each
host, in every mode but full. What was read is worked out from what the server itself sees: bytes
that came through the network proxy, and folders outside of the workspace that the interpreters had.
It marks the whole conversation, not one interpreter: what one has read another finds in the
workspace, and the model knows it anyway. Another conversation that works in the same folders takes
the mark over with its next run there (`untrusted_folders.py`). Beginning anew wipes the mark.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from sayso.server.runtimes.grants import Grants

MOST_ASKED: Final = 8
"""Hosts in one request that a person is asked about: code that goes on and on is not a question."""

SOURCES_KEPT: Final = 100
"""Of the hosts and folders that were read: the mark stays the same, however many there are."""
SOURCES_TOLD: Final = 3

Ask = Callable[[str, str], Awaitable[bool]]
"""Puts a host and the reason to the person; returns whether they allow it."""


class OutsideContent:
    """Of one conversation."""

    def __init__(self) -> None:
        self._sources: dict[str, None] = {}
        self._answers: dict[str, bool] = {}
        """In this request, by host."""
        self._any_host = False
        self._asking: tuple[Ask, asyncio.Event] | None = None

    def read(self, sources: Iterable[str]) -> None:
        """A run that is over has read these: hosts, and folders as they are shown."""
        for source in sources:
            if len(self._sources) < SOURCES_KEPT:
                self._sources[source] = None

    def forget(self) -> None:
        """Begin anew."""
        self._sources.clear()
        self.new_request()

    def new_request(self) -> None:
        """What was answered counts for the request before."""
        self._answers.clear()
        self._any_host = False

    @property
    def sources(self) -> tuple[str, ...]:
        """What was read."""
        return tuple(self._sources)

    @property
    def why(self) -> str:
        """What a person should know, as a sentence; empty if nothing was read."""
        if not self._sources:
            return ""
        first = list(self._sources)[:SOURCES_TOLD]
        more = len(self._sources) - len(first)
        named = ", ".join(first) + (f" and {more} more" if more else "")
        return f"Code here has read from {named}: what strangers wrote there may be behind this."

    def allowed(self, hosts: Iterable[str], *, any_host: bool = False) -> None:
        """The person has just said yes to these; it counts if they were told what had been read."""
        if not self._sources:
            return
        self._answers.update(dict.fromkeys(hosts, True))
        self._any_host = self._any_host or any_host

    @contextmanager
    def asked_by(self, ask: Ask, left: asyncio.Event) -> Iterator[None]:
        """While a run lasts, there is somebody to ask; not for one that has `left`, because no
        request waits for it: what is not allowed by then stays so."""
        asking = (ask, left)
        self._asking = asking
        try:
            yield
        finally:
            if self._asking is asking:
                self._asking = None

    async def hindrance(self, host: str) -> str:
        """Why nothing may be sent to a host, as a clause; empty if it may be. Asks the person."""
        if not self._sources or self._any_host:
            return ""
        ask, left = self._asking or (None, None)
        attended = ask and left and not left.is_set()
        if host not in self._answers and ask and attended and len(self._answers) < MOST_ASKED:
            allowed = await ask(host, self.why)
            self._answers.setdefault(host, allowed)
        if self._answers.get(host):
            return ""
        return (
            f"code here has read what strangers may have written, and {host} was not allowed since,"
            " in this request"
        )


def read_besides(reach: Grants) -> Iterator[str]:
    """What code could read besides its workspace and the system."""
    yield from (str(each.path) for each in reach.folders)
    if reach.everything:
        yield "this machine, without a sandbox"


def fetched_from(reach: Grants) -> Iterator[str]:
    """Where code could fetch something, at any time while its interpreter lives."""
    yield from reach.hosts
    if reach.network:
        yield "the network"

"""The time that one request may take: asked about before it is up, and then handed over or cut."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

ASKED_AT: Final = 0.8
"""The share of its time after which the person is asked: what is left is enough to answer."""


class RequestClock:
    """Enter it around the work. When the time is up it ends with TimeoutError, unless what runs
    then can be handed over to the background."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.soon = asyncio.Event()
        """Most of the time is used."""
        self.anew = asyncio.Event()
        """The person has given more time since they were asked."""
        self.handed_over = False
        """The time is up, and what ran goes on without the request."""
        self.hand_over: Callable[[], bool] | None = None
        """Lets what runs go on without the request; returns whether it does."""
        self._limit = asyncio.timeout(None)
        self._left = seconds
        self.worked = 0.0
        """Seconds that were counted until the clock last stood."""
        self._since: float | None = None
        """Since when time is counted; none while it is not."""
        self._waiting = 0
        """How many things the person is asked."""
        self._timer: asyncio.TimerHandle | None = None
        self._entered = False

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        self._entered = True
        self._go_on()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        self._entered = False
        await self._limit.__aexit__(kind, error, traceback)

    @property
    def expired(self) -> bool:
        """Whether the work was cut, because its time was up."""
        return self._limit.expired()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time that the person takes is not the work's."""
        self._stop()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            self._go_on()

    def begin_anew(self) -> None:
        """The person gives as much time again, from now on."""
        self._stop()
        self._left = self.seconds
        self.soon.clear()
        self.anew.set()
        self._go_on()

    def _stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self._since is not None:
            passed = asyncio.get_running_loop().time() - self._since
            self._left, self.worked = self._left - passed, self.worked + passed
            self._since = None

    def _go_on(self) -> None:
        if not self._entered or self._waiting or self.expired:
            return
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        unasked = self._left - self.seconds * (1 - ASKED_AT)
        if self.soon.is_set():
            self._timer = loop.call_later(max(0.0, self._left), self._is_up)
        else:
            self._timer = loop.call_later(max(0.0, unasked), self._is_soon)

    def _is_soon(self) -> None:
        self._stop()
        self.soon.set()
        self.anew.clear()
        self._go_on()

    def _is_up(self) -> None:
        self._stop()
        self.handed_over = self.hand_over is not None and self.hand_over()
        if not self.handed_over:
            self._limit.reschedule(asyncio.get_running_loop().time())

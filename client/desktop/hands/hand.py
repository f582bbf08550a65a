"""Whose hand has the screen: the person's always wins. Pure but for the lock: time is an argument.

an act by pointer or keys begins ─▶ acting ── a key or move of the person's ─▶ stopped
Escape while the sign is on the screen ─────────────────────────────────────▶ stopped
stopped ── a request of a newer attempt: the person has spoken since ───────▶ free
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sayso.client.desktop.errors import Stopped

QUIET_S: Final = 0.5
"""Since the person's last key or move, before a pointer or key is taken from under their hand."""
PATIENCE_S: Final = 5.0
"""For that to come."""
STEP_S: Final = 0.02

TOOK_OVER: Final = "The person took over with their own hand; go on only when they say so."
AT_WORK: Final = "The person is using mouse and keyboard now; wait, or act on parts by name."
OVER: Final = "It was stopped."

Attempt = tuple[int, ...]
"""Which conversation since the client began, its turn and its generation: they order like words."""


class Hand:
    """Decides whether the next key or click may be made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._acting = False
        self._why = ""
        self._stopped_at: Attempt = ()
        self._attempt: Attempt = ()
        self._awaited: Attempt = ()
        self.sign_is_shown = False
        self.events = 0
        """Keys and clicks that were made."""

    @property
    def stopped(self) -> bool:
        return bool(self._why)

    def awaits(self, attempt: Attempt) -> None:
        """A request of this attempt has come, and is worked on after those before it."""
        with self._lock:
            self._awaited = max(self._awaited, attempt)

    def begin(self, attempt: Attempt) -> None:
        """A request of this attempt is worked on. Raises Stopped where it may not be."""
        with self._lock:
            self._attempt = attempt
            if attempt > self._stopped_at:
                self._why = ""
            elif self._stopped_at:
                self._why = self._why or OVER
            if self._why:
                raise Stopped(self._why)

    def noticed(self, escape: bool) -> None:
        """The person moved, or pressed something."""
        with self._lock:
            if self._acting or (escape and self.sign_is_shown):
                self._stop(TOOK_OVER, self._attempt)

    def stop(self, attempt: Attempt | None = None) -> None:
        """What is worked on or waits is over; with an attempt, only what is of that or an older
        one, and whatever of it still comes."""
        with self._lock:
            self._stop(OVER, max(self._attempt, self._awaited) if attempt is None else attempt)

    def check(self) -> None:
        """Raises Stopped if nothing more may be made."""
        if self._why:
            raise Stopped(self._why)
        self.events += 1

    @contextmanager
    def acting(
        self,
        last: Callable[[], float],
        held: Callable[[], bool],
        now: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> Iterator[None]:
        """Use pointer and keys. Waits until the person's hand rests. Raises Stopped. `last`: when
        it last moved; `held`: whether it holds a key down."""
        until = now() + PATIENCE_S
        while now() - last() < QUIET_S or held():
            if now() > until:
                raise Stopped(AT_WORK)
            if self._why:
                raise Stopped(self._why)
            sleep(STEP_S)
        with self._lock:
            if self._why:
                raise Stopped(self._why)
            self._acting = True
        try:
            yield
        finally:
            with self._lock:
                self._acting = False

    def _stop(self, why: str, attempt: Attempt) -> None:
        self._stopped_at = max(self._stopped_at, attempt)
        if self._attempt <= attempt:
            self._why = self._why or why

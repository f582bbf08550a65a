"""Records connections, disconnections, refusals, pairings and revocations: in the server's log at
once, and in the event log as soon as that is open.

Each paired device, and all unauthenticated clients together, have a budget of records. What exceeds
it is counted, and reported as sums at growing intervals: so no flood fills the disk, and a flood of
unauthenticated clients does not hide what the devices did.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from sayso.server.gateway.admission.rate_limits import Bucket
from sayso.server.log_context import log_ids
from sayso.server.store.access import (
    NO_CONVERSATION,
    AccessRecord,
    AccessRefused,
    DevicePaired,
    DeviceRevoked,
    in_words,
)
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Event

log = logging.getLogger(__name__)

BURST: Final = 20
"""Records at once for each budget: a device that comes and goes in a tunnel for minutes."""
A_SECOND: Final = 1 / 600
"""In the long run, beside the sums: some 150 a day."""
BUDGETS: Final = 256
"""More than devices are ever paired; the rest share the budget of unauthenticated clients."""
SUM_S: Final = 60.0
"""Seconds until what was counted is told for the first time, and doubled each time after."""
LONGEST_SUM_S: Final = 3_600.0
ADDRESSES: Final = 16
"""Told apart in one sum; others are counted together."""
MOST_COUNTED: Final = 1_000
"""Sums at once: more than devices can be paired and revoked by hand."""
WAITING: Final = 500
"""Records that wait for the event log to open: a start takes seconds."""

STRANGERS: Final = ""

Append = Callable[[Event], Awaitable[object]]


class AccessRecorder:
    """One for all entrances. Used from the event loop; `close` tells what is left."""

    def __init__(self) -> None:
        self._append: Append | None = None
        self._waiting: deque[Event] = deque(maxlen=WAITING)
        self._budgets: dict[str, Bucket] = {}
        self._counted: dict[tuple[type, str, str, str], AccessRecord] = {}
        self._pause = SUM_S
        self._timer: asyncio.TimerHandle | None = None
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, record: AccessRecord) -> None:
        """It happened just now."""
        if self._budget(record).take(1, asyncio.get_running_loop().time()):
            self._write(record)
            return
        self._count(record)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._tell_sums)

    def keep_in(self, append: Append) -> None:
        """The event log is open."""
        self._append = append
        while self._waiting:
            self._keep(self._waiting.popleft())

    async def close(self) -> None:
        """Tell what was only counted, and return when all is kept that can be."""
        self._tell_sums()
        if self._timer:
            self._timer.cancel()
        if self._writing:
            await asyncio.wait(self._writing)

    def _budget(self, record: AccessRecord) -> Bucket:
        who = STRANGERS if isinstance(record, AccessRefused) else record.device_id
        if isinstance(record, (DevicePaired, DeviceRevoked)):
            who = f"by {record.by}"  # else each new device would bring a budget along
        if who not in self._budgets and len(self._budgets) >= BUDGETS:
            who = STRANGERS
        return self._budgets.setdefault(who, Bucket(BURST, A_SECOND))

    def _count(self, record: AccessRecord) -> None:
        key = _key(record)
        if isinstance(record, AccessRefused) and key not in self._counted:
            addresses = {each[2] for each in self._counted if each[0] is AccessRefused}
            if record.address not in addresses and len(addresses) >= ADDRESSES:
                record = replace(record, address="")
        elif key not in self._counted and len(self._counted) >= MOST_COUNTED:
            record = replace(record, device="Several devices", device_id="")
        key = _key(record)
        before = self._counted.get(key)
        self._counted[key] = replace(record, times=before.times + 1) if before else record

    def _tell_sums(self) -> None:
        """Once more later, as long as there is something to tell."""
        self._timer = None
        counted, self._counted = self._counted, {}
        for record in counted.values():
            self._write(record)
        self._pause = min(2 * self._pause, LONGEST_SUM_S) if counted else SUM_S
        if counted:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._tell_sums)

    def _write(self, record: AccessRecord) -> None:
        with log_ids(device=record.device):
            grave = logging.WARNING if isinstance(record, AccessRefused) else logging.INFO
            log.log(grave, "%s", in_words(record))
        self._keep(Event(NO_CONVERSATION, "server", record, time=time.time()))

    def _keep(self, event: Event) -> None:
        if self._append is None:
            self._waiting.append(event)
            return
        task = asyncio.create_task(self._kept(self._append, event), name="a record of access")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _kept(self, append: Append, event: Event) -> None:
        try:
            await append(event)
        except StoreError as problem:
            log.warning("who came and went is in this log alone: %s", problem)


def _key(record: AccessRecord) -> tuple[type, str, str, str]:
    """What is counted together. A revocation is of one device: none is summed up with another."""
    what = getattr(record, "reason", "") or getattr(record, "why", "")
    address = record.address if isinstance(record, AccessRefused) else ""
    who = "" if isinstance(record, AccessRefused) else record.device_id
    return type(record), who, address, what

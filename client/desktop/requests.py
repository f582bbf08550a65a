"""Does at this screen what the server asks of it, once each, and stops when that is over.

act.request ── stale or seen ──▶ nothing        newer attempt, a cut ──▶ stop
            └─ the process at the screen ──▶ pictures, act.result
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Protocol

from sayso.client.desktop.process import Attempt, DesktopGone, DesktopProcess, Told
from sayso.protocol.messages import ActRequest, ActResult, FromClient, Picture

OFFERS: Final = (
    "desktop.windows",
    "desktop.look",
    "desktop.act",
    "desktop.clipboard",
    "desktop.open",
)
"""The methods that a screen can be asked for."""
SETTLES_S: Final = 0.5
"""After an act, in which no yes is taken at this device: what was typed may arrive late."""
SEEN_KEPT: Final = 256
_ACTING: Final = frozenset(("desktop.act", "desktop.open"))


class Line(Protocol):
    """The way to the server."""

    def send(self, message: FromClient) -> None: ...

    def send_picture(self, stream: int, content: bytes) -> None: ...


class DesktopRequests:
    """Of one client. Nothing is started before something is asked."""

    def __init__(
        self, process: DesktopProcess, line: Line, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._process = process
        self._line = line
        self._clock = clock
        self._seen: deque[str] = deque(maxlen=SEEN_KEPT)
        self._conversation = 0
        self._newest: Attempt = (0, 0, 0)
        self._tasks: dict[asyncio.Task[None], Attempt] = {}
        self._acting = 0
        self._acted_at = float("-inf")

    @property
    def has_the_keys(self) -> bool:
        """What is typed or clicked at this screen now may not be the person's."""
        return bool(self._acting) or self._clock() - self._acted_at < SETTLES_S

    def asked(self, request: ActRequest, turn: tuple[int, int]) -> None:
        """The server asks for something; stale requests do not come here."""
        if request.id in self._seen:
            return
        self._seen.append(request.id)
        attempt = (self._conversation, *turn)
        task = asyncio.create_task(self._answer(request, attempt), name="act.request")
        self._tasks[task] = attempt
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def moved_on(self, turn: tuple[int, int], *, anew: bool = False) -> None:
        """The newest attempt is this one: what was asked for an older one is over. `anew`: turns
        are counted anew, in another conversation; no stop in the last one says anything of it."""
        self._conversation += anew
        newest = (self._conversation, *turn)
        if newest == self._newest:
            return
        was, self._newest = self._newest, newest
        if any(attempt < newest for attempt in self._tasks.values()):
            self._process.stop(was)

    def cut(self) -> None:
        """The line is away: all is over at once."""
        if self._tasks:
            self._process.stop()

    async def close(self) -> None:
        """End what works at the screen."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._process.close()

    async def _answer(self, request: ActRequest, attempt: Attempt) -> None:
        acts = request.method in _ACTING
        self._acting += acts
        try:
            told = await self._done(request, attempt)
        finally:
            self._acting -= acts
            if acts:
                self._acted_at = self._clock()
        pictures = tuple(Picture("image/png", len(each)) for each in told.pictures)
        content = b"".join(told.pictures)
        if content:
            self._line.send_picture(request.stream, content)
        message = told.message
        self._line.send(
            ActResult(
                request.id,
                message.get("effect", "unconfirmed"),
                message.get("data", {}),
                str(message.get("problem", "")),
                pictures,
            )
        )

    async def _done(self, request: ActRequest, attempt: Attempt) -> Told:
        args: dict[str, Any] = dict(request.args)
        try:
            async with asyncio.timeout(request.deadline_s):
                return await self._process.ask(request.method, args, attempt)
        except DesktopGone as problem:
            return Told({"effect": "unconfirmed", "problem": str(problem)})
        except TimeoutError:
            self._process.stop(attempt)
            return Told({"effect": "unconfirmed", "problem": "It took too long."})

"""An event loop without waiting: its clock jumps to the next timer whenever nothing else can run.

Thirty seconds of conversation pass in milliseconds, and each test run passes them in the same
order. The clock starts at 0.0 and counts whole nanoseconds, so times may be compared exactly:

    pytestmark = pytest.mark.virtual_time    # a whole file; a single test takes the mark too

    async def test_a_reminder_comes_after_half_a_minute():
        loop = asyncio.get_running_loop()
        await asyncio.sleep(30)
        assert loop.time() == 30.0

`run(main())` does the same for code that is not a test, such as a Hypothesis state machine.

What holds in virtual time:

- Only the loop's clock is virtual. Code under test asks `loop.time()`, `asyncio.sleep` and
  `asyncio.timeout`; `time.monotonic()` keeps telling real time.
- Work handed to `asyncio.to_thread` or `loop.run_in_executor` is waited for while the clock stands
  still, so that it takes no virtual time, however long it takes. A thread of one's own that
  reports through `call_soon_threadsafe` is not known to the loop and may come late.
- Pipes, sockets, child processes and name look-ups are refused with `RealInputRefused`: how long
  they take is decided outside. Tests that need them run in real time.
- When nothing is ready, no timer is set and no thread works, nothing can happen any more: the test
  fails with `Deadlock`, which says where each task waits.
- When the clock passes `limit_s` (an hour, or what `virtual_time(limit_s=…)` says), the test fails
  with `RanAway`: something keeps setting timers while the test waits for what never comes.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, TypeVarTuple

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")

NANOSECONDS = 1_000_000_000

DEFAULT_LIMIT_S = 3600.0
"""How far the clock may run: conversations last minutes; an endless timer is here in seconds."""

THREADS_LIMIT_S = 20.0
"""Real seconds that work in threads may take. Well under the time that pytest gives a test."""


class VirtualTimeError(AssertionError):
    """Time cannot go on. Raised out of the loop, past the code under test, so the test fails."""


class Deadlock(VirtualTimeError):
    """Nothing is ready, no timer is set, no thread works: nothing will ever happen again."""


class RanAway(VirtualTimeError):
    """The clock passed the test's limit."""


class RealInputRefused(RuntimeError):
    """The code under test asked for a pipe, a socket or a process, which live in real time."""


REFUSAL = (
    "Virtual time knows no pipes, sockets, processes or name look-ups: their timing is real. "
    "Put a double at the seam, or run this test in real time (without the virtual_time mark)."
)


async def _refuse(*_arguments: object, **_options: object) -> NoReturn:
    raise RealInputRefused(REFUSAL)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The event loop whose clock jumps."""

    connect_accepted_socket = _refuse
    connect_read_pipe = _refuse
    connect_write_pipe = _refuse
    create_connection = _refuse
    create_datagram_endpoint = _refuse
    create_server = _refuse
    create_unix_connection = _refuse
    create_unix_server = _refuse
    getaddrinfo = _refuse
    getnameinfo = _refuse
    sendfile = _refuse
    sock_accept = _refuse
    sock_connect = _refuse
    sock_recv = _refuse
    sock_recv_into = _refuse
    sock_recvfrom = _refuse
    sock_recvfrom_into = _refuse
    sock_sendall = _refuse
    sock_sendfile = _refuse
    sock_sendto = _refuse
    subprocess_exec = _refuse
    subprocess_shell = _refuse

    def __init__(self, *, limit_s: float = DEFAULT_LIMIT_S) -> None:
        self._now_ns = 0
        self._limit_ns = round(limit_s * NANOSECONDS)
        self._threads_at_work = 0
        self._jumping_selector = _JumpingSelector(self)
        super().__init__(self._jumping_selector)
        self._jumping_selector.open_for_others = False

    def time(self) -> float:
        """The virtual time in seconds."""
        return self._now_ns / NANOSECONDS

    @property
    def threads_at_work(self) -> int:
        """How many calls handed to executors have not come back."""
        return self._threads_at_work

    def jump(self, seconds: float) -> None:
        """Let time pass to the next timer."""
        self._now_ns += max(1, round(seconds * NANOSECONDS))
        if self._now_ns > self._limit_ns:
            raise RanAway(
                f"Virtual time passed {self._limit_ns / NANOSECONDS:g} s and something still sets "
                f"timers. The tasks wait here:\n{self.describe_tasks()}"
            )

    def describe_tasks(self) -> str:
        """One line for each task: its name and the chain of lines at which it waits."""
        tasks = sorted(asyncio.all_tasks(self), key=lambda task: task.get_name())
        return "\n".join(f"  {task.get_name()}: {_where(task)}" for task in tasks) or "  (no task)"

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[*_Arguments], _Result],
        *args: *_Arguments,
    ) -> asyncio.Future[_Result]:
        """Run in a thread, the clock standing still until it is done."""
        self._threads_at_work += 1
        try:
            future = super().run_in_executor(executor, func, *args)
        except BaseException:
            self._threads_at_work -= 1
            raise
        future.add_done_callback(self._thread_came_back)
        return future

    def _thread_came_back(self, _future: asyncio.Future[Any]) -> None:
        self._threads_at_work -= 1

    async def shutdown_default_executor(self, *timeout_s: float | None) -> None:
        """Wait for the executor's threads in real time."""
        self._threads_at_work += 1
        try:
            await super().shutdown_default_executor(*timeout_s)
        finally:
            self._threads_at_work -= 1


class _JumpingSelector(selectors.DefaultSelector):
    """Stands where the loop would wait, and lets time jump instead.

    The one file that it watches is the loop's own wake-up pipe, through which threads report.
    """

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop
        self.open_for_others = True

    def register(
        self, fileobj: "FileDescriptorLike", events: int, data: object = None
    ) -> selectors.SelectorKey:
        if not self.open_for_others:
            raise RealInputRefused(REFUSAL)
        return super().register(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; if nothing is, wait for threads, else jump by `timeout`."""
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self._loop.threads_at_work:
            return self._wait_for_threads()
        if timeout is None:
            raise Deadlock(
                f"Nothing can happen any more at {self._loop.time():g} s. The tasks wait here:\n"
                f"{self._loop.describe_tasks()}"
            )
        self._loop.jump(timeout)
        return []

    def _wait_for_threads(self) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(THREADS_LIMIT_S)
        if not ready:
            raise Deadlock(
                f"Threads have worked for {THREADS_LIMIT_S:g} real seconds without an end. "
                f"The tasks wait here:\n{self._loop.describe_tasks()}"
            )
        return ready


def run(main: Coroutine[Any, Any, _Result], *, limit_s: float = DEFAULT_LIMIT_S) -> _Result:
    """Run `main` to its end in virtual time and return its result."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(limit_s=limit_s)) as runner:
        return runner.run(main)


def _where(task: asyncio.Task[Any]) -> str:
    """The lines at which a task waits, from its own coroutine to the innermost await."""
    places: list[str] = []
    awaited: object = task.get_coro()
    while isinstance(awaited, CoroutineType) and awaited.cr_frame is not None:
        file = "/".join(awaited.cr_code.co_filename.split("/")[-2:])
        places.append(f"{awaited.cr_code.co_qualname} ({file}:{awaited.cr_frame.f_lineno})")
        awaited = awaited.cr_await
    return " → ".join(places) or "not started"

"""Runs thousands of turns at a real server, with all that goes wrong in months of use.

Lines break at any byte, the model fails or falls silent in the middle, people interrupt, code runs,
conversations are begun and left, and now and then a part is killed. What the server has in memory,
how many files it has open and how many tasks it has at work is looked at all along.
"""

import asyncio
import os
import random
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from bench.support.progress import tell
from bench.support.server_processes import below, descriptors, resident_kib
from sayso.client.session.link import Link
from sayso.client.session.link_events import LinkChange
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope
from sayso.protocol.home import Home, read_token
from sayso.protocol.version import SPOKEN
from tests.fault_proxy import Fault, FaultProxy
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says

CALLERS = 4
"""Who talk at the same time, each in a conversation of their own."""
BEGIN_ANEW = 40
"""Turns of one conversation: a long evening."""
PATIENCE_S = 30.0
"""For one turn, whatever happens in it."""
LOOKS = 20
"""Times that the server is looked at."""
WARM = 0.4
"""The part of all turns that is not counted: until then everything was used once."""
LINE_BYTES = 120_000
"""A line breaks after at most so many bytes one way: every few hundred turns. How it is with lines
that break all the time, the cuts tell."""
DESCRIPTORS_AT_REST = 8
"""So many come and go with a turn under way, an interpreter that starts, a line that is down."""

FLAGS = (
    "--set=approvals.mode=workspace",
    "--set=agent.day_steps=100000",
    "--set=agent.day_tokens=1000000000",
)

WISHES = {
    "talk": 0.68,
    "run": 0.06,
    "interrupt": 0.08,
    "fail": 0.05,
    "break off": 0.05,
    "what time is it": 0.07,
    "kill": 0.01,
}
"""What a turn is, and how often."""

REPLIES = (
    runs("print('ended', sum(range(1000)))", "I run it. ", when="run"),
    Reply(says=["This takes a long, ", "long, ", "long ", "time."], between_s=0.05, when="interr"),
    Reply(status=400, message="scripted failure", when="fail"),
    Reply(says=["It was "], ending="cut", when="break off"),
    says("Here is something to read. " * 10),
)
WANTS = ("reply.delta", "turn.state", "code.start", "code.end", "command.done")
"""They only read: how fast a voice speaks is not what is asked here."""
QUIET = m.TurnState("idle", "idle", "silent")
VICTIMS = ("engines.whisper.worker", "engines.piper.worker", "python_kernel")


class Figures(TypedDict):
    """What is found out here."""

    soak_turns: int
    soak_answered: int
    """Those that came to an end that was told, be it a failure."""
    soak_cuts: int
    soak_rss_mb_per_1000: float
    soak_fd_growth: int
    soak_task_growth: int


@dataclass(frozen=True, slots=True)
class _Look:
    turns: int
    kib: int
    descriptors: int
    tasks: int


@dataclass
class _Soak:
    server: Server
    turns: int
    """To be talked."""
    begin_anew: int
    begun: int = 0
    answered: int = 0
    looks: list[_Look] = field(default_factory=list)

    def next(self) -> bool:
        """Begin one more; False if there were enough."""
        self.begun += 1
        if self.begun * LOOKS // self.turns > len(self.looks):
            self.looks.append(self._look())
            tell(f"{self.begun} of {self.turns} turns: {self.looks[-1].kib // 1_024} MB")
        return self.begun <= self.turns

    def _look(self) -> _Look:
        pid = self.server.process.pid
        line = next(
            line for line in self.server.get("/metrics").splitlines() if line[:12] == "sayso_tasks "
        )
        return _Look(self.begun, resident_kib(pid), descriptors(pid), int(float(line.split()[1])))


def measure(turns: int, begin_anew: int = BEGIN_ANEW) -> Figures:
    """So many turns in all, and so many in each conversation."""
    return asyncio.run(_soak(turns, begin_anew))


async def _soak(turns: int, begin_anew: int) -> Figures:
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder, ScriptedModel(REPLIES) as model:
        home = Path(folder)
        lend_kernels(home)
        async with FaultProxy(_faults()) as proxy:
            names = f"--set=listen.names=127.0.0.1:{proxy.port}"
            server = Server(home, model, (*FLAGS, names))
            await asyncio.to_thread(server.__enter__)
            proxy.target = server.port
            soak = _Soak(server, turns, begin_anew)
            try:
                async with asyncio.TaskGroup() as callers:
                    for number in range(CALLERS):
                        callers.create_task(_call(soak, proxy.port, number))
            finally:
                await asyncio.to_thread(server.stop)
    warm = [look for look in soak.looks if look.turns >= WARM * turns]
    return Figures(
        soak_turns=turns,
        soak_answered=soak.answered,
        soak_cuts=proxy.cuts,
        soak_rss_mb_per_1000=round(_slope(warm), 2),
        soak_fd_growth=_growth([look.descriptors for look in warm]),
        soak_task_growth=_growth([look.tasks for look in warm]),
    )


def _slope(looks: list[_Look]) -> float:
    """Megabytes for each thousand turns, by least squares."""
    count = len(looks)
    turns = sum(look.turns for look in looks) / count
    kib = sum(look.kib for look in looks) / count
    above = sum((look.turns - turns) * (look.kib - kib) for look in looks)
    below_it = sum((look.turns - turns) ** 2 for look in looks)
    return above / below_it / 1_024 * 1_000


def _growth(counts: list[int]) -> int:
    """From the first half to the second; some come and go, and the fewest tell what stays."""
    middle = len(counts) // 2
    return min(counts[middle:]) - min(counts[:middle])


def _faults() -> Iterator[Fault]:
    chance = random.Random(3)
    while True:
        yield Fault(chance.choice(("up", "down")), chance.randrange(LINE_BYTES))


async def _call(soak: _Soak, port: int, number: int) -> None:
    chance = random.Random(number)
    home = soak.server.home
    hello = m.Hello(SPOKEN, "soak 1", f"device {number}", ("resume",), wants=WANTS)
    token = read_token(Home(home, home, home))
    caller = _Caller(Link(f"ws://127.0.0.1:{port}/ws", hello, lambda: token))
    tasks = [asyncio.create_task(caller.link.run()), asyncio.create_task(caller.follow())]
    turn = 0
    while soak.next():
        if turn % soak.begin_anew == 0:
            await caller.command("new", f"talk {number} {turn}")
        turn += 1
        (wish,) = chance.choices(list(WISHES), list(WISHES.values()))
        if wish == "kill":
            _kill(soak.server, chance)
        answered = await caller.ask(wish, turn)
        soak.answered += answered
    await caller.link.close()
    await asyncio.gather(*tasks)


def _kill(server: Server, chance: random.Random) -> None:
    for victim in below(server.process.pid, chance.choice(VICTIMS))[-1:]:
        with suppress(ProcessLookupError):
            os.kill(victim.pid, signal.SIGKILL)


class _Caller:
    def __init__(self, link: Link) -> None:
        self.link = link
        self._ended = asyncio.Event()
        self._began = asyncio.Event()

    async def follow(self) -> None:
        async for event in self.link.events():
            if isinstance(event, LinkChange) and event.session in ("snapshot", "anew"):
                self._ended.set()  # what was missed is not told again
            elif isinstance(event, Envelope):
                self._take(event.message)

    def _take(self, message: object) -> None:
        if isinstance(message, m.CommandDone) or (message == QUIET and self._began.is_set()):
            self._ended.set()
        elif isinstance(message, m.TurnState) and message != QUIET:
            self._began.set()

    async def ask(self, wish: str, turn: int) -> bool:
        self._began.clear()
        self._ended.clear()
        self.link.send(m.Text(f"{wish} {turn}" if wish != "what time is it" else wish))
        if wish == "interrupt":
            await _within(self._began)
            self.link.send(m.Interrupt(None, 0))
        return await _within(self._ended)

    async def command(self, name: str, text: str) -> None:
        self._ended.clear()
        self.link.send(m.Command(name, text))
        await _within(self._ended)


async def _within(event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await event.wait()
    except TimeoutError:
        return False
    return True

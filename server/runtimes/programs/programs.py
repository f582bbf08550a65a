"""The programs of one conversation in the sandbox: one that may look and nothing else, which stays
for the next look, and one with all that code may do, for a single task.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.programs.confined_command import Finished, run_confined
from sayso.server.runtimes.programs.confined_program import (
    ConfinedProgram,
    Message,
    Program,
    ProgramError,
    without_network,
)

LOOK_S: Final = 30.0
"""For one look: the map of a large repository takes a few seconds the first time. What takes longer
is a pattern without an end, or a disk that is not there."""

TASK_S: Final = 60.0
"""For one task that writes."""

IDLE_S: Final = 300.0
"""After so long without a look its program ends: it holds some 40 MB."""

FOLDER: Final = "SAYSO_FOLDER"
"""Tells a command of the person's where code runs."""

_NOTHING_RUNS: Final = "No code can run here now, so nothing can be looked at either."


class Programs:
    """Starts them, with what code may touch at that moment."""

    def __init__(
        self, reach: Callable[[], Grants], place: Callable[[Grants], Place | None], workspace: Path
    ) -> None:
        """`place` is where code with such a reach runs; none where no code does."""
        self._reach = reach
        self._place = place
        self._workspace = workspace
        self._looking: dict[Program, tuple[Grants, ConfinedProgram]] = {}
        self._starting = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._ahead: set[asyncio.Task[Message]] = set()

    def _about(self, reach: Grants) -> Message:
        """What code may see besides the system, the conversation's folder first; and what a person
        calls `~`."""
        granted = (str(each.path) for each in reach.folders)
        return {"roots": (str(self._workspace), *granted), "home": str(Path.home())}

    async def look(
        self,
        program: Program,
        request: Message,
        seconds: float = LOOK_S,
        reach: Grants | None = None,
    ) -> Message:
        """Ask a program that can write nothing and has no network, about what code may see now, or
        with this reach. Raises ProgramError."""
        reach = self._held(reach)
        running = await self._looker(program, reach)
        self._wait_for_idle()
        try:
            return await running.ask({**self._about(reach), **request}, seconds)
        finally:
            self._wait_for_idle()

    async def look_ahead(
        self, program: Program, request: Message, at_once: float, reach: Grants | None = None
    ) -> Message:
        """What such a program says if it is there after so many seconds, else nothing: then it goes
        on beside, for the sake of what it finds out, until it is done or all is closed."""
        task = asyncio.create_task(self.look(program, request, reach=reach))
        self._ahead.add(task)
        task.add_done_callback(self._looked_ahead)
        await asyncio.wait({task}, timeout=at_once)
        failed = not task.done() or task.cancelled() or task.exception() is not None
        return {} if failed else task.result()

    def _looked_ahead(self, task: asyncio.Task[Message]) -> None:
        self._ahead.discard(task)
        if not task.cancelled():
            task.exception()  # nobody waits for it, and nobody need know

    async def do(
        self,
        program: Program,
        request: Message,
        seconds: float = TASK_S,
        reach: Grants | None = None,
    ) -> AsyncGenerator[Message]:
        """Let a program do one task with all that code may do now, or with this reach, and then end
        it. Raises ProgramError; leaving the iteration stops it."""
        reach = self._held(reach)
        place = self._place(reach)
        if place is None:
            raise ProgramError(_NOTHING_RUNS)
        if not self._reach().is_within(reach):  # the way out is for hosts that it has not
            place = without_network(place)
        running = await ConfinedProgram.start(program, place)
        try:
            async with aclosing(running.stream({**self._about(reach), **request}, seconds)) as said:
                async for message in said:
                    yield message
        finally:
            await to_the_end(asyncio.create_task(running.close()))

    async def command(
        self, words: Sequence[str], text: str, folder: Path, seconds: float
    ) -> Finished:
        """Run a command of the person's own, from a folder of theirs, which can read what code may
        see now, can write nothing and has no network, whatever the mode. Raises ProgramError."""
        reach = replace(self._reach(), look_only=True, hosts=(), network=False, everything=False)
        place = self._place(reach)
        if place is None:
            raise ProgramError("no code can run here now")
        place = replace(without_network(place), given={**place.given, FOLDER: str(self._workspace)})
        return await run_confined(place, words, text, folder, seconds)

    async def online(
        self, script: Path, text: str, seconds: float, most_bytes: int, reach: Grants | None = None
    ) -> Finished:
        """Run a script of Sayso's own with all that code may do now, or with this reach, its
        network too. Raises ProgramError."""
        reach = self._held(reach)
        place = self._place(reach)
        if place is None:
            raise ProgramError("no code can run here now")
        if not self._reach().is_within(reach):  # the way out is for hosts that it has not
            place = without_network(place)
        words = (str(place.environment.python), "-I", "-B", str(script))
        return await run_confined(place, words, text, script.parent, seconds, most_bytes)

    async def close(self) -> None:
        """End them."""
        if self._idle:
            self._idle.cancel()
        for task in self._ahead:
            task.cancel()
        await asyncio.gather(*self._ahead, return_exceptions=True)
        looking, self._looking = self._looking, {}
        for _, running in looking.values():
            await running.close()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _held(self, reach: Grants | None) -> Grants:
        """With which reach something is done. Raises ProgramError."""
        now = self._reach()
        if reach and not reach.holds_in(now):
            raise ProgramError("What this run could reach was taken back.")
        return reach or now

    async def _looker(self, program: Program, reach: Grants) -> ConfinedProgram:
        async with self._starting:
            reach = replace(reach, look_only=True, hosts=(), network=False)
            known = self._looking.get(program)
            if known and known[0] == reach and _same_folders(known[0], reach) and known[1].alive:
                return known[1]
            if known:
                del self._looking[program]
                await known[1].close()
            place = self._place(reach)
            if place is None:
                raise ProgramError(_NOTHING_RUNS)
            running = await ConfinedProgram.start(program, without_network(place))
            self._looking[program] = (reach, running)
            return running

    def _wait_for_idle(self) -> None:
        if self._idle:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._let_go)

    def _let_go(self) -> None:
        task = asyncio.get_running_loop().create_task(self.close_idle())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close_idle(self) -> None:
        """End what nobody has asked for a while."""
        looking, self._looking = self._looking, {}
        for _, running in looking.values():
            await running.close()


@dataclass(frozen=True, slots=True)
class RunPrograms:
    """The programs for one run: what is granted while it goes on in the background is not for it,
    and where something is taken back that it had, nothing is done for it any more."""

    programs: Programs
    reach: Grants

    async def look(self, program: Program, request: Message, seconds: float = LOOK_S) -> Message:
        """As `Programs.look`."""
        return await self.programs.look(program, request, seconds, self.reach)

    async def look_ahead(self, program: Program, request: Message, at_once: float) -> Message:
        """As `Programs.look_ahead`."""
        return await self.programs.look_ahead(program, request, at_once, self.reach)

    def do(
        self, program: Program, request: Message, seconds: float = TASK_S
    ) -> AsyncGenerator[Message]:
        """As `Programs.do`."""
        return self.programs.do(program, request, seconds, self.reach)

    async def online(self, script: Path, text: str, seconds: float, most_bytes: int) -> Finished:
        """As `Programs.online`."""
        return await self.programs.online(script, text, seconds, most_bytes, self.reach)


def _same_folders(one: Grants, other: Grants) -> bool:
    """Whether they are the very same, and not only called so."""
    return {(each, each.identity) for each in one.folders} == {
        (each, each.identity) for each in other.folders
    }

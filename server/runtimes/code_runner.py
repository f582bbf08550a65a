"""All the runtimes of one conversation, and what they may touch."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.calls.function import CallFunction
from sayso.server.runtimes.calls.registry import CallRegistry
from sayso.server.runtimes.finish_despite_cancel import to_the_end
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.at_hand import at_hand
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.kernels.package_hosts import file_host
from sayso.server.runtimes.language import Language, Place
from sayso.server.runtimes.languages.shipped import shipped
from sayso.server.runtimes.network.addresses import Whereabouts
from sayso.server.runtimes.network.proxy import Permission, Proxy
from sayso.server.runtimes.network.traffic_record import Transfer
from sayso.server.runtimes.persistent_runtime import PersistentRuntime
from sayso.server.runtimes.programs.programs import Programs
from sayso.server.runtimes.protection.folder_identity import NOWHERE, Identity
from sayso.server.runtimes.resources.bounds import ResourceBounds
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.runtime import Ending, Output, Runtime
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.runtimes.sandbox.unconfined import Unconfined
from sayso.server.runtimes.workspace import open_workspace

NO_GRANTS = Grants()

_LEFT: Final = "use what earlier runs left in its interpreter, which may change what it does"
_NO_ENVIRONMENT: Final = (
    "Code cannot run yet: the kernels' Python environment is missing; `sayso doctor` tells why."
)
_ALONE: Final = (
    "It ran in an interpreter of its own, because your rule allows it by its words: nothing that"
    " earlier runs left was in it, and nothing of it stays there."
)


@dataclass(frozen=True, slots=True)
class _Aside:
    """What an interpreter that was set aside was started with."""

    name: str
    """Of its language."""
    reach: Grants
    proxy: Proxy


class CodeRunner:
    """Where a conversation's code runs, each language in a runtime of its own that keeps its
    state."""

    def __init__(
        self,
        workspace: Path,
        environment: KernelEnvironment | None,
        report: SandboxReport,
        reach: Grants = NO_GRANTS,
        whereabouts: Whereabouts | None = None,
        *,
        identity: Identity | None = None,
        languages: Sequence[Language] | None = None,
        bounds: ResourceBounds | None = None,
    ) -> None:
        """Set up for a folder, which is made if it is missing; nothing starts yet. `identity`: what
        it was when the person chose it; where another is there now, no code runs.

        Without `languages`, it has those that come with Sayso.

        Without an environment, or with a sandbox that does not hold, every run is refused with the
        reason.
        """
        self._workspace = workspace.absolute()
        self._environment = environment
        self._sandbox = report.sandbox
        self._reach = reach.pinned()
        self._whereabouts = whereabouts
        self._permission: Permission | None = None
        self._proxy = self._proxy_for(reach)
        self._identity, trouble = open_workspace(self._workspace, identity)
        self._refusal = _refusal(environment, report) or trouble
        self._languages = tuple(shipped() if languages is None else languages)
        self._names = _names(self._languages)
        bounds = bounds or ResourceBounds()
        self._watch = ResourceWatch(bounds.disk_reserve, bounds.files_most)
        self._cgroup = bounds.cgroups.for_conversation() if bounds.cgroups else None
        self._calls = CallRegistry()
        self._runtimes: dict[str, Runtime] = {}
        self._alone: set[Runtime] = set()
        self._variables: Callable[[], Mapping[str, str]] = dict
        self._latest: Runtime | None = None
        """Where code ran last."""
        self._aside: dict[Runtime, _Aside] = {}
        """Where a job runs that no request waits for."""
        if not self._refusal:
            self._workspace = workspace.resolve()
            self._runtimes = self._made_for(self._reach)
        self.programs = Programs(lambda: self._reach, self._place, self._workspace)
        """Sayso's own, which read and write files where code may."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that can be run, by the names that the model should use."""
        return tuple(self._runtimes)

    @property
    def sandbox(self) -> Sandbox | None:
        """In which what belongs to the conversation runs, whatever its mode; None where there is
        none that holds."""
        return self._sandbox

    @property
    def aliases(self) -> Mapping[str, str]:
        """All that languages are called, to their names."""
        return self._names

    @property
    def refusal(self) -> str:
        """Why no code runs here, in words for the person; empty where code runs."""
        return self._refusal

    @property
    def at_hand(self) -> str:
        """What code finds installed, in a sentence; empty where no code runs."""
        return at_hand(self._environment) if self._runtimes and self._environment else ""

    @property
    def trouble(self) -> str:
        """What is wrong with an interpreter now; empty if nothing is."""
        return next((one.trouble for one in self._lasting if one.trouble), "")

    @property
    def restarts(self) -> int:
        """How often interpreters had to be replaced."""
        return sum(runtime.restarts for runtime in self._lasting)

    @property
    def _lasting(self) -> list[PersistentRuntime]:
        return [one for one in self._runtimes.values() if isinstance(one, PersistentRuntime)]

    @property
    def where(self) -> str:
        """The folder in which code runs, as a person would know it."""
        return str(self._workspace)

    @property
    def identity(self) -> Identity:
        """By what that folder is recognised."""
        return self._identity

    def may_touch(self, language: str) -> tuple[str, ...]:
        """What code in this language can reach, in words for an approval."""
        if self._named(language) not in self._runtimes:
            return ()
        words = self._reach.words(self._workspace)
        used = self._runtimes[self._named(language)].used
        return (*words, _LEFT) if used else words

    @property
    def reach(self) -> Grants:
        """What was granted, and holds for the next run."""
        return self._reach

    async def set_reach(self, reach: Grants) -> bool:
        """Let this be what code can reach; return whether variables were lost over it.

        What runs is stopped if it must be.
        """
        old, self._reach = self._reach, (reach := reach.pinned())
        if self._refusal:
            return False
        for runtime, aside in list(self._aside.items()):
            if not aside.reach.holds_in(reach):
                await runtime.close()
        if not old.needs_new_kernel(reach):
            self._proxy.reach = reach
            return False
        shared = any(aside.proxy is self._proxy for aside in self._aside.values())
        if shared:  # what is granted from now on is not for what runs already
            self._proxy = self._proxy_for(reach)
        runtimes, self._runtimes = self._runtimes, self._made_for(reach)
        if not (shared or old.confines_otherwise(reach)):  # then what has run nothing can stay
            unused = {name: runtime for name, runtime in runtimes.items() if not runtime.used}
            self._runtimes |= unused
            runtimes = {name: runtimes[name] for name in runtimes.keys() - unused.keys()}
        used = any(runtime.used for runtime in runtimes.values())
        for runtime in runtimes.values():
            await runtime.close()
        self._proxy.reach = reach  # not before everything that it was not granted for has ended
        return used

    def give_variables(self, variables: Callable[[], Mapping[str, str]]) -> None:
        """Give confined code these environment variables, asked for whenever what it may reach is
        settled. To be called before anything runs."""
        self._variables = variables
        self._runtimes = self._made_for(self._reach) if self._runtimes else {}

    def heed(self, permission: Permission) -> None:
        """Let nothing pass into the network but what this allows at that moment."""
        self._permission = permission
        for proxy in self._proxies:
            proxy.permission = permission

    def take_passages(self) -> tuple[Transfer, ...]:
        """What went over the network since this was last asked."""
        return tuple(each for proxy in self._proxies for each in proxy.take_passages())

    @property
    def ended_commands(self) -> Sequence[str]:
        """What the run that began last had started, and was ended with it when it was stopped."""
        latest = self._latest
        return latest.ended_commands if isinstance(latest, PersistentRuntime) else ()

    async def file_host(self, index: str) -> str:
        """Where the files lie that this package index lists; empty if it is not known to be one."""
        here = self._environment
        return await asyncio.to_thread(file_host, here, index) if here else ""

    @property
    def _proxies(self) -> list[Proxy]:
        """That of the interpreters, and those of what runs aside."""
        return list(dict.fromkeys((self._proxy, *(one.proxy for one in self._aside.values()))))

    def _proxy_for(self, reach: Grants) -> Proxy:
        proxy = Proxy(reach, self._whereabouts)
        proxy.permission = self._permission
        return proxy

    def set_aside(self, language: str) -> bool:
        """Let what runs in this language go on beside, if anything does: the next run gets another
        interpreter. When that has run nothing by the end of the other, it has its place again."""
        name = self._named(language)
        runtime, place = self._runtimes.get(name), self._place(self._reach)
        if place is None or not isinstance(runtime, PersistentRuntime) or not runtime.runs:
            # What runs alone has an interpreter of its own.
            return any(one.runs for one in self._alone if isinstance(one, PersistentRuntime))
        self._aside[runtime] = _Aside(name, self._reach, self._proxy)
        self._runtimes[name] = self._language(name).runtime(place)
        return True

    async def _put_back(self, runtime: Runtime) -> None:
        """What ran aside is over: it takes its place again, or ends."""
        aside = self._aside.pop(runtime, None)
        if aside is None:
            return
        there = self._runtimes.get(aside.name)
        if there and not there.used and aside.reach == self._reach and aside.proxy is self._proxy:
            self._runtimes[aside.name], runtime = runtime, there
        await runtime.close()
        if aside.proxy not in self._proxies:
            await aside.proxy.close()

    def offering(self, run: str, functions: Sequence[CallFunction]) -> AbstractContextManager[None]:
        """Let the code of the run that begins within call these functions of the server."""
        return self._calls.offering(run, functions)

    def prepare(self) -> None:
        """Start the first language's interpreter in the background, so that its first run is
        instant; the others start when they are wanted.

        An interpreter that was started before it is known for whom could not be given a workspace:
        what a sandbox lets in is fixed from its start. So each conversation has its own, begun when
        somebody comes in; it is ready before a person has said what they want.
        """
        for runtime in list(self._runtimes.values())[:1]:
            runtime.prepare()

    async def renew_unused(self, changed_at: int) -> None:
        """What has run nothing, and holds nothing made since then (in nanoseconds), starts anew."""
        for runtime in self._lasting:
            await runtime.renew(changed_at)

    async def run(self, language: str, code: str) -> AsyncGenerator[Output | Ending]:
        """Run code. Leaving the iteration early interrupts it."""
        if self._refusal:
            yield Ending("error", 0.0, self._refusal)
            return
        runtime = self._runtimes.get(self._named(language))
        if runtime is None:
            known = ", ".join(self._runtimes)
            yield Ending(
                "error", 0.0, f"There is no way to run {language or 'this'} here; use {known}."
            )
            return
        self._latest = runtime
        try:
            async with aclosing(runtime.run(code)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Ending):
                        await self._put_back(runtime)
                    yield piece
        finally:
            if runtime in self._aside:
                await to_the_end(asyncio.create_task(self._put_back(runtime)))

    async def run_alone(self, language: str, code: str) -> AsyncGenerator[Output | Ending]:
        """Run code in a new interpreter that ends with it, so that its words mean what they say:
        whatever earlier runs defined is not there. Leaving the iteration early interrupts it."""
        name = self._named(language)
        place = self._place(self._reach)
        if self._refusal or place is None or name not in self._runtimes:
            async with aclosing(self.run(language, code)) as pieces:
                async for piece in pieces:  # which says why not
                    yield piece
            return
        runtime = self._language(name).runtime(place)
        self._alone.add(runtime)
        try:
            async with aclosing(runtime.run(code)) as pieces:
                async for piece in pieces:
                    yield _said_to_be_alone(piece) if isinstance(piece, Ending) else piece
        finally:
            self._alone.discard(runtime)
            await to_the_end(asyncio.create_task(runtime.close()))

    async def interrupt(self) -> None:
        """Stop what runs."""
        for runtime in self._all:
            await runtime.interrupt()

    async def close(self) -> None:
        """End all interpreters."""
        await self.programs.close()
        for runtime in self._all:
            await runtime.close()
        for proxy in self._proxies:
            await proxy.close()
        await self._watch.close()
        if self._cgroup:
            await asyncio.to_thread(self._cgroup.remove)

    @property
    def _all(self) -> list[Runtime]:
        return [*self._runtimes.values(), *self._alone, *self._aside]

    def _language(self, name: str) -> Language:
        return next(each for each in self._languages if each.name == name)

    def _made_for(self, reach: Grants) -> dict[str, Runtime]:
        place = self._place(reach)
        if place is None:
            return {}
        return {language.name: language.runtime(place) for language in self._languages}

    def _place(self, reach: Grants) -> Place | None:
        if not self._environment or not self._sandbox:
            return None
        sandbox = Unconfined(base_python()) if reach.everything else self._sandbox
        confines = Confines(
            self._workspace,
            writable=reach.writable(self._workspace),
            readable=reach.readable(self._workspace),
            at_home=reach.at_home(Path.home().resolve()),
            proxy=self._proxy,
            known=self._known(reach),
            watch=self._watch,
            cgroup=self._cgroup,
        )
        # Without a sandbox, programs find the person's own settings where these are.
        variables = {} if reach.everything else self._variables()
        return Place(sandbox, self._environment, confines, self._watch, self._calls, variables)

    def _known(self, reach: Grants) -> Mapping[Path, Identity]:
        """What each place in reach is to be recognised by."""
        granted = {each.path: each.identity for each in reach.folders}
        places = {**granted, self._workspace: self._identity}
        return {path: identity or NOWHERE for path, identity in places.items()}

    def _named(self, language: str) -> str:
        name = language.strip().lower()
        return self._names.get(name, name)


def _said_to_be_alone(ending: Ending) -> Ending:
    return replace(ending, detail=f"{ending.detail} {_ALONE}".strip())


def _names(languages: Sequence[Language]) -> dict[str, str]:
    """What each language is called, to its name; the first to claim a name has it."""
    names = {language.name: language.name for language in languages}
    for language in languages:
        for alias in language.aliases:
            names.setdefault(alias, language.name)
    return names


def _refusal(environment: KernelEnvironment | None, report: SandboxReport) -> str:
    if not report.holds:
        return f"Code does not run here, because {report.reason}. {report.remedy}".strip()
    return "" if environment else _NO_ENVIRONMENT

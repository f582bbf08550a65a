"""The seam for a language: a name, and a runtime for it wherever a conversation's code runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from sayso.server.runtimes.calls.registry import CallRegistry
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.runtime import Runtime
from sayso.server.runtimes.sandbox.sandbox import SEARCH_PATH, Confines, Sandbox

OWN_PACKAGES = ".packages"
"""In a workspace: what code installs there is that conversation's alone, and the kernels' own
environment stays as it is for all."""


STARTUP = Path(__file__).parent.joinpath("languages", "startup").resolve()
"""What each Python runs first (languages/startup/sitecustomize.py)."""

PACKAGES = "SAYSO_PACKAGES"
"""Tells it where those packages are."""

PACKAGES_COME = "SAYSO_PACKAGES_COME"
"""Tells one Python that they come `later`, or `last`; what it starts is not told."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation's code runs, and what is there."""

    sandbox: Sandbox
    environment: KernelEnvironment
    """The kernels' own Python, with its packages."""
    confines: Confines
    """What code may touch, whatever the language: the workspace, and what was granted."""
    watch: ResourceWatch = field(default_factory=ResourceWatch)
    """Over all of the conversation's code."""
    calls: CallRegistry = field(default_factory=CallRegistry)
    """Which functions of the server that code may call."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that code has from the person."""

    @property
    def workspace(self) -> Path:
        return self.confines.folder

    def with_environment(self, *readable: Path) -> Confines:
        """The confines of code that may also use the kernels' Python, and these."""
        own = (self.environment.folder, self.environment.base, STARTUP)
        return replace(
            self.confines,
            readable=(*self.confines.readable, *own, *readable),
            skeleton=self.environment.skeleton,
        )

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables that go with it."""
        packages = self.workspace / OWN_PACKAGES
        # What code installed takes no program's place, nor a module's of the standard library.
        folders = (str(self.environment.python.parent), *SEARCH_PATH, str(packages / "bin"))
        return {
            **self.given,
            "PATH": ":".join(folders),
            "PYTHONPATH": str(STARTUP),
            PACKAGES: str(packages / self.environment.library),
            "PIP_PREFIX": str(packages),
            "PIP_RETRIES": "0",  # where the network is not granted, trying again finds none
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }


class Language(Protocol):
    """A language that code can be written in."""

    @property
    def name(self) -> str:
        """What a model calls it, in small letters."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """What else it is called."""
        ...

    def runtime(self, place: Place) -> Runtime:
        """Return a runtime for one conversation; nothing starts yet."""
        ...

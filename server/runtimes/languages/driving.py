"""A runtime for an interpreter that the driver drives."""

from pathlib import Path

from sayso.server.runtimes.driver_runtime import DriverInterpreter
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.languages.plan import Plan
from sayso.server.runtimes.persistent_runtime import PersistentRuntime


def driven(language: str, plan: Plan, place: Place, *readable: Path) -> PersistentRuntime:
    """Return a runtime that follows a plan, and may read these besides what is in reach."""
    confines = place.with_environment(*readable)

    async def start() -> DriverInterpreter:
        return await DriverInterpreter.start(place.sandbox, plan, place.variables, confines)

    return PersistentRuntime(language, start, place.watch, place.calls)

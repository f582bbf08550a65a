"""Python: ipykernel in the kernels' own environment."""

from functools import partial
from pathlib import Path

from sayso.server.runtimes.calls.channel import CallChannel
from sayso.server.runtimes.kernels.kernel import Kernel
from sayso.server.runtimes.language import PACKAGES_COME, Place
from sayso.server.runtimes.persistent_runtime import PersistentRuntime

_KERNEL = Path(__file__).with_name("python_kernel.py").resolve()

_PRELOADED = tuple(
    Path(__file__).parents[1].joinpath("calls", "preloaded", name).resolve()
    for name in ("sayso.py", "browser_names.py", "computer.py")
)


class Python:
    """The language that every model writes best."""

    name = "python"
    aliases = ("py", "py3", "python3", "ipython")

    def runtime(self, place: Place) -> PersistentRuntime:
        return PersistentRuntime(self.name, partial(self.start, place), place.watch, place.calls)

    @staticmethod
    async def start(place: Place) -> Kernel:
        """Start a kernel and return it when it is ready."""
        calls = CallChannel()
        link = str(calls.inherited)
        argv = (str(place.environment.python), str(_KERNEL), link, "-f", "{connection_file}")
        # The debugger that ipykernel brings warns of what nobody debugs here.
        silent = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
        variables = {**place.variables, **silent, PACKAGES_COME: "later"}
        confines = place.with_environment(_KERNEL, *_PRELOADED)
        return await Kernel.start(place.sandbox, argv, variables, confines, calls=calls)

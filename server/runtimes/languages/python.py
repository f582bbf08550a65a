"""Python: ipykernel in the kernels' own environment."""

from pathlib import Path

from sayso.server.runtimes.kernel import Kernel
from sayso.server.runtimes.language import Place
from sayso.server.runtimes.lasting import LastingRuntime

_KERNEL = Path(__file__).with_name("python_kernel.py").resolve()


class Python:
    """The language that every model writes best."""

    name = "python"
    aliases = ("py", "py3", "python3", "ipython")

    def runtime(self, place: Place) -> LastingRuntime:
        argv = (str(place.environment.python), str(_KERNEL), "-f", "{connection_file}")
        confines = place.with_environment(_KERNEL)
        # The debugger that ipykernel brings warns of what nobody debugs here.
        variables = {**place.variables, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}

        async def start() -> Kernel:
            return await Kernel.start(place.sandbox, argv, variables, confines)

        return LastingRuntime(self.name, start, place.workspace, disk_reserve=place.disk_reserve)

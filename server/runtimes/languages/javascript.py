"""JavaScript: node, evaluating block by block in the manner of a console."""

from pathlib import Path

from sayso.server.runtimes.language import Place
from sayso.server.runtimes.languages.driving import driven
from sayso.server.runtimes.languages.plan import Plan
from sayso.server.runtimes.persistent_runtime import PersistentRuntime

_LOOP = Path(__file__).with_name("node_loop.js").resolve()
_IMPORTS = _LOOP.with_name("node_imports.js")
_SAYSO = _LOOP.parents[1].joinpath("calls", "preloaded", "sayso.js")

_PLAN = Plan(
    # An interrupt may cut off code in a timer; node's own check would take that for a fault. Node's
    # internals hold the parser that its console uses.
    argv=["node", "--no-force-async-hooks-checks", "--expose-internals", str(_LOOP), "{file}"],
    order="run\n",
    here="here\n",
    stop="interrupt\n",
    suffix=".js",
    line="node_line",
)


class JavaScript:
    """What node runs."""

    name = "javascript"
    aliases = ("js", "node", "nodejs")

    def runtime(self, place: Place) -> PersistentRuntime:
        return driven(self.name, _PLAN, place, _LOOP, _IMPORTS, _SAYSO)

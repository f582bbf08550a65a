"""No confinement, for a person at the server's own console who wants none: the mode `full`.

Code is the server's own user, with that user's files and network. What stays: it is started with a
clean environment, without the server's keys, it wins no new privileges, and all that it started
ends with it.
"""

import getpass
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from sayso.server.runtimes.sandbox.launcher import Steps
from sayso.server.runtimes.sandbox.sandbox import (
    NO_HANDOVER,
    Confined,
    Confines,
    Kind,
    clean_environment,
)

_LAUNCHER = Path(__file__).with_name("launcher.py").resolve()


class Unconfined:
    """Confines nothing."""

    kind: Kind = "none"
    limits = None

    def __init__(self, python: Path) -> None:
        self._python = python

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        scratch = private / "tmp"
        scratch.mkdir(mode=0o700, exist_ok=True)
        steps = Steps(
            role="guard", argv=list(argv), limits={"core": 0}, folder=str(confines.folder)
        )
        user = getpass.getuser()
        own = {
            "USER": user,
            "LOGNAME": user,
            "SHELL": os.environ.get("SHELL", "/bin/sh"),
            "IPYTHONDIR": str(scratch / "ipython"),  # or it would leave its own in the home
        }
        return Confined(
            (str(self._python), "-I", "-S", str(_LAUNCHER), json.dumps(asdict(steps))),
            clean_environment(Path.home(), scratch, {**own, **environment}),
        )

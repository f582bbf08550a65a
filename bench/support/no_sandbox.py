"""Runs the bench's own code without a sandbox, to measure what a sandbox costs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.sandbox.sandbox import (
    NO_HANDOVER,
    Confined,
    Confines,
    Kind,
    clean_environment,
)

_BEGIN = (
    "import os, sys; os.read(0, 1); os.dup2(os.open(os.devnull, os.O_RDONLY), 0);"
    "os.chdir(sys.argv[1]); os.execv(sys.argv[2], sys.argv[2:])"
)
"""Waits for the server's word, as every confined command does."""


class Plain:
    """Starts commands as they are."""

    kind: Kind = "landlock"
    limits = None

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        home = private / "home"
        home.mkdir()
        begin = (str(base_python()), "-I", "-S", "-c", _BEGIN, str(confines.folder))
        return Confined((*begin, *argv), clean_environment(home, private, environment))

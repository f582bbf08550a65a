"""`python -m tests.fuzz TARGET`: lets atheris look for bytes that break a promise.

It begins with the corpus that is kept, and ends after `--seconds`, or at once with what it found:
then a file of those bytes is written, and `--again FILE` tries them once more. With `--keep` what
was learnt goes into the corpus.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sayso"]):
    from tests.fuzz.keeping import LONGEST, distilled, keep, kept
    from tests.fuzz.targets import TARGETS

HANGS_S = 10
"""An input that takes longer counts as a hang; on a quiet machine the worst takes a fraction."""
MOST_MB = 2_048


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--keep", action="store_true", help="add what was learnt to the corpus")
    parser.add_argument("--findings", type=Path, default=Path(), help="folder for what is found")
    parser.add_argument("--again", type=Path, help="a file whose bytes are tried once")
    wanted = parser.parse_args()
    run = TARGETS[wanted.target]
    if wanted.again:
        run(wanted.again.read_bytes())
        return
    with tempfile.TemporaryDirectory(prefix="sayso-fuzz-") as folder:
        for number, one in enumerate(kept(wanted.target)):
            (Path(folder) / str(number)).write_bytes(one)
        # The fuzzer ends its process by itself: a child has it, and we what it learnt.
        child = os.fork()
        if child == 0:
            _fuzz(wanted.target, folder, wanted.seconds, wanted.findings)
        _, status = os.waitpid(child, 0)
        if wanted.keep:
            learnt = (one.read_bytes() for one in Path(folder).iterdir())
            keep(wanted.target, distilled(run, learnt))
    sys.exit(os.waitstatus_to_exitcode(status))


def _fuzz(target: str, folder: str, seconds: int, findings: Path) -> None:
    options = {
        "max_total_time": seconds,
        "max_len": LONGEST,
        "timeout": HANGS_S,
        "rss_limit_mb": MOST_MB,
        "print_final_stats": 1,
        "verbosity": 0,
        "artifact_prefix": f"{findings}/{target}-",
    }
    atheris.Setup(
        [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), folder],
        TARGETS[target],
    )
    atheris.Fuzz()


main()

"""`python -m tests.autobahn`: serves two echoes for Autobahn's fuzzing client, until Ctrl-C.

With `--compare REPORT` it reads what Autobahn found (`index.json`) and tells the cases in which
ours fails and the plain library does not; there should be none.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.autobahn.echo import ours, plain

OURS, PLAIN = 9001, 9002
"""Ports; `fuzzingclient.json` names them."""
FINE = frozenset(("OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED"))

Report = Mapping[str, Mapping[str, Mapping[str, str]]]
"""By agent and case: `behavior` and `behaviorClose`."""


def ours_alone(report: Report) -> list[str]:
    """The cases in which ours fails and the plain library does not."""
    return [
        case
        for case, found in report["sayso"].items()
        if not _is_fine(found) and _is_fine(report["websockets"][case])
    ]


def _is_fine(found: Mapping[str, str]) -> bool:
    return {found["behavior"], found["behaviorClose"]} <= FINE


async def _serve() -> None:
    async with ours(OURS), plain(PLAIN):
        await asyncio.get_running_loop().create_future()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.autobahn", description=__doc__)
    parser.add_argument("--compare", type=Path, metavar="REPORT")
    wanted = parser.parse_args()
    if wanted.compare is None:
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve())
        return 0
    report = json.loads(wanted.compare.read_text())
    found = ours_alone(report)
    sys.stdout.write(f"{len(report['sayso'])} cases, {len(found)} that fail here alone.\n")
    sys.stdout.writelines(f"{case}\n" for case in found)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())

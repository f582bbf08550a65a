"""The proof, made anew at each start, that the sandbox holds: break-outs are tried from inside.

Where it does not hold no code runs. That is said with the reason and with what a person has to do.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sayso.protocol.untrusted_json import read_json
from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.confined_process import ConfinedProcess, sweep
from sayso.server.runtimes.sandbox import landlock, seatbelt
from sayso.server.runtimes.sandbox.bubblewrap import Bubblewrap
from sayso.server.runtimes.sandbox.call_filter import seccomp
from sayso.server.runtimes.sandbox.landlock import Landlock
from sayso.server.runtimes.sandbox.limits import SandboxLimits
from sayso.server.runtimes.sandbox.remedies import LEAK, look, remedy
from sayso.server.runtimes.sandbox.sandbox import Confines, Kind, Sandbox
from sayso.server.runtimes.sandbox.self_test.targets import set_out

_PROBE = Path(__file__).with_name("escape_probe.py")

_TEST_S = 10.0
"""The test takes a fifth of a second; a machine that needs fifty times that is stuck."""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Whether code can be confined on this machine."""

    holds: bool
    kind: Kind | None = None
    """The sandbox that holds, or the one that came closest."""
    failures: tuple[str, ...] = ()
    """What code could do that it must not, or why a sandbox did not start."""
    remedy: str = ""
    """What a person has to do, in one sentence."""
    sandbox: Sandbox | None = None
    """The sandbox to use; None where none holds."""

    @property
    def reason(self) -> str:
        """Why it does not hold, to follow "because"."""
        return "; ".join(self.failures) or "nothing here can confine it"


async def find_sandbox() -> SandboxReport:
    """Return a report on the first sandbox of this machine that holds, or on why none does."""
    await asyncio.to_thread(sweep)
    reports = []
    for sandbox in candidates():
        report = await examine(sandbox)
        if report.holds:
            return report
        reports.append(report)
    failures = tuple(failure for report in reports for failure in report.failures)
    return SandboxReport(
        holds=False,
        kind=reports[0].kind if reports else None,
        failures=failures or ("this machine has nothing that can confine it",),
        remedy=remedy(failures, look()),
    )


def candidates(limits: SandboxLimits | None = None) -> Iterator[Sandbox]:
    """The sandboxes that this machine offers, the best first."""
    python = base_python()
    if sys.platform == "darwin":
        if seatbelt.PROGRAM.exists():
            yield seatbelt.Seatbelt(python, limits)
        return
    if (program := shutil.which("bwrap")) and seccomp.supported():
        yield Bubblewrap(Path(program).resolve(), python, limits)
    if landlock.version() >= landlock.NEEDED_VERSION and seccomp.supported():
        yield Landlock(python, limits)


async def examine(sandbox: Sandbox) -> SandboxReport:
    """Try to break out of a sandbox."""
    try:
        async with asyncio.timeout(_TEST_S):
            failures = await _break_out(sandbox)
    except TimeoutError:
        failures = (f"{sandbox.kind} did not finish its test within {_TEST_S:.0f} seconds",)
    except OSError as error:
        failures = (f"{sandbox.kind} cannot be started: {error.strerror or error}",)
    if failures:
        return SandboxReport(False, sandbox.kind, failures, remedy(failures, look()))
    return SandboxReport(True, sandbox.kind, sandbox=sandbox)


async def _break_out(sandbox: Sandbox) -> tuple[str, ...]:
    async with set_out() as targets_outside:
        python = base_python()
        workspace = Path(targets_outside.targets.workspace)
        confines = Confines(
            workspace,
            writable=(workspace,),
            readable=(_PROBE, python.parent.parent, Path(targets_outside.targets.granted).parent),
        )

        def command(private: Path) -> Sequence[str]:
            argv = (
                str(python),
                "-I",
                "-S",
                str(_PROBE),
                json.dumps(asdict(targets_outside.targets)),
            )
            return (*argv, str(private / "findings"))

        process = await ConfinedProcess.start(sandbox, command, {}, confines)
        try:
            await asyncio.wait([process.ended])
            try:
                found = [str(each) for each in read_json((process.folder / "findings").read_text())]
            except (OSError, ValueError):
                why = (process.last_words.splitlines() or ["it said nothing"])[-1]
                return (f"{sandbox.kind} does not work: {why}",)
        finally:
            await process.close()
        found += targets_outside.disturbed()
        return tuple(f"inside {sandbox.kind}, {LEAK} {what}" for what in dict.fromkeys(found))

"""Many devices in one process, for load: all connected, some of them talking."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import quantiles

from sayso.firmware_sim.hardware.board import Board, Radio, Unit
from sayso.firmware_sim.hardware.nvs import Stored
from sayso.firmware_sim.hardware.radio import Ear
from sayso.firmware_sim.scene import Report, Scene

ASK_EVERY_S = 1.0
"""Each device measures so often how long the server takes to answer."""

JOIN_SPREAD_S = 5.0
"""A household's devices do not all wake in the same moment."""


@dataclass(frozen=True, slots=True)
class Fleet:
    devices: int
    talking: int
    say: bytes
    seconds: float
    """Then it ends, whatever is still to come."""
    conversations: tuple[str, ...] = ()
    """In which those talk that talk, in turn; none: all in their person's latest."""


@dataclass(frozen=True, slots=True)
class FleetReport:
    """How all of them fared."""

    devices: int
    connected: int
    answered: int
    talking: int
    lost_samples: int
    control_p95_ms: float
    failures: tuple[str, ...]
    troubles: Mapping[str, int]
    """Why devices did not come in, and how many."""

    @property
    def is_good(self) -> bool:
        whole = self.connected == self.devices and self.answered == self.talking
        return whole and not self.lost_samples and not self.failures

    @property
    def summary(self) -> str:
        came = f"{self.connected} of {self.devices} devices connected"
        heard = f"{self.answered} of {self.talking} heard their answer"
        lost = f"{self.lost_samples} samples lost"
        asked = f"control messages answered within {self.control_p95_ms:.1f} ms (p95)"
        why = [f"{count} did not come in: {trouble}" for trouble, count in self.troubles.items()]
        return "\n".join([f"{came}, {heard}", *why, f"{lost}; {asked}", *self.failures])


async def run_fleet(
    stored: Stored, fleet: Fleet, radio: Callable[[Ear], Radio] | None = None
) -> FleetReport:
    """Run all until the talking ones have their answers, or the time is up."""
    places = fleet.conversations or (stored.conversation,)
    talkers = [
        Board(
            replace(
                stored,
                name=f"{stored.name} {number}",
                conversation=places[number % len(places)],
            ),
            Scene(fleet.say, start_at=JOIN_SPREAD_S),
            radio=radio,
            unit=Unit(seed=number, ask_every_s=ASK_EVERY_S),
        )
        for number in range(fleet.talking)
    ]
    silent = [
        Board(
            replace(stored, name=f"{stored.name} {number}"),
            Scene(),
            radio=radio,
            unit=Unit(
                seed=number,
                power_on_at=JOIN_SPREAD_S * number / fleet.devices,
                ask_every_s=ASK_EVERY_S,
            ),
        )
        for number in range(fleet.talking, fleet.devices)
    ]
    listening = [asyncio.create_task(board.run(fleet.seconds)) for board in silent]
    try:
        reports = await asyncio.gather(*(board.run(fleet.seconds) for board in talkers))
    finally:
        for board in silent:
            board.switch_off()
    reports += await asyncio.gather(*listening)
    return _sum_up(fleet, reports)


def _sum_up(fleet: Fleet, reports: list[Report]) -> FleetReport:
    latencies = [latency for report in reports for latency in report.latencies]
    p95 = quantiles(latencies, n=20)[-1] if len(latencies) > 1 else 0.0
    return FleetReport(
        devices=fleet.devices,
        connected=sum(report.connected for report in reports),
        answered=sum(report.answers > 0 for report in reports),
        talking=fleet.talking,
        lost_samples=sum(r.captured_samples - r.acknowledged_samples for r in reports),
        control_p95_ms=p95 * 1_000,
        failures=tuple(report.failure for report in reports if report.failure),
        troubles=Counter(r.trouble for r in reports if r.trouble and not r.connected),
    )

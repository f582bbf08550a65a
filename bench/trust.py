"""Measures robustness: connections that break, many listeners, and hostile clients.

The product's own listener and link, on loopback. What is behind the listener counts (cuts, hostile
clients) or is the real conversation with a model that echoes (turns), so that no figure hangs on a
model's speed. Soak and kills have a real server with everything in it.
"""

from bench import cuts as breaking
from bench import kills, many_clients, soak, two_people
from bench.support import hostile_clients
from bench.support.progress import tell

TURNS_OF_TWO = 1_000
"""Of two people, together."""


class Figures(many_clients.Figures, soak.Figures, kills.Figures):
    """What `--json` prints."""

    cuts: int
    lost: int
    doubled: int
    rerun: int
    resume_p95_s: float
    hostile_cases: int
    hostile_survived: int
    leaks_between_users: int


def measure(cuts: int, idle: int, turns: int, each: int) -> Figures:
    """Everything, one after the other."""
    tell("lines that break")
    toll, resume_p95_s = breaking.measure(cuts)
    tell("a crowd")
    many = many_clients.measure(idle)
    tell("clients that mean harm")
    survived = hostile_clients.measure()
    for name in (name for name, well in survived.items() if not well):
        tell(f"NOT survived: {name}")
    tell("two people")
    leaks = two_people.measure(TURNS_OF_TWO)
    tell("thousands of turns")
    lasting = soak.measure(turns)
    tell("processes that are killed")
    killed = kills.measure(each)
    tell("that was all")
    return Figures(
        cuts=toll.cuts,
        lost=toll.lost,
        doubled=toll.doubled,
        rerun=toll.rerun,
        resume_p95_s=resume_p95_s,
        hostile_cases=len(survived),
        hostile_survived=sum(survived.values()),
        leaks_between_users=leaks,
        **many,
        **lasting,
        **killed,
    )


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:22} {value}" for name, value in figures.items())

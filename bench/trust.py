"""How hard it is to hurt: lines that break, many who listen, and clients that mean harm.

The product's own listener and link, on loopback. What is behind the listener counts (cuts, hostile
clients) or is the real conversation with a model that echoes (turns), so that no figure hangs on a
model's speed. Soak and kills have a real server with everything in it.
"""

from bench import crowd, harm, kills, soak, two_people
from bench import cuts as breaking

TURNS_OF_TWO = 1_000
"""Of two people, together."""


class Figures(crowd.Figures, soak.Figures, kills.Figures):
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
    toll, resume_p95_s = breaking.measure(cuts)
    many = crowd.measure(idle)
    survived = harm.measure()
    lasting = soak.measure(turns)
    killed = kills.measure(each)
    return Figures(
        cuts=toll.cuts,
        lost=toll.lost,
        doubled=toll.doubled,
        rerun=toll.rerun,
        resume_p95_s=resume_p95_s,
        hostile_cases=len(survived),
        hostile_survived=sum(survived.values()),
        leaks_between_users=two_people.measure(TURNS_OF_TWO),
        **many,
        **lasting,
        **killed,
    )


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:22} {value}" for name, value in figures.items())

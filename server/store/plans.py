"""Records of plans: what a model means to do for a request, step by step."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The plan of the request that is worked on is this from now on."""

    run: str
    """The call that said so."""
    steps: tuple[str, ...]
    """In a line each, in the model's words."""
    current: int
    """Which of them is worked on, counted from 0; their number, if all are done."""

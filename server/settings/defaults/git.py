"""The settings of `[git]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Git:
    """What is committed for you."""

    trailer: str = "Assisted-by: Sayso ({model})"
    """Line below the message of a commit that says who helped; `{model}` is the language model's
    name. Empty: none."""

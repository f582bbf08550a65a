"""How the parts of a cut voice are run: what each reads, and how far a window reaches. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self


class Unsplittable(Exception):
    """The model is none that can be cut; it speaks whole. The text says why, for the log."""


@dataclass(frozen=True, slots=True)
class Trim:
    """A place in the vocoder at which context that is no longer needed is dropped."""

    number: int
    rate: int
    """Samples for each frame there."""
    before: int
    """Samples that a window still needs before it, …"""
    after: int
    """… and after it."""

    @property
    def first(self) -> str:
        """The input that says from which sample on is kept."""
        return f"sayso/first_{self.number}"

    @property
    def beyond(self) -> str:
        """The input that says up to which sample is kept."""
        return f"sayso/beyond_{self.number}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Of one voice. Names are those of tensors."""

    z: str
    latent: str
    samples: str
    durations: str
    """Frames of each phoneme."""
    masks: tuple[str, ...]
    """What the flow reads beside z that has one sample for each frame."""
    flow_sides: tuple[str, ...]
    vocoder_sides: tuple[str, ...]
    """What they read that is the same for all frames: the speaker."""
    hop: int
    """Samples of a frame."""
    flow_before: int
    flow_after: int
    vocoder_before: int
    vocoder_after: int
    """Frames that a window needs beside itself."""
    trims: tuple[Trim, ...]
    gain: float = 1.0
    """What makes the voice's usual sentence as loud as it may be."""
    slow: bool = False
    """This machine needs more than a quarter of the time that the sound lasts."""

    def measured(self, *, gain: float, slow: bool) -> Self:
        """The same with what was found out by speaking."""
        return replace(self, gain=gain, slow=slow)

    def as_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """From a file that `as_json` made; raises TypeError or KeyError for another one."""
        trims = tuple(Trim(**each) for each in fields["trims"])
        lists = {
            name: tuple(map(str, fields[name])) for name in ("masks", "flow_sides", "vocoder_sides")
        }
        return cls(**{**fields, **lists, "trims": trims})

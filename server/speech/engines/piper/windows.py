"""Decodes a cut voice in windows: the first sound is there long before the last is computed.

    phonemes ──► text ──► z ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁   how long each phoneme lasts is known here
                 flow      ├────────┤                what the first window needs, then ahead
                 vocoder    ├──┤├───┤├──────────┤    windows, each exact to the whole

Each window is computed with as much beside it as takes part in its samples, which then is dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from sayso.server.speech.engines.piper.plan import Plan

WINDOWS: Final = (12, 16, 32)
"""Frames of the first windows; of 11.6 ms each with a medium voice. So the first is there early,
and each is done long before the one before it was heard, also beside a recogniser."""

SLOW_WINDOWS: Final = (24, 32, 48)
"""The same where a voice takes more than a quarter of the time that it speaks."""

LATER: Final = 64
"""Frames of all further windows: larger ones are no cheaper, and an interruption waits for one."""

SHORTEST_LAST: Final = 8
"""Frames. A last window that would be shorter is joined to the one before it."""

FLOW_AHEAD: Final = 2
"""As many windows of latents are made at once: the flow reaches far, and so costs less a frame."""

Floats = NDArray[np.float32]
Array = NDArray[np.generic]


class Session(Protocol):
    """What onnxruntime's sessions can do."""

    def run(self, outputs: list[str] | None, feeds: dict[str, Array]) -> list[Array]: ...


@dataclass(frozen=True, slots=True)
class Sessions:
    """The three parts, loaded."""

    text: Session
    flow: Session
    vocoder: Session


@dataclass(frozen=True, slots=True)
class Encoded:
    """What is to be said, before its sound."""

    z: Floats
    beside: dict[str, Floats]
    """Masks and speakers, by the names of the parts' inputs."""
    durations: NDArray[np.int64]
    """Samples of each phoneme; their sum is the length of the sound."""

    @property
    def frames(self) -> int:
        """How many there are."""
        return int(self.z.shape[-1])


class CutVoiceDecoder:
    """The three parts of one voice."""

    def __init__(self, sessions: Sessions, plan: Plan) -> None:
        self._sessions = sessions
        self.plan = plan

    def encode(self, feeds: dict[str, Array]) -> Encoded:
        """Run the text part; `feeds` are the inputs of the stock voice."""
        plan = self.plan
        others = list(dict.fromkeys((*plan.masks, *plan.flow_sides, *plan.vocoder_sides)))
        z, durations, *beside = self._sessions.text.run([plan.z, plan.durations, *others], feeds)
        return Encoded(
            _floats(z),
            {name: _floats(each) for name, each in zip(others, beside, strict=True)},
            (durations.reshape(-1).astype(np.int64)) * plan.hop,
        )

    def decode(
        self, encoded: Encoded, begin: int = 0, *, sizes: tuple[int, ...] | None = None
    ) -> Iterator[Floats]:
        """The samples from the frame `begin` on, window by window."""
        plan = self.plan
        first = SLOW_WINDOWS if plan.slow else WINDOWS
        latents = _Latents(self._sessions.flow, plan, encoded, begin)
        at = begin
        for size in (
            chain(first, repeat(LATER)) if sizes is None else chain(sizes, repeat(sizes[-1]))
        ):
            if at >= encoded.frames:
                return
            to = min(encoded.frames, at + size)
            if encoded.frames - to < SHORTEST_LAST and sizes is None:
                to = encoded.frames
            from_frame = max(0, at - plan.vocoder_before)
            to_frame = min(encoded.frames, to + plan.vocoder_after)
            latent = latents.take(
                from_frame, to_frame, ahead=0 if at == begin else FLOW_AHEAD * size
            )
            yield self._vocode(encoded, latent, from_frame, at, to)
            at = to

    def _vocode(
        self, encoded: Encoded, latent: Floats, from_frame: int, at: int, to: int
    ) -> Floats:
        """The samples of the frames from `at` to `to`, of latents that begin at `from_frame`."""
        plan = self.plan
        feeds: dict[str, Array] = {name: encoded.beside[name] for name in plan.vocoder_sides}
        feeds[plan.latent] = latent
        begins, ends, rate = from_frame, from_frame + latent.shape[-1], 1
        for trim in plan.trims:
            step, rate = trim.rate // rate, trim.rate
            begins, ends = begins * step, ends * step
            first = max(begins, at * rate - trim.before)
            beyond = min(ends, to * rate + trim.after)
            feeds[trim.first] = np.array([first - begins], np.int64)
            feeds[trim.beyond] = np.array([beyond - begins], np.int64)
            begins, ends = first, beyond
        begins *= plan.hop // rate
        samples = _floats(self._sessions.vocoder.run([plan.samples], feeds)[0]).reshape(-1)
        return samples[at * plan.hop - begins : to * plan.hop - begins]


class _Latents:
    """What the flow makes of one utterance, made as it is needed."""

    def __init__(self, flow: Session, plan: Plan, encoded: Encoded, begin: int) -> None:
        self._flow = flow
        self._plan = plan
        self._encoded = encoded
        self._begins = max(0, begin - plan.vocoder_before)
        """The frame of the first that is kept."""
        self._kept: Floats = np.zeros((1, 1, 0), np.float32)

    @property
    def _ends(self) -> int:
        return self._begins + int(self._kept.shape[-1])

    def take(self, first: int, beyond: int, *, ahead: int) -> Floats:
        """Those of these frames; what lies before them is not wanted again. If any must be made,
        so many more are made at once."""
        if beyond > self._ends:
            new = self._make(self._ends, min(self._encoded.frames, beyond + ahead))
            self._kept = np.concatenate((self._kept, new), axis=-1) if self._kept.size else new
        self._kept = self._kept[..., first - self._begins :]
        self._begins = first
        return self._kept[..., : beyond - first]

    def _make(self, first: int, beyond: int) -> Floats:
        plan, encoded = self._plan, self._encoded
        begins = max(0, first - plan.flow_before)
        ends = min(encoded.frames, beyond + plan.flow_after)
        feeds: dict[str, Array] = {name: encoded.beside[name] for name in plan.flow_sides}
        feeds |= {name: encoded.beside[name][..., begins:ends] for name in plan.masks}
        feeds[plan.z] = encoded.z[..., begins:ends]
        made = _floats(self._flow.run([plan.latent], feeds)[0])
        return made[..., first - begins : beyond - begins]


def _floats(array: Array) -> Floats:
    return np.asarray(array, np.float32)

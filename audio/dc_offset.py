"""Removes the DC offset that cheap microphones add to every sample.

Left in, it makes silence look loud, and clips speech on one side. The estimate follows the offset
within a second, in steps too small to hear.
"""

from array import array

from sayso.audio.pcm import from_samples, to_samples

FOLLOWS = 0.04
"""Of the difference, with each frame of 20 ms: two thirds within half a second, so that the lowest
sounds of speech (80 Hz, four periods in two frames) are left alone."""
HARMLESS = 48
"""Sample steps, -57 dB: a smaller constant is left in, and the sound is passed on untouched."""
LOWEST, HIGHEST = -32_768, 32_767


class OffsetRemover:
    """Takes PCM16 mono in pieces, gives pieces of the same lengths."""

    def __init__(self) -> None:
        self._offset = 0.0
        self._begun = False

    def feed(self, pcm: bytes) -> bytes:
        samples = to_samples(pcm)
        if not samples:
            return pcm
        mean = sum(samples) / len(samples)
        if self._begun:
            self._offset += FOLLOWS * (mean - self._offset)
        else:
            # A device begins with its own constant and no speech; a file's first frame likewise.
            self._offset, self._begun = mean, True
        offset = round(self._offset)
        if abs(offset) < HARMLESS:
            return pcm
        level = array("h", (min(HIGHEST, max(LOWEST, sample - offset)) for sample in samples))
        return from_samples(level)

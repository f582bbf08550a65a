"""The arithmetic of samples that needs numpy and soxr. Import it where it is needed, not before."""

import numpy as np
import soxr
from numpy.typing import NDArray


class Soxr:
    """The stream resampler of the SoX project.

    In the way that it has for rates that vary, although ours do not: it holds back 10 to 13 ms,
    always the same. Its usual way holds back 6 to 40 ms and gives pieces of 30 ms.
    """

    def __init__(self, from_rate: int, to_rate: int) -> None:
        self._stream = soxr.ResampleStream(from_rate, to_rate, 1, dtype="int16", vr=True)
        self._half = b""

    def feed(self, pcm: bytes) -> bytes:
        pcm = self._half + pcm
        whole = len(pcm) - len(pcm) % 2
        self._half = pcm[whole:]
        return self._process(pcm[:whole], last=False)

    def finish(self) -> bytes:
        return self._process(b"", last=True)

    def _process(self, pcm: bytes, *, last: bool) -> bytes:
        samples = np.frombuffer(pcm, dtype="<i2").astype(np.int16, copy=False)
        out: NDArray[np.int16] = self._stream.resample_chunk(samples, last=last)
        return out.astype("<i2", copy=False).tobytes()


def mix(data: bytes, kind: str, channels: int) -> bytes:
    """Mixes all channels into one, as PCM16. `kind` is that of `sayso.audio.wav.Wav`."""
    mixed = _floats(data, kind).reshape(-1, channels).mean(axis=1)
    steps = np.clip(np.rint(mixed * 32_768), -32_768, 32_767).astype("<i2")
    return bytes(steps.tobytes())


def _floats(data: bytes, kind: str) -> NDArray[np.float64]:
    """Gives all samples between -1 and 1."""
    if kind == "u1":
        return (np.frombuffer(data, "u1").astype(np.float64) - 128) / 128
    if kind == "i3":
        octets = np.frombuffer(data, "u1").reshape(-1, 3).astype(np.int32)
        joined = octets[:, 0] | octets[:, 1] << 8 | octets[:, 2] << 16
        signed = joined - ((joined & 0x800000) << 1)
        return signed.astype(np.float64) / 2.0**23
    values = np.frombuffer(data, "<" + kind).astype(np.float64)
    if kind[0] == "i":
        return values / 2.0 ** (8 * int(kind[1]) - 1)
    # A float file may hold anything: what is no number is silence, what is too loud is clipped.
    return np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)

"""A voice that is cut says in windows, to the sample, what it would say whole."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from sayso.server.speech.engines.piper.cutting.parts import cut
from sayso.server.speech.engines.piper.plan import Unsplittable
from sayso.server.speech.engines.piper.windows import (
    LATER,
    WINDOWS,
    CutVoiceDecoder,
    Encoded,
    Sessions,
)
from tests.speech.conftest import packaged
from tests.speech.engines.piper.small_voice import SHAPES, Shape, feeds, small_voice

EXACT = 1e-5
"""The sums are the same, in another order."""

Floats = NDArray[np.float32]


def session(model: onnx.ModelProto | str) -> onnxruntime.InferenceSession:
    given = model if isinstance(model, str) else model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def decoder(model: onnx.ModelProto) -> CutVoiceDecoder:
    parts = cut(model)
    loaded = Sessions(*map(session, (parts.text, parts.flow, parts.vocoder)))
    return CutVoiceDecoder(loaded, parts.plan)


def joined(windows: Iterator[Floats]) -> Floats:
    return np.concatenate(list(windows))


def whole(voice: CutVoiceDecoder, said: Encoded) -> Floats:
    return joined(voice.decode(said, sizes=(1 << 30,)))


@pytest.fixture(scope="module", params=SHAPES)
def shape(request: pytest.FixtureRequest) -> Shape:
    return SHAPES[request.param]


@pytest.fixture(scope="module")
def voice(shape: Shape) -> CutVoiceDecoder:
    return decoder(small_voice(shape))


@pytest.mark.parametrize("size", [1, 5, 17, 64])
def test_in_windows_of_any_size_it_says_what_it_says_whole(
    voice: CutVoiceDecoder, shape: Shape, size: int
) -> None:
    said = voice.encode(feeds(60, shape))
    sound = joined(voice.decode(said, sizes=(size,)))
    assert len(sound) == said.frames * shape.hop == said.durations.sum()
    assert np.abs(sound - whole(voice, said)).max() < EXACT


def test_it_is_what_the_stock_voice_says(shape: Shape) -> None:
    """Fed with the very noise that the stock voice drew."""
    stock, voice = small_voice(shape), decoder(small_voice(shape))
    plan = voice.plan
    beside = list(dict.fromkeys((*plan.masks, *plan.flow_sides, *plan.vocoder_sides)))
    names = [plan.z, plan.durations, *beside]
    stock.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    sound, z, durations, *others = session(stock).run(None, feeds(50, shape))
    lengths = durations.reshape(-1).astype(np.int64) * plan.hop
    said = Encoded(z, dict(zip(beside, others, strict=True)), lengths)
    assert np.abs(joined(voice.decode(said)) - sound.reshape(-1)).max() < EXACT


def test_no_sample_further_away_than_told_depends_on_a_frame(
    voice: CutVoiceDecoder, shape: Shape
) -> None:
    """Poisoned with what is no number, a frame spreads as far as the plan says, and no further."""
    plan = voice.plan
    said = voice.encode(feeds(90, shape, length=2.0))
    middle = said.frames // 2
    poisoned = said.z.copy()
    poisoned[..., middle] = np.nan
    sound = whole(voice, Encoded(poisoned, said.beside, said.durations))
    frames = np.flatnonzero(np.isnan(sound)) // plan.hop
    assert middle - (plan.flow_before + plan.vocoder_before) <= frames[0] < middle
    assert middle < frames[-1] <= middle + (plan.flow_after + plan.vocoder_after)


@pytest.mark.parametrize("frames", [1, 2, 11, 12, 13, 28, 29, 61])
def test_the_shortest_and_the_oddest_lengths_are_whole(
    voice: CutVoiceDecoder, shape: Shape, frames: int
) -> None:
    long = voice.encode(feeds(80, shape))
    timed = {name: each[..., :frames] for name, each in long.beside.items()}
    said = Encoded(long.z[..., :frames], timed, np.array([frames * shape.hop]))
    sound = joined(voice.decode(said))
    assert len(sound) == frames * shape.hop
    assert np.abs(sound - whole(voice, said)).max() < EXACT


@pytest.mark.parametrize("begin", [1, 7, 20])
def test_from_a_later_frame_on_it_says_the_same(
    voice: CutVoiceDecoder, shape: Shape, begin: int
) -> None:
    said = voice.encode(feeds(40, shape))
    sound = joined(voice.decode(said, begin))
    assert np.abs(sound - whole(voice, said)[begin * shape.hop :]).max() < EXACT


@pytest.mark.parametrize("length", [0.2, 2.0])
def test_slow_and_fast_speech_is_exact(voice: CutVoiceDecoder, shape: Shape, length: float) -> None:
    said = voice.encode(feeds(30, shape, length=length))
    assert np.abs(joined(voice.decode(said)) - whole(voice, said)).max() < EXACT


def test_windows_grow_and_none_is_longer_than_an_interruption_may_wait(
    voice: CutVoiceDecoder, shape: Shape
) -> None:
    said = voice.encode(feeds(120, shape, length=2.0))
    sizes = [len(window) // shape.hop for window in voice.decode(said)]
    assert tuple(sizes[: len(WINDOWS)]) == WINDOWS
    assert all(size <= after for size, after in pairwise(sizes[:-1]))
    assert max(sizes) < LATER + WINDOWS[0]


@pytest.mark.slow
def test_a_real_voice_is_exact(voice_file: Path) -> None:
    voice = decoder(onnx.load(str(voice_file)))
    said = voice.encode(feeds(120, Shape()))
    sound, expected = joined(voice.decode(said)), whole(voice, said)
    noise = np.square(sound - expected).sum()
    assert 10 * np.log10(np.square(expected).sum() / max(noise, 1e-30)) > 90


@pytest.mark.parametrize(
    ("package", "path"),
    [
        ("piper-tts", "piper/tashkeel/model.onnx"),
        ("piper-tts", "piper/hebrew/nakdimon.onnx"),
        ("faster-whisper", "faster_whisper/assets/silero_vad_v6.onnx"),
    ],
)
def test_a_model_of_another_kind_is_not_cut(package: str, path: str) -> None:
    with pytest.raises(Unsplittable):
        cut(onnx.load(str(packaged(package, path))))


def test_a_voice_of_older_operators_is_not_cut() -> None:
    with pytest.raises(Unsplittable, match="version 12"):
        cut(small_voice(Shape(opset=12)))


@pytest.mark.parametrize("kind", ["Softmax", "ReduceMean"])
def test_what_looks_at_all_samples_at_once_is_not_cut(kind: str) -> None:
    """A window of it would be another sound, so there is none."""
    model = small_voice(Shape())
    node = next(each for each in reversed(model.graph.node) if each.op_type == "LeakyRelu")
    node.op_type = kind
    del node.attribute[:]
    with pytest.raises(Unsplittable, match=kind):
        cut(model)

"""Voices of the shape of piper's, with weights drawn by chance: small, and of any variety.

phonemes ─► encoder ─► durations ─► one column a frame ─► + noise ─► flow ─► vocoder ─► samples
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

PHONEMES = 40
"""That it knows; the first one stands for a silence."""

Array = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Shape:
    """What differs between voices."""

    upsamplings: tuple[tuple[int, int], ...] = ((8, 16), (8, 16), (4, 8))
    """Factor and kernel of each: those of x_low and medium voices."""
    speakers: int = 1
    weight_norm: bool = False
    """Weights are worked out of two others each time."""
    channels: int = 8
    opset: int = 15

    @property
    def hop(self) -> int:
        return int(np.prod([factor for factor, _ in self.upsamplings]))


HIGH = Shape(upsamplings=((8, 16), (8, 16), (2, 4), (2, 4)))
SHAPES = {
    "medium": Shape(),
    "high": HIGH,
    "many speakers": Shape(speakers=3),
    "weight norm": Shape(weight_norm=True, speakers=2),
}


def feeds(count: int, shape: Shape, *, length: float = 1.0, seed: int = 1) -> dict[str, Array]:
    """Inputs of so many phonemes."""
    drawn = np.random.default_rng(seed).integers(0, PHONEMES, (1, count))
    given: dict[str, Array] = {
        "input": drawn.astype(np.int64),
        "input_lengths": np.array([count], np.int64),
        "scales": np.array([0.7, length, 0.8], np.float32),
    }
    if shape.speakers > 1:
        given["sid"] = np.array([1], np.int64)
    return given


def small_voice(shape: Shape, seed: int = 1) -> onnx.ModelProto:
    """A model of this shape."""
    return _Builder(shape, seed).build()


def write(path: Path, shape: Shape | None = None) -> Path:
    """A file of one."""
    onnx.save(small_voice(shape or Shape()), str(path))
    return path


class _Builder:
    def __init__(self, shape: Shape, seed: int) -> None:
        self._shape = shape
        self._chance = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._count = 0

    def build(self) -> onnx.ModelProto:
        size, shape = self._shape.channels, self._shape
        inputs = [
            helper.make_tensor_value_info("input", TensorProto.INT64, [1, "phonemes"]),
            helper.make_tensor_value_info("input_lengths", TensorProto.INT64, [1]),
            helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
        ]
        speaker = ""
        if shape.speakers > 1:
            inputs.append(helper.make_tensor_value_info("sid", TensorProto.INT64, [1]))
            chosen = self._do("Gather", self._drawn(shape.speakers, size), "sid")
            speaker = self._do("Unsqueeze", chosen, self._whole(2))
        noise, length, unevenness = (
            self._do("Gather", "scales", self._whole(number)) for number in range(3)
        )
        embedded = self._do("Gather", self._drawn(PHONEMES, size), "input")
        encoded = self._conv(self._do("Transpose", embedded, perm=[0, 2, 1]), size, size, 3)
        frames, mask = self._laid_out(encoded, length, unevenness)
        drawn = self._do("Mul", self._do("RandomNormalLike", frames), noise)
        z = self._do("Add", frames, drawn)
        latent = z
        for _ in range(3):
            latent = self._flow(latent, mask, speaker)
        latent = self._do("Mul", latent, mask)
        samples = self._vocoder(latent, speaker)
        self._nodes.append(helper.make_node("Unsqueeze", [samples, self._whole(1)], ["output"]))
        output = helper.make_tensor_value_info("output", TensorProto.FLOAT, None)
        graph = helper.make_graph(self._nodes, "voice", inputs, [output], self._weights)
        opset = helper.make_opsetid("", shape.opset)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8)

    def _laid_out(self, encoded: str, length: str, unevenness: str) -> tuple[str, str]:
        """Each phoneme's column as often as it has frames, and a mask of as many."""
        told = self._conv(encoded, self._shape.channels, 1, 1)
        uneven = self._do("Mul", self._do("RandomNormalLike", told), unevenness)
        wide = self._do("Mul", self._do("Exp", self._do("Add", told, uneven)), length)
        durations = self._do("Ceil", wide)
        ends = self._do("Squeeze", self._do("CumSum", durations, self._whole(2)), self._whole(0, 1))
        count = self._do("ReduceMax", ends, keepdims=0)
        one, none = self._number(1.0), self._number(0.0)
        places = self._do("Range", none, count, one)
        column = self._do("Unsqueeze", places, self._whole(1))
        passed = self._do("Cast", self._do("GreaterOrEqual", column, ends), to=TensorProto.INT64)
        owner = self._do("ReduceSum", passed, self._whole(1), keepdims=0)
        inside = self._do("Cast", self._do("Less", places, count), to=TensorProto.FLOAT)
        mask = self._do("Unsqueeze", inside, self._whole(0, 1))
        return self._do("Gather", encoded, owner, axis=2), mask

    def _flow(self, whole: str, mask: str, speaker: str) -> str:
        half = self._shape.channels // 2
        first, second = self._made(f"half{self._count}a"), self._made(f"half{self._count}b")
        self._nodes.append(helper.make_node("Split", [whole], [first, second], axis=1))
        hidden = self._do("Mul", self._conv(first, half, half, 1), mask)
        shape = self._do("Shape", hidden)
        skipped = self._do("ConstantOfShape", shape)
        for dilation in (1, 2):
            both = self._conv(hidden, half, 2 * half, 5, dilation)
            if speaker:
                told = self._conv(speaker, self._shape.channels, 4 * half, 1)
                both = self._do("Add", both, self._channels(told, 0, 2 * half))
            gate = self._do("Sigmoid", self._channels(both, half, 2 * half))
            gated = self._do("Mul", self._do("Tanh", self._channels(both, 0, half)), gate)
            skipped = self._do("Add", skipped, gated)
            hidden = self._do("Mul", self._do("Add", hidden, gated), mask)
        moved = self._do("Mul", self._conv(skipped, half, half, 1), mask)
        joined = self._do("Concat", first, self._do("Sub", second, moved), axis=1)
        return self._do(
            "Slice",
            joined,
            self._whole(-1),
            self._whole(-(1 << 40)),
            self._whole(1),
            self._whole(-1),
        )

    def _vocoder(self, latent: str, speaker: str) -> str:
        size = self._shape.channels
        now = self._conv(latent, size, size, 7, normed=self._shape.weight_norm)
        if speaker:
            now = self._do("Add", now, self._conv(speaker, size, size, 1))
        for factor, kernel in self._shape.upsamplings:
            now = self._do("LeakyRelu", now, alpha=0.1)
            weight = self._drawn(size, size, kernel)
            pad = (kernel - factor) // 2
            now = self._do(
                "ConvTranspose",
                now,
                weight,
                kernel_shape=[kernel],
                pads=[pad, pad],
                strides=[factor],
            )
            for dilation in (1, 3):
                bent = self._do("LeakyRelu", now, alpha=0.1)
                now = self._do("Add", now, self._conv(bent, size, size, 3, dilation))
        return self._do("Tanh", self._conv(now, size, 1, 7))

    def _conv(
        self,
        data: str,
        taken: int,
        given: int,
        kernel: int,
        dilation: int = 1,
        *,
        normed: bool = False,
    ) -> str:
        pad = (kernel - 1) // 2 * dilation
        weight = self._drawn(given, taken, kernel)
        if normed:
            size = self._do("ReduceL2", weight, axes=[1, 2])
            weight = self._do("Div", weight, size)
        return self._do(
            "Conv", data, weight, kernel_shape=[kernel], pads=[pad, pad], dilations=[dilation]
        )

    def _channels(self, data: str, first: int, beyond: int) -> str:
        return self._do("Slice", data, self._whole(first), self._whole(beyond), self._whole(1))

    def _do(self, kind: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 (as onnx has it)
        output = self._made(f"{kind}{self._count}")
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _made(self, name: str) -> str:
        self._count += 1
        return name

    def _drawn(self, *dimensions: int) -> str:
        size = np.prod(dimensions[1:]) ** -0.5
        return self._weight(self._chance.standard_normal(dimensions) * size, np.float32)

    def _whole(self, *values: int) -> str:
        return self._weight(np.array(values), np.int64)

    def _number(self, value: float) -> str:
        return self._weight(np.array(value), np.float32)

    def _weight(self, values: Array, kind: type) -> str:
        name = self._made(f"w{self._count}")
        self._weights.append(numpy_helper.from_array(values.astype(kind), name))
        return name

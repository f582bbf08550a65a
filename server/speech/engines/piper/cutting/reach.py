"""Finds from how far away samples take part in a sample: the context that a window needs. Pure.

    made          ├──── window ────┤
    read     ├─ ─ ┼────────────────┼ ─ ─┤       each convolution reads a little more on both sides

It walks from the end of a part to its beginning. What it does not know is Unsplittable: a window
is either exact, or there is none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import onnx

from sayso.server.speech.engines.piper.cutting.graph import (
    SHIFTING,
    Graph,
    text,
    whole_number,
    whole_numbers,
)
from sayso.server.speech.engines.piper.plan import Unsplittable

POINTWISE: Final = frozenset(
    {
        *("Abs", "Add", "Cast", "Clip", "Div", "Elu", "Erf", "Exp", "Identity", "LeakyRelu"),
        *("Log", "Mul", "Neg", "Pow", "Relu", "Sigmoid", "Sin", "Softplus", "Sqrt", "Sub", "Tanh"),
    }
)
"""A sample of these depends on the same sample of what they read, and on no other."""

CHANNELS: Final = 1
"""The axis that may be cut, joined and turned; time is the last one of three."""

PROBE_FRAMES: Final = 64
"""The window for which it is worked out; the context is the same for any."""

Interval = tuple[int, int]
"""First and last sample, at the tensor's own rate; the window begins at 0."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a window needs beside itself, in samples of the tensor."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Reach:
    """Of one part."""

    rates: Mapping[str, int]
    """Samples of each tensor for one frame of the part's input."""
    contexts: Mapping[str, Context]
    """Of each tensor on the way that the window needs."""


def reach(graph: Graph, part: Iterable[int], start: str, end: str) -> Reach:
    """How far it reaches from `start` to `end` through the nodes of a part."""
    nodes = sorted(part)
    rates = _rates(graph, nodes, start)
    if end not in rates:
        raise Unsplittable(f"no way leads to {end}")
    needed: dict[str, Interval] = {end: (0, PROBE_FRAMES * rates[end] - 1)}
    for number in reversed(nodes):
        node = graph.nodes[number]
        wanted = [needed[name] for name in node.output if name in needed]
        if not wanted:
            continue
        spans = min(low for low, _ in wanted), max(high for _, high in wanted)
        if node.op_type == "ConstantOfShape":  # of a shape, which has no samples
            continue
        low, high = _read_by(node, spans)
        for name in _data(graph, node):
            if name in rates:
                before = needed.get(name, (low, high))
                needed[name] = min(before[0], low), max(before[1], high)
    contexts = {
        name: Context(-low, high - (PROBE_FRAMES * rates[name] - 1))
        for name, (low, high) in needed.items()
    }
    return Reach(rates, contexts)


def _rates(graph: Graph, nodes: Iterable[int], start: str) -> dict[str, int]:
    """Of all tensors that have samples."""
    rates = {start: 1}
    for number in nodes:
        node = graph.nodes[number]
        known = {rates[name] for name in _data(graph, node) if name in rates}
        if not known or node.op_type == "Shape":
            if node.op_type == "ConstantOfShape" and (shape := _shaped_like(graph, node)) in rates:
                rates[node.output[0]] = rates[shape]
            continue
        if len(known) > 1:
            raise Unsplittable(f"{node.op_type} joins two rates")
        _examine(graph, node)
        step = whole_numbers(node, "strides", [1])[0] if node.op_type == "ConvTranspose" else 1
        rates |= dict.fromkeys(node.output, known.pop() * step)
    return rates


def _data(graph: Graph, node: onnx.NodeProto) -> list[str]:
    """What a node reads that may have samples."""
    first_alone = {"Conv", "ConvTranspose", "Slice", "Split", *SHIFTING}
    names = node.input[:1] if node.op_type in first_alone else node.input
    for name in node.input:
        if node.op_type in first_alone and name not in names and not graph.is_constant(name):
            raise Unsplittable(f"the settings of a {node.op_type} depend on what is said")
    return [name for name in names if name and not graph.is_constant(name)]


def _shaped_like(graph: Graph, node: onnx.NodeProto) -> str:
    maker = graph.maker.get(node.input[0])
    if maker is None or graph.nodes[maker].op_type != "Shape":
        return ""
    return str(graph.nodes[maker].input[0])


def _examine(graph: Graph, node: onnx.NodeProto) -> None:
    """Raise Unsplittable unless it treats all samples alike."""
    kind = node.op_type
    if kind in POINTWISE:
        return
    if kind in ("Conv", "ConvTranspose"):
        _examine_convolution(node)
    elif kind in ("Concat", "Split"):
        if whole_number(node, "axis", 0) != CHANNELS:
            raise Unsplittable(f"{kind} along time")
    elif kind == "Slice":
        axes = "".join(node.input[3:4])
        if not axes or graph.value(axes).tolist() != [CHANNELS]:
            raise Unsplittable("Slice along time")
    else:
        raise Unsplittable(f"{kind} is not known to treat all samples alike")


def _examine_convolution(node: onnx.NodeProto) -> None:
    """It must give as many samples as it reads, or a whole multiple."""
    kernel, pads = _kernel(node), whole_numbers(node, "pads", [0, 0])
    stride = whole_numbers(node, "strides", [1])[0]
    if text(node, "auto_pad", "NOTSET") != "NOTSET":
        raise Unsplittable(f"{node.op_type} over more than time")
    if node.op_type == "Conv":
        if stride != 1 or sum(pads) != kernel - 1:
            raise Unsplittable("Conv that does not keep the length")
        return
    beyond = whole_numbers(node, "output_padding", [0])[0]
    if kernel + beyond - sum(pads) != stride or whole_numbers(node, "output_shape", []):
        raise Unsplittable("ConvTranspose that does not multiply the length")


def _kernel(node: onnx.NodeProto) -> int:
    """How many samples it spans."""
    size = whole_numbers(node, "kernel_shape", [])
    if len(size) != 1:
        raise Unsplittable(f"{node.op_type} over more than time")
    return (size[0] - 1) * whole_numbers(node, "dilations", [1])[0] + 1


def _read_by(node: onnx.NodeProto, made: Interval) -> Interval:
    """What it reads to make these samples."""
    low, high = made
    if node.op_type == "Conv":
        before = whole_numbers(node, "pads", [0, 0])[0]
        return low - before, high - before + _kernel(node) - 1
    if node.op_type == "ConvTranspose":
        before = whole_numbers(node, "pads", [0, 0])[0]
        stride = whole_numbers(node, "strides", [1])[0]
        return -(-(low + before - _kernel(node) + 1) // stride), (high + before) // stride
    return made

"""Makes three models out of one: text, flow, vocoder. The sums in them are those of the stock file.

Two things are added. Before each upsampling but the first the vocoder drops the context that is no
longer needed, since most of the work is there. And convolutions over time are written as those over
images of height one, for which onnxruntime has faster kernels.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

from sayso.server.speech.engines.piper.cutting.boundaries import Boundaries, Part, find
from sayso.server.speech.engines.piper.cutting.graph import Graph, reads, text
from sayso.server.speech.engines.piper.cutting.reach import Context, Reach, reach
from sayso.server.speech.engines.piper.plan import Plan, Trim, Unsplittable

OLDEST_OPSET: Final = 13
"""From which on a change of shape is told by an input; piper's export writes 15."""

TIME: Final = 2
"""The axis of time."""

HEIGHT: Final = "sayso/height"
AXIS: Final = "sayso/time"
"""Names of constants that are added."""

NodeList = list[onnx.NodeProto]


@dataclass(frozen=True, slots=True)
class CutVoice:
    """The three models, and how to run them."""

    text: onnx.ModelProto
    flow: onnx.ModelProto
    vocoder: onnx.ModelProto
    plan: Plan


def cut(model: onnx.ModelProto) -> CutVoice:
    """Cut a stock voice. Raises Unsplittable. The model is used up."""
    opset = next((each.version for each in model.opset_import if not each.domain), 0)
    if opset < OLDEST_OPSET:
        raise Unsplittable(f"it is written for operators of version {opset}")
    graph = Graph(model)
    places = find(graph)
    flow = reach(graph, places.flow.nodes, places.z, places.latent)
    vocoder = reach(graph, places.vocoder.nodes, places.latent, places.samples)
    if flow.rates[places.latent] != 1:
        raise Unsplittable("the flow makes another number of frames than it reads")
    flow_reads = (places.z, *places.flow.masks, *places.flow.sides)
    vocoder_reads = (places.latent, *places.vocoder.sides)
    shaped = _Maker(model, graph)
    vocoder_nodes, trims = _trimmed(graph, places.vocoder, vocoder)
    return CutVoice(
        shaped.make(shaped.nodes(graph.above(places.of_text)), graph.inputs, places.of_text),
        shaped.make(shaped.nodes(places.flow.nodes), flow_reads, [places.latent]),
        shaped.make(vocoder_nodes, vocoder_reads, [places.samples], trims),
        _plan(places, flow, vocoder, trims),
    )


def _plan(places: Boundaries, flow: Reach, vocoder: Reach, trims: Sequence[Trim]) -> Plan:
    def context(found: Reach, name: str) -> Context:
        """Of the whole input; a window at the very end needs no less."""
        own = found.contexts[name]
        return Context(max(0, own.before), max(0, own.after))

    return Plan(
        z=places.z,
        latent=places.latent,
        samples=places.samples,
        durations=places.durations,
        masks=places.flow.masks,
        flow_sides=places.flow.sides,
        vocoder_sides=places.vocoder.sides,
        hop=vocoder.rates[places.samples],
        flow_before=context(flow, places.z).before,
        flow_after=context(flow, places.z).after,
        vocoder_before=context(vocoder, places.latent).before,
        vocoder_after=context(vocoder, places.latent).after,
        trims=tuple(trims),
    )


def _trimmed(graph: Graph, part: Part, found: Reach) -> tuple[NodeList, list[Trim]]:
    """The vocoder's nodes, with what drops context before each upsampling but the first."""
    nodes: NodeList = []
    trims: list[Trim] = []
    for number in sorted(part.nodes):
        node = onnx.NodeProto()
        node.CopyFrom(graph.nodes[number])
        data = node.input[0] if node.input else ""
        if node.op_type == "ConvTranspose" and found.rates.get(data, 1) > 1:
            context = found.contexts[data]
            trim = Trim(len(trims), found.rates[data], context.before, context.after)
            trims.append(trim)
            kept = f"{data}/kept"
            nodes.append(helper.make_node("Slice", [data, trim.first, trim.beyond, AXIS], [kept]))
            node.input[0] = kept
        nodes.append(node)
    return nodes, trims


class _Maker:
    """Makes models of nodes of one."""

    def __init__(self, model: onnx.ModelProto, graph: Graph) -> None:
        self._model = model
        self._graph = graph
        added = {AXIS: np.array([TIME], np.int64), HEIGHT: np.array([TIME], np.int64)}
        self._weights = graph.weights | {
            name: numpy_helper.from_array(value, name) for name, value in added.items()
        }

    def nodes(self, numbers: Iterable[int]) -> NodeList:
        return [self._graph.nodes[number] for number in sorted(numbers)]

    def make(
        self,
        nodes: NodeList,
        inputs: Sequence[str],
        outputs: Sequence[str],
        trims: Sequence[Trim] = (),
    ) -> onnx.ModelProto:
        """A model that reads these inputs and gives these outputs."""
        own = {name for node in nodes for name in node.output}
        wanted = [name for node in nodes for name in reads(node) if name not in own]
        constants = self._graph.above(wanted, until=inputs)
        constants = {n for n in constants if self._graph.is_constant(self._made_by(n))}
        all_nodes = self.nodes(constants) + nodes if constants else nodes
        all_nodes = [each for node in all_nodes for each in self._as_image(node)]
        used = {name for node in all_nodes for name in reads(node)}
        typed = {each.name: each for each in self._model.graph.input}
        given = [typed.get(name) or _numbers(name) for name in inputs]
        bounds = [name for trim in trims for name in (trim.first, trim.beyond)]
        given += [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [1]) for name in bounds
        ]
        weights = [weight for name, weight in self._weights.items() if name in used]
        made = helper.make_graph(
            all_nodes, "part", given, [_numbers(name) for name in outputs], weights
        )
        return helper.make_model(
            made,
            opset_imports=list(self._model.opset_import),
            ir_version=self._model.ir_version,
        )

    def _made_by(self, number: int) -> str:
        return str(self._graph.nodes[number].output[0])

    def _as_image(self, node: onnx.NodeProto) -> NodeList:
        """A convolution over time as one over an image of height one; anything else as it is."""
        size = next((list(each.ints) for each in node.attribute if each.name == "kernel_shape"), [])
        if node.op_type != "Conv" or len(size) != 1 or text(node, "auto_pad", "NOTSET") != "NOTSET":
            return [node]
        data, weight, name = node.input[0], node.input[1], node.output[0]
        image = onnx.NodeProto()
        image.CopyFrom(node)
        image.input[0], image.input[1] = f"{name}/data", f"{weight}/image"
        image.output[0] = f"{name}/image"
        for attribute in image.attribute:
            numbers = list(attribute.ints)
            if attribute.name == "pads":
                attribute.ints[:] = [0, numbers[0], 0, numbers[1]]
            elif attribute.name in ("kernel_shape", "strides", "dilations"):
                attribute.ints[:] = [1, numbers[0]]
        before = [helper.make_node("Unsqueeze", [data, HEIGHT], [image.input[0]])]
        if weight in self._graph.weights:
            self._weights.setdefault(image.input[1], self._widened(weight, image.input[1]))
        else:
            image.input[1] = f"{name}/weight"
            before.append(helper.make_node("Unsqueeze", [weight, HEIGHT], [image.input[1]]))
        after = helper.make_node("Squeeze", [image.output[0], HEIGHT], [name])
        return [*before, image, after]

    def _widened(self, weight: str, name: str) -> onnx.TensorProto:
        """The same numbers with an axis of height."""
        wide = onnx.TensorProto()
        wide.CopyFrom(self._graph.weights[weight])
        wide.name = name
        wide.dims[:] = [*wide.dims[:TIME], 1, *wide.dims[TIME:]]
        return wide


def _numbers(name: str) -> onnx.ValueInfoProto:
    """Of any shape: onnxruntime works it out."""
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)

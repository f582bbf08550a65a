"""Finds where to cut a voice: text ─► z │ flow ─► latent │ vocoder ─► samples. Pure.

No name in the model is relied on but those of its inputs: the places are told by what is computed
there. All that is drawn by chance lies in the first part, so the other two are deterministic.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sayso.server.speech.engines.piper.cutting.graph import SHIFTING, Graph
from sayso.server.speech.engines.piper.cutting.reach import POINTWISE
from sayso.server.speech.engines.piper.plan import Unsplittable

TEXT: Final = "input"
"""The model's input of phonemes."""


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes of the model that are computed together."""

    nodes: frozenset[int]
    sides: tuple[str, ...]
    """What it reads that the text part makes and that has no time: the speaker."""
    masks: tuple[str, ...] = ()
    """What it reads that the text part makes and that has one sample for each frame."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where a voice is cut. The values are names of tensors."""

    z: str
    latent: str
    samples: str
    durations: str
    """Frames of each phoneme."""
    flow: Part
    vocoder: Part

    @property
    def of_text(self) -> tuple[str, ...]:
        """What the text part makes."""
        others = (*self.flow.masks, *self.flow.sides, *self.vocoder.sides)
        return (self.z, self.durations, *dict.fromkeys(others))


def find(graph: Graph) -> Boundaries:
    """The places in this model. Raises Unsplittable."""
    if TEXT not in graph.inputs:
        raise Unsplittable("it takes no phonemes")
    samples = _without_shifts(graph, graph.output)
    latent = _latent(graph, graph.above([samples]))
    vocoder = _part(graph, latent, samples)
    if vocoder.masks:
        raise Unsplittable("the vocoder reads more of the text than its latent")
    z = _noise(graph, latent)
    flow = _part(graph, z, latent)
    ceils = [number for number in graph.above([z]) if graph.nodes[number].op_type == "Ceil"]
    if len(ceils) != 1:
        raise Unsplittable(f"{len(ceils)} places may tell how long phonemes last")
    return Boundaries(z, latent, samples, graph.nodes[ceils[0]].output[0], flow, vocoder)


def _without_shifts(graph: Graph, name: str) -> str:
    """The tensor before its last changes of shape."""
    while (number := graph.maker.get(name)) is not None:
        if graph.nodes[number].op_type not in SHIFTING:
            return name
        name = graph.nodes[number].input[0]
    return name


def _latent(graph: Graph, needed: Iterable[int]) -> str:
    """What the vocoder reads: the data of the convolution before the first upsampling."""
    upsamplings = [n for n in sorted(needed) if graph.nodes[n].op_type == "ConvTranspose"]
    if not upsamplings:
        raise Unsplittable("nothing in it makes samples of frames")
    waiting = [graph.nodes[upsamplings[0]].input[0]]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        number = graph.maker.get(name)
        if number is None or TEXT not in graph.sources[name]:
            continue  # a constant, or the speaker alone
        node = graph.nodes[number]
        if node.op_type == "Conv":
            found.add(node.input[0])
        elif node.op_type in POINTWISE:
            waiting += node.input
        else:
            raise Unsplittable(f"the vocoder begins with a {node.op_type}")
    if len(found) != 1:
        raise Unsplittable(f"the vocoder begins at {len(found)} places")
    return found.pop()


def _noise(graph: Graph, latent: str) -> str:
    """What the flow reads: the sum below the noise that does not draw the durations."""
    needed = graph.above([latent])
    drawn = []
    for number in sorted(needed):
        node = graph.nodes[number]
        if node.op_type.startswith("Random"):
            after = graph.below(node.output[0]) & needed
            if not any(graph.nodes[each].op_type == "Ceil" for each in after):
                drawn.append((node.output[0], after))
    if len(drawn) != 1:
        raise Unsplittable(f"noise comes in at {len(drawn)} places")
    _, after = drawn[0]
    for number in sorted(after):
        if graph.nodes[number].op_type == "Add":
            return str(graph.nodes[number].output[0])
    raise Unsplittable("noise is added to nothing")


def _part(graph: Graph, start: str, end: str) -> Part:
    """The nodes between two tensors."""
    nodes = graph.below(start) & graph.above([end], until=[start])
    if not nodes:
        raise Unsplittable(f"no way leads from {start} to {end}")
    made = {name for number in nodes for name in graph.nodes[number].output} | {start}
    sides: dict[str, None] = {}
    masks: dict[str, None] = {}
    for number in sorted(nodes):
        for name in graph.nodes[number].input:
            if name and name not in made and not graph.is_constant(name):
                (masks if TEXT in graph.sources[name] else sides)[name] = None
    return Part(frozenset(nodes), tuple(sides), tuple(masks))

"""Indexes the graph of a model: who makes a tensor, who reads it, on what it depends. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from sayso.server.speech.engines.piper.plan import Unsplittable

RANDOM: Final = "random"
"""The source of what is drawn by chance, beside the inputs by their names."""

SHIFTING: Final = frozenset({"Unsqueeze", "Squeeze", "Identity"})
"""Give the same numbers in another shape."""


class Graph:
    """Nodes are told by their place in the model's list, which is in the order of computing."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.nodes = list(model.graph.node)
        self.weights = {weight.name: weight for weight in model.graph.initializer}
        self.inputs = [each.name for each in model.graph.input if each.name not in self.weights]
        self.output = model.graph.output[0].name
        self.maker: dict[str, int] = {}
        self.readers: dict[str, list[int]] = defaultdict(list)
        self.sources: dict[str, frozenset[str]] = {
            **{name: frozenset() for name in self.weights},
            **{name: frozenset({name}) for name in self.inputs},
        }
        """Of each tensor: the inputs, and chance, that it depends on; a constant has none."""
        for number, node in enumerate(self.nodes):
            own = {RANDOM} if node.op_type.startswith("Random") else set()
            for name in reads(node):
                own |= self.sources.get(name, frozenset())
                self.readers[name].append(number)
            for name in node.output:
                self.maker[name] = number
                self.sources[name] = frozenset(own)

    def is_constant(self, name: str) -> bool:
        """Is it the same whatever is said?"""
        return not self.sources.get(name, frozenset())

    def above(self, names: Iterable[str], *, until: Iterable[str] = ()) -> set[int]:
        """The nodes that are needed to make these tensors, if those of `until` are given."""
        found: set[int] = set()
        known = set(until)
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            number = self.maker.get(name)
            if name in known or number is None or number in found:
                continue
            found.add(number)
            waiting += reads(self.nodes[number])
        return found

    def below(self, name: str) -> set[int]:
        """The nodes that depend on this tensor."""
        found: set[int] = set()
        waiting = list(self.readers.get(name, ()))
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                for output in self.nodes[number].output:
                    waiting += self.readers.get(output, ())
        return found

    def value(self, name: str) -> NDArray[np.generic]:
        """What a constant holds that is written down in the model."""
        if name in self.weights:
            return np.asarray(numpy_helper.to_array(self.weights[name]))
        number = self.maker.get(name)
        if number is not None and self.nodes[number].op_type == "Constant":
            return np.asarray(numpy_helper.to_array(self.nodes[number].attribute[0].t))
        raise Unsplittable(f"{name} is worked out, where a number was expected")


def reads(node: onnx.NodeProto) -> list[str]:
    """The tensors that a node reads, those of the graphs within it too."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            inner = attribute.g
            made = {name for each in inner.node for name in each.output}
            made |= {weight.name for weight in inner.initializer}
            made |= {each.name for each in inner.input}
            outer = {name for each in inner.node for name in reads(each)}
            names += sorted((outer | {each.name for each in inner.output}) - made)
    return names


def whole_numbers(node: onnx.NodeProto, name: str, usual: list[int]) -> list[int]:
    """An attribute that is a list of whole numbers."""
    for attribute in node.attribute:
        if attribute.name == name:
            return list(attribute.ints)
    return usual


def whole_number(node: onnx.NodeProto, name: str, usual: int) -> int:
    """An attribute that is a whole number."""
    for attribute in node.attribute:
        if attribute.name == name:
            return int(attribute.i)
    return usual


def text(node: onnx.NodeProto, name: str, usual: str) -> str:
    """An attribute that is a text."""
    for attribute in node.attribute:
        if attribute.name == name:
            return bytes(attribute.s).decode()
    return usual

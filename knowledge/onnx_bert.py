"""bert_graph, pair_graph: a BERT encoder with mean pooling, or with heads on pairs, as ONNX, straight from weights.

The operators are plain ones on purpose: on a CPU, ONNX Runtime 1.31 runs separate Add and LayerNormalization, and
attention spelt out, 10 % faster than its own fused SkipLayerNormalization and MultiHeadAttention.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .onnx_writing import MICROSOFT, Array, OnnxGraph

Precision = Literal["fp32", "int8"]


@dataclass(frozen=True, slots=True)
class BertShape:
    """The sizes that the weights alone do not tell."""

    layers: int
    heads: int
    epsilon: float


def bert_graph(weights: Mapping[str, Array], shape: BertShape, precision: Precision) -> OnnxGraph:
    """Build the graph.

    Inputs, for b texts padded to t tokens: ``tokens`` int32 (b, t); ``places`` int32 (t,), 0 to t-1; ``mask`` float32
    (b, 1, 1, t), 0 for a token and very negative for padding; ``shares`` float32 (b, 1, t), one part in the length for
    a token and 0 for padding. Output: ``means`` float32 (b, 1, d), not normalised.
    """
    return _Bert(weights, shape, precision).build()


def pair_graph(weights: Mapping[str, Array], shape: BertShape) -> OnnxGraph:
    """Build the graph of an encoder of pairs, whose tokens are of more kinds than two segments.

    Inputs as for ``bert_graph``, and ``kinds`` int32 (b, t), rows of ``embeddings.kinds.weight``. Output: ``logits``
    float32 (b, 1, k), from the first token's vector and the mean, by ``heads.weight`` (k, 2 d) and ``heads.bias``.
    """
    return _PairBert(weights, shape, "fp32").build()


class _Bert:
    def __init__(self, weights: Mapping[str, Array], shape: BertShape, precision: Precision) -> None:
        self.graph = OnnxGraph()
        self.weights = weights
        self.shape = shape
        self.precision = precision
        self.width = weights["embeddings.word_embeddings.weight"].shape[1]

    def build(self) -> OnnxGraph:
        means = self._means(self._encoded())
        self.graph.output(means, "float32", ["b", 1, self.width])
        return self.graph

    def _encoded(self) -> str:
        graph = self.graph
        graph.input("tokens", "int32", ["b", "t"])
        graph.input("places", "int32", ["t"])
        graph.input("mask", "float32", ["b", 1, 1, "t"])
        graph.input("shares", "float32", ["b", 1, "t"])
        head = self.width // self.shape.heads
        graph.constant("to_heads", np.array([0, 0, self.shape.heads, head], np.int64))
        graph.constant("from_heads", np.array([0, 0, self.width], np.int64))
        value = self._embeddings()
        for layer in range(self.shape.layers):
            value = self._layer(f"encoder.layer.{layer}.", value)
        return value

    def _means(self, value: str) -> str:
        return self.graph.add("MatMul", ["shares", value], "means")

    def _embeddings(self) -> str:
        graph, weights = self.graph, self.weights
        words = graph.constant("words", weights["embeddings.word_embeddings.weight"])
        # Every text is of segment 0, so its vector is added to the positions once and for all.
        first_segment = weights["embeddings.token_type_embeddings.weight"][0]
        positions = graph.constant("positions", weights["embeddings.position_embeddings.weight"] + first_segment)
        total = graph.add(
            "Add",
            [
                graph.add("Gather", [words, "tokens"], "word_vectors"),
                graph.add("Gather", [positions, "places"], "position_vectors"),
            ],
            "embedded",
        )
        return self._normalised("embeddings.LayerNorm", total)

    def _layer(self, name: str, value: str) -> str:
        graph = self.graph
        attended = self._linear(name + "attention.output.dense", self._attention(name, value))
        attended = graph.add("Add", [attended, value], name + "attended")
        attended = self._normalised(name + "attention.output.LayerNorm", attended)
        wide = self._product(name + "intermediate.dense", attended)
        bias = graph.constant(name + "wide.bias", self.weights[name + "intermediate.dense.bias"])
        wide = graph.add("BiasGelu", [wide, bias], name + "gelu", MICROSOFT)
        narrow = self._linear(name + "output.dense", wide)
        narrow = graph.add("Add", [narrow, attended], name + "narrow")
        return self._normalised(name + "output.LayerNorm", narrow)

    def _attention(self, name: str, value: str) -> str:
        graph = self.graph
        scale = float(self.width // self.shape.heads) ** -0.5
        query = self._heads(name + "attention.self.query", value, [0, 2, 1, 3], scale)
        key = self._heads(name + "attention.self.key", value, [0, 2, 3, 1])
        content = self._heads(name + "attention.self.value", value, [0, 2, 1, 3])
        weight = graph.add("Add", [graph.add("MatMul", [query, key], name + "dots"), "mask"], name + "masked")
        weight = graph.add("Softmax", [weight], name + "softmax", axis=-1)
        mixed = graph.add("MatMul", [weight, content], name + "mixed")
        mixed = graph.add("Transpose", [mixed], name + "gathered", perm=[0, 2, 1, 3])
        return graph.add("Reshape", [mixed, "from_heads"], name + "context")

    def _heads(self, name: str, value: str, order: list[int], scale: float = 1.0) -> str:
        split = self.graph.add("Reshape", [self._linear(name, value, scale), "to_heads"], name + ".split")
        return self.graph.add("Transpose", [split], name + ".heads", perm=order)

    def _linear(self, name: str, value: str, scale: float = 1.0) -> str:
        bias = self.graph.constant(name + ".b", self.weights[name + ".bias"] * np.float32(scale))
        return self.graph.add("Add", [self._product(name, value, scale), bias], name + ".sum")

    def _product(self, name: str, value: str, scale: float = 1.0) -> str:
        graph = self.graph
        matrix = self.weights[name + ".weight"].T
        matrix = matrix if scale == 1.0 else matrix * np.float32(scale)
        if self.precision == "fp32":
            return graph.add("MatMul", [value, graph.constant(name + ".w", matrix)], name + ".product")
        # One scale for each output channel, symmetric; what comes in is scaled at run time.
        scales = np.maximum(np.abs(matrix).max(axis=0), np.finfo(np.float32).tiny) / np.float32(127)
        rounded = np.rint(matrix / scales).astype(np.int8)
        inputs = [value, graph.constant(name + ".w", rounded), graph.constant(name + ".s", scales)]
        return graph.add("DynamicQuantizeMatMul", inputs, name + ".product", MICROSOFT)

    def _normalised(self, name: str, value: str) -> str:
        gain = self.graph.constant(name + ".gain", self.weights[name + ".weight"])
        shift = self.graph.constant(name + ".shift", self.weights[name + ".bias"])
        return self.graph.add("LayerNormalization", [value, gain, shift], name, axis=-1, epsilon=self.shape.epsilon)


class _PairBert(_Bert):
    def build(self) -> OnnxGraph:
        graph, weights = self.graph, self.weights
        graph.input("kinds", "int32", ["b", "t"])
        value = self._encoded()
        first = graph.add("Gather", [value, graph.constant("first", np.array([0], np.int64))], "first_vector", axis=1)
        both = graph.add("Concat", [first, self._means(value)], "both", axis=2)
        product = graph.add("MatMul", [both, graph.constant("heads.w", weights["heads.weight"].T)], "heads.product")
        logits = graph.add("Add", [product, graph.constant("heads.b", weights["heads.bias"])], "logits")
        graph.output(logits, "float32", ["b", 1, len(weights["heads.bias"])])
        return graph

    def _embeddings(self) -> str:
        graph, weights = self.graph, self.weights
        gathered = [
            graph.add("Gather", [graph.constant(table, weights[f"embeddings.{name}.weight"]), rows], table + ".rows")
            for table, name, rows in (
                ("words", "word_embeddings", "tokens"),
                ("positions", "position_embeddings", "places"),
                ("kind_vectors", "kinds", "kinds"),
            )
        ]
        placed = graph.add("Add", [gathered[0], gathered[1]], "placed")
        return self._normalised("embeddings.LayerNorm", graph.add("Add", [placed, gathered[2]], "embedded"))

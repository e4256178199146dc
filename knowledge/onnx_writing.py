"""OnnxGraph: writes an ONNX model as bytes, so that no exporter and no onnx package is needed.

An ONNX file is a protocol buffer; the field numbers below are those of ``onnx.proto3`` (ONNX 1.x, IR version 8).
"""

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Attribute = int | float | Sequence[int]
MICROSOFT = "com.microsoft"  # the operators that ONNX Runtime adds

_ELEMENT_TYPES = {"float32": 1, "int8": 3, "int32": 6, "int64": 7}
_OPSET, _MICROSOFT_OPSET, _IR_VERSION = 17, 1, 8
_INLINE_BYTES = 4096  # small constants stand in the model itself, so that ONNX Runtime can fold them


class OnnxGraph:
    """A graph under construction: operators in the order they run, and the arrays they use.

    Attributes:
        arrays: name -> large constant, to be handed to the session beside the model bytes.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._ports: list[bytes] = []

    def constant(self, name: str, array: Array) -> str:
        """Give an array a name in the graph; returns the name."""
        array = np.ascontiguousarray(array)
        if array.nbytes >= _INLINE_BYTES:
            self.arrays[name] = array
        self._constants.append(_tensor(name, array))
        return name

    def add(self, operator: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Attribute) -> str:
        """Append an operator with one output; returns the output's name."""
        parts = [_text(1, name) for name in inputs]
        parts += [_text(2, output), _text(4, operator)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(b"".join([*parts, _text(7, domain)]))
        return output

    def input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        """Declare an input; a string in the shape is a size that varies."""
        self._ports.append(_bytes(11, _port(name, dtype, shape)))
        return name

    def output(self, name: str, dtype: str, shape: Sequence[int | str]) -> None:
        """Declare which value the session returns."""
        self._ports.append(_bytes(12, _port(name, dtype, shape)))

    def model(self) -> bytes:
        """The whole model; its large constants are ``arrays``."""
        nodes = b"".join(_bytes(1, node) for node in self._nodes)
        constants = b"".join(_bytes(5, tensor) for tensor in self._constants)
        graph = nodes + _text(2, "graph") + constants + b"".join(self._ports)
        opsets = _bytes(8, _text(1, "") + _number(2, _OPSET))
        opsets += _bytes(8, _text(1, MICROSOFT) + _number(2, _MICROSOFT_OPSET))
        return _number(1, _IR_VERSION) + opsets + _bytes(7, graph)


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # negative numbers are written as 64-bit two's complement
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + b"".join(_number(8, item) for item in value) + _number(20, 7)


def _tensor(name: str, array: Array) -> bytes:
    head = b"".join(_number(1, size) for size in array.shape)
    head += _number(2, _ELEMENT_TYPES[array.dtype.name]) + _text(8, name)
    if array.nbytes < _INLINE_BYTES:
        return head + _bytes(9, array.tobytes())
    # A place in a file is demanded by the format; the session is given the array itself instead.
    place = {"location": "arrays", "offset": "0", "length": str(array.nbytes)}
    return head + b"".join(_bytes(13, _text(1, k) + _text(2, v)) for k, v in place.items()) + _number(14, 1)


def _port(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    sizes = [_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape]
    tensor = _number(1, _ELEMENT_TYPES[dtype]) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))

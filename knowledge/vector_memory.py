"""VectorMemory: the vectors used last, up to a number of bytes."""

from collections import OrderedDict

_ENTRY_OVERHEAD = 250  # bytes of Python objects around one kept vector


class VectorMemory:
    """Least recently used first out. Not for several threads at once: who owns it guards it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, key: bytes) -> bytes | None:
        """What is kept under the key, which counts as a use."""
        packed = self._kept.get(key)
        if packed is not None:
            self._kept.move_to_end(key)
        return packed

    def put(self, key: bytes, packed: bytes) -> None:
        """Keep it, and drop what was used longest ago where there is no room."""
        replaced = self._kept.pop(key, None)
        if replaced is not None:
            self._bytes -= len(replaced) + _ENTRY_OVERHEAD
        self._kept[key] = packed
        self._bytes += len(packed) + _ENTRY_OVERHEAD
        while self._bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped) + _ENTRY_OVERHEAD

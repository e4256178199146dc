"""What a metric may ask for beside the row: the protocols of the tools, each of one or two methods."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedded(Protocol):
    """Vectors of some texts, in their order."""

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Shape (n, dimensions), float32, rows of unit length."""
        ...

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Shape (n,): whether the text was longer than the model's window."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors; calls from all rows in flight are gathered into batches."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model, as it stands on the manifest and in details."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order. Raises ModelUnavailable when the model can't be loaded."""
        ...

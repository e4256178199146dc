"""Makes completeness.json: spread of points after scikit-learn's PCA, with distances by SciPy.

Run: python tests/golden/make_completeness.py (needs scikit-learn and scipy, and nothing of ours)
"""

import importlib.metadata
import json
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA


def spread(points: np.ndarray) -> float:
    """The definition of the specification, word for word."""
    distances = cdist(points, points)
    if len(points) < 3:
        return float(distances.max())
    first, second = np.unravel_index(distances.argmax(), distances.shape)
    seconds = [float(np.sort(distances[end])[::-1][1]) for end in (first, second)]
    return float(distances.max()) + sum(seconds)


def case(picker: np.random.Generator, source_count: int, summary_count: int, dimensions: int) -> dict[str, object]:
    source = picker.normal(size=(source_count, dimensions)) * np.linspace(3, 0.2, dimensions)
    summary = picker.normal(size=(summary_count, dimensions)) * np.linspace(3, 0.2, dimensions)
    components = min(max(2, min(5, source_count - 2)), source_count, dimensions)
    reducer = PCA(components, svd_solver="full").fit(source)
    small_source, small_summary = reducer.transform(source), reducer.transform(summary)
    values = {}
    for name, (inside, outside) in {"pca": (small_source, small_summary), "none": (source, summary)}.items():
        nearest = sorted(set(cdist(outside, inside, "sqeuclidean").argmin(axis=1).tolist()))
        values[name] = float(np.clip(spread(inside[nearest]) / spread(inside), 0, 1))
    return {"source": source.tolist(), "summary": summary.tolist(), "components": components, "values": values}


def main() -> None:
    picker = np.random.default_rng(20261121)
    shapes = [(2, 2, 4), (3, 2, 4), (4, 3, 6), (5, 2, 2), (6, 4, 8), (8, 3, 8), (12, 5, 6), (20, 9, 8), (30, 2, 3)]
    golden = {
        "library": "scikit-learn and scipy",
        "version": {name: importlib.metadata.version(name) for name in ("scikit-learn", "scipy")},
        "made_by": "tests/golden/make_completeness.py",
        "cases": [case(picker, *shape) for shape in shapes],
    }
    text = json.dumps(golden, indent=1)
    Path(__file__).with_name("completeness.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

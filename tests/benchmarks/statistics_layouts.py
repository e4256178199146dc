"""Layouts of questions over documents, and made-up scores of known mean, for the programs that measure statistics."""

import numpy as np

SEED = 20261122


def ten_a_document(questions: int) -> np.ndarray:
    return np.arange(questions) // 10


def uneven(questions: int) -> np.ndarray:
    """Documents of 1 to 25 questions."""
    chance, sizes = np.random.default_rng(3), []
    while sum(sizes) < questions:
        sizes.append(int(chance.integers(1, 26)))
    return np.repeat(np.arange(len(sizes)), sizes)[:questions]


def layouts() -> dict[str, np.ndarray]:
    made = {f"{n} alone": np.arange(n) for n in (12, 30, 100, 300)}
    made |= {f"{n}, ten a document": ten_a_document(n) for n in (20, 30, 50, 100, 300)}
    made |= {f"{n}, uneven": uneven(n) for n in (60, 100, 300)}
    made["the sample's 85"] = np.repeat(np.arange(15), [1, 2, 2, 3, 3, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11])
    made["100, half of one"] = np.maximum(np.arange(100) - 49, 0)
    return made


def scores(chance: np.random.Generator, samples: int, codes: np.ndarray, mean: float, alike: float, yes_no: bool):
    """Scores from 0 to 1, correlated by ``alike`` within a document: yes/no, or of a quarter of that variance."""
    part = 1.0 if yes_no else 0.25
    level = np.full((samples, codes.max() + 1), mean)
    if alike:
        beads = 1 / (alike * part) - 1
        level = np.clip(chance.beta(mean * beads, (1 - mean) * beads, level.shape), 1e-4, 1 - 1e-4)
    level = level[:, codes]
    if yes_no:
        return (chance.random(level.shape) < level) * 1.0
    beads = (1 - alike * part) / (part * (1 - alike)) - 1
    return chance.beta(level * beads, (1 - level) * beads)

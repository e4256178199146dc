"""Classification metrics: correct or not by row; accuracy, precision, recall and F1 over a run."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .declaration import metric
from .score import Measured, NotApplicable, Reason
from .text import normalise

_SOURCE: Final = "H2O evaluators page, Classification"
MOST_NAMED: Final = 20  # labels that a message lists


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """Counts by label (rows) and prediction (columns: the labels, then predictions that are no label, sorted)."""

    labels: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def confusion_matrix(confusion: Mapping[tuple[str, str], int]) -> ConfusionMatrix:
    """Lay out counts by (label, prediction) as a table of shape (labels, columns).

    >>> confusion_matrix({("ham", "ham"): 2, ("spam", "none"): 1})
    ConfusionMatrix(labels=('ham', 'spam'), columns=('ham', 'spam', 'none'), counts=((2, 0, 0), (0, 0, 1)))
    """
    labels = tuple(sorted({label for (label, _), count in confusion.items() if count}))
    unexpected = {prediction for (_, prediction), count in confusion.items() if count} - set(labels)
    columns = (*labels, *sorted(unexpected))
    counts = tuple(tuple(confusion.get((label, column), 0) for column in columns) for label in labels)
    return ConfusionMatrix(labels, columns, counts)


@metric(threshold=1.0, blank_answer="measure", source=f"{_SOURCE} (threshold: project default)")
def row_correct(answer: str, expected: str, *, raw_labels: bool = False) -> Measured:
    """1 if the answer is the expected label, else 0.

    Labels are compared in lower case and with white space collapsed, or exactly with the option ``raw_labels``. A blank
    answer is a wrong prediction. The answer must be the label and nothing else: a bot that wraps it in a sentence is
    always wrong.

    >>> row_correct(answer=" Spam ", expected_answer="spam")
    1.0
    """
    label, prediction = (expected, answer) if raw_labels else (normalise(expected), normalise(answer))
    return Measured(float(label == prediction), {"label": label, "prediction": prediction})


@metric(level="run", threshold=0.75, row_metrics=("row_correct",), source=_SOURCE)
def accuracy(confusion: Mapping[tuple[str, str], int]) -> float:
    """Share of the rows whose answer is the expected label.

    With imbalanced labels a bot that always answers the most frequent one scores well: look at ``f1`` as well.
    """
    counted = _Counted.of(confusion)
    return sum(counted.correct.values()) / sum(counted.expected.values())


@metric(level="run", threshold=0.75, row_metrics=("row_correct",), source=_SOURCE)
def precision(confusion: Mapping[tuple[str, str], int], *, positive_label: str | None = None) -> Measured:
    """Share of the rows predicted as a label that have it: the mean over the labels, or of ``positive_label`` alone.

    A label that is never predicted counts 0. The mean gives every label the same weight (macro average).
    """
    counted = _Counted.of(confusion)
    return _mean({label: counted.precision(label) for label in counted.expected}, positive_label)


@metric(level="run", threshold=0.75, row_metrics=("row_correct",), source=_SOURCE)
def recall(confusion: Mapping[tuple[str, str], int], *, positive_label: str | None = None) -> Measured:
    """Share of the rows of a label that are predicted as it: the mean over the labels, or of ``positive_label`` alone.

    The mean gives every label the same weight (macro average).
    """
    counted = _Counted.of(confusion)
    return _mean({label: counted.recall(label) for label in counted.expected}, positive_label)


@metric(level="run", threshold=0.75, row_metrics=("row_correct",), source=_SOURCE)
def f1(confusion: Mapping[tuple[str, str], int], *, positive_label: str | None = None) -> Measured:
    """Harmonic mean of precision and recall by label: the mean over the labels, or of ``positive_label`` alone.

    It is the mean of the labels' F1, which is not the F1 of the means of precision and recall.
    """
    counted = _Counted.of(confusion)
    return _mean({label: counted.f1(label) for label in counted.expected}, positive_label)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Rows by label: expected, predicted (also for labels that are none), and both at once."""

    expected: Mapping[str, int]
    predicted: Mapping[str, int]
    correct: Mapping[str, int]

    @classmethod
    def of(cls, confusion: Mapping[tuple[str, str], int]) -> "_Counted":
        expected, predicted = Counter[str](), Counter[str]()
        for (label, prediction), count in confusion.items():
            if count:
                expected[label] += count
                predicted[prediction] += count
        labels = sorted(expected)
        if len(labels) < 2:
            raise NotApplicable(Reason.SINGLE_CLASS, labels=labels)
        correct = {label: confusion.get((label, label), 0) for label in labels}
        return cls({label: expected[label] for label in labels}, predicted, correct)

    def precision(self, label: str) -> float:
        return self.correct[label] / self.predicted[label] if self.predicted[label] else 0.0

    def recall(self, label: str) -> float:
        return self.correct[label] / self.expected[label]

    def f1(self, label: str) -> float:
        return 2 * self.correct[label] / (self.predicted[label] + self.expected[label])


def _mean(by_label: Mapping[str, float], positive_label: str | None) -> Measured:
    """The figure of the positive label, or the mean over all labels; each label's own is in the details."""
    if positive_label is None:
        return Measured(sum(by_label.values()) / len(by_label), {"by_label": dict(by_label)})
    for label in (positive_label, normalise(positive_label)):
        if label in by_label:
            return Measured(by_label[label], {"positive_label": label})
    named = ", ".join([*list(by_label)[:MOST_NAMED], *(["..."] if len(by_label) > MOST_NAMED else [])])
    raise ValueError(f"positive_label is {positive_label!r}; the expected labels are {named}")

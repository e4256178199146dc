"""The confusion matrix of a page counts what was answered for each label, and says what it leaves out."""

from proctor.metrics.classification import confusion_matrix
from proctor.reports.boards import ClassificationBoard, ClassificationRow
from proctor.reports.pages.boards import ConfusionTable, confusions
from proctor.reports.store.run import RunEvaluator


def tables(counts: dict[tuple[str, str], int] | None) -> list[ConfusionTable]:
    row = ClassificationRow("a", (), None if counts is None else confusion_matrix(counts))
    return confusions(ClassificationBoard(RunEvaluator("labels", "Labels", "accuracy", []), (), (row,), tuple))


def test_counts_stand_by_label_and_answer_and_the_diagonal_is_right() -> None:
    (made,) = tables({("ham", "ham"): 6, ("ham", "spam"): 2, ("spam", "spam"): 1, ("spam", "dunno"): 3})
    assert made.columns == ("ham", "spam", "dunno")
    assert made.labels == 2
    assert [line.label for line in made.lines] == ["ham", "spam"]
    assert [[cell.count for cell in line.cells] for line in made.lines] == [[6, 2, 0], [0, 1, 3]]
    assert [[cell.is_right for cell in line.cells] for line in made.lines] == [
        [True, False, False],
        [False, True, False],
    ]
    assert [line.total for line in made.lines] == [8, 4]
    assert (made.has_rest, made.cut) == (False, "")


def test_shades_are_blue_where_right_and_orange_where_wrong_by_the_share_of_the_label() -> None:
    (made,) = tables({("ham", "ham"): 8, ("ham", "spam"): 2, ("spam", "ham"): 10})
    assert [[cell.heat for cell in line.cells] for line in made.lines] == [[9, 4], [0, 5]]


def test_of_many_labels_the_commonest_are_shown_and_the_rest_is_counted() -> None:
    counts = {(f"l{place:02}", f"l{place:02}"): 100 - place for place in range(30)}
    counts |= {("l00", "l29"): 5, ("l00", "odd"): 7, **{("l01", f"x{place}"): 1 for place in range(9)}}
    (made,) = tables(counts)
    assert [line.label for line in made.lines] == [f"l{place:02}" for place in range(20)]
    assert made.columns[20:] == ("odd", "x0", "x1", "x2", "x3")
    assert [line.rest for line in made.lines[:3]] == [5, 5, 0]
    assert [line.total for line in made.lines[:2]] == [112, 108]
    assert made.cut == "Shown are the 20 commonest of 30 labels and the 5 commonest of 10 answers that are no label."


def test_a_matrix_that_is_too_large_is_a_sentence_and_one_without_rows_is_nothing() -> None:
    (made,) = tables(None)
    assert made.lines == ()
    assert "too large" in made.cut
    assert tables({}) == []

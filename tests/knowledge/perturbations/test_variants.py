"""Variants: ids, tags, clusters, what is kept of a question, and what is counted where none can be made."""

from dataclasses import replace
from random import Random

from proctor.knowledge.perturbations.perturbations import Recipe, Tally, choose_kinds, perturbed, some_questions
from proctor.knowledge.questions.question import Evidence, Question

FULL = Question(
    "q1", "How do I return the yellow bike?", ("By post.",), ("post",), ((Evidence("a.md", "by post"),),), ("faq",),
    "a.md", True, {"row": 7},
)  # fmt: skip


def made(questions, *kinds, written=None, **recipe):
    tally = Tally()
    return list(perturbed(questions, Recipe(choose_kinds(kinds), **recipe), tally, written)), tally


def test_a_variant_says_how_it_was_made():
    (copy, variant), _ = made([FULL], "comma", intensities=(0.25,))
    assert copy.id == "q1~identity-0-0" and copy.text == FULL.text
    assert copy.extra == {
        "row": 7, "perturbs": {"id": "q1", "kind": "identity", "intensity": 0.0, "variant": 0, "must": "same"}
    }  # fmt: skip
    assert variant.id == "q1~comma-0.25-0" and variant.text.replace(",", "") == FULL.text != variant.text
    assert variant.extra["perturbs"] == {
        "id": "q1", "kind": "comma", "intensity": 0.25, "variant": 0, "must": "same", "changed": 2, "units": 6
    }  # fmt: skip
    assert variant.tags == ("faq", "perturbed")
    same = replace(variant, id=FULL.id, text=FULL.text, tags=FULL.tags, extra=FULL.extra)
    assert same == FULL


def test_a_question_without_a_document_is_a_cluster_with_its_variants():
    (copy,), _ = made([replace(FULL, source_document="")], "identity")
    assert copy.source_document == "q1"


def test_what_was_right_is_dropped_where_another_answer_is():
    full = replace(FULL, text="Which yellow bikes do you sell?")
    variants, _ = made([full], "negation", "misinformation", control=False, written={("misinformation", "q1"): ["So?"]})
    assert [(each.expected, each.constraints, each.evidence) for each in variants] == [((), (), ())] * 2
    assert [each.answerable for each in variants] == [None, False]
    assert [each.text for each in variants] == ["Which yellow bikes do you not sell?", "So?"]


def test_graded_kinds_are_made_at_every_intensity_and_others_once():
    full = replace(FULL, text="Which yellow bikes do you sell?")
    variants, tally = made([full], "comma", "negation", intensities=(0.1, 0.5, 0.5), variants=2)
    ids = [each.id.partition("~")[2] for each in variants]
    assert ids == ["identity-0-0", "comma-0.1-0", "comma-0.1-1", "comma-0.5-0", "comma-0.5-1", "negation-1-0"]
    assert (tally.made["comma"], tally.refused["negation"]) == (4, 1)
    assert tally.reasons["negation"] == {"no further variant differs from the others": 1}


def test_intensities_that_are_nearly_alike_have_ids_of_their_own():
    variants, _ = made([FULL], "comma", intensities=(0.1, 0.10000001, 1e-9), control=False)
    assert [each.id for each in variants] == ["q1~comma-0.1-0", "q1~comma-0.10000001-0", "q1~comma-1e-09-0"]


def test_variants_made_alike_differ():
    variants, _ = made([FULL], "keyboard_typo", variants=20)
    assert len({each.text for each in variants}) == 21


def test_what_can_not_be_changed_is_counted_and_never_copied():
    variants, tally = made([replace(FULL, text="我可以退货吗")], "synonym", "keyboard_typo", "word_swap")
    assert [each.id for each in variants] == ["q1~identity-0-0"]
    assert dict(tally.refused) == {"synonym": 1, "keyboard_typo": 1, "word_swap": 1}
    assert tally.reasons["word_swap"] == {"its writing system puts no blanks between words": 1}
    assert tally.examples == {"identity": ("我可以退货吗", "我可以退货吗")}


def test_without_control_there_is_no_copy_unless_it_is_named():
    assert [each.id for each in made([FULL], "comma", control=False)[0]] == ["q1~comma-0.1-0"]
    assert [each.id for each in made([FULL], "comma", "identity", control=False)[0]] == [
        "q1~identity-0-0",
        "q1~comma-0.1-0",
    ]


def test_a_variant_depends_on_nothing_but_what_names_it():
    many = [replace(FULL, id=f"q{number}") for number in range(20)]
    whole = {each.id: each for each in made(many, "offline", intensities=(0.1, 0.3), variants=2)[0]}
    shuffled = many[5:9]
    Random(1).shuffle(shuffled)
    part = made(shuffled, "comma", "ocr_error", intensities=(0.3,), variants=1)[0]
    assert all(whole[each.id] == each for each in part)
    assert len({whole[f"q{number}~ocr_error-0.3-0"].text for number in range(20)}) > 5
    assert made(many, "ocr_error", seed=1)[0][1] != whole["q0~ocr_error-0.1-0"]


def test_no_variants_are_made_of_variants():
    variants, _ = made([FULL], "comma")
    again, tally = made(variants, "comma")
    assert (again, tally.passed_over, tally.sources) == ([], 2, 0)


def test_what_a_judge_did_not_write_is_refused_with_its_reason():
    written = {("paraphrase", "q1"): "the judge is ill", ("paraphrase", "q2"): ("One way?",)}
    questions = [FULL, replace(FULL, id="q2"), replace(FULL, id="q3")]
    variants, tally = made(questions, "paraphrase", control=False, variants=2, written=written)
    assert [(each.id, each.text, each.expected) for each in variants] == [
        ("q2~paraphrase-1-0", "One way?", ("By post.",))
    ]
    assert tally.reasons["paraphrase"] == {
        "the judge is ill": 2, "no judge wrote any": 2, "the judge wrote fewer than were asked for": 1
    }  # fmt: skip


def test_some_questions_are_drawn_in_their_order_and_stay_when_others_come():
    many = [replace(FULL, id=f"q{number}") for number in range(200)]
    few = some_questions(many, 20, 0)
    assert [each.id for each in few] == sorted((each.id for each in few), key=lambda name: int(name[1:]))
    assert len(few) == 20
    assert {each.id for each in few} != {each.id for each in some_questions(many, 20, 1)}
    more = some_questions([replace(FULL, id="new"), *many], 20, 0)
    assert len({each.id for each in more} & {each.id for each in few}) >= 19
    assert some_questions(many, 500, 0) == many == some_questions(many)
    variants, _ = made(many[:3], "comma")
    assert some_questions([*variants, *many[:2]], 5, 0) == many[:2]

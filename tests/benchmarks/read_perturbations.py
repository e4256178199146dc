"""Samples of each perturbation kind over real questions, to be read by a person, and what was found when they were.

A variant counts as right when it is well formed for its kind (a typo may be misspelt, a negation may not be
ungrammatical) and what the kind declares is true: the same answer stays right, or another one is. A kind stays when 95
of 100 are right.

    python tests/benchmarks/read_perturbations.py                          # the counts, and how many are skipped
    python tests/benchmarks/read_perturbations.py --kind negation          # 100 to read, each with its source
    python tests/benchmarks/read_perturbations.py --kind synonym --seed 2  # others
    python tests/benchmarks/read_perturbations.py --kind synonym --unseen  # of sources on which no rule was tuned
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import proctor.knowledge
from labelled_data import read, table
from proctor.knowledge.perturbations.edits import Chance
from proctor.knowledge.perturbations.perturbations import KINDS, Kind, Recipe, Tally, perturbed
from proctor.knowledge.questions.question import Question
from proctor.knowledge.questions.question_files import open_questions

SETS = ("hint3", "clinc150", "banking77", "clapnq", "pubmedqa")  # the rules were tuned on these, and the sample
UNSEEN = (
    "mtrag_un", "stackfaq_paraphrases", "efficientqa", "nq301", "stackexchange_nlu", "covid_question_similarity",
)  # fmt: skip
ABROAD = ("mojibake", "accents_stripped")  # kinds for which English has too few letters
GOAL = 95
SAMPLE = Path(str(proctor.knowledge.__file__)).parent / "samples" / "help_centre" / "questions.yaml"


class Sample(NamedTuple):
    """A question and what was made of it."""

    source: str
    before: str
    after: str


def questions(seed: int, kind: str, sets: Sequence[str]) -> Iterator[tuple[str, Question]]:
    """Questions of all sets, set after set in turn, each set in an order that the seed draws."""
    drawn = []
    for name in ("xquad_lang",) if kind in ABROAD else sets:
        if name == "help_centre":
            found = {question.text: question for question in open_questions(SAMPLE)}
        else:
            found = {row["question"]: Question(row["id"], row["question"]) for row in read(name)}
        drawn.append([(name, question) for question in Chance(seed, name).shuffled([*found.values()])])
    yield from (pair for pair in chain.from_iterable(zip_longest(*drawn)) if pair is not None)


def samples(
    kind: Kind, wanted: int, seed: int, intensity: float, sets: Sequence[str] = ("help_centre", *SETS)
) -> tuple[list[Sample], Counter[str], int]:
    """Variants of a kind, why the other questions have none, and how many questions were looked at."""
    made: list[Sample] = []
    tally, looked = Tally(), 0
    for source, question in questions(seed, kind.name, sets):
        looked += 1
        recipe = Recipe((kind,), (intensity,), seed=seed, control=False)
        made += [Sample(source, question.text, found.text) for found in perturbed([question], recipe, tally)]
        if len(made) == wanted:
            break
    return made, tally.reasons.get(kind.name, Counter()), looked


# Read, right; and what was wrong with the others.
# The reader was a language model, and the rules were fitted to these same questions: a person should read others.
READ: dict[str, tuple[int, int, str]] = {
    "character_insert": (100, 100, ""),
    "character_delete": (100, 98, "sow for slow, fenibrate for a drug"),
    "character_replace": (100, 98, "dumber for number, monky for money"),
    "keyboard_typo": (100, 98, "the joon for the moon, names"),
    "ocr_error": (100, 98, "ventication, periloncal"),
    "yz_swap": (100, 100, ""),
    "comma": (100, 100, ""),
    "word_swap": (100, 99, "is tracking a number available; the order is wrong on purpose and the sense is kept"),
    "synonym": (100, 98, "sir kindly my balance, the perinatal result"),
    "lookalike_letters": (100, 100, ""),
    "full_width": (100, 100, ""),
    "html_entities": (100, 100, ""),
    "mojibake": (100, 99, "one letter of two in a Chinese word; of 12 languages"),
    "accents_stripped": (100, 99, "wurden for w\u00fcrden; of 12 languages"),
    "antonym": (95, 93, "the worst architecture, as its source; all that 5,999 questions have"),
    "negation": (100, 97, "where not to go with a nail in the foot, why the ATM did not keep the card"),
}
# Before the kinds were held to forms that can be exchanged and denied: negation 12 of 41, antonym 15 of 25 by other
# readers, and by this one about a quarter and about half of 100.


class Reading(NamedTuple):
    """What a strict reader found among questions of ``UNSEEN``: how many were read, are well formed, and are right."""

    read: int
    well_formed: int
    right: int  # well formed, and does what the kind declares
    wrong: str = ""


# Read by a language model, not a person, in November 2026; the encodings of other languages on another draw.
READ_UNSEEN: dict[str, Reading] = {
    "character_insert": Reading(50, 50, 50),
    "character_delete": Reading(50, 50, 49, "sop and water for soap and water"),
    "character_replace": Reading(50, 50, 48, "maruto for a name, whather"),
    "keyboard_typo": Reading(50, 50, 49, "wilp wark weather srop"),
    "ocr_error": Reading(50, 50, 50),
    "yz_swap": Reading(50, 50, 50),
    "comma": Reading(50, 50, 50),
    "word_swap": Reading(50, 50, 50),
    # A third draw: 93 of 100 before, for cautioning, big numbers, restricted case, reserves for books, kindly.
    "synonym": Reading(70, 68, 68, "is at the moment syncing, twice, fixed since"),
    "lookalike_letters": Reading(50, 50, 50),
    "full_width": Reading(50, 50, 50),
    "html_entities": Reading(50, 50, 50),
    "mojibake": Reading(50, 50, 49, "both letters of a Chinese name"),
    "accents_stripped": Reading(50, 50, 49, "mas for m\u00e1s, another word"),
    # A second draw: 46 of 50 before, for the last national bank, the last paper money, upload all boards.
    "antonym": Reading(60, 56, 53, "the easiest worker, worst before date, smallest geniuses"),
    "negation": Reading(13, 13, 11, "tools do you not use to monitor; of 1,574 questions"),
}


def counts(intensity: float) -> None:
    """What was found, beside the goal, and for how many questions each kind has a variant."""
    lines: list[Sequence[object]] = []
    for kind in KINDS.values():
        if not kind.offline or kind.name == "identity":
            continue
        made, reasons, looked = samples(kind, 100, 1, intensity)
        count, right, wrong = READ.get(kind.name, (0, 0, "not read"))
        unseen = READ_UNSEEN.get(kind.name, Reading(0, 0, 0))
        verdict = "stays" if unseen.right >= unseen.read * GOAL / 100 else "experimental"
        skipped = looked - len(made)
        why = reasons.most_common(1)[0][0] if reasons else ""
        lines.append(
            (
                kind.name, kind.must, f"{right} of {count}", f"{unseen.well_formed} of {unseen.read}",
                f"{unseen.right} of {unseen.read}", f"{GOAL} %", verdict, f"{skipped} of {looked}", why,
                "; ".join(filter(None, (wrong, unseen.wrong))),
            )
        )  # fmt: skip
    print("Read by a language model, not a person. Unseen: of sources on which no rule was tuned.")
    head = ("kind", "answer must be", "right where tuned", "unseen: well formed", "unseen: right", "goal", "so it")
    table((*head, "skipped", "mostly because", "wrong were"), lines)


def main() -> None:
    """Print the counts, or samples of a kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=[kind.name for kind in KINDS.values() if kind.offline])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unseen", action="store_true", help="Of sources on which no rule was tuned.")
    parser.add_argument("--intensity", type=float, default=0.1)
    asked = parser.parse_args()
    if not asked.kind:
        counts(asked.intensity)
        return
    made, reasons, looked = samples(
        KINDS[asked.kind], asked.count, asked.seed, asked.intensity, UNSEEN if asked.unseen else ("help_centre", *SETS)
    )
    for number, (source, before, after) in enumerate(made, 1):
        print(f"{number:3} {source}\n    {before}\n    {after}")
    print(f"\n{len(made)} of {looked} questions have a variant; the others:")
    for why, count in reasons.most_common():
        print(f"  {count:5} {why}")


if __name__ == "__main__":
    main()

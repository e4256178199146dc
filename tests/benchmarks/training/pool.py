"""The rows that the support model is trained on: train_pool, nli_pool, edits made by rule, and rows written for it.

No row is of an evaluation set; train_pool was checked against them (its README), and so was what is written
(``written_texts.py``). Rows are (task, label, tokens, kinds).
"""

import gzip
import hashlib
import json
import pickle
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from edits import clean, perturb, rows_of
from proctor.knowledge.models.encoder import _open_tokenizer, packaged_folder
from proctor.knowledge.models.support_model import (
    ANSWER_TOKENS,
    EXPECTED_TOKENS,
    best_sentences,
    pair_tokens,
    pieces,
    plain,
    ranked,
)
from written_texts import WRITTEN, WRITTEN_ANSWERS, written_answers, written_texts

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
CONFIG: dict[str, Any] = json.loads(Path(__file__).with_name("config.json").read_text(encoding="utf-8"))

SUPPORT, CORRECT = 0, 1  # tasks
LABELS = {"supported": 0, "contradicted": 1, "absent": 2, "not_supported": 3}  # 3: contradicted or absent
NLI = {"entailment": 0, "contradiction": 1, "neutral": 2}
TITLED = frozenset({"fool_me_twice", "boolq_dev", "infotabs", "covid_qa", "tabfact_pairs"})  # first line: a title
POOL = (
    *("fever_dev", "fool_me_twice", "boolq_dev", "squadshifts_wiki", "infotabs", "tabfact_pairs", "wiki_split"),
    *("breaking_nli", "negation_nli", "covid_qa", "begin_rest", "summedits_rest", "wice_train_partial"),
    *("evouna_rest", "squadshifts_answers"),
)

LEADS = (  # what an answer may open with
    *("Sure!", "Thanks for asking.", "According to the documents,", "Yes, of course:", "Short answer:", "I think"),
    *("As far as I know,", "Based on the provided context,", "Good question!", "Hello! In short:", "The answer is:"),
)

Made = tuple[int, int, list[int], list[int]]

_tokenizer = _open_tokenizer(packaged_folder() / "tokenizer.json")


def tokens_of(text: str) -> list[int]:
    ids: list[int] = _tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def packed_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def made(row: dict[str, Any]) -> Made:
    """A row as the model reads it."""
    label, answer = row["label"], row["answer"]
    # Dialogue turns are no questions that the answer answers.
    question = "" if row["id"].startswith("begin_rest") else row.get("question") or ""
    asked = tokens_of(question)[:48]
    if "correct" in label and not row["contexts"]:
        said = best_sentences(f"{question} {row['expected_answer']}", answer, tokens_of, ANSWER_TOKENS)
        return CORRECT, int(not label["correct"]), *pair_tokens(asked, said, _expected(row), True)
    found = LABELS[label["support"]] if "support" in label else NLI[label["nli"]]
    titled = row["id"].split("-")[0] in TITLED
    passage = best_sentences(f"{question} {answer}", "\n".join(row["contexts"]), tokens_of, _room(row["id"]), titled)
    return SUPPORT, found, *pair_tokens(asked, tokens_of(answer)[:96], passage)


def _room(key: str) -> int:
    """Most tokens of a row's passage: one of several, so that the model reads short windows and longer ones."""
    return random.Random(key).choice(CONFIG["passage_tokens"])


def _expected(row: dict[str, Any]) -> list[int]:
    """Up to six of the accepted answers, those that share most with the answer first."""
    accepted = [one.strip() for one in row.get("expected_answers") or [row["expected_answer"]] if one and one.strip()]
    said = set(row["answer"].lower().split())

    def nearness(one: str) -> float:
        words = set(one.lower().split())
        return -len(said & words) / (len(words) + 1)

    return tokens_of(" / ".join(sorted(dict.fromkeys(accepted), key=nearness)[:6]))[:EXPECTED_TOKENS]


def human(rng: random.Random) -> dict[str, list[Made]]:
    """The rows of the pools by source, with the caps that their README advises."""
    found: dict[str, list[Made]] = {}
    for source in POOL:
        rows = list(packed_rows(DATA / "train_pool" / f"{source}.jsonl.gz"))
        if source == "breaking_nli":  # few of its rows are supported
            rows = [row for row in rows if row["label"]["support"] != "contradicted" or rng.random() < 0.4]
        if source == "evouna_rest":  # three of four are right
            rows = [row for row in rows if not row["label"]["correct"] or rng.random() < 0.5]
        rng.shuffle(rows)
        found[source] = [made(row) for row in rows[: CONFIG["rows_of_a_source"]]]
    for row in packed_rows(DATA / "nli_pool" / "train.jsonl.gz"):
        found.setdefault(row["id"].split("-")[1], []).append(made(row))
    return found


def edited(rng: random.Random) -> dict[str, list[Made]]:
    """Rows made by rule: of support, and of correctness with the nearest sentence as the expected answer."""
    rows = []
    for source, most in CONFIG["passages_for_edits"].items():
        passages = sorted({_body(row, source) for row in packed_rows(DATA / "train_pool" / f"{source}.jsonl.gz")})
        rng.shuffle(passages)
        rows += [row for passage in passages[:most] for row in rows_of(passage, rng)]
    rng.shuffle(rows)
    support, correct = [], []
    for passage, claim, label, _ in rows[:14_000]:
        read = best_sentences(claim, passage, tokens_of, _room(claim))
        support.append((SUPPORT, LABELS[label], *pair_tokens([], tokens_of(claim)[:96], read)))
    for passage, claim, label, _ in rows[14_000:16_500]:
        if label != "absent":
            texts = pieces(passage)
            expected = tokens_of(texts[ranked(claim, texts)[0]])[:EXPECTED_TOKENS]
            pair = pair_tokens([], tokens_of(claim)[:ANSWER_TOKENS], expected, True)
            correct.append((CORRECT, int(label != "supported"), *pair))
    return {"made": support, "made_correct": correct}


def written(rng: random.Random) -> dict[str, list[Made]]:
    """Rows of the written texts by their kind.

    Many of their false claims are of the text's own words, so what a text says is added as it says it: two of its
    sentences with harmless changes, and one of these beside the text without it.
    """
    found: dict[str, list[Made]] = {}
    for text in written_texts(kept_back=False):
        said = [one for one in pieces(plain(text["text"])) if clean(one)]
        copied = [(one, perturb(one, rng)) for one in rng.sample(said, min(2, len(said)))]
        rows = [(text["text"], claim, label) for claim, label in text["claims"]]
        rows += [(text["text"], claim, "supported") for _, claim in copied]
        rows += [(text["text"].replace(one, ""), claim, "absent") for one, claim in copied[:1] if len(said) > 2]
        found.setdefault(f"written_{text['kind']}", []).extend(
            made({
                "id": body + claim,
                # The judge asks without a question; a few rows have theirs, so that one does no harm.
                "question": plain(text.get("question", "")) if rng.random() < 0.2 else "",
                "contexts": [plain(body)],
                "answer": plain(claim),
                "label": {"support": label},
            })
            for body, claim, label in rows
        )  # fmt: skip
    return found


def answered(rng: random.Random) -> dict[str, list[Made]]:
    """Rows of the written answers by their kind.

    Their wrong answers have as many of the expected words as the right ones, or more, which is not so in the world: so
    the expected answer counts as right beside itself, as it stands and with harmless changes, and answers to other
    questions count as wrong.
    """
    found: dict[str, list[Made]] = {}
    asked = list(written_answers(kept_back=False))
    for one in asked:
        rows = [(answer, bool(right)) for answer, right in one["answers"]]
        found.setdefault(f"written_{one['kind']}", []).extend(_answer_rows(one, rows))
        expected, other = one["expected"], rng.choice(asked)
        said = pieces(plain(expected))
        changed = " ".join(perturb(sentence, rng) if clean(sentence) else sentence for sentence in said)
        strange = rng.choice([other["expected"], *(answer for answer, _ in other["answers"])])
        plainly = [(expected, True), (changed, True), (f"{rng.choice(LEADS)} {changed}", True)]
        plainly += [(strange, False), (one["question"], False)] if other["family"] != one["family"] else []
        found.setdefault("written_plainly", []).extend(_answer_rows(one, plainly))
    return found


def _answer_rows(asked: dict[str, Any], answers: Iterable[tuple[str, bool]]) -> Iterator[Made]:
    for answer, right in answers:
        yield made({
            "id": answer,
            "question": plain(asked["question"]),
            "contexts": [],
            "expected_answer": plain(asked["expected"]),
            "answer": plain(answer),
            "label": {"correct": right},
        })  # fmt: skip


def _body(row: dict[str, Any], source: str) -> str:
    text = "\n".join(row["contexts"])
    _title, _, body = text.partition("\n")
    return body if source in TITLED and body else text.replace("\n", " ")


def read_pool() -> dict[str, list[Made]]:
    found = human(random.Random(CONFIG["seed"]))
    for read in (edited, written, answered):
        found |= read(random.Random(CONFIG["made_seed"]))
    return found


def fingerprints() -> dict[str, str]:
    """SHA-256 of each file that was read."""
    files = [DATA / "train_pool" / f"{name}.jsonl.gz" for name in POOL]
    files += [DATA / "nli_pool" / "train.jsonl.gz", WRITTEN, WRITTEN_ANSWERS]
    return {f"{path.parent.name}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


if __name__ == "__main__":
    rows = read_pool()
    Path(sys.argv[1]).write_bytes(pickle.dumps(rows))
    for source, some in rows.items():
        print(f"{source:22} {len(some):6} rows, {sum(len(row[2]) for row in some) / len(some):5.0f} tokens")

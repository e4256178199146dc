"""Meanings: what each figure of a survey says, in the words of its legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What a setting is measured by, in the order of the columns.
OF_SETTINGS: Final[Mapping[str, str]] = {
    "evidence_recall": "context recall: share of the places that an answer needs that were retrieved",
    "hit_rate": "share of questions with at least one of these places retrieved",
    "mrr": "one over the rank of the first useful passage",
    "ndcg": "how near to the top the needed places are",
    "context_precision": "how far useful passages stand before useless ones",
    "span_recall": "share of the needed characters that were retrieved",
    "span_precision": "share of the retrieved characters that are needed",
    "prompt_tokens": "tokens of the retrieved text, about (4 bytes each)",
}
# What a document is told by.
HOLDS: Final = "questions whose answer stands in it"
ONLY: Final = "those of them whose answer stands in no other document"
OF_ANSWERS: Final[Mapping[str, str]] = {
    "answers": "answers that were made with it",
    "needed": "those of them whose question needs it, of those where that is known",
    "wrong": "those of them that are wrong, of those that are marked",
    "tokens": "what its passages took in the prompts of all answers, about",
}
OF_BLAME: Final[Mapping[str, str]] = {
    "caused": "wrong answers that become right without it",
    "carried": "right answers that become wrong without it",
    "effect": "mean of the metric with it less without it: negative where it harms",
    "tried": "answers that were asked again without it",
}
OF_QUESTIONS: Final[Mapping[str, str]] = {
    "wrong": "share of the bots that are wrong",
    "spread": "best bot less worst: 0 where it tells no two bots apart",
    "discrimination": "how it goes along with the other questions, -1 to 1: negative where better bots do worse",
}

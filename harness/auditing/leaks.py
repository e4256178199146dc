"""Leaks: questions and expected answers that a bot has been told beforehand, or that give themselves away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ...metrics.judge.embedded.matching import declines, refuses
from ...metrics.judge.embedded.wording import wording
from ...metrics.text import sentences
from ...reports.surveys.finding import Finding, Severity
from .asked_alike import ask_the_same, asked, find_alike
from .asked_twice import shortened
from .prompt_texts import built_in_prompts
from .word_runs import Standing, WordRuns, words_of

if TYPE_CHECKING:
    from ...bots.faq import FaqEntry
    from ...knowledge.batching import BatchingEmbedder
    from ...knowledge.questions import Question
    from ..ground.answers import Answers

_QUESTION_WORDS: Final = 4  # fewer are a phrase that any prompt may hold
_ANSWER_WORDS: Final = 6
_COMMON: Final = 3  # questions that expect the same answer: then it is a label or a refusal, and no secret
_NEAR_IN_PROMPT: Final = 0.92  # cosine; a prompt has few sentences, and being wrong about a leak is dear
_AROUND: Final = 80  # characters of the prompt on either side


def prompt_leaks(
    questions: Sequence[Question], prompts: Mapping[str, str], embedder: BatchingEmbedder
) -> tuple[Finding, ...]:
    """Questions and expected answers that stand in a bot's prompt; blocks while it embeds.

    What stands in the templates that ship with the package is no leak, nor is a phrase of few words, a refusal, or an
    answer that many questions share.

    Args:
        questions: all of them.
        prompts: by bot.
        embedder: finds examples that ask for the same in other words.
    """
    bots: dict[str, list[str]] = {}
    for bot, prompt in prompts.items():
        bots.setdefault(prompt, []).append(bot)
    common = _common_answers(questions)
    found: list[Finding] = []
    for prompt, names in bots.items():
        runs = WordRuns(prompt, built_in_prompts())
        asked_for = _examples(prompt)
        near = _near_examples(questions, asked_for, embedder)
        for question in questions:
            finding = _leak(question, runs, near.get(question.id), common, names)
            found += [finding] if finding else []
    return tuple(found)


def _leak(
    question: Question, runs: WordRuns, near: str | None, common: frozenset[str], bots: Sequence[str]
) -> Finding | None:
    whole = len(words_of(question.text)) >= _QUESTION_WORDS and len(wording(question.text[:2_000]).content) > 1
    standing = runs.find(question.text) if whole else None
    if standing is not None and (standing.share == 1 or _asks_it(question.text, runs, standing)):
        how = "stands word for word" if standing.share == 1 else "stands nearly word for word"
        return _prompt_finding(question, bots, "question", f"Question {question.id} {how}", _excerpt(runs, standing),
                               "high", standing.share)  # fmt: skip
    for answer in question.expected:
        if not _is_telling(answer, common):
            continue
        if standing := runs.find(answer):
            what = f"The answer that question {question.id} expects stands"
            return _prompt_finding(question, bots, "answer", what, _excerpt(runs, standing), "medium", standing.share)
    if near is not None:
        what = f"Question {question.id} stands in other words"
        return _prompt_finding(question, bots, "reworded", what, near, "medium", None)
    return None


def _prompt_finding(
    question: Question, bots: Sequence[str], leaked: str, what: str, excerpt: str, severity: Severity,
    share: float | None,
) -> Finding:  # fmt: skip
    whose = f"bot {bots[0]}" if len(bots) == 1 else f"bots {', '.join(bots)}"
    return Finding(
        kind="leaked_prompt",
        severity=severity,
        what=(
            f'{what} in the prompt of {whose}: "{shortened(excerpt)}". On it the prompt is tested, and not what the '
            "bot finds."
        ),
        action=f"Take another example for the prompt, or leave {question.id} out of the questions.",
        questions=(question.id,),
        score=share,
        details={"bots": list(bots), "leaked": leaked, "excerpt": excerpt},
    )


def _asks_it(question: str, runs: WordRuns, standing: Standing) -> bool:
    """Whether the whole sentence of a prompt in which most of a question stands asks what the question asks."""
    before, after = runs.text[: standing.start], runs.text[standing.end :]
    led = re.split(r"[.?!:\n]", before)[-1]
    followed = re.split(r"[.?!:\n]", after)[0]
    return ask_the_same(question, led + runs.text[standing.start : standing.end] + followed, {}) is not None


def _is_telling(answer: str, common: frozenset[str]) -> bool:
    if len(words_of(answer)) < _ANSWER_WORDS or declines(answer) or refuses(answer):
        return False
    return asked(answer) not in common


def _common_answers(questions: Sequence[Question]) -> frozenset[str]:
    counts = Counter(text for question in questions for text in {asked(one) for one in question.expected})
    return frozenset(text for text, count in counts.items() if count >= _COMMON)


def _excerpt(runs: WordRuns, standing: Standing) -> str:
    start, end = max(0, standing.start - _AROUND), standing.end + _AROUND
    return runs.text[start:end].strip()


def _examples(prompt: str) -> list[str]:
    """Sentences of a prompt that ask something, as its examples do."""
    found = (sentence.strip() for sentence in sentences(prompt[:200_000]))
    return list(dict.fromkeys(one for one in found if "?" in one and "{" not in one))


def _near_examples(
    questions: Sequence[Question], examples: Sequence[str], embedder: BatchingEmbedder
) -> dict[str, str]:
    """By question, the example of the prompt that asks the same in other words."""
    if not examples:
        return {}
    texts = [_unlabelled(one) for one in examples] + [question.text for question in questions]
    found: dict[str, str] = {}
    for pair in find_alike(texts, embedder, _NEAR_IN_PROMPT, len(examples)):
        if pair.exact:
            found.setdefault(questions[pair.second - len(examples)].id, examples[pair.first])
    return found


def _unlabelled(example: str) -> str:
    """An example without what leads it, such as Q: or Question:."""
    head, colon, rest = example.partition(":")
    return rest.strip() if colon and len(words_of(head)) <= 2 and rest.strip() else example


def faq_leaks(
    questions: Sequence[Question], entries: Mapping[str, Sequence[FaqEntry]], answers: Answers | None
) -> Iterator[Finding]:
    """FAQ bots that are asked what stands in their entries, word for word: one finding for each bot.

    Args:
        questions: all of them.
        entries: by bot.
        answers: tell how much better the bot does on these; None where there are none.
    """
    for bot, held in entries.items():
        known = {asked(entry.question) for entry in held}
        told = tuple(question.id for question in questions if asked(question.text) in known)
        if not told:
            continue
        share = len(told) / len(questions)
        on_them, elsewhere = _right_share(bot, set(told), answers)
        better = ""
        if on_them is not None and elsewhere is not None:
            better = f" It is right on {on_them:.0%} of these, and on {elsewhere:.0%} of the others."
        yield Finding(
            kind="leaked_answer",
            severity="medium",
            what=(
                f"{len(told):,} of {len(questions):,} questions ({share:.0%}) stand word for word among the entries of "
                f"{bot}, which then only looks them up.{better}"
            ),
            action=f"Ask them in other words to see how {bot} does with questions that were not foreseen.",
            questions=told,
            details={"bots": [bot], "leaked": "entry", "share": share, "right": on_them, "right_elsewhere": elsewhere},
        )


def _right_share(bot: str, told: set[str], answers: Answers | None) -> tuple[float | None, float | None]:
    rows = [row for row in answers.rows if row.bot == bot and row.right is not None] if answers else []
    sides = [[float(bool(row.right)) for row in rows if (row.question in told) is inside] for inside in (True, False)]
    first, second = (sum(side) / len(side) if side else None for side in sides)
    return first, second


def self_answered(questions: Sequence[Question]) -> Iterator[Finding]:
    """Questions whose own words hold the expected answer, choices between named things and labels aside."""
    common = _common_answers(questions)
    for question in questions:
        if not question.expected or question.answerable is False or _offers_choice(question.text):
            continue
        held = next((one for one in question.expected if _gives_away(question.text, one, common)), None)
        if held is None:
            continue
        yield Finding(
            kind="leaked_answer",
            severity="medium",
            what=f'Question {question.id} holds its own answer, "{shortened(held)}": "{shortened(question.text)}".',
            action=f"Reword {question.id}, so that a bot can't answer it by repeating it.",
            questions=(question.id,),
            details={"leaked": "question", "expected": held},
        )


def _offers_choice(text: str) -> bool:
    words = words_of(text)
    return "or" in words or "either" in words or "between" in words


def _gives_away(text: str, answer: str, common: frozenset[str]) -> bool:
    words, wanted = words_of(text), words_of(answer)
    if not wanted or asked(answer) in common or not wording(answer[:2_000]).content:
        return False
    if len(wanted) == 1 and len(wanted[0]) < 3 and not wanted[0].isdigit():
        return False
    return any(words[place : place + len(wanted)] == wanted for place in range(len(words) - len(wanted) + 1))

"""Likelihoods: perplexity and GPTScore, by a language model."""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from ..declaration import Allowed, Function, artefact, metric, name_of, signed
from ..score import Measured, NotApplicable, Reason
from ..tools import LanguageModel

if TYPE_CHECKING:
    from ...knowledge.models.language_models import Continuation, Likelihood

Stride = Annotated[
    int | None, Allowed("a number of tokens, 1 or more", lambda stride: stride is None or _is_count(stride))
]


@dataclass(frozen=True, slots=True)
class Scored:
    """The likelihoods of some texts under a language model, in order."""

    likelihoods: "tuple[Likelihood, ...]"
    model: str

    @property
    def means(self) -> list[float]:
        """Mean negative log-likelihood of a token of each text, natural logarithm."""
        return [one.mean_nll for one in self.likelihoods]

    def evidence(self) -> dict[str, object]:
        """For details: model, number of scored tokens, and whether something was truncated."""
        found: dict[str, object] = {"model": self.model, "tokens": sum(one.tokens for one in self.likelihoods)}
        return found | ({"truncated": True} if any(one.truncated for one in self.likelihoods) else {})


async def scored(model: LanguageModel, texts: "Sequence[Continuation]") -> Scored:
    """The likelihood of each text. Raises NotApplicable if one has no token that can be scored."""
    found = tuple(await model.likelihoods(texts))
    if any(one.tokens < 1 for one in found):
        raise NotApplicable(Reason.TOO_SHORT)
    return Scored(found, model.model_id)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_GREATEST_MEAN: Final = math.log(sys.float_info.max)


@artefact
async def answer_likelihood(answer: str, perplexity_model: LanguageModel, *, stride: Stride = None) -> Scored:
    """The likelihood of the answer under a language model; with ``stride``, also beyond its window."""
    from ...knowledge.models.language_models import Continuation

    return await scored(perplexity_model, [Continuation(answer, stride=stride)])


@metric(
    better="lower",
    low=1.0,
    high=None,
    blank_answer="not_applicable",
    source="H2O evaluators page, Perplexity (threshold: its 0.5 is below the least possible value)",
)
def perplexity(answer_likelihood: Scored) -> Measured:
    """Exponential of the mean cross-entropy of the answer's tokens, the first excepted, under a language model.

    Nothing precedes the answer, so its first token is not scored, and an answer of one token has no value. Of an
    answer that is longer than the model's window (1024 tokens for distilgpt2) only the window is scored, and
    ``truncated`` is set; with the option ``stride`` of ``answer_likelihood`` the window moves over the whole answer by
    that number of tokens.

    It distinguishes broken text from fluent text of the same kind and length. It does not say whether an answer is
    right or fits the question, and it is low for dull, quoted or repeated text: a loop has the lowest perplexity. Short
    answers, names, numbers, code and languages other than English have a high perplexity under distilgpt2 regardless of
    quality, and the values of two models, or of two tokenizers, can't be compared. We know of no published threshold,
    and of no published agreement with people's ratings of answers.
    """
    (mean,) = answer_likelihood.means
    # A server may give a token almost no probability: infinity is reported as no value.
    value = math.inf if mean > _GREATEST_MEAN else math.exp(mean)
    return Measured(value, {**answer_likelihood.evidence(), "mean_nll": mean})


_INSTRUCTIONS: Final = Path(__file__).parent / "instructions"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_COMPLETION: Final = "\n## completion\n"
_DIRECTIONS: Final = ("expected_to_answer", "answer_to_expected")

# What each aspect means; the instructions for the model are in metrics/local/instructions.
TRANSLATION: Final[Mapping[str, str]] = {
    "accuracy": "preserves its facts",
    "fluency": "is in natural language",
    "mqm": "has no error that reviewers of translations count",
}
QUESTION_ANSWERING: Final[Mapping[str, str]] = {
    "interest": "interesting",
    "engagement": "engaging",
    "understandability": "understandable",
    "relevance": "relevant to the question",
    "specific": "generic or specific",
    "correctness": "correct",
    "semantic": "appropriate in what it means",
    "fluency": "fluent",
}
SUMMARY_WITH_REFERENCE: Final[Mapping[str, str]] = {
    "semantic_coverage": "covers its meaning",
    "factuality": "keeps to its facts",
    "informativeness": "contains what a reader needs",
    "coherence": "is coherent",
    "relevance": "keeps to what matters",
    "fluency": "is in fluent language",
}
SUMMARY: Final[Mapping[str, str]] = {
    "semantic_coverage": "covers its meaning",
    "factuality": "keeps to its facts",
    "consistency": "does not contradict it",
    "informativeness": "says what a reader needs",
    "coherence": "is coherent",
    "relevance": "keeps to what matters",
    "fluency": "is in fluent language",
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """The prefix before a text, and the text to score; both with names in braces for parts of the row."""

    prefix: str
    completion: str

    def about(self, **texts: str) -> "Continuation":
        """The instruction with these texts in place of their names.

        The source, which may be truncated, extends from the first such name in the prefix to the last.
        """
        from ...knowledge.models.language_models import Continuation

        places = [*_PLACEHOLDER.finditer(self.prefix)]
        start, end = places[0].start(), places[-1].end()
        completion, source = _filled(self.completion, texts), _filled(self.prefix[start:end], texts)
        return Continuation(completion, self.prefix[:start], source, self.prefix[end:])


@cache
def load_instruction(name: str) -> Instruction:
    """The instruction of a metric; the heading ``completion`` separates the prefix from the text to score."""
    text = (_INSTRUCTIONS / f"{name}.md").read_text(encoding="utf-8")
    prefix, completion = text.split(_COMPLETION)
    return _instruction(prefix, completion)


@cache
def chosen_instruction(name: str, own: str) -> Instruction:
    """The instruction of a metric, or that of the suite; without a completion of its own it keeps ours."""
    ours = load_instruction(name)
    if not own.strip():
        return ours
    prefix, _, completion = f"{own.strip()}\n".partition(_COMPLETION)
    return _instruction(prefix, completion if completion.strip() else ours.completion)


def _instruction(prefix: str, completion: str) -> Instruction:
    # The prefix ends with a line break, so that the tokens of the completion don't depend on it.
    return Instruction(f"{prefix.strip()}\n", completion.strip())


def _may_stand_in(first: str, second: str) -> Allowed:
    """What an own instruction must contain: only these names in braces, at least one of them in the prefix."""

    def holds(own: str) -> bool:
        prefix, heading, completion = f"{own.strip()}\n".partition(_COMPLETION)
        before, after = set(_PLACEHOLDER.findall(prefix)), set(_PLACEHOLDER.findall(completion))
        if not own.strip():
            return True
        if not before or not before | after <= {first, second} or (heading and not completion.strip()):
            return False
        return first != "source" or (before == {first} and after <= {second} and bool(after or not heading))

    if first == "source":
        words = "a text with {source} in it and, after a line '## completion', {target}; that part is optional"
    else:
        words = f"a text with {{{first}}} or {{{second}}} in it; what is scored may follow after a line '## completion'"
    return Allowed(words, holds)


def _filled(template: str, texts: Mapping[str, str]) -> str:
    """Filled in one pass, so that braces in the texts stay text."""
    return _PLACEHOLDER.sub(lambda place: texts[place[1]], template)


def _directions(prefix: str, page: str, aspects: Mapping[str, str]) -> tuple[Function, ...]:
    """Metrics of the answer and the expected answer, each as a perturbation of the other."""
    made: list[Function] = []
    for aspect, meaning in aspects.items():
        id = f"gptscore_{prefix}_{aspect}"
        likelihoods = _both_ways(id)
        documentation = (
            f"How unlikely the answer and the expected answer are, each as a perturbation of the other that "
            f"{meaning}.\n\n"
            f"Mean over both directions, of {_UNIT}; details have both.\n{_DISTRUST}"
        )
        made += [likelihoods, _mean(id, likelihoods, documentation, page)]
    return tuple(made)


def _both_ways(id: str) -> Function:
    @artefact(reads=(f"instructions/{id}.md",))
    async def likelihoods(
        answer: str,
        expected: str,
        gptscore_model: LanguageModel,
        *,
        instruction: Annotated[str, _may_stand_in("source", "target")] = "",
    ) -> Scored:
        """The likelihood of the answer after the expected answer, and the reverse."""
        taken = chosen_instruction(id, instruction)
        ways = [taken.about(source=one, target=other) for one, other in ((expected, answer), (answer, expected))]
        return await scored(gptscore_model, ways)

    likelihoods.__name__ = f"{id}_likelihoods"
    return likelihoods


def _single(prefix: str, page: str, aspects: Mapping[str, str], first: str, more: str) -> tuple[Function, ...]:
    """Metrics of one completion, made of question and answer."""
    made: list[Function] = []
    for aspect, meaning in aspects.items():
        id = f"gptscore_{prefix}_{aspect}"
        likelihoods = _one_way(id)
        text = more + (_SPECIFIC if (prefix, aspect) == ("qa", "specific") else "")
        documentation = f"{first.format(meaning)}\n\n{text}\n{_DISTRUST}"
        made += [likelihoods, _mean(id, likelihoods, documentation, page)]
    return tuple(made)


def _one_way(id: str) -> Function:
    @artefact(reads=(f"instructions/{id}.md",))
    async def likelihoods(
        question: str,
        answer: str,
        gptscore_model: LanguageModel,
        *,
        instruction: Annotated[str, _may_stand_in("question", "answer")] = "",
    ) -> Scored:
        """The likelihood of the completion of the instruction."""
        taken = chosen_instruction(id, instruction)
        return await scored(gptscore_model, [taken.about(question=question, answer=answer)])

    likelihoods.__name__ = f"{id}_likelihoods"
    return likelihoods


def _mean(id: str, likelihoods: Function, documentation: str, page: str) -> Function:
    """The metric of an artefact: the mean of its likelihoods."""

    def measured(found: Scored) -> Measured:
        details = found.evidence()
        if len(found.means) > 1:
            details["directions"] = dict(zip(_DIRECTIONS, found.means, strict=True))
        return Measured(sum(found.means) / len(found.means), details)

    measured.__doc__ = documentation
    source = f"H2O evaluators page, {page} (GPTScore)"
    declare = metric(id=id, better="lower", high=None, blank_answer="not_applicable", source=source)
    return declare(signed(measured, {name_of(likelihoods): Scored}, Measured))


_UNIT: Final = "the mean negative log-likelihood of a token (natural logarithm)"
_DISTRUST: Final = """
Lower is likelier. Use it only to compare answers to the same question under the same model: it depends on length,
wording, language and the model's vocabulary, so no threshold is meaningful. The aspects differ by a few words of the
instruction, and with a small model hardly in their values. The instructions are our own
(``metrics/local/instructions``; a suite may replace one by the option ``instruction``, a text with the same names in
braces), and no agreement with people was ever published for them. The paper (Fu et al., arXiv:2302.04166; 37 data sets,
19 models of 80 million to 175 billion parameters) has the likelihood with the other sign; the authors of G-Eval
(arXiv:2303.16634) report that language models as evaluators agree less with people than trained evaluators of medium
size. For a text that is longer than the model's window the end of the source is left out, and ``truncated`` is set."""
_QUESTION: Final = f"""It is {_UNIT} of "Answer: Yes" after the
question and the dialogue: how likely "Yes" is, not how likely the answer is. A model that is not trained to follow
instructions, such as gpt2-medium, hardly reads the question."""
_SPECIFIC: Final = """

Experimental: it is asked whether the answer is the one or the other, and "Yes" to that means nothing."""
_SUMMING_UP: Final = f"""It is {_UNIT} of the answer
after the instruction, the question and a mark that asks for a summary."""

TRANSLATION_METRICS: Final = _directions("mt", "Machine translation", TRANSLATION)
QUESTION_ANSWERING_METRICS: Final = _single(
    "qa", "Question answering", QUESTION_ANSWERING, 'How unlikely a "Yes" is when asked if the answer is {}.', _QUESTION
)
SUMMARY_WITH_REFERENCE_METRICS: Final = _directions("sumref", "Summarization with reference", SUMMARY_WITH_REFERENCE)
SUMMARY_METRICS: Final = _single(
    "sum",
    "Summarization without reference",
    SUMMARY,
    "How unlikely the answer is as a summary of the question that {}.",
    _SUMMING_UP,
)

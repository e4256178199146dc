"""Judge calls: claims, verdicts on items, grades, levels and labels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, ClassVar, Final, Literal, TypeVar

from ..score import Unreadable
from ..text import sentences
from .call import (
    ANSWER_CLAIM,
    CHUNK,
    EXPECTED_CLAIM,
    EXPECTED_SENTENCE,
    IN_GRADE,
    IN_ITEM,
    IN_OBJECT,
    IN_REASON,
    IN_WORD,
    NUMBER,
    SENTENCE,
    TEXT,
    WHOLE,
    YES_OR_NO,
    Answer,
    Block,
    ByRote,
    ItemCall,
    ItemList,
    JudgeCall,
    ObjectCall,
    PartsCall,
    Reading,
    Schema,
    item,
    listing,
    numbered,
    record,
    several,
    span,
    unmarked,
)
from .replies import (
    Malformed,
    bare_reply,
    read_boolean,
    read_items,
    read_label,
    read_list,
    read_object,
    read_probabilities,
    read_reason,
    read_score,
    read_texts,
)
from .verdicts import (
    Agreement,
    AnswerSupport,
    ExpectedSupport,
    Flags,
    Grade,
    Grades,
    ReverseQuestion,
    Word,
    combined_grade,
    majority,
    share,
    tie,
)

# What a reply takes beside the texts that it repeats, in characters.
_IN_QUESTION: Final = 90
_IN_ENTITY: Final = 18
_ENTITIES_A_SENTENCE: Final = 2

Asked = TypeVar("Asked")


class TextList(ObjectCall[tuple[str, ...]]):
    """A call that is answered with a list of texts; a list with anything else in it can't be read."""

    is_verdict: ClassVar[bool] = False
    field: ClassVar[str]

    def schema(self) -> Schema:
        """An object with one list of texts."""
        return record(**{self.field: several(TEXT)})

    def read_found(self, found: Mapping[str, object]) -> Reading[tuple[str, ...]]:
        """The texts, each once."""
        return Reading(read_texts(found, self.field))

    def by_rote(self) -> ByRote[tuple[str, ...]]:
        """Each sentence of the text is one."""
        texts = sentences(self.shown()[-1].text)
        return ByRote(texts, IN_OBJECT + sum(len(text) + 6 for text in texts))


@dataclass(frozen=True, slots=True)
class AnswerClaims(TextList):
    """J1a: the answer as self-contained claims; none for a greeting or a refusal."""

    name: ClassVar[str] = "answer_claims"
    field: ClassVar[str] = "claims"

    question: str
    answer: str

    def shown(self) -> Sequence[Block]:
        """Question and answer."""
        return (Block("question", self.question), Block("answer", self.answer))


@dataclass(frozen=True, slots=True)
class ExpectedClaims(TextList):
    """J1e: an expected answer as self-contained claims; once for a question, for any number of bots.

    Its prompt is that of J1a, so that the claims of both can be compared.
    """

    name: ClassVar[str] = "expected_claims"
    field: ClassVar[str] = "claims"

    question: str
    expected: str

    def shown(self) -> Sequence[Block]:
        """Question and expected answer, under the same name as in J1a."""
        return (Block("question", self.question), Block("answer", self.expected))


@dataclass(frozen=True, slots=True)
class Entities(TextList):
    """J5: the entities of a text, each once: the expected answer's (J5e) or those of all contexts (J5c)."""

    name: ClassVar[str] = "entities"
    field: ClassVar[str] = "entities"

    text: str

    def shown(self) -> Sequence[Block]:
        """The text."""
        return (Block("text", self.text),)

    def by_rote(self) -> ByRote[tuple[str, ...]]:
        """Some for each sentence."""
        count = _ENTITIES_A_SENTENCE * max(1, len(sentences(self.text)))
        return ByRote(tuple(f"entity {number}" for number in range(count)), IN_OBJECT + count * _IN_ENTITY)


class SomeQuestions(ObjectCall[tuple[Asked, ...]]):
    """A call that is answered with so many questions."""

    is_verdict: ClassVar[bool] = False
    count: int

    def reminder(self) -> str:
        """How many questions."""
        return f"Reply with the JSON object only; number of questions: {self.count}."

    def missing(self, answer: tuple[Asked, ...]) -> Sequence[str]:
        """Names of the questions that are missing."""
        return tuple(f"question {number}" for number in range(len(answer) + 1, self.count + 1))

    def completed(self, first: tuple[Asked, ...], second: tuple[Asked, ...]) -> tuple[Asked, ...]:
        """The first questions, and others of the second until there are enough."""
        more = (question for question in second if question not in first)
        return (*first, *more)[: self.count]


@dataclass(frozen=True, slots=True)
class ReverseQuestions(SomeQuestions[ReverseQuestion]):
    """J4: questions that the answer would answer; the judge does not see the real one."""

    name: ClassVar[str] = "reverse_questions"

    answer: str
    count: int = 3

    def shown(self) -> Sequence[Block]:
        """The answer; never the real question."""
        return (Block("answer", self.answer),)

    def schema(self) -> Schema:
        """An object with a list of questions."""
        return record(questions=several(record(question=TEXT, noncommittal=YES_OR_NO)))

    def read_found(self, found: Mapping[str, object]) -> Reading[tuple[ReverseQuestion, ...]]:
        """The questions that can be read, no more than were asked for."""
        questions, problems = read_list(found, "questions", _question)
        if len(questions) < self.count:
            problems.append(f"{self.count} questions were asked for; {len(questions)} could be read.")
        return Reading(tuple(questions[: self.count]) or None, " ".join(problems))

    def by_rote(self) -> ByRote[tuple[ReverseQuestion, ...]]:
        """As many as are wanted."""
        questions = tuple(ReverseQuestion(f"Question {number}?") for number in range(self.count))
        return ByRote(questions, IN_OBJECT + self.count * _IN_QUESTION)


def _question(found: Mapping[str, object]) -> ReverseQuestion:
    text, noncommittal = found.get("question"), read_boolean(found.get("noncommittal"))
    if not isinstance(text, str) or not text.strip():
        raise Malformed('"question" must be a question')
    if noncommittal is None:
        raise Malformed('"noncommittal" must be true or false')
    return ReverseQuestion(" ".join(text.split()), noncommittal)


@dataclass(frozen=True, slots=True)
class ContextText:
    """A sentence of the contexts, and the number of its chunk, from 1."""

    chunk: int
    text: str


@dataclass(frozen=True, slots=True)
class CheckAnswer(ItemCall[AnswerSupport]):
    """J2a: the answer's claims against the contexts, and which context sentences the question needs.

    The expected answer is not shown. Parts that are empty are not asked about: ``claims``, ``sentences``.
    """

    name: ClassVar[str] = "check_answer"
    answer_type: ClassVar[type[Any]] = AnswerSupport

    question: str
    chunks: tuple[str, ...]
    claims: tuple[str, ...] = ()
    sentences: tuple[ContextText, ...] = ()

    def lists(self) -> tuple[ItemList, ...]:
        """Claims, and sentences of the contexts."""
        claims = numbered(ANSWER_CLAIM, len(self.claims))
        sentences = numbered(SENTENCE, len(self.sentences))
        return (
            ItemList("claims", "claims", claims, "supported", chunks=len(self.chunks)),
            ItemList("sentences", "needed", sentences, "needed", why=False),
        )

    def shown(self) -> Sequence[Block]:
        """Question, chunks and claims; never the expected answer."""
        chunks = shown_chunks(self.chunks, self.sentences)
        blocks = [Block("question", unmarked(self.question)), Block("chunks", chunks)]
        if self.claims:
            blocks.append(Block("claims", listing(numbered(ANSWER_CLAIM, len(self.claims)), self.claims)))
        return blocks


@dataclass(frozen=True, slots=True)
class CheckExpected(ItemCall[ExpectedSupport]):
    """J2b: the expected answer's claims and sentences against the contexts, and which chunks and sentences help.

    The answer is not shown. Parts: ``claims``, ``expected_sentences``, ``usefulness`` (of every chunk) and
    ``sentences`` (of the contexts, that support the expected answer).
    """

    name: ClassVar[str] = "check_expected"
    answer_type: ClassVar[type[Any]] = ExpectedSupport

    question: str
    expected: str
    chunks: tuple[str, ...]
    claims: tuple[str, ...] = ()
    expected_sentences: tuple[str, ...] = ()
    usefulness: bool = False
    sentences: tuple[ContextText, ...] = ()

    def lists(self) -> tuple[ItemList, ...]:
        """Claims and sentences of the expected answer, chunks, and sentences of the contexts."""
        claims = numbered(EXPECTED_CLAIM, len(self.claims))
        expected = numbered(EXPECTED_SENTENCE, len(self.expected_sentences))
        chunks = numbered(CHUNK, len(self.chunks) if self.usefulness else 0)
        sentences = numbered(SENTENCE, len(self.sentences))
        return (
            ItemList("claims", "claims", claims, "supported", chunks=len(self.chunks)),
            ItemList("expected_sentences", "sentences", expected, "supported", chunks=len(self.chunks)),
            ItemList("usefulness", "useful", chunks, "useful"),
            ItemList("sentences", "supporting", sentences, "supports", why=False),
        )

    def shown(self) -> Sequence[Block]:
        """Question, expected answer, chunks and claims; never the answer."""
        ids = numbered(EXPECTED_SENTENCE, len(self.expected_sentences))
        # Numbered sentences are the expected answer; it is not shown twice.
        expected = listing(ids, self.expected_sentences) if ids else unmarked(self.expected)
        blocks = [
            Block("question", unmarked(self.question)),
            Block("expected", expected),
            Block("chunks", shown_chunks(self.chunks, self.sentences)),
        ]
        if self.claims:
            blocks.append(Block("claims", listing(numbered(EXPECTED_CLAIM, len(self.claims)), self.claims)))
        return blocks


@dataclass(frozen=True, slots=True)
class CompareClaims(ItemCall[Agreement]):
    """J3: the answer's claims against the expected answer, and the expected claims against the answer.

    ``question`` is for judges that need it to understand short answers, and is shown where the answer as a whole is
    judged; the specification's prompt shows E, A and both lists. Parts that are empty are not asked about.
    """

    name: ClassVar[str] = "compare_claims"
    answer_type: ClassVar[type[Any]] = Agreement

    expected: str
    answer: str
    answer_claims: tuple[str, ...]
    expected_claims: tuple[str, ...]
    question: str = ""
    whole: bool = False

    def lists(self) -> tuple[ItemList, ...]:
        """The answer's claims, the expected ones, and the answer as a whole."""
        answer = numbered(ANSWER_CLAIM, len(self.answer_claims))
        expected = numbered(EXPECTED_CLAIM, len(self.expected_claims))
        return (
            ItemList("answer_claims", "answer_claims", answer, "supported"),
            ItemList("expected_claims", "expected_claims", expected, "covered"),
            ItemList("whole", "whole", numbered(WHOLE, int(self.whole)), "right"),
        )

    def shown(self) -> Sequence[Block]:
        """Both answers and their claims; the question where the answer as a whole is judged."""
        question = [Block("question", unmarked(self.question))] if self.whole and self.question.strip() else []
        blocks = [*question, Block("expected", unmarked(self.expected)), Block("answer", unmarked(self.answer))]
        if self.answer_claims:
            ids = numbered(ANSWER_CLAIM, len(self.answer_claims))
            blocks.append(Block("answer_claims", listing(ids, self.answer_claims)))
        if self.expected_claims:
            ids = numbered(EXPECTED_CLAIM, len(self.expected_claims))
            blocks.append(Block("expected_claims", listing(ids, self.expected_claims)))
        return blocks


def shown_chunks(chunks: Sequence[str], sentences: Sequence[ContextText]) -> str:
    """The chunks, each on one line; or, where their sentences are asked about, each with its sentences below it."""
    within: dict[int, list[str]] = {}
    for identity, sentence in zip(numbered(SENTENCE, len(sentences)), sentences, strict=True):
        within.setdefault(sentence.chunk, []).append(item(identity, sentence.text))
    lines: list[str] = []
    for number, (identity, chunk) in enumerate(zip(numbered(CHUNK, len(chunks)), chunks, strict=True), start=1):
        lines += [f"[{identity}]", *within[number]] if number in within else [item(identity, chunk)]
    return "\n".join(lines)


REVIEW_ASPECTS: Final = ("relevance", "faithfulness", "safety", "robustness")


@dataclass(frozen=True, slots=True)
class Review(PartsCall[Grades]):
    """J6: relevance, faithfulness (to the expected answer), safety and robustness, each with a score and a reason."""

    name: ClassVar[str] = "review"

    question: str
    answer: str
    expected: str = ""  # blank: judged without it
    low: float = 0.0
    high: float = 1.0

    @property
    def parts(self) -> frozenset[str]:
        """Whether there is an expected answer."""
        return frozenset({"expected" if self.expected.strip() else "no expected"})

    def shown(self) -> Sequence[Block]:
        """Question, expected answer where there is one, and answer."""
        expected = [Block("expected", self.expected)] if self.expected.strip() else []
        return (Block("question", self.question), *expected, Block("answer", self.answer))

    def reminder(self) -> str:
        """The scale."""
        return f"Reply with the JSON object only; scores are numbers from {self.low:g} (worst) to {self.high:g} (best)."

    def schema(self) -> Schema:
        """Reason and score of each aspect; the reason comes first, so that the score follows from it."""
        return record(**{aspect: record(reason=TEXT, score=NUMBER) for aspect in REVIEW_ASPECTS})

    def read_found(self, found: Mapping[str, object]) -> Reading[Grades]:
        """The grades that can be read."""
        grades: dict[str, Grade | None] = {}
        problems: list[str] = []
        for aspect in REVIEW_ASPECTS:
            try:
                grades[aspect] = self._grade(found.get(aspect))
            except Malformed as wrong:
                grades[aspect] = None
                problems.append(f'In "{aspect}", {wrong}.')
        return Reading(grades if any(grades.values()) else None, " ".join(problems))

    def _grade(self, found: object) -> Grade:
        if not isinstance(found, Mapping):
            raise Malformed('an object with "reason" and "score" is wanted')
        return Grade(read_score(found.get("score"), self.low, self.high), read_reason(found))

    def parts_of(self, answer: Grades) -> Grades:
        """The grades by aspect."""
        return answer

    def made_of(self, parts: Mapping[str, Grade | None]) -> Grades:
        """All aspects."""
        return {aspect: parts.get(aspect) for aspect in REVIEW_ASPECTS}

    def combined_part(self, given: Sequence[Grade | None], mean: bool) -> Grade | None:
        """The median, or the mean."""
        return combined_grade(given, mean, self.high - self.low)

    def by_rote(self) -> ByRote[Grades]:
        """The best."""
        return ByRote(dict.fromkeys(REVIEW_ASPECTS, Grade(self.high)), len(REVIEW_ASPECTS) * IN_GRADE)


@dataclass(frozen=True, slots=True)
class SafetyVerdicts(PartsCall[Flags]):
    """J7: for each aspect of safety, whether the answer, or the retrieved contexts, are flagged."""

    name: ClassVar[str] = "safety"

    question: str  # blank: judged without it
    answer: str  # or the contexts, where these are judged
    aspects: tuple[str, ...]
    judged: Literal["answer", "contexts"] = "answer"

    @property
    def parts(self) -> frozenset[str]:
        """The aspects, and whether contexts are judged."""
        return frozenset(self.aspects) | ({"contexts"} if self.judged == "contexts" else set())

    def shown(self) -> Sequence[Block]:
        """Question, where there is one, and what is judged."""
        question = [Block("question", self.question)] if self.question.strip() else []
        return (*question, Block(self.judged, self.answer))

    def reminder(self) -> str:
        """The aspects."""
        return f"Reply with the JSON object only, with true or false for each of: {', '.join(self.aspects)}."

    def schema(self) -> Schema:
        """Yes or no for each aspect."""
        return record(**dict.fromkeys(self.aspects, YES_OR_NO))

    def read_found(self, found: Mapping[str, object]) -> Reading[Flags]:
        """The flags that can be read."""
        flags = {aspect: read_boolean(found.get(aspect)) for aspect in self.aspects}
        missing = [f'"{aspect}"' for aspect, flag in flags.items() if flag is None]
        problem = f"The object must have true or false for {', '.join(missing)}." if missing else ""
        return Reading(None if len(missing) == len(flags) else flags, problem)

    def parts_of(self, answer: Flags) -> Flags:
        """The flags by aspect."""
        return answer

    def made_of(self, parts: Mapping[str, bool | None]) -> Flags:
        """All aspects."""
        return {aspect: parts.get(aspect) for aspect in self.aspects}

    def combined_part(self, given: Sequence[bool | None], mean: bool) -> bool | None:  # noqa: ARG002 - no number
        """The majority."""
        return majority(given)

    def vote(self, part: bool | None) -> bool | None:
        """The flag itself."""
        return part

    def by_rote(self) -> ByRote[Flags]:
        """Nothing is flagged."""
        return ByRote(dict.fromkeys(self.aspects, False), IN_OBJECT + IN_ITEM * len(self.aspects))


_QUOTED: Final = 200  # characters of a reply in the details
_OF_TEN: Final = re.compile(r"(?<=[0-9])\s*(?:/\s*10|out\s+of\s+(?:10|ten))(?![\w/]|[.,][0-9])", re.IGNORECASE)
_AROUND: Final = ".,;!?()[]\"'`*_\u201c\u201d\u2018\u2019"


class WordCall(JudgeCall[Word]):
    """A call that is answered with one of two class labels."""

    labels: tuple[str, str]

    def reminder(self) -> str:
        """The two words."""
        return f"Reply with one word only: {self.labels[0]} or {self.labels[1]}."

    def read(self, reply: str) -> Reading[Word]:
        """The label, if the reply has exactly one."""
        label = read_label(reply, self.labels)
        if label is None:
            return Reading(None, f"The reply must be one word, {self.labels[0]} or {self.labels[1]}, and nothing else.")
        return Reading(Word(label, bare_reply(reply)[:_QUOTED]))

    def combine(self, answers: Sequence[Word | None], mean: bool) -> Word:  # noqa: ARG002 - a label is no number
        """The majority's label."""
        words = [answer.label if answer else None for answer in answers]
        label = majority(words)
        if label is None:
            raise Unreadable(f"Of {len(words)} judges or votes, too few could be read, or the votes are tied.")
        return Word(label, agreement=share(words, label))

    def tied(self, answers: Sequence[Word | None]) -> bool:
        """Whether the votes are tied."""
        return tie([answer.label if answer else None for answer in answers])

    def by_rote(self) -> ByRote[Word]:
        """The passing one."""
        return ByRote(Word(self.labels[0]), IN_WORD)


class GradeCall(JudgeCall[Grade]):
    """A call that is answered with one score on a scale."""

    low: int
    high: int

    def combine(self, answers: Sequence[Grade | None], mean: bool) -> Grade:
        """The median, or the mean."""
        grade = combined_grade(answers, mean, self.high - self.low)
        if grade is None:
            raise Unreadable(f"Of {len(answers)} judges or votes, too few could be read.")
        return grade


class TextsCall(JudgeCall[Answer]):
    """A call that shows some texts under a prompt that is named like the evaluator."""

    prompt: str
    texts: tuple[Block, ...]

    def title(self) -> str:
        """The evaluator's name."""
        return self.prompt

    def prompt_name(self) -> str:
        """The evaluator's name."""
        return self.prompt

    @property
    def parts(self) -> frozenset[str]:
        """The labels of the texts."""
        return frozenset(block.label for block in self.texts)

    def shown(self) -> Sequence[Block]:
        """The texts as they were given."""
        return self.texts


@dataclass(frozen=True, slots=True)
class Label(TextsCall[Word], WordCall):
    """J8: one of two class labels for some texts.

    Attributes:
        prompt: name of the prompt file, and of the stored call.
        labels: the two class labels, the passing one first.
        texts: what is shown, by its label; the prompt's sections are those of these labels.
    """

    name: ClassVar[str] = "label"

    prompt: str
    labels: tuple[str, str]
    texts: tuple[Block, ...]


class OwnCall(JudgeCall[Answer]):
    """A user's own text, with the row's texts in the places of its placeholders.

    Attributes:
        pieces: the user's text, which is trusted and obeyed, and between it the row's texts, each in a ``Block``. A
            row's text that is written into the user's could give the judge orders.
    """

    pieces: tuple[Block | str, ...]

    def shown(self) -> Sequence[Block]:
        """The row's texts."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Block))

    def content(self) -> Sequence[Block | str]:
        """The user's text with the row's texts in it."""
        return self.pieces


@dataclass(frozen=True, slots=True)
class OwnPrompt(OwnCall[Word], WordCall):
    """A user's own prompt; ``labels`` are the two class labels, the passing one first."""

    name: ClassVar[str] = "byop"

    labels: tuple[str, str]
    pieces: tuple[Block | str, ...]


@dataclass(frozen=True, slots=True)
class OwnRubric(OwnCall[Grade], GradeCall):
    """A rubric of a user's own: criteria in plain words, and a number on a scale with its reason.

    It is a whole one, but on a scale with no whole numbers between its ends, such as 0 to 1.

    Attributes:
        pieces: see ``OwnCall``.
        low: the worst score.
        high: the best score.
    """

    name: ClassVar[str] = "rubric"

    pieces: tuple[Block | str, ...]
    low: int
    high: int

    def scale(self) -> tuple[int, int]:
        """The worst and the best score."""
        return self.low, self.high

    @property
    def _is_whole(self) -> bool:
        return self.high - self.low > 1

    def reminder(self) -> str:
        """The scale."""
        kind = "a whole number" if self._is_whole else "a number, with decimals,"
        scale = f"{kind} from {self.low} (worst) to {self.high} (best)"
        return f'Reply with the JSON object only: {{"reason": "...", "score": SCORE}}, where SCORE is {scale}.'

    def schema(self) -> Schema:
        """The reason comes first, so that the score follows from it."""
        return record(reason=TEXT, score=NUMBER)

    def read(self, reply: str) -> Reading[Grade]:
        """The score, or the mean of the scores by their probabilities, with the reason."""
        bare, probabilities = read_probabilities(reply)
        found = read_object(bare)
        if isinstance(found, str):
            return Reading(None, found)
        wanted = f"{'a whole number' if self._is_whole else 'a number'} from {self.low} to {self.high}"
        try:
            score = read_score(found.get("score"), self.low, self.high)
        except Malformed as wrong:
            return Reading(None, f'In the reply, {wrong}: "score" is {wanted}.')
        if self._is_whole and not score.is_integer():
            return Reading(None, f'"score" must be {wanted}.')
        text = read_reason(found)
        # None were given, or they are not those of this score; those of decimals are only of their first figure.
        if not self._is_whole or int(score) not in probabilities:
            return Reading(Grade(score, text))
        mean = sum(number * share for number, share in probabilities.items())
        return Reading(Grade(mean, text, probabilities=tuple(probabilities.items())))


@dataclass(frozen=True, slots=True)
class Rating(TextsCall[Grade], GradeCall):
    """J8 of the stereotypes evaluator: one whole number for some texts.

    Attributes:
        prompt: name of the prompt file, and of the stored call.
        texts: what is shown, by its label.
    """

    name: ClassVar[str] = "rating"

    prompt: str
    texts: tuple[Block, ...]
    low: int = 0
    high: int = 10

    def reminder(self) -> str:
        """The scale."""
        return f"Reply with one whole number only, from {self.low} to {self.high}."

    def read(self, reply: str) -> Reading[Grade]:
        """The only number of the reply, if it is a whole one on the scale."""
        number = read_whole_number(reply)
        try:
            return Reading(Grade(read_score(number, self.low, self.high)))
        except Malformed:
            wanted = f"one whole number from {self.low} to {self.high}"
            return Reading(None, f"The reply must be {wanted}, and nothing else.")

    def by_rote(self) -> ByRote[Grade]:
        """The lowest, which is the best."""
        return ByRote(Grade(self.low), IN_WORD)


def read_whole_number(reply: str) -> int | None:
    """The only number of a reply, when it is a whole one; None when there are several, or none.

    "/10" and "out of 10" after it are part of it. An object is read by its ``score`` or ``verdict``.

    >>> read_whole_number("**1 out of 10**"), read_whole_number("between 1 and 3"), read_whole_number("1.5")
    (1, None, None)
    """
    text = bare_reply(reply)
    if text.startswith("{"):
        found = read_object(text)
        value = found.get("score", found.get("verdict")) if isinstance(found, Mapping) else None
        text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    text = re.sub(r"[:=*]", " ", _OF_TEN.sub(" ", text))
    numbers = [word.strip(_AROUND) for word in text.split() if re.search(r"\d", word)]
    return int(numbers[0]) if len(numbers) == 1 and re.fullmatch("[0-9]{1,3}", numbers[0]) else None


@dataclass(frozen=True, slots=True)
class Level:
    """Where a judge puts an item.

    Attributes:
        place: on the call's scale, from 0, the lowest.
        why: the judge's reason; may be blank.
        agreement: share of judges or votes that say the same; 1.0 when there was one.
        probability: that the highest level holds, if the judge has one; language models have none.
    """

    place: int
    why: str = ""
    agreement: float = 1.0
    probability: float | None = None


Levels = tuple[Level | None, ...]
"""One for each item, in order; None for one that can't be read."""


class LevelCall(PartsCall[Levels]):
    """A call that is answered with one level for each item."""

    field: ClassVar[str]
    part: ClassVar[str]  # field of the reply with the list of items
    scale_names: ClassVar[tuple[str, ...]]  # from the lowest to the highest; figures are read as numbers, too

    def ids(self) -> tuple[str, ...]:
        """The ids of the items."""
        raise NotImplementedError

    def reminder(self) -> str:
        """What is asked about, by the ids."""
        return f"Reply with the JSON object only, one entry for each id ({self.part}: {span(self.ids())})."

    def schema(self) -> Schema:
        """A list of items; the reason comes first, so that the level follows from it."""
        is_figure = all(name.isdecimal() for name in self.scale_names)
        names: list[object] = [int(name) for name in self.scale_names] if is_figure else list(self.scale_names)
        level: Schema = {"type": "integer" if is_figure else "string", "enum": names}
        return record(**{self.part: several(record(id=TEXT, why=TEXT, **{self.field: level}))})

    def read_found(self, found: Mapping[str, object]) -> Reading[Levels]:
        """The levels that can be read."""
        levels, problems = read_items(found, self.part, self.ids(), self._level)
        return Reading(levels if any(levels) else None, " ".join(problems))

    def _level(self, entry: Mapping[str, object]) -> Level:
        given = entry.get(self.field)
        name = str(given).strip().casefold().replace(" ", "_") if isinstance(given, str | int) else ""
        if isinstance(given, bool) or name not in self.scale_names:
            raise Malformed(f'"{self.field}" must be one of {", ".join(self.scale_names)}')
        return Level(self.scale_names.index(name), read_reason(entry, "why"))

    def parts_of(self, answer: Levels) -> Mapping[str, Level | None]:
        """The levels by the ids of their items."""
        return dict(zip(self.ids(), answer, strict=True))

    def made_of(self, parts: Mapping[str, Level | None]) -> Levels:
        """The levels in the order of their items."""
        return tuple(parts.get(identity) for identity in self.ids())

    def combined_part(self, given: Sequence[Level | None], mean: bool) -> Level | None:  # noqa: ARG002 - no mean
        """The median level, the lower one of two; None where fewer than half can be read."""
        return _median(given)

    def by_rote(self) -> ByRote[Levels]:
        """All on the highest one."""
        ids = self.ids()
        return ByRote((Level(len(self.scale_names) - 1),) * len(ids), IN_OBJECT + len(ids) * (IN_ITEM + IN_REASON))


def _median(levels: Sequence[Level | None]) -> Level | None:
    readable = [level for level in levels if level is not None]
    if not readable or 2 * len(readable) < len(levels):
        return None
    place = median_low(level.place for level in readable)
    agreeing = [level for level in readable if level.place == place]
    return Level(place, next((one.why for one in agreeing if one.why), ""), len(agreeing) / len(readable))

"""The sample suite that ships with the package holds together: files, quotes, counts, wording."""

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path

import proctor
import pytest
from proctor.bots.prompting import standalone
from proctor.knowledge.paths import cache_folder
from proctor.knowledge.questions.conversations import simulation_of
from proctor.knowledge.questions.question import Evidence, Question
from proctor.knowledge.questions.question_files import open_questions
from ruamel.yaml import YAML

FOLDER = Path(proctor.__file__).parent / "knowledge" / "samples" / "help_centre"
REFUSAL = "I don't know. Please ask our support team."
KINDS = {"faq", "paraphrase", "documents", "multi_document", "typo", "unanswerable", "conversation"}
PROMPTS = ("full_context.md", "rag.md")
# the only characters beyond ASCII that the sample may use: none at present, so that any console shows it
BEYOND_ASCII: frozenset[str] = frozenset()


@cache
def documents() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((FOLDER / "documents").glob("*.md"))}


@cache
def questions() -> tuple[Question, ...]:
    return tuple(open_questions(FOLDER / "questions.yaml"))


@cache
def faq() -> tuple[dict[str, str], ...]:
    with (FOLDER / "faq.csv").open(encoding="utf-8", newline="") as stream:
        return tuple(csv.DictReader(stream))


def answerable() -> list[Question]:
    return [question for question in questions() if question.answerable]


def test_a_simulated_user_wants_what_its_document_says() -> None:
    (simulation,) = filter(None, map(simulation_of, questions()))
    assert simulation.script and simulation.goal_constraints
    said = documents()["returns-and-refunds.md"]
    assert all(str(each) in said for each in simulation.goal_constraints)


def kinds(question: Question) -> set[str]:
    return KINDS & set(question.tags)


def quotes(question: Question) -> list[Evidence]:
    return [place for group in question.evidence for place in group]


def same_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def test_there_is_enough_of_everything() -> None:
    counts = Counter(kind for question in questions() for kind in kinds(question))
    assert len(documents()) >= 14
    assert len(questions()) >= 72
    assert len(faq()) >= 30
    wanted = {"faq": 25, "paraphrase": 20, "documents": 15, "unanswerable": 10, "typo": 3, "multi_document": 2}
    assert {kind: n for kind, n in wanted.items() if counts[kind] < n} == {}


def test_there_are_conversations_of_two_to_four_turns_about_one_document_each() -> None:
    turns: dict[str, list[Question]] = {}
    for question in questions():
        turns.setdefault(question.conversation, []).append(question)
    del turns[""]
    assert len(turns.pop("talk-to-return")) == 1, "what it asks further depends on the bot"
    assert len(turns) == 12
    assert {len(each) for each in turns.values()} == {2, 3, 4}
    assert all(len({turn.source_document for turn in each}) == 1 for each in turns.values())
    followed = [turn for each in turns.values() for turn in each[1:]]
    leaning = [
        turn for turn in followed if standalone(turn.text, [{"role": "user", "content": "Earlier."}]) != turn.text
    ]
    assert len(leaning) >= 0.7 * len(followed), "most turns can't be understood alone"


def test_questions_are_read_without_a_warning() -> None:
    assert list(open_questions(FOLDER / "questions.yaml").warnings) == []


def test_documents_have_a_title_and_a_help_centre_page_length() -> None:
    for name, text in documents().items():
        assert text.startswith("# "), name
        assert 250 <= len(text.split()) <= 500, (name, len(text.split()))


def test_every_document_is_asked_about() -> None:
    used = {place.document for question in questions() for place in quotes(question)}
    # the superseded price list misleads on purpose: no right answer stands in it
    assert set(documents()) - used == {"repair-prices-2024.md"}


def test_every_quote_stands_word_for_word_in_its_document() -> None:
    wrong = [
        (question.id, place.document, place.quote)
        for question in answerable()
        for place in quotes(question)
        if not place.quote or place.quote not in documents().get(place.document, "")
    ]
    assert wrong == []


def test_answerable_questions_have_all_that_is_needed_to_mark_them() -> None:
    missing = [
        question.id
        for question in answerable()
        if not (question.expected and all(question.expected) and question.evidence and question.constraints)
    ]
    assert missing == []


def test_source_documents_exist_and_carry_evidence() -> None:
    for question in answerable():
        assert question.source_document in documents(), question.id
        assert question.source_document in {place.document for place in quotes(question)}, question.id


def test_unanswerable_questions_expect_the_refusal_and_claim_no_source() -> None:
    for question in questions():
        if simulation_of(question):
            continue
        assert (question.answerable is False) == ("unanswerable" in question.tags), question.id
        if not question.answerable:
            assert question.expected == (REFUSAL,), question.id
            assert not question.evidence and (question.conversation or not question.source_document), question.id


def test_no_answerable_question_expects_the_refusal() -> None:
    assert [question.id for question in answerable() if REFUSAL in question.expected] == []


def test_expected_answers_meet_their_own_constraints() -> None:
    broken = [
        (question.id, constraint)
        for question in answerable()
        for constraint in question.constraints
        if not any(
            text.lower() in question.expected[0].lower()
            for text in (constraint if isinstance(constraint, tuple) else (constraint,))
        )
    ]
    assert broken == []


def test_evidence_carries_every_figure_of_the_expected_answer() -> None:
    """A figure in an expected answer stands in one of the documents that the question cites."""
    unfounded = []
    for question in answerable():
        cited = " ".join(documents()[name] for name in {place.document for place in quotes(question)})
        known = set(re.findall(r"\d+(?:[.,:]\d+)*", cited))
        unfounded += [
            (question.id, figure)
            for expected in question.expected
            for figure in re.findall(r"\d+(?:[.,:]\d+)*", expected)
            if figure not in known
        ]
    assert unfounded == []


def test_ids_and_questions_are_unique_and_each_has_one_kind() -> None:
    assert [name for name, n in Counter(question.id for question in questions()).items() if n > 1] == []
    assert [text for text, n in Counter(same_words(q.text) for q in questions()).items() if n > 1] == []
    assert [question.id for question in questions() if len(kinds(question)) != 1] == []


def test_multi_document_questions_need_two_documents() -> None:
    for question in questions():
        if "multi_document" in question.tags:
            groups = [{place.document for place in group} for group in question.evidence]
            assert len(groups) >= 2 and not set.intersection(*groups), question.id


def test_paraphrases_name_a_question_that_exists() -> None:
    ids = {question.id for question in questions()}
    named = [question.extra["paraphrase_of"] for question in questions() if "paraphrase_of" in question.extra]
    assert len(named) >= 15
    assert [name for name in named if name not in ids] == []


def test_faq_entries_are_whole_and_unique() -> None:
    assert all(set(entry) == {"question", "answer"} and all(entry.values()) for entry in faq())
    assert [text for text, n in Counter(same_words(entry["question"]) for entry in faq()).items() if n > 1] == []


def test_no_question_of_the_documents_kind_stands_in_the_faq() -> None:
    foreseen = {same_words(entry["question"]) for entry in faq()}
    strays = [q.id for q in questions() if not kinds(q) & {"faq"} and same_words(q.text) in foreseen]
    assert strays == []


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_have_their_placeholders_and_the_refusal(name: str) -> None:
    prompt = (FOLDER / "prompts" / name).read_text(encoding="utf-8")
    assert prompt.count("{context}") == 1 and prompt.count("{question}") == 1
    assert f'do not contain the answer, say: "{REFUSAL}"' in prompt
    assert "at most two sentences" in prompt


def test_suite_names_files_that_exist_and_the_same_refusal() -> None:
    suite = YAML(typ="safe", pure=True).load(FOLDER / "suite.yaml")
    bots = suite["bots"]
    named = [suite["knowledge"], suite["questions"], bots["faq"]["entries"]]
    named += [bots["full_context"]["prompt"], bots["rag"]["prompt"]]
    assert [path for path in named if not (FOLDER / path).exists()] == []
    assert bots["faq"]["abstain"] == REFUSAL


def test_two_price_lists_disagree_and_the_old_one_says_so() -> None:
    """The trap works only as long as both lists name the same service at different prices."""
    old, new = documents()["repair-prices-2024.md"], documents()["repair-prices-2026.md"]
    service = re.compile(r"A basic service costs (\d+) euros")
    assert service.findall(old) == ["59"]
    assert service.findall(new) == ["69"]
    assert "was replaced on 1 February 2026" in old


def test_text_can_be_shown_on_any_console() -> None:
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            content = path.read_bytes().decode("utf-8")
            assert {c for c in content if not c.isascii()} <= BEYOND_ASCII, path.name
            assert "\r" not in content and "\t" not in content and content.endswith("\n"), path.name


# cache_folder


@pytest.mark.parametrize(
    ("environ", "platform", "wanted"),
    [
        ({"PROCTOR_CACHE": "/own", "XDG_CACHE_HOME": "/xdg"}, "linux", "/own"),
        ({"XDG_CACHE_HOME": "/xdg", "HOME": "/users/a"}, "linux", "/xdg/proctor"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/users/a"}, "linux", "/users/a/.cache/proctor"),
        ({"PROCTOR_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/users/a"}, "darwin", "/users/a/.cache/proctor"),
        ({"XDG_CACHE_HOME": "/xdg", "LOCALAPPDATA": "/local"}, "win32", "/local/proctor"),
    ],
)
def test_cache_folder(environ, platform, wanted):
    assert cache_folder(environ, platform) == Path(wanted)


def test_without_any_variable_it_is_still_a_whole_path():
    assert cache_folder({}, "linux").is_absolute()

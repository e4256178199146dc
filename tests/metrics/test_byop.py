import asyncio

import pytest
from proctor import InputError
from proctor.metrics import builtin_catalog
from proctor.metrics.evaluators import evaluator_of, named, names, options_of, rates
from proctor.metrics.judge.call import Block
from proctor.metrics.judge.calls import OwnPrompt
from proctor.metrics.judge.judges import PromptedJudge
from proctor.metrics.judge.own_prompts import byop_metrics, read_template
from proctor.metrics.judge.rendering import JudgeReply
from proctor.metrics.judge.verdicts import Word
from proctor.metrics.score import Unreadable
from scripted_judge import ScriptedJudge
from tables import in_one_test

ROW = {"question": "Q?", "expected": "E.", "contexts": ["C1.", " ", "C2."], "answer": "A."}


class Saying:
    model_id = "saying"

    def __init__(self, reply: str) -> None:
        self.reply = reply

    async def complete(self, request, problem):
        return JudgeReply(self.reply)


def scored(template, judge, labels=("true", "false"), options=None, **facts):
    catalog = builtin_catalog().with_functions(byop_metrics("tone", template, "tone.md", labels))
    plan = catalog.plan(rates("byop.tone"), options={"byop_tone": options or {}})
    return asyncio.run(plan.score({**ROW, "judge": judge, **facts}))


def values(scores):
    return [score.value for score in scores]


@pytest.mark.parametrize(("reply", "passes"), [("**True**", 1.0), ("false", 0.0), ("true. Not false.", None)])
def test_the_examples_of_the_specification(reply, passes):
    scores = scored("Is {answer} polite?", PromptedJudge(Saying(reply)), contexts=None)
    fails = None if passes is None else 1 - passes
    assert values(scores) == [passes, fails, None, fails, float(passes is None)]
    assert [score.metric for score in scores] == list(rates("byop.tone"))


def test_labels_are_configurable():
    judge = PromptedJudge(Saying("rude"))
    assert values(scored("Is {answer} polite?", judge, ("polite", "rude")))[0] == 0.0
    assert values(scored("Is {answer} polite?", judge))[0] is None
    for labels in (("yes", "Yes"), ("yes", " ")):
        with pytest.raises(InputError, match=r"tone\.md: the labels are 'yes' and .*two different words"):
            scored("Is {answer} polite?", judge, labels)


def test_each_text_is_put_in_its_place_once_and_never_filled_in():
    judge = ScriptedJudge({OwnPrompt: Word("true")})
    template = 'Given {INPUT}\nand { CONTEXT }: {EXPECTED_OUTPUT} = {ACTUAL_OUTPUT}? {"a": {"b": 1}} {x}'
    scored(template, judge, answer="{question} {ACTUAL_OUTPUT} {0} %s", question="{answer}")
    assert judge.asked[0].call == OwnPrompt(
        ("true", "false"),
        (
            "Given ",
            Block("question", "{answer}"),
            "\nand ",
            Block("contexts", "C1.\n\nC2."),
            ": ",
            Block("expected", "E."),
            " = ",
            Block("answer", "{question} {ACTUAL_OUTPUT} {0} %s"),
            '? {"a": {"b": 1}} {x}',
        ),
    )


@pytest.mark.parametrize(
    ("template", "missing", "reason"),
    [
        ("{question} {answer}", {"question": " "}, "question_missing"),
        ("{expected} {answer}", {"expected": None}, "expected_missing"),
        ("{contexts} {answer}", {"contexts": None}, "contexts_missing"),
        ("{contexts} {answer}", {"contexts": []}, "contexts_empty"),
        ("{answer}", {"answer": " "}, "answer_empty"),
        ("{answer}", {"answer": None}, "answer_missing"),
    ],
)
def test_a_row_that_misses_a_named_field_is_not_judged(template, missing, reason):
    judge = ScriptedJudge({OwnPrompt: Word("true")})
    scores = scored(template, judge, **missing)
    assert {(score.status, score.reason) for score in scores} == {("not_applicable", reason)}
    assert judge.asked == []


def test_a_row_that_misses_another_field_is_judged():
    judge = ScriptedJudge({OwnPrompt: Word("true")})
    assert values(scored("Is {contexts} public?", judge, answer=" ", question=None, expected=None))[0] == 1.0


@pytest.mark.parametrize(
    ("template", "options", "expected"),
    [
        ("{answer}", {}, [0.0, 1.0, None, 1.0, 0.0]),
        ("{contexts} {answer}", {}, [0.0, 1.0, 1.0, 1.0, 0.0]),
        ("{contexts}", {}, [0.0, 1.0, 1.0, 0.0, 0.0]),
        ("{answer}", {"check_contexts": True}, [0.0, 1.0, 1.0, 1.0, 0.0]),
    ],
)
def test_what_fails_is_what_the_judge_was_shown(template, options, expected):
    judge = ScriptedJudge({OwnPrompt: Word("false")})
    scores = scored(template, judge, options=options)
    assert values(scores) == expected
    if expected[2] is None:
        assert scores[2].reason == "contexts_not_checked"
    assert len(judge.asked) == (2 if options else 1)


def test_contexts_take_the_place_of_the_answer_in_a_second_request_if_that_is_wanted():
    judge = ScriptedJudge({OwnPrompt: lambda call: Word("true" if call.pieces[1].text == "A." else "false")})
    wanted = {"check_contexts": True}
    scores = scored("Is {answer} polite?", judge, options=wanted)
    assert values(scores) == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert [asked.call.pieces[1] for asked in judge.asked] == [Block("answer", "A."), Block("answer", "C1.\n\nC2.")]
    none = scored("Is {answer} polite?", judge, options=wanted, contexts=[" "])
    assert none[2].reason == "contexts_empty"


def test_a_verdict_on_contexts_and_answer_that_cannot_be_read():
    scores = scored("{contexts} {answer}", ScriptedJudge({OwnPrompt: Unreadable("mumbled")}))
    assert [score.status for score in scores] == ["parse_failure"] * 4 + ["ok"]


@in_one_test(
    ("template", "message"),
    [
        (
            "Line\nIs {anwser} polite?",
            r"p\.md:2: there is no placeholder {anwser}; did you mean {answer}\? There are {que",
        ),
        ("{answer} {context}", r"p\.md:1: there is no placeholder {context}; did you mean {CONTEXT}"),
        ("{answer} {Question}", r"did you mean {question}"),
        ("{answer} {actual_output}", r"did you mean {ACTUAL_OUTPUT}"),
        ("{answer} {ground_truth}", r"did you mean {expected}"),
        ("{answer} {respones}", r"did you mean {answer}"),
        ("{{answer}}", r"p\.md:1: '{{answer}}' has doubled braces; write {answer} with single ones"),
        ("Is it polite? {true}", r"p\.md: the prompt names nothing to judge; .* {question}, {expected}, {contexts}"),
    ],
)
def test_a_template_that_cannot_be_meant_is_refused(template, message):
    with pytest.raises(InputError, match=message):
        read_template(template, "p.md")


def test_other_braces_are_text():
    text = r'{"verdict": true} {x} \frac{a}{b} {} { } {1} ${HOME} {{"a": 1}} {true}'
    assert read_template(text + "{answer}" + text, "p.md") == (text, "answer", text)
    assert read_template("{{answer}", "p.md") == ("{", "answer", "")


def version(*prompts):
    catalog = builtin_catalog()
    for prompt in prompts:
        catalog = catalog.with_functions(byop_metrics(*prompt))
    return catalog.plan([f"byop.{prompts[0][0]}.passes"]).metrics[0].version


def test_a_template_and_its_labels_are_in_the_version_of_the_scores():
    plain = version(("tone", "Is {answer} polite?", "a.md"))
    assert version(("tone", "Is {answer} polite?", "b.md")) == plain
    assert version(("tone", "Is {answer} polite?", "a.md"), ("other", "{answer}", "b.md")) == plain
    changed = [
        version(("tone", "Is {answer} rude?", "a.md")),
        version(("tone", "Is {question} polite?", "a.md")),
        version(("tone", "Is {answer} polite?", "a.md", ("yes", "no"))),
        version(("other", "Is {answer} polite?", "a.md")),
    ]
    assert len({plain, *changed}) == 5


def test_two_prompts_run_side_by_side():
    catalog = builtin_catalog()
    for name, template in (("tone", "Is {answer} polite?"), ("on-topic", "Is {answer} about {question}?")):
        catalog = catalog.with_functions(byop_metrics(name, template, f"{name}.md"))
    ids = [metric for evaluator in named("byop", catalog) for metric in evaluator.metrics]
    assert ids == [*rates("byop.tone"), *rates("byop.on-topic")]
    judge = ScriptedJudge({OwnPrompt: lambda call: Word("true" if len(call.pieces) == 3 else "false")})
    plan = catalog.plan(ids)
    scores = asyncio.run(plan.score({**ROW, "judge": judge}))
    assert [score.value for score in scores if score.metric.endswith(".passes")] == [1.0, 0.0]
    assert len(judge.asked) == plan.requests.per_row == 2  # no contexts, for which the prompts have no place


def test_evaluators_of_own_prompts():
    catalog = builtin_catalog().with_functions(byop_metrics("tone", "{question} {contexts} {answer}", "tone.md"))
    (tone,) = named("byop.tone", catalog)
    assert (tone.id, tone.board, tone.primary) == ("byop.tone", "bool", "byop.tone.passes")
    assert set(tone.needs) == {"question", "contexts", "answer", "judge"}
    assert tone.rag_only
    assert {"byop", "byop.tone", "byop.tone.failures"} <= set(names(catalog))
    assert evaluator_of("byop.tone.failures").id == "byop.tone"
    assert named("byop.tone.passes", catalog)[0].metrics == ("byop.tone.passes",)
    with pytest.raises(InputError, match="name their files under 'byop:' in the suite"):
        named("byop", builtin_catalog())
    with pytest.raises(InputError, match=r"did you mean 'byop\.tone'"):
        named("byop.tune", catalog)
    with_option = builtin_catalog().with_functions(byop_metrics("tone", "{answer}", "tone.md"))
    assert options_of(rates("byop.tone"), with_option) == {"check_contexts": ("byop_tone",)}

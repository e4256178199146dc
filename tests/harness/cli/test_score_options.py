"""``proctor score --option METRIC.KEY=VALUE``."""

import json

import pytest
from proctor import InputError
from proctor.harness.suite.choices import with_options
from proctor.metrics import builtin_catalog
from typed import proctor

ROW = {
    "id": "1", "question": "Whom do I write to?", "answer": "jo@acme.io, or +44 20 7946 0958.", "bot": "mine",
    "contexts": ["Mail jo@acme.io."], "expected_answer": "jo@acme.io",
}  # fmt: skip


def scored(folder, *arguments):
    (folder / "recorded.jsonl").write_text(json.dumps(ROW) + "\n")
    return proctor("score", "recorded.jsonl", *arguments, folder=folder)


def means(folder, *options):
    named = [part for option in options for part in ("--option", option)]
    done = scored(folder, "--json", "--metrics", "pii_leakage,rouge_l", *named)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    return {name: metric["mean"] for name, metric in made["bots"]["mine"]["metrics"].items()}


def test_options_change_scores_and_their_values_have_types(tmp_path):
    assert means(tmp_path)["pii_leakage.passes"] == 0.0
    allowed = 'pii_leakage.allowed_domains=["acme.io"]'  # a list
    assert means(tmp_path, allowed)["pii_leakage.passes"] == 1.0
    assert means(tmp_path, allowed, "pii_leakage.suite=extended")["pii_leakage.passes"] == 0.0  # a text; the phone
    made = means(tmp_path, "pii_leakage.check_contexts=false")  # a truth value, also by the name of a metric
    assert made["pii_leakage.retrieval_failures"] is None
    assert made == means(tmp_path, "pii_leakage.passes.check_contexts=False")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["pii_leakge.suite=extended"], "no metric or evaluator 'pii_leakge'; did you mean 'pii_leakage'?"),
        (["pii_leakage.suit=extended"], "'pii_leakage' has no option 'suit'; did you mean 'suite'?"),
        (["pii_leakage.suite=all"], "pii_leakage.suite is 'all'; one of 'standard', 'extended' is wanted"),
        (["pii_leakage.check_contexts=3"], "pii_leakage.check_contexts is 3; a value like True is wanted"),
        (["bleu.x=2"], "'bleu' is not among the metrics of the run, which are pii_leakage, rouge_l; add it under"),
        (["suite=extended"], "--option wants METRIC.KEY=VALUE, such as answer_similarity.method=cosine; got 'suite="),
        (["pii_leakage.suite"], "--option wants METRIC.KEY=VALUE"),
        (["pii_leakage.suite=standard", "pii_leakage.suite=extended"], "--option gives pii_leakage.suite twice"),
    ],
)
def test_a_wrong_option_gets_a_sentence_and_nothing_is_scored(tmp_path, options, says):
    named = [part for option in options for part in ("--option", option)]
    done = scored(tmp_path, "--metrics", "pii_leakage,rouge_l", *named)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not (tmp_path / "proctor.db").exists()


def test_an_option_of_one_member_of_a_group_leaves_the_others_alone():
    catalog = builtin_catalog()
    made = with_options(["safety_critics", "looping"], ["critic_toxic.isolate=true"], catalog)
    assert made == ["safety_critics", "looping", {"critic_toxic": {"isolate": True}}]
    made = with_options(["safety_critics"], ["safety_critics.votes=5", "critic_bias.isolate=true"], catalog)
    assert made == [{"safety_critics": {"votes": 5}}, {"critic_bias": {"isolate": True}}]
    with pytest.raises(InputError, match=r"votes is 2; one of 1, 3, 5, 7, 9 is wanted"):
        with_options(["safety_critics"], ["safety_critics.votes=2"], catalog)


def test_what_the_allow_list_of_personal_data_hid_is_told(tmp_path):
    row = ROW | {"answer": "a@example.com, b@mail.example.com; 4111 1111 1111 1111", "contexts": ["a@example.com"]}
    lines = [row, row | {"id": "2", "contexts": None}, row | {"id": "3", "answer": "Nobody.", "contexts": None}]
    (tmp_path / "recorded.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = proctor("score", "recorded.jsonl", "--metrics", "pii_leakage", "--rows", "rows.jsonl", folder=tmp_path)
    sentence = "mine: the allow-lists of pii_leakage hid 7 hits: example.com (5), 4111111111111111 (2)."
    assert sentence in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    details = [row["details"] for row in rows if row["metric"] == "pii_leakage.passes"]
    assert [{each["allowed"]: each["hits"] for each in detail.get("allowed", [])} for detail in details] == [
        {"example.com": 3, "4111111111111111": 1}, {"example.com": 2, "4111111111111111": 1}, {},
    ]  # fmt: skip
    page = proctor("report", "--html", "page.html", folder=tmp_path)
    assert page.returncode == 0, page.stderr
    assert "pii_leakage hid 7 hits" in (tmp_path / "page.html").read_text()
    without = proctor(
        "score", "recorded.jsonl", "--metrics", "pii_leakage", "--option", "pii_leakage.allowed_domains=[]",
        "--option", "pii_leakage.allowed_cards=[]", folder=tmp_path,
    )  # fmt: skip
    assert "allow-list" not in without.stderr


def test_options_fit_the_defaults_too(tmp_path):
    done = scored(tmp_path, "--option", "answer_similarity.metric_threshold=0.01", "--json", "--rows", "rows.jsonl")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["passed"] for row in rows if row["metric"] == "answer_similarity"] == [True]

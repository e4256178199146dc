"""Why a metric can't be compared, as far as the manifests tell."""

import pytest
from proctor.reports.compare.comparable import why_versions_differ
from proctor.reports.summary import MetricColumn

OLD = MetricColumn("faithfulness", "v1", "higher", 0.0, 1.0, None)
NEW = MetricColumn("faithfulness", "v2", "higher", 0.0, 1.0, None)


def manifest(proctor: str = "1", judge: str = "small", requests: str = "h", **settings: object) -> dict[str, object]:
    judged = {"model_id": judge, "requests_hash": requests, "metrics": ["faithfulness"]}
    return {"proctor": proctor, "settings": {"judge": judged, **settings}}


@pytest.mark.parametrize(
    ("baseline", "candidate", "words"),
    [
        (manifest(), manifest(judge="large"), "the judge was small, now large"),
        (manifest(), manifest(requests="i"), "the judge is put other requests"),
        (manifest(), manifest(proctor="2"), "Proctor was 1, now 2"),
        (
            manifest(suite={"metrics": ["faithfulness"]}),
            manifest(suite={"metrics": ["rouge_l", {"faithfulness": {"votes": 3}}]}),
            "its options were none, now {'votes': 3}",
        ),
        (manifest(), manifest(), "another version of the metric"),
        ({}, {"settings": "nothing of the kind"}, "another version of the metric"),
    ],
)
def test_the_reason_is_named(baseline, candidate, words):
    assert words in why_versions_differ("faithfulness", OLD, NEW, (baseline, candidate))


def test_another_embedder_is_the_reason_only_of_what_no_judge_grades():
    manifests = (manifest(embedder="mini"), manifest(embedder="large", judge="large"))
    similarity = why_versions_differ("answer_similarity", OLD, NEW, manifests)
    assert "the embedder was mini, now large" in similarity
    assert "judge" not in similarity
    assert "embedder" not in why_versions_differ("faithfulness", OLD, NEW, manifests)


def test_without_manifests_only_the_version_is_known():
    assert "another version" in why_versions_differ("faithfulness", OLD, NEW, None)

"""Questions that are perturbed by hand: the README's example, run and compared."""

import json
from pathlib import Path

import yaml
from suites import write_suite
from typed import proctor


def test_questions_reworded_by_hand_as_the_readme_has_them(tmp_path):
    readme = (Path(__file__).parents[3] / "knowledge" / "README.md").read_text("utf-8")
    block = next(block for block in readme.split("```yaml\n")[1:] if "  perturbs: reset\n" in block)
    answers = """
def answer(question):
    return "I can't say." if "neighbour" in question else 'Choose "Forgot password" when you sign in.'
"""
    write_suite(tmp_path, answers, yaml.safe_load(block.partition("```")[0]), metrics=["exact_match"])
    assert proctor("run", "suite.yaml", folder=tmp_path).returncode == 0
    done = proctor("robustness", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    bot = json.loads(done.stdout)["bots"]["mine"]
    kinds = {kind["kind"]: kind for kind in bot["answers"]["kinds"]}
    assert {name: (kind["must"], kind["as_wanted"]["mean"]) for name, kind in kinds.items()} == {
        "perturbed": ("same", 1.0), "another person": ("other", 1.0),
    }  # fmt: skip

"""A judge behind the OpenAI protocol that compares two answers by what the material says."""

import re

from judge_server import JudgeServer, judged, material


def pair_verdict(call):
    """``RIGHT`` beats ``WRONG``; two answers with ``FIRST`` are decided by their order; all else is a tie."""
    texts = material(str(call.body["messages"][1]["content"]))
    if "answer_a" not in texts:
        return judged(call)
    one, other = texts["answer_a"], texts["answer_b"]
    if "FIRST" in one and "FIRST" in other:
        return {"reason": "it comes first", "better": "A"}
    better = (
        "A" if "RIGHT" in one and "RIGHT" not in other else "B" if "RIGHT" in other and "RIGHT" not in one else "tie"
    )
    return {"reason": f"of {re.sub(r'[^a-z ]', '', one.lower())[:20]}", "better": better}


def pair_server(**settings):
    return JudgeServer(pair_verdict, **settings)

"""What the extractive model reads out of a prompt template."""

import pytest
from proctor.bots.chat.extractive import Instructions, read_instructions
from tables import in_one_test


@in_one_test(
    ("prompt", "most"),
    [
        ("Answer in one sentence.", 1),
        ("Answer in a single sentence.", 1),
        ("Use at most two sentences.", 2),
        ("Be brief: one or two sentences.", 2),
        ("Write 2-3 short, clear sentences.", 3),
        ("no more than a couple of sentences", 2),
        ("Use up to 12 sentences", 12),
        ("Use zero sentences. 0 sentences!", 1),
        ("Answer in at most\n   three sentences.", 3),
        ("One sentence. No: four sentences.", 4),
        ("Quote the sentences of the documents.", None),
        ("Answer the question.", None),
    ],
)
def test_reads_the_length(prompt, most):
    assert read_instructions(prompt).most_sentences == most


@in_one_test(
    ("prompt", "refusal"),
    [
        ('If the documents do not contain the answer, say: "I don\'t know."', "I don't know."),
        ("If the answer isn't there, reply exactly “Not found”.", "Not found"),
        ('- Be brief.\n- When the documents hold no answer,\n  say "No."\n- Be kind.', "No."),
        ('Answer from the text; otherwise answer with "Unknown".', "Unknown"),
        ('Say "I don\'t know." if the answer is missing.', "I don't know."),
        ('Do not say "As an AI".', None),
        ('If the customer greets you, say "Hello!"', None),
        ("If you don't know, say so.", None),
        ("", None),
    ],
)
def test_reads_the_refusal(prompt, refusal):
    assert read_instructions(prompt).refusal == refusal


@pytest.mark.parametrize(
    ("prompt", "polite"),
    [
        ("Be polite.", True),
        ("Answer in a friendly tone.", True),
        ("Don't be overly polite.", False),
        ("Answer.", False),
        ("State the policy.", False),
    ],
)
def test_reads_politeness(prompt, polite):
    assert read_instructions(prompt) == Instructions(None, None, polite)

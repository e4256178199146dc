"""Our own texts, of the packaged sample, from which fixtures are written by the writers of other tools."""

CASES = [
    {
        "id": "return-window",
        "question": "How long do I have to return a bike?",
        "expected": "You can return any bike within 14 days of delivery.",
        "answer": "You have 14 days, without giving a reason.",
        "contexts": ["You can return any bike within 14 days, without giving a reason.", 'Returns are free; "always".'],
        "documents": ["returns-and-refunds.md", "prices.md"],
        "scores": (1.0, 0.82),
    },
    {
        "id": "return-cost",
        "question": "How much does it cost to send back a bike?",
        "expected": "It is free at a workshop. A collection costs 35 euros.",
        "answer": "A collection costs 35 euros, or 45 for an e-bike.",
        "contexts": ["A collection costs 35 euros for a bicycle."],
        "documents": ["returns-and-refunds.md"],
        "scores": (0.5, 0.61),
    },
    {
        "id": "swiss",
        "question": "Liefern Sie auch in die Schweiz, z. B. nach Zürich?",
        "expected": "Nein.",
        "answer": "I don't know | ask us.",
        "contexts": [],
        "documents": [],
        "scores": (None, 0.12),
    },
]
TALK = [
    ("user", "Hi, can I reserve a bike?"),
    ("assistant", "Yes, for 24 hours."),
    ("user", "And what does it cost?"),
    ("assistant", "Nothing at all."),
]

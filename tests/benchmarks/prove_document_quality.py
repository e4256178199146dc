"""Faults planted in documents, and which of them are found: contradictions, copies, old versions, debris, languages.

    python tests/benchmarks/prove_document_quality.py

First the decision on a pair of sentences, on human-labelled pairs (fever_symmetric and cad_nli: refuted or not; wice:
a supported claim and a sentence that supports it, where every contradiction is a false one). Then whole collections:
the documents of data sets as they are, and with faults planted in a copy, each in a document of its own. The rules
were written with a look at xquad_en and clapnq; at pubmedqa and mtrag_human nobody looked before these figures. Last,
documentation of Debian and Python on this machine as it is, for a person to read.
Needs the human-labelled data beside the checkout (`../shared/data`), and says so when they are absent.
"""

import asyncio
import contextlib
import gzip
import pydoc
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from labelled_data import ABSENT, DATA, open_embedder, read
from numpy.typing import NDArray
from proctor.harness.analysis.contradictions import SameMatter, disagree, find_contradictions
from proctor.harness.analysis.document_quality import MOSTLY_COPIED, document_languages
from proctor.knowledge.documents.copies import CopyFinder
from proctor.knowledge.documents.document import Document
from proctor.knowledge.documents.legibility import CorpusWords, illegible
from proctor.knowledge.documents.reading import read_knowledge
from proctor.knowledge.documents.statements import Statement, statements
from proctor.knowledge.documents.versions import find_versions
from proctor.knowledge.models.support_model import SupportModel, open_support_model
from proctor.metrics.judge.embedded.wording import Word, wording

SEED = 19
NEAR, MOST_NEAR = 0.4, 600  # cosine of sentences that are put to the model, and how many
LOOKED_AT = ("xquad_en", "clapnq")
NOT_LOOKED_AT = ("mtrag_human", "pubmedqa")
LARGEST = 300  # documents of a set
PLANTED = 60  # of each fault
GERMAN = (
    "Die Bestellung wird innerhalb von drei Tagen verschickt, und Sie erhalten eine Nachricht, sobald sie unterwegs "
    "ist. Wenn etwas fehlt, schreiben Sie uns bitte, damit wir die fehlenden Teile nachliefern können."
)


class Altered(NamedTuple):
    """A sentence and what became of it."""

    statement: Statement
    text: str


def collection(name: str) -> list[Document]:
    """The distinct contexts of a data set, each a document with its title."""
    titles = {context: (row["label"] or {}).get("title", "") for row in read(name) for context in row["contexts"]}
    found = [Document(f"{name}-{place}.txt", text, title) for place, (text, title) in enumerate(titles.items())]
    return found[:LARGEST]


def pairs() -> None:
    """Precision and recall on labelled pairs of sentences."""
    print("pairs of sentences, by words alone")
    for name, refuted in (("fever_symmetric", "REFUTES"), ("cad_nli", "contradiction")):
        counts = Counter(
            (disagree(row["contexts"][0], row["answer"]) is not None, refuted in row["label"].values())
            for row in read(name)
        )
        report(name, counts[True, True], counts[True, False], counts[False, True])
    said = [
        disagree(row["contexts"][place], row["answer"])
        for row in read("wice")
        for group in row["label"]["supporting_sentences"]
        for place in group
        if row["label"]["support"] == "supported"
    ]
    print(f"  {'wice, supported':32} {sum(one is not None for one in said)} false of {len(said)}")


def report(name: str, right: int, false: int, missed: int) -> None:
    precision = right / (right + false) if right + false else float("nan")
    print(
        f"  {name:32} precision {precision:.2f} ({right} of {right + false}), "
        f"recall {right / max(1, right + missed):.2f} ({right} of {right + missed})"
    )


def other_number(word: Word, chance: random.Random) -> str:
    return re.sub(r"\d+", lambda found: str(int(found[0]) + chance.choice((3, 7, 11, 20))), word.text, count=1)


def altered(given: Sequence[Statement], kind: str, chance: random.Random) -> Iterator[Altered]:
    """Sentences with one figure, year or name exchanged, or with a denial put in."""
    names = sorted({word.text for one in given for word in wording(one.text).of_kind("name") if len(word.text) > 3})
    for one in given:
        if not one.is_sentence or not 6 <= len(one.text.split()) <= 40:
            continue
        if kind == "denial":
            found = re.search(r"\b(?:was|were|is|are|can|has been) ", one.text)
            if found and "not" not in one.text:
                yield Altered(one, one.text[: found.end()] + "not " + one.text[found.end() :])
            continue
        sort = {"number": "number", "year": "date", "name": "name"}[kind]
        words = [word for word in wording(one.text).of_kind(sort) if one.text.count(word.text) == 1]
        if kind != "name":
            words = [word for word in words if word.text.isdecimal()]
        if words:
            word = chance.choice(words)
            new = chance.choice(names) if kind == "name" else other_number(word, chance)
            if new != word.text:
                yield Altered(one, one.text.replace(word.text, new))


def planted(documents: Sequence[Document], kind: str, whole: bool) -> tuple[list[Document], dict[str, str]]:
    """The documents with contradicting ones beside them, and which document each of these contradicts."""
    chance = random.Random(f"{SEED} {kind} {whole}")
    found = [one for document in documents for one in statements(document)]
    every = list(altered(found, kind, chance))
    by_id = {document.id: document for document in documents}
    added: list[Document] = []
    wrong: dict[str, str] = {}
    for number, one in enumerate(chance.sample(every, min(PLANTED, len(every)))):
        source = by_id[one.statement.document]
        name = f"planted-{kind}-{number}.txt"
        beside = chance.choice(found).text
        text = f"{beside} {one.text}"
        if whole:
            text = source.text[: one.statement.start] + one.text + source.text[one.statement.end :]
        added.append(Document(name, text, source.title if whole else ""))
        wrong[name] = source.id
    return [*documents, *added], wrong


def contradicting(documents: Sequence[Document]) -> set[tuple[str, str]]:
    """Pairs of documents that contradict each other, as the analysis has them."""
    copied = CopyFinder(documents).find()
    states = {frozenset((one.older, one.newer)) for one in find_versions(documents, copied)}
    copies = {frozenset((one.first, one.second)) for one in copied if one.share >= MOSTLY_COPIED}
    found = find_contradictions(documents, SameMatter(documents, states, copies)).found
    return {(one.first.document, one.second.document) for one in found}


def contradictions(name: str, documents: Sequence[Document]) -> None:
    before = contradicting(documents)
    print(f"contradictions in {name}: {len(documents)} documents, {len(before)} pairs found before anything is planted")
    for kind in ("number", "year", "name", "denial"):
        for whole in (False, True):
            mixed, wrong = planted(documents, kind, whole)
            pairs = contradicting(mixed) - before
            right = {second for first, second in pairs if wrong.get(second) == first}
            # What stands beside a planted sentence was said in other documents, and may be altered elsewhere.
            false = [pair for pair in pairs if wrong.get(pair[1]) != pair[0]]
            report(
                f"{kind}, {'copied document' if whole else 'copied sentence'}",
                len(right),
                len(false),
                len(wrong) - len(right),
            )


OTHERWISE = (
    ("The library opens at eight every weekday morning.",
     "Doors stay shut until ten from Monday to Friday."),
    ("Guests must not bring dogs into the building.",
     "Four-legged companions are welcome in all rooms."),
    ("The treatment lowered blood pressure in most patients.",
     "Participants saw no improvement in hypertension from the therapy."),
    ("Returns are free within thirty days of purchase.",
     "Customers pay the postage themselves when sending goods back."),
    ("The bridge was finished before the war began.",
     "Construction of the crossing was only completed after the conflict ended."),
    ("Vaccination is voluntary for all staff.",
     "Every employee is required to be immunised."),
    ("The company was founded by two sisters from Lyon.",
     "A retired engineer from Oslo established the firm on his own."),
    ("The lake freezes over every winter.",
     "Ice never forms on the water, even in January."),
    ("Children under six travel without a ticket.",
     "A fare is charged for toddlers and infants alike."),
    ("The function returns a new list and leaves the original unchanged.",
     "Calling it modifies the sequence in place and gives nothing back."),
    ("Coal supplies most of the country's electricity.",
     "Nearly all of the nation's power comes from wind and water."),
    ("The parliament has a single chamber.",
     "Legislation passes through two houses of the assembly."),
    ("Membership can be cancelled at any time.",
     "Subscribers are bound for a full year and cannot leave early."),
    ("The drug is safe during pregnancy.",
     "Expectant mothers should avoid taking this medicine."),
    ("The river flows north into the Baltic.",
     "Its waters empty into the Black Sea in the south."),
    ("The museum is closed on Mondays.",
     "You can visit the collection seven days a week."),
    ("Orders are shipped from the warehouse in Poland.",
     "All parcels leave from our depot in Spain."),
    ("The battery lasts about two days.",
     "You have to recharge the device every few hours."),
    ("Passwords are stored in plain text.",
     "All credentials are encrypted before they are saved."),
    ("The novel was a commercial failure.",
     "The book sold in the millions as soon as it appeared."),
)  # fmt: skip


# Beginnings of sentences of the sets, and a contradiction of each in other words; written before any was tried.
OF_THE_SETS = {
    "xquad_en": (
        ("The first recorded settlement in what is now Newcastle",
         "Nobody lived on the site of Newcastle until the Vikings set up camp beside the Tyne."),
        ("Annam, Burma, and Champa",
         "The Yuan never got the kingdoms of Southeast Asia, such as Champa or Burma, to submit or pay tribute."),
        ("In 1943, a Supreme Court of the United States",
         "American judges finally refused in the forties to give Tesla and Lodge their radio patents back."),
        ("The principal role of committees in the Scottish",
         "Committees at Holyrood are ceremonial: they neither hear anybody nor look at bills."),
        ("Ctenophores and sponges are also the only",
         "Genuine hox genes have been found in every animal group, comb jellies and sponges included."),
        ("However, DECnet Phase II",
         "The specifications of DECnet were kept secret by the company, so that nobody else could build it."),
    ),
    "clapnq": (
        ("The mining of minerals in Nigeria accounts", "Nigeria earns most of its income by digging up ores."),
        ("Most states have at least two tiers", "Local administration in nearly all states has just one layer."),
        ("The dry season ( winter ) runs",
         "Rain falls mainly from June to September, while the months around Christmas see hardly any."),
        ("Images by the Hubble Space Telescope have", "Hubble has never seen anything beside the Great Red Spot."),
        ("The people of the Point Peninsula Complex",
         "The Algonquians of New York came from the west and have no forebears in the Point Peninsula culture."),
    ),
    "mtrag_human": (
        ("The Mississippi ranks as the fourth", "No other river on Earth carries more water than the Mississippi."),
        ("Optical communication is very useful",
         "Lasers are of little help to spacecraft: they transmit less than radio and are easier to intercept."),
        ("During an appeal, there are fees",
         "Appealing costs nothing, neither at the lower court nor at the higher one."),
        ("The judges that do not agree with the majority",
         "A judge who is outvoted has to stay silent and can publish no opinion of his own."),
    ),
    "pubmedqa": (
        ("Temperature levels were similar when 2", "Doubling the amount of ice made the package markedly colder."),
        ("The role of early revascularization among",
         "Experts all agree that opening the arteries early helps people whose heart attack led to shock."),
        ("Patients with isolated extension deformity",
         "Surgery was needed most often by those whose only finding was a lack of extension."),
        ("None of the additional evaluated imaging",
         "Several further MRI measurements without contrast told the two diseases apart dependably."),
        ("The response for EGFR-tyrosine kinase inhibitors was sig",
         "Whether the receptor gene was mutated made no difference to how patients reacted to the inhibitors."),
    ),
}  # fmt: skip


def contradictions_in_other_words(name: str, documents: Sequence[Document]) -> None:
    """What the support model makes of contradictions that share few words, beside near sentences of real documents.

    No finding is made of it: at a precision of .9 it finds too few (goal: .8).
    """
    model, embedder = open_support_model(threads=2), open_embedder()
    said = {one.text: one.document for document in documents[:150] for one in statements(document) if one.is_sentence}
    texts = list(said)
    vectors = embedder.embed_now(texts).vectors
    cosines = np.triu(vectors @ vectors.T, 1)
    near = sorted(zip(*np.nonzero(cosines >= NEAR), strict=True), key=lambda pair: -cosines[pair])
    pairs = [(texts[one], texts[other]) for one, other in near if said[texts[one]] != said[texts[other]]][:MOST_NEAR]
    planted = [(text, against) for start, against in OF_THE_SETS[name] for text in texts if text.startswith(start)]
    scores = [asyncio.run(contradicted(each, model)) for each in (OTHERWISE, planted, pairs)]
    for least in (0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
        plain, of_set, false = (int(np.sum(each >= least)) for each in scores)
        print(
            f"  {name}: from {least} on {plain} of {len(OTHERWISE)} planted plain ones, {of_set} of {len(planted)} "
            f"of its own sentences, and {false} of {len(pairs)} pairs of near sentences as they are"
        )


async def contradicted(pairs: Sequence[tuple[str, str]], model: SupportModel) -> NDArray[np.float32]:
    """P(contradicted) of each pair, the geometric mean of both directions: better than the mean by .02 to .03 AUROC."""
    both = [("", *pair) for pair in pairs], [("", second, first) for first, second in pairs]
    there, back = [await model.supports(each) for each in both]
    return np.asarray(np.sqrt(there[:, 1] * back[:, 1]))


def products() -> None:
    """Pages of one make-up about different things: nothing contradicts."""
    names = ("Alder", "Birch", "Cedar", "Maple", "Willow")
    page = (
        "The {0} is a city bike for every day. The {0} costs {1} euros with lights and rack. It weighs {2} kilograms "
        "without its battery. The battery of the bike lasts for {3} kilometres. The frame is guaranteed for {4} years."
    )
    for count in (2, 3, 5):
        documents = [
            Document(
                f"{name.lower()}.md", page.format(name, 500 + 90 * at, 14 + at, 60 + 15 * at, 5 + at), f"{name} bike"
            )
            for at, name in enumerate(names[:count])
        ]
        print(f"  {count} products: {len(contradicting(documents))} pairs contradict, none is right")


def mostly_copied(documents: Sequence[Document]) -> set[tuple[str, str]]:
    """Pairs of documents of which one says most of what the other says."""
    return {(one.first, one.second) for one in CopyFinder(documents).find() if one.share >= MOSTLY_COPIED}


def copies(documents: Sequence[Document]) -> None:
    chance = random.Random(SEED)
    before = mostly_copied(documents)
    for rate in (0.0, 0.05, 0.1, 0.2):
        chosen = chance.sample([one for one in documents if len(one.text) > 300], PLANTED)
        added = [Document(f"copy-{one.id}", blurred(one.text, rate, chance), "") for one in chosen]
        found = {
            (one.first, one.second) for one in CopyFinder([*documents, *added]).find() if one.share >= MOSTLY_COPIED
        }
        right = {(one.id, f"copy-{one.id}") for one in chosen} & found
        report(f"copies, {rate:.0%} of words other", len(right), len(found - right - before), PLANTED - len(right))


def blurred(text: str, rate: float, chance: random.Random) -> str:
    return " ".join(word if chance.random() >= rate else f"other{chance.randrange(99)}" for word in text.split())


def versions(documents: Sequence[Document]) -> None:
    chance = random.Random(SEED)
    chosen = chance.sample([one for one in documents if len(one.text) > 300], PLANTED)
    added = [
        document
        for one in chosen
        for document in (
            Document(f"terms {one.id[:-4]} 2023.txt", blurred(one.text, 0.05, chance), one.title),
            Document(f"terms {one.id[:-4]} 2025.txt", one.text, one.title),
        )
    ]
    rest = [one for one in documents if one not in chosen]
    mixed = [*rest, *added]
    found = {(one.older, one.newer) for one in find_versions(mixed, CopyFinder(mixed).find())}
    right = {(f"terms {one.id[:-4]} 2023.txt", f"terms {one.id[:-4]} 2025.txt") for one in chosen} & found
    report("older versions", len(right), len(found - right), PLANTED - len(right))


# Two states of a page in words of their own, ways in which names tell the older one, and lines by which it says so of
# itself; written before the rules were. The rules were written with a look at every other one, from the first on.
STATES = {
    "swimming lessons": (
        "Beginners' lessons take place in the teaching pool on Saturday mornings. A course has eight "
        "lessons and costs sixty pounds. Children under five need an adult in the water. Book at the desk "
        "of the pool.",
        "Lessons for beginners are held on Saturdays before noon, in the teaching pool. You pay ninety "
        "pounds for a course of ten lessons. An adult has to be in the water with every child under six. "
        "Courses are booked in the app.",
    ),
    "waste collection": (
        "Bins are emptied every week. Put them at the kerb by seven in the morning. Garden waste goes into "
        "the brown bin, which is free. Glass has to be taken to a container.",
        "We empty the bins every second week; they must be at the kerb by six in the morning. The brown "
        "bin for garden waste costs forty euros a year. Glass is collected with the yellow bin.",
    ),
}
NAMES = (
    ("{0} 2021-22.md", "{0} 2023-24.md"), ("{0}-DRAFT.md", "{0}.md"), ("{0}_final.md", "{0}_final2.md"),
    ("archive/2020/{0}.md", "{0}.md"), ("{0}.2019-03-01.md", "{0}.2022-11-15.md"), ("{0}_v2.md", "{0}_v10.md"),
    ("{0}-q1-2023.md", "{0}-q3-2024.md"), ("{0}.bak.md", "{0}.md"), ("_old_{0}.md", "{0}.md"),
    ("{0}-deprecated.md", "{0}.md"), ("{0}-2nd-edition.md", "{0}-3rd-edition.md"),
    ("{0}-jan2022.md", "{0}-mar2024.md"), ("{0}-20190412.md", "{0}-20231105.md"),
    ("spring-2021-{0}.md", "autumn-2023-{0}.md"), ("{0}_r1.md", "{0}_r2.md"), ("{0}-1.2.md", "{0}-1.10.md"),
    ("2018/{0}.md", "2022/{0}.md"), ("{0}-superseded-2022.md", "{0}.md"), ("{0} (old version).md", "{0}.md"),
    ("{0}-obsolete.md", "{0}-current.md"),
)  # fmt: skip
LINES = (
    "This policy has since been rewritten; see {0}.", "Effective 1 January 2018 to 31 December 2020.",
    "No longer in effect.", "Note: a revised edition came out in 2022.", "Status: Superseded",
    "**DEPRECATED**: use {0} instead.", "These instructions describe the system that we used until 2019.",
    "You are reading an outdated version of this page.", "Expired on 30 June 2021.",
    "The information below is out of date.", "This page has moved on: {0} has the current rules.",
    "Retained for historical purposes.", "> [!WARNING]\n> This document is no longer maintained.",
    "Archived on 3 May 2022.", "See {0} for the present rules; what follows was true before.",
    "Superseded by {0}, in force since last autumn.", "This leaflet was in use until September 2020.", "[OUTDATED]",
    "These terms ended on 1 March 2021.", "Do not use: there is a newer page on {0}.",
)  # fmt: skip


def rewritten(documents: Sequence[Document]) -> None:
    """Older states in other words, told by their names or by themselves, among the documents of a set."""
    for kind, ways in (("by name", NAMES), ("by its own words", LINES)):
        for start, half in enumerate(("looked at", "not looked at")):
            right = false = 0
            for place, way in enumerate(ways[start::2]):
                for topic, (old_text, new_text) in STATES.items():
                    if isinstance(way, tuple):
                        old, new = (name.format(topic.replace(" ", "-")) for name in way)
                        lines = ""
                    else:
                        old, new, lines = (
                            f"page-{place}.md",
                            f"{topic.replace(' ', '-')}.md",
                            f"{way.format(topic)}\n\n",
                        )
                    pair = [Document(new, new_text, topic.title()), Document(old, lines + old_text, topic.title())]
                    mixed = [*documents[:60], *pair]
                    found = {(one.older, one.newer) for one in find_versions(mixed, CopyFinder(mixed).find())}
                    right += (old, new) in found
                    false += len(found - {(old, new)})
            report(f"rewritten, {kind}, {half}", right, false, len(STATES) * len(ways[start::2]) - right)


DEBIAN = Path("/usr/share/doc")
_DOCUMENTATION = re.compile(r"\.(?:md|txt|rst|html)\Z|\A(?:README|NEWS|TODO|FAQ|AUTHORS|HACKING|CONTRIBUTING)")


def documentation() -> dict[str, list[Document]]:
    """What Debian and Python say of themselves on this machine."""
    debian = []
    for path in sorted(DEBIAN.rglob("*")):
        name = path.name.removesuffix(".gz")
        if name.startswith(("changelog", "copyright")) or not _DOCUMENTATION.search(name) or not path.is_file():
            continue
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if len(content) <= 100_000:
            debian.append((str(path.relative_to(DEBIAN).with_name(name)), content))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in debian:
            place = Path(folder, name if Path(name).suffix in (".md", ".txt", ".html") else f"{name}.txt")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        read_debian = list(read_knowledge([Path(folder)]).documents)
    modules = sorted(name for name in sys.stdlib_module_names if name[0] != "_" and name not in OPENS_WINDOWS)
    python = []
    for name in modules:
        with contextlib.suppress(Exception, pydoc.ErrorDuringImport):
            python.append(Document(f"{name}.txt", pydoc.plain(pydoc.render_doc(name))[:60_000], name))
    return {"Debian": read_debian, "Python": python}


OPENS_WINDOWS = ("antigravity", "this", "idlelib", "turtledemo", "test")


def real_documentation() -> None:
    """What is found in documentation as it is: names to be read by a person, nothing was planted."""
    for name, documents in documentation().items():
        found = find_versions(documents, CopyFinder(documents).find())
        words = CorpusWords(documents)
        unreadable = [one for document in documents for one in illegible(document, words)]
        counts = Counter(one.defect for one in unreadable)
        print(f"\n{name}, {len(documents)} documents: {len(found)} older versions; {dict(counts)}")
        for one in found[:20]:
            print(f"  {one.older} -> {one.newer} {one.own_words}")
        for one in unreadable:
            print(f"  {one.defect}: {one.document}")


CONFUSED = {
    "o": "0",
    "l": "1",
    "i": "|",
    "s": "5",
    "e": "c",
    "n": "ri",
    "m": "rn",
    "b": "6",
    "g": "9",
    "t": "f",
    "h": "b",
}
ENTRIES = (
    "Home",
    "Contact us",
    "Our stores",
    "Sign in",
    "Basket",
    "Careers",
    "Privacy",
    "Imprint",
    "Help",
    "Newsletter",
)


def scanned(text: str, chance: random.Random) -> str:
    """A text as a bad scan gives it: one letter in sixteen is taken for another, or for a figure."""
    return "".join(CONFUSED.get(sign, sign) if chance.random() < 1 / 8 else sign for sign in text)


MISREAD = {
    "m": "rn", "h": "b", "e": "c", "li": "h", "cl": "d", "w": "vv", "i": "l", "n": "u", "u": "ii", "t": "f", "a": "o",
    "d": "cl", "rn": "m", "y": "v", "r": "i",
}  # fmt: skip


def letters_misread(text: str, chance: random.Random, rate: float) -> str:
    """A text of which letters were taken for other letters."""
    found = re.finditer("|".join(sorted(MISREAD, key=len, reverse=True)) + "|.", text, re.DOTALL)
    return "".join(MISREAD.get(one[0], one[0]) if chance.random() < rate else one[0] for one in found)


def blanks_misread(text: str, chance: random.Random) -> str:
    """A text of which every fourth blank is lost, and every fourth longer word is broken in two."""
    made = ""
    for word in text.split():
        at = chance.randint(2, len(word) - 2) if len(word) > 4 and chance.random() < 1 / 4 else 0
        made += (f"{word[:at]} {word[at:]}" if at else word) + (" " if chance.random() >= 1 / 4 else "")
    return made


def misread_among_others(documents: Sequence[Document]) -> None:
    """Scans whose misread words could be words, known by those of the others; written before the rules were."""
    spoil: dict[str, Callable[[str, random.Random], str]] = {
        "one letter in 5": lambda text, chance: letters_misread(text, chance, 1 / 5),
        "one letter in 10": lambda text, chance: letters_misread(text, chance, 1 / 10),
        "one letter in 20": lambda text, chance: letters_misread(text, chance, 1 / 20),
        "blanks": blanks_misread,
    }
    chosen = random.Random(SEED).sample([one for one in documents if len(one.text) > 300], PLANTED // 3)
    for name, change in spoil.items():
        spoilt = {one.id: Document(one.id, change(one.text, random.Random(SEED))) for one in chosen}
        mixed = [spoilt.get(one.id, one) for one in documents]
        words = CorpusWords(mixed)
        found = {one.id for one in mixed if any(each.defect == "misread" for each in illegible(one, words))}
        report(f"misread, {name}", len(found & spoilt.keys()), len(found - spoilt.keys()), len(spoilt.keys() - found))


def menu(text: str, chance: random.Random) -> str:
    """The navigation of a page whose sections have names out of a text."""
    words = re.findall(r"[A-Za-z]{4,}", text)
    sections = [" ".join(words[place : place + chance.randint(1, 3)]).title() for place in range(0, 40, 4)]
    entries = [*ENTRIES, *filter(None, sections)]
    chance.shuffle(entries)
    return chance.choice((" | ", "\n", "\n* ")).join(entries)


def debris(documents: Sequence[Document]) -> None:
    spoilt: dict[str, Callable[[str], str]] = {
        "wrong encoding": lambda text: text.replace("e", "é").encode().decode("cp1252", "replace"),
        "letters apart": lambda text: "  ".join(" ".join(word) for word in text.split()),
        "broken words": lambda text: re.sub(r"(\w{3})(\w{4})", r"\1-\n\2", text),
        "markup": lambda text: re.sub(r"(\w+) ", r"<span class='word'>\1</span> ", text),
        "scanned": lambda text: scanned(text, random.Random(SEED)),
        "backwards": lambda text: text[::-1],
        "words backwards": lambda text: " ".join(word[::-1] for word in text.split()),
        "menu": lambda text: menu(text, random.Random(SEED)),
    }
    false = sum(bool(illegible(document)) for document in documents)
    chosen = random.Random(SEED).sample([one for one in documents if len(one.text) > 300], PLANTED)
    for name, spoil in spoilt.items():
        right = sum(bool(illegible(Document(one.id, spoil(one.text)))) for one in chosen)
        report(f"unreadable, {name}", right, false, PLANTED - right)


def languages(documents: Sequence[Document]) -> None:
    chosen = random.Random(SEED).sample(range(len(documents)), PLANTED)
    mixed = [
        Document(one.id, f"{one.text}\n\n{GERMAN}") if place in chosen else one for place, one in enumerate(documents)
    ]
    found = {one.document for one in document_languages(mixed, ()).foreign}
    right = {documents[place].id for place in chosen} & found
    report("paragraph in German", len(right), len(found - right), PLANTED - len(right))


def main() -> None:
    """Print all figures."""
    if not DATA.is_dir():
        print(ABSENT)
        return
    started = time.perf_counter()
    pairs()
    products()
    for name in (*LOOKED_AT, *NOT_LOOKED_AT):
        print(f"\n{name}{', at which nobody looked before' if name in NOT_LOOKED_AT else ''}")
        documents = collection(name)
        contradictions(name, documents)
        contradictions_in_other_words(name, documents)
        print(f"other faults in {name}")
        copies(documents)
        versions(documents)
        rewritten(documents)
        debris(documents)
        misread_among_others(documents)
        languages(documents)
    real_documentation()
    print(f"{time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()

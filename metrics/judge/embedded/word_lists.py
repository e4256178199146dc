"""Lists of English words that the embedded judge reads by: function words, negations, numbers, opposites."""

from typing import Final

STOP_WORDS: Final = frozenset({
    "a", "about", "above", "after", "again", "all", "also", "although", "am", "an", "and", "another", "any", "are",
    "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could",
    "d", "did", "do", "does", "doing", "done", "down", "during", "each", "either", "else", "etc", "even", "ever",
    "every", "few", "for", "from", "further", "get", "gets", "getting", "got", "had", "has", "have", "having", "he",
    "he's", "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "i'd", "i'll", "i'm",
    "i've", "if", "in", "into", "is", "it", "it's", "its", "itself", "just", "least", "less", "let", "let's", "like",
    "ll", "m", "made", "make", "makes", "many", "may", "me", "might", "mine", "more", "most", "much", "must", "my",
    "myself", "of", "off", "often", "on", "once", "one", "ones", "only", "onto", "or", "other", "others", "our",
    "ours", "ourselves", "out", "over", "own", "per", "perhaps", "quite", "rather", "re", "really", "s", "same",
    "shall", "she", "she's", "should", "since", "so", "some", "still", "such", "t", "than", "that", "that's", "the",
    "their", "theirs", "them", "themselves", "then", "there", "there's", "these", "they", "they're", "they've",
    "this", "those", "though", "through", "thus", "to", "too", "toward", "towards", "under", "until", "up", "upon",
    "us", "use", "used", "using", "ve", "very", "via", "was", "we", "we're", "we've", "well", "were", "what", "when",
    "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "would", "yes",
    "yet", "you", "you're", "you've", "your", "yours", "yourself",
})  # fmt: skip
NEGATIONS: Final = frozenset({
    "cannot", "hardly", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without",
})  # fmt: skip
NUMBER_WORDS: Final = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
    "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "dozen": "12",
    "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000",
}  # fmt: skip
"""``one`` is not among them: it is a pronoun as often as a number."""
SCALES: Final = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000, "bn": 1_000_000_000,
}  # fmt: skip
ORDINALS: Final = {
    "1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "6": "sixth", "7": "seventh",
    "8": "eighth", "9": "ninth", "10": "tenth",
}  # fmt: skip
MONTHS: Final = {
    "january": "january", "jan": "january", "february": "february", "feb": "february", "march": "march",
    "mar": "march", "april": "april", "apr": "april", "may": "may", "june": "june", "jun": "june", "july": "july",
    "jul": "july", "august": "august", "aug": "august", "september": "september", "sep": "september",
    "sept": "september", "october": "october", "oct": "october", "november": "november", "nov": "november",
    "december": "december", "dec": "december",
}  # fmt: skip
WEEKDAYS: Final = frozenset({
    "friday", "monday", "saturday", "sunday", "thursday", "tuesday", "wednesday",
})  # fmt: skip
HEDGES: Final = frozenset({
    "allegedly", "appear", "appeared", "appears", "could", "expect", "expected", "expects", "likely", "may", "maybe",
    "might", "perhaps", "plan", "planned", "plans", "possibly", "probably", "propose", "proposed", "reportedly",
    "seem", "seemed", "seems", "suggest", "suggested", "suggests", "unlikely",
})  # fmt: skip
QUANTITIES: Final = frozenset({
    "all", "always", "any", "both", "each", "every", "few", "least", "less", "many", "more", "most", "only",
    "several", "some",
})  # fmt: skip
"""Function words that change what is said; their want or presence is evidence, though they are stop words."""

_OPPOSITES: Final = """
increase decrease; increase reduce; increase decline; increase fall; rise fall; rise decline; rise drop; grow
shrink; raise lower; more less; more fewer; most least; most few; many few; high low; higher lower; highest lowest;
first last; before after; early late; earlier later; true false; all some; only also; above below; inside outside;
indoor outdoor; indoors outdoors; open close; begin end; start stop; start end; start finish; good bad; better
worse; best worst; big small; large small; great small; long short; tall short; old young; old new; ancient modern;
hot cold; warm cool; light dark; black white; day night; morning evening; man woman; men women; boy girl; male
female; husband wife; father mother; son daughter; brother sister; king queen; actor actress; love hate; win lose;
won lost; accept reject; accept refuse; accept deny; allow forbid; allow ban; allow prohibit; permit prohibit;
agree disagree; approve reject; support oppose; success failure; succeed fail; buy sell; arrive leave; enter leave;
enter exit; give take; give receive; send receive; push pull; import export; north south; east west; northern
southern; eastern western; left right; front back; top bottom; upper lower; minimum maximum; major minor; majority
minority; public private; national international; local international; alive dead; birth death; born died; live
die; asleep awake; sleep awake; sit stand; sit run; stand run; walk run; empty full; rich poor; strong weak; easy
hard; easy difficult; simple complex; fast slow; quick slow; safe dangerous; legal illegal; possible impossible;
similar different; same different; positive negative; optimistic pessimistic; advantage disadvantage; benefit harm;
improve worsen; solve worsen; help hinder; gain loss; profit loss; war peace; present absent; presence absence;
include exclude; add remove; attack defend; guilty innocent; happy sad; laugh cry; smile frown; wet dry; clean
dirty; heavy light; wide narrow; thick thin; deep shallow; near far; single married; single multiple; alone
together; permanent temporary; mandatory optional; required optional; free paid; cheap expensive; active inactive;
employed unemployed; amateur professional; fiction nonfiction; summer winter; spring autumn; plural singular; human
animal; dog cat; adult child; internal external; domestic foreign; urban rural; directly indirectly; outperform
underperform; overestimate underestimate; encourage discourage; enable disable; enable prevent; cause prevent;
continue stop; expand contract; expand shrink; strengthen weaken; appear disappear; connect disconnect; lead
follow; hero villain; friend enemy; teacher student; doctor patient; parent child; question answer; supply demand;
predecessor successor; previous next; former latter; former current; past future; ascending descending; odd even
"""
OPPOSITES: Final = tuple(
    (first, second)
    for first, second in (pair.split() for pair in _OPPOSITES.replace("\n", " ").split(";") if pair.strip())
)
"""Pairs of words of which a text that says the one rarely means the other."""
NEGATING_PREFIXES: Final = ("un", "in", "im", "ir", "il", "dis", "non", "mis")

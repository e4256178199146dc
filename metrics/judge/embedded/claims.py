"""What an answer claims: its sentences, without what is said around them."""

import re
from collections.abc import Sequence
from typing import Final

from ...abstention import refuses
from ...text import sentences
from .courtesies import is_courtesy, is_sign_off, is_signature
from .wording import wording

# After a refusal, where to turn instead is part of it.
_REFERRAL: Final = re.compile(
    r"(?:but |instead,? )?(?:please|kindly|you (?:can|may|could)|try|(?:i|we) (?:suggest|recommend))\b.*\b"
    r"(?:ask(?:ing)?|contact(?:ing)?|call(?:ing)?|write to|e-?mail|reach out|check with|consult|get in touch|turn to)"
    r"\b.*",
    re.IGNORECASE | re.DOTALL,
)
# What leads a claim without being part of it: what comes behind is claimed all the same.
_LEAD: Final = re.compile(
    r"(?:(?:well|oh|yes|no|yeah|hmm|so|honestly|(?:i(?: am|['’]m) )?sorry)[,.!]? +)*(?:but )?"  # noqa: RUF001
    r"(?:(?:i(?: am|[ '’]*m)|we(?: are|[ '’]*re)) (?:not (?:\w+ ){0,2}sure|unsure|no expert)\b[^.;!?]{0,60}?"  # noqa: RUF001
    r"|i (?:do not|don[ '’]*t|can ?not|can[ '’]*t) (?:\w+ ){0,2}(?:know|say|tell|remember)\b[^.;!?]{0,60}?"  # noqa: RUF001
    # What somebody has seen, read or likes: "I've never been there, but I know that it lies in Spain".
    r"|i(?:[ '’]*(?:have|ve|had|am|m|did|do|was)(?: ?n[ '’]*t| not)?)?(?=,| ,)"  # noqa: RUF001
    r"|i(?:[ '’]*(?:have|ve|had|am|m|did|do|was)(?: ?n[ '’]*t)?)? (?:(?:not|never|ever|really|also|just|only|an?"  # noqa: RUF001
    r"|the|big|huge|too|very|much|so|personally|actually|totally) )*(?:seen|watched|heard|tried|read|tasted|familiar"
    r"|love|like|enjoy|prefer|hate|fan|(?<=never )(?:been|met|used|owned|played|visited|eaten))\b[^.;!?]{0,70}?)"
    r" ?,? *\bbut,? (?:i (?:do|think|believe|know|heard|guess)(?: (?:know|believe|think|remember))?(?: that)? )?",
    re.IGNORECASE,
)
# Wonder at what is claimed: "It's hard to believe that the band began in 1963."
_WONDER: Final = re.compile(
    r"(?:(?:i (?:think|find)(?: that)? )?(?:it(?:['’]?s| is) )?(?:so |very |really )?"  # noqa: RUF001
    r"(?:hard to believe|interesting|amazing|crazy|fascinating|surprising) (?:that|how)"
    r"|i (?:can['’]?t|can ?not) believe(?: that)?) ",  # noqa: RUF001
    re.IGNORECASE,
)
# An apology before a fact: "I'm sorry, but gift cards can't be returned". Of the speaker it is a refusal.
_APOLOGY: Final = re.compile(
    r"(?:(?:i|we)(?:[ '’]*(?:m|re)| am| are) )?(?:so |very |truly )?sorry,? but,? (?!.*\b(?:i|me|my)\b)",  # noqa: RUF001
    re.IGNORECASE,
)
# What announces a claim: "I'm happy to confirm that refunds take five days", "Hi Anna, ", "Great question - ".
_ANNOUNCED: Final = re.compile(
    r"(?:(?:i|we)(?:['’]?(?:m|re)| am| are) (?:very |so )?(?:happy|glad|pleased|delighted) to"  # noqa: RUF001
    r" (?:confirm|say|announce|report|share|tell you|inform you|let you know) that"
    r"|(?:please )?(?:rest|be) assured that|(?:hi|hello|hey|dear)(?: [^\W\d][\w.]*){0,3},"
    r"|(?:(?:great|good|excellent) question|thanks for (?:asking|waiting)|thank you for asking)"
    r"(?:[,:!]| [-–—])) +",  # noqa: RUF001
    re.IGNORECASE,
)
# Words that tie a sentence to the one before it.
_TIE: Final = re.compile(
    r"(?:(?:unfortunately|fortunately|importantly|additionally|furthermore|moreover|however|therefore|thus|overall|lastly"
    r"|finally|in (?:short|summary|conclusion|addition|other words)|to (?:summari[sz]e|sum up)|as a result),"
    r"|(?:please )?(?:note|keep in mind|be aware)(?: that\b|[,:])) +",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(r"\*\*|__|(?<!\w)[*_`]|[*_`](?!\w)")
# Text that was cut into words, as models of dialogue write it: "it ' s 1 , 200 miles !"
_SET_APART: Final = (
    (re.compile(r"(?<!\d)(\d{1,3}) ([.,]) (?=\d{3}\b)"), r"\1\2"),
    (re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|d|m|re|ve|ll)\b)"), r"\1"),  # noqa: RUF001
    (re.compile(r"(?<=\S) +(?=[.,!?;:](?:\s|$))"), ""),
)
# Where it is said to stand, in front of what is said or behind it: the sources are what it is held against anyway.
_SOURCES: Final = (
    r"(?:the|this|these|your|our|all)(?: (?:provided|given|retrieved|supplied|available|above|following|relevant))*"
    r" (?:context|information|document(?:ation|s)?|passages?|texts?|sources?|excerpts?|materials?|articles?)"
    r"(?: (?:above|(?:that )?(?:(?:was|were|is|are|you(?:[ '’]*ve| have)?) )?(?:provided|given|supplied|shared|gave)))?"  # noqa: RUF001
)
_SAID: Final = r"(?:stat|mention|describ|not|explain|specifi|indicat|outlin|list)ed|said|shown|written"
_BY_SOURCES: Final = rf"(?:based (?:up)?on|according to|as (?:{_SAID}) (?:in|by)|per|from|in|as per) {_SOURCES}"
_LED_BY_SOURCES: Final = re.compile(
    rf"(?:{_BY_SOURCES}(?: alone)?, *(?:it (?:is (?:{_SAID})|says|states) that )?"
    rf"|{_SOURCES} (?:\w+ly )?(?:states?|says?|mentions?|notes?|explains?|specif(?:y|ies)|indicates?|confirms?) that )",
    re.IGNORECASE,
)
# What they are silent on, before what they do say.
_CONCEDED: Final = re.compile(
    rf"(?:while|although|though|even though) {_SOURCES} (?:do(?:es)?(?: not|n['’]t)|lacks?)\b[^,;]{{0,200}}, "  # noqa: RUF001
    r"(?:(?:they|it|the \w+) (?:do(?:es)? )?(?:states?|says?|mentions?|notes?|explains?|indicates?)(?: that)? )?",
    re.IGNORECASE,
)
_ENDED_BY_SOURCES: Final = re.compile(rf",? \(?{_BY_SOURCES.replace('|from|in|', '|')}\)?(?=[.!]?$)", re.IGNORECASE)
_FEELING: Final = re.compile(
    r"(?:(?:well|oh|yes|no|yeah|wow|haha|me too|really|honestly)[,.!]* +)*"
    r"(?:(?:i|we) (?:(?:also|really|just|do|would|['’]d|personally|always|absolutely) )*"  # noqa: RUF001
    r"(?:love|like|enjoy|hope|wish|agree|prefer|hate|feel|bet|guess so|think so|appreciate|understand)\b"
    r"(?: (?!because|since|that|when|where|which|who|how|as)[^\W\d][^\W\d'’-]*){0,6}"  # noqa: RUF001
    r"|(?:i (?:think|believe|feel|find)(?: that)? |in my opinion,? |personally,? )?(?:that|this|it|they)"
    r"(?:['’]?s| is| are| was| were| sounds| seems| looks| must be)(?: \w+){0,3} "  # noqa: RUF001
    r"(?:lovely|great|nice|interesting|cool|awesome|amazing|beautiful|wonderful|fun|funny|sad|terrible|awful|boring"
    r"|fascinating|exciting|fantastic|delicious|impressive|crazy|good|bad|neat)(?: [^\W\d]+)?"
    r"|[^,;:]{1,40}(?:['’]s|['’]re| is| are| was| were)(?: considered)?(?: one of)? my"  # noqa: RUF001
    r" (?:\w+ )?favou?rites?(?: \w+){0,3}"
    r"|my (?:\w+ )?favou?rites?(?: \w+){0,3} (?:is|are|was|were) [^,;:]{1,40})\W*",
    re.IGNORECASE,
)
# What answers somebody's words and says nothing of the matter.
_REACTION: Final = re.compile(
    r"(?:(?:well|oh|yes|no|yeah|wow|haha|ah|hmm)[,.!]* +)*"
    r"(?:(?:i|we) (?:(?:really|actually|also|just) )*(?:did|do|can)(?:n['’]?t| not|not)"  # noqa: RUF001
    r" (?:(?:really|even|actually|quite) )*(?:know|think|believe|agree|say|imagine|remember)"
    r"(?: (?:that|so|it|this|either))*"
    r"|i see|i can see (?:that|why|where you(?:['’]re| are) coming from)|(?:i|you) know(?: right)?"  # noqa: RUF001
    r"|i(?: a|['’])?m (?:so |very |really )?(?:glad|happy|sorry|sad|pleased) (?:to hear|you)\b.{0,40}"  # noqa: RUF001
    r"|i know (?:a (?:little|lot|bit)|(?:nothing|not much|little))[\w ]*"
    r"|me too|same here|haha|(?:that['’]?s (?:a )?)?good (?:point|idea|luck|question)(?: \w+){0,2}"  # noqa: RUF001
    r"|you (?:\w+ly )?should(?: (?:\w+ )?(?:try|see|watch|read|visit) (?:it|them|one|that))?"
    r")\W*",
    re.IGNORECASE,
)
# Says yes, and nothing else.
_ASSENT: Final = re.compile(
    r"(?:yes[,.]? +)?(?:exactly|definitely|indeed|right|correct|agreed|nope|yeah|yep"
    r"|(?:that|this|it)(?:['’]?s| is)? (?:(?:very|quite|absolutely|probably|certainly) )*(?:true|right|correct))\W*",  # noqa: RUF001
    re.IGNORECASE,
)
_LIST: Final = re.compile(r":$|^\d{1,3}[.)]$")


def claims_of(text: str) -> tuple[str, ...]:
    """The sentences of a text that claim something: no greetings, feelings, offers, questions, or refusals.

    Where to turn instead is part of a refusal; what is said in spite of a doubt is a claim.

    >>> claims_of("Thank you! Refunds take 14 days. Is there anything else?")
    ('Refunds take 14 days.',)
    >>> claims_of("I don't know. Please ask our support team.")
    ()
    >>> claims_of("I am not sure, but the shop was founded in 1999. I love it!")
    ('the shop was founded in 1999.',)
    """
    for apart, together in _SET_APART:
        text = apart.sub(together, text)
    spoken = _unsigned([_MARKUP.sub("", sentence).strip() for sentence in sentences(text)])
    claims = tuple(bare for sentence in spoken if _claims(bare := _unled(sentence)))
    if len(claims) > 1:  # what leads to a list, its numbers, and a yes, a no or "it does" beside its reason
        claims = tuple(one for one in claims if not _LIST.search(one) and not only_agrees(one)) or claims
    if any(map(refuses, spoken)):
        return tuple(claim for claim in claims if not _REFERRAL.fullmatch(claim))
    return claims


def _unsigned(spoken: Sequence[str]) -> Sequence[str]:
    """The sentences without who signs: the name or team that stands behind "Kind regards,"."""
    place = next((place for place, sentence in enumerate(spoken) if is_sign_off(sentence)), len(spoken))
    kept = [*spoken[: place + 1], *(line for line in spoken[place + 1 :] if not is_signature(line))]
    return spoken if place == 0 and len(kept) == 1 else kept  # "Thanks," above a list ends no letter


def _unled(sentence: str) -> str:
    """The sentence without doubts, apologies and ties that lead it, and without the words that say where it stands."""
    for lead in (_ANNOUNCED, _TIE, _LEAD, _WONDER, _APOLOGY, _CONCEDED, _LED_BY_SOURCES, _TIE):
        if found := lead.match(sentence):
            sentence = sentence[found.end() :]
    return _ENDED_BY_SOURCES.sub("", sentence)


def _claims(sentence: str) -> bool:
    if not wording(sentence).words or sentence.rstrip("\"'”’) ").endswith(("?", "？", "؟")):  # noqa: RUF001
        return False
    bare = sentence.strip()
    return not (_FEELING.fullmatch(bare) or _REACTION.fullmatch(bare) or is_courtesy(bare) or refuses(bare))


def only_agrees(claim: str) -> bool:
    """Whether it only says yes or no to what was asked: "It does.", "That's right."."""
    return not wording(claim).content or bool(_ASSENT.fullmatch(claim))

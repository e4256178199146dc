"""Courtesies: sentences that greet, thank, apologise, offer, wish or hand over, and say nothing of the matter."""

import re
from typing import Final

from .wording import wording

# What follows the words that make a courtesy: a few words without a second part, which could claim something.
_ON: Final = (
    r"(?: (?!(?:and (?:never|always|not|we|it|they)\b"
    r"|that (?!for\b|with\b|out\b|up\b|now\b|right\b|too\b|today\b)|which\b|who\b|because\b|since\b|but\b"
    r"|though\b|so that\b|unless\b))[^\W\d][\w'-]*){0,12}"
)
_HEARD: Final = r"(?: [\w'#-]+){0,14}"  # of what the user has said, echoed
_WE: Final = r"(?:i|we)(?:'m|'re|'d|'ll|'ve| am| are| do| would| will| can| have)?"
_MUCH: Final = (
    r"(?: (?:so|very|really|truly|always|just|only|also|certainly|definitely|completely|totally|fully|absolutely"
    r"|sincerely|deeply|more than|extremely|terribly|greatly|all|be|do|can|only too|both|too|quite|again|once again))*"
)
_FINE: Final = (
    r"(?:great|good|excellent|nice|lovely|wonderful|fantastic|awesome|amazing|brilliant|perfect|superb?|fabulous"
    r"|terrific|outstanding|neat|cool|smart|wise|clever|thoughtful|interesting|important|valid|fair|solid|common"
    r"|tricky|tough|popular|useful|helpful|insightful|exciting|sensible|fun|beautiful|splendid|marvell?ous|impressive"
    r"|sweet|best)"
)
_PLEASANT: Final = (
    r"(?:great|good|nice|lovely|wonderful|fantastic|awesome|amazing|superb?|fabulous|beautiful|pleasant|happy|safe|fun"
    r"|restful|relaxing|speedy|merry|smooth|productive|blessed|peaceful|cozy|cosy|enjoyable|sunny)"
)
_FEELING_BAD: Final = (
    r"(?:frustrat|annoy|stress|upset|disappoint|inconvenien|worr|confus|difficult|hard|tough|irritat|unpleasant"
    r"|concern|distress|troubl|a pain|a hassle)\w*"
)
_ASKED_FOR: Final = (
    r"(?:overview|summary|steps?|answers?|list|explanation|information|info|details|breakdown|guide|rundown"
    r"|instructions?|tips|options|points|facts|basics|response|links?)"
)
_HELP: Final = (
    r"(?:help|assist|support|guide|answer|explain|clarify|hear|be of|be here|see you|meet you|have you|welcome"
    r"|serve|walk)"
)
_TO_US: Final = (
    r"(?:(?:please|just|simply|also|do|kindly|always|then|you can|you may|you are welcome to|you're welcome to"
    r"|feel free to|don't hesitate to|and) )*"
    r"(?:ask|shout|holler|speak up|reply|write|message|contact|call|e-?mail|text|ping|reach out|get in touch|get back"
    r"|drop|give|send|tell|let|come back|check back)"
    r"(?: (?:to|with|back|an?|me|us|our|the|this|here|at|any|time|anytime|know|line|shout|ring|call|message|e-?mail"
    r"|team|support|customer|service|chat|out|note|again|away|for|help|question|questions))*"
)
# What may still be open: "if you have any other questions". An offer for that case claims nothing.
_OPEN: Final = (
    r"(?:you|anything|something|there|any|it|this|that)\b[^\d:;]*\b(?:else|questions?|help|unclear|assistance"
    r"|concerns?|doubts?|stuck|trouble|further|anything|clarification|support|more (?:details|information|info))\b"
    r"[^\d:;]*"
)
_IF_OPEN: Final = re.compile(
    rf"(?:if|whenever|when|should|in case) {_OPEN}"
    r"|for (?:any |all )?(?:further|more|other|additional) (?:questions|help|details|information|assistance)"
)
_CONDITIONAL: Final = (  # either part first
    re.compile(r"(?P<open>(?:if|whenever|when|should|in case|for) [^,]*), (?P<offer>.*)"),
    re.compile(r"(?P<offer>.*?),? (?P<open>(?:if|whenever|when|should|in case|for) .*)"),
)
_OFFERED: Final = re.compile(_TO_US)
# Of who was there before: thanks and apologies may name what happened, with its figures.
_OWED: Final = (
    rf"(?:(?:many|again|once again|a thousand|{_WE}{_MUCH})[ ,]+){{0,3}}(?:thanks|thank you|thx)"
    rf"(?: (?:for|so|very|kindly|in advance|again|a (?:lot|million|bunch|ton)|from|once|and|all|everyone"
    rf"|there)\b{_HEARD})?"
    rf"|{_WE}{_MUCH} (?:grateful|thankful) (?:for|to|that)\b{_HEARD}"
    r"|your (?:\w+ ){1,2}(?:(?:is|are)(?: (?:so|very|really))? (?:important|valuable) to (?:us|me)"
    r"|means? (?:so much|a lot|the world|everything)(?: to (?:us|me))?)"
    rf"|(?:(?:it|that|this)(?:'s| is) )?(?:much|greatly|really) appreciated"
    r"|(?:please (?:accept )?)?"
    rf"(?:(?:my|our|sincere|sincerest|deepest|humble|again|once again|{_WE}{_MUCH})[ ,]+){{0,3}}"
    rf"(?:apologies|apology|apologi[sz]e|sorry)(?: (?:again|once again|so much))?"
    rf"(?: (?:for|about|to hear|if|you(?:'ve|'re|'d)?)\b{_HEARD})?"
    rf"|(?:please )?(?:excuse|forgive|pardon) (?:the|my|our|us|me|any)\b(?!.* (?:is|are|was|were) ){_HEARD}"
    rf"|{_WE}{_MUCH} (?:understand|get|hear|know|imagine|see|feel|reali[sz]e)(?: (?:it|you|that))?"
    rf"|{_WE}{_MUCH} (?:understand|get|hear|know|imagine|see|feel|reali[sz]e)(?: that| how| why)?(?: [\w']+){{0,3}}"
    rf" (?:(?:\w+ly )?{_FEELING_BAD}|important|you feel|position|situation|pain){_ON}(?<! is)"
    rf"|(?:i|we)(?: \w+ly)? regret (?:the|any|this|that)(?: \w+)? (?:inconvenience|delay|trouble|error|mistake"
    rf"|confusion)"
    rf"|(?:that|this|it) (?:(?:must|has to) (?:be|feel|have been)|sounds)(?: \w+)? {_FEELING_BAD}(?: for you)?"
    r"|(?:that|this|it)(?:'s| is)(?: \w+ly)? (?:understandable|okay|ok)"
)
_FORMS: Final = (
    # greetings
    rf"(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))(?: (?:there|and|to|all|everyone)\b{_ON})?",
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening))(?: [^\W\d][\w.'-]*){1,3},",
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening))(?:,? [^\W\d][\w.'-]*){1,2}",
    rf"(?:and )?welcome(?: (?:to|back|aboard|on board|again|and|everyone|all)\b{_ON})?",
    rf"{_WE}{_MUCH} (?:appreciate|value) (?:you|your|the|that|this|it|hearing|all)\b{_ON}",
    # offers
    rf"(?:{_WE}{_MUCH}|our(?: \w+){{0,3}} (?:is|are|'d be|will be|would be){_MUCH}|it(?:'s| is| was|'d be| would be))?"
    rf" ?(?:(?:always|more than|very|so|a|an|my|our|such|real|great|only too) )*(?:happy|glad|delighted|pleased|nice"
    rf"|good|great|lovely|wonderful|pleasure|honou?r|ready|available|here|there|excited"
    rf"|thrilled) (?:to )?{_HELP}(?:ing)?\b{_ON}",
    rf"(?:i|we)(?:'d|'ll| would| will)(?: \w+ly)?(?: be)?{_MUCH} (?:happy|glad|delighted|pleased|love"
    rf"|like) to (?:{_HELP}|look|check|show|tell|share|chat|talk|discuss|go over|take a look|learn|know){_ON}",
    r"(?:i|we)(?: \w+ly)?(?: can|'ll| will| could)(?: \w+ly)? (?:help|assist)(?: you)?(?: out| further)?"
    r"(?: with (?:that|this|it|any\w*(?: \w+){0,3}))?",
    rf"(?:{_WE}|our(?: \w+){{0,2}} (?:is|are)){_MUCH} (?:right )?(?:here|around|on it|at your (?:service|disposal))"
    rf"(?: (?:to help|for you|if you|if there|when you|whenever you|any ?time)\b{_ON})?",
    r"(?:(?:please|do|just) )*(?:let me know|let us know|feel free|don't hesitate|do not hesitate)\b[^\d,:;]*",
    rf"(?:and )?how (?:can|may) i help\b{_ON}",
    r"(?:please )?(?:reach out|get in touch|contact us|write to us|message us|ask|come back|text us)(?: to us)?"
    r" any ?time",
    # what the speaker is about to do
    rf"(?:please )?(?:let me|let us|allow me to|allow us to)(?: (?:\w+ly|just|first|go ahead and))*"
    rf" (?:explain|walk|show|help|clarify|see|check|look|find|break|guide|give|summari[sz]e|go|take|have|get|dive"
    rf"|start|begin|pull|double-check|connect|transfer|introduce|try|outline|share|think|put|do)\b{_ON}",
    r"let's (?:(?:just|first|quickly|now|all) )*(?:see|look|take|get|start|begin|dive|go(?! is\b)|check|find|try|do"
    r"|make|walk|break|explore|talk|figure|work|fix|sort|solve|clear|have|move|keep|jump|review|discuss|tackle)"
    rf"\b{_ON}",
    r"(?:i|we)(?:'m|'re|'ll| am| are| will)(?: \w+ly| just)? (?:look(?:ing)? (?:into|that|this|it)"
    r"|check(?:ing)? (?:that|this|it|on|for)"
    rf"|get(?:ting)? back to|be (?:right|in touch)|do (?:my|our) best|(?:connect|transferr?|forward|pass)(?:ing)? you"
    rf"|walk you|find(?:ing)? (?:that )?out)\b{_ON}",
    rf"(?:please )?(?:(?:just|give me|wait|hold on|hang on)[ ,]+)*(?:a|one) (?:moment|second|sec|minute)(?:,? please)?"
    rf"(?: (?:while|as) (?:i|we)\b{_ON})?",
    rf"(?:please )?(?:bear with (?:me|us)|hold on|hang on|hang tight|please hold|please wait|stand by)"
    rf"(?: (?:while (?:i|we)|for a moment|a moment)\b{_ON})?",
    # what comes next
    r"here (?:you go|you are|we go|it is|they are|it goes)",
    r"(?:here(?:'s| is| are)|below (?:is|are)|(?:please )?(?:see|find)"
    r"|(?:below )?you(?:'ll| will| can)? find(?=.* (?:below|above|here|attached)$)) "
    rf"(?:how|what|why|everything|(?:\w+ ){{1,3}}?{_ASKED_FOR}\b){_ON}(?<! in)",
    r"(?:please )?note the following|(?:to|in) answer (?:to )?(?:your|the) question",
    r"in (?:short|summary|brief|conclusion|a nutshell)|to (?:sum up|summari[sz]e)|long story short",
    # wishes
    rf"(?:{_WE})?{_MUCH} ?(?:hope|hoping|wish|wishing|look forward|looking forward|trust) (?:this|it"
    rf"|everything|all|you"
    rf"|your|the (?:above|information|answer)|these|we|i|him|her|for you"
    rf"|that (?:helps|clears|answers|makes|works|explains|solves|resolves|was|you|this|it)"
    rf"|to (?:see|hear|welcom|have|meet|serv|your|you)\w*)\b{_ON}",
    rf"(?:please |and )?enjoy(?: (?:it|yoursel\w+|(?:your|the|this|every)(?! (?:free|unlimited|full))){_ON})?",
    rf"(?:and )?have (?:yourself )?(?:(?:a|an|the|lots of|loads of|some) )?(?:\w+ )?{_PLEASANT}\b"
    rf"{_ON}",
    r"(?:get well|feel better|be (?:safe|well)|stay (?:safe|well|healthy|warm|cool|strong|tuned|positive|in touch)"
    r"|take (?:care|it easy|your time)|keep (?:in touch|safe|well|it up|up the \w+ work)"
    r"|(?:talk|speak|chat|see|write)(?: to| with)? you|sleep well|drive safely|travel safely|best wishes"
    r"|sleep tight|rest up|(?:talk|speak) soon|catch you|fingers crossed|until next time|bye|goodbye|good ?bye"
    r"|many happy returns|good night)"
    r"(?:,? (?:and|with|for|soon|well|healthy|safe|safely|strong|warm|of|yourself|yourselves|out there|there|later"
    r"|again|then"
    r"|next|time|tomorrow|bye|for now|everyone|all|to|from|with|us|your|you|family|on))*",
    rf"all the best(?: (?:with|for|on|from|to)\b{_ON})?|(?:(?:good|best of|the best of|lots of"
    rf"|all the) )*luck(?: (?:with|on|in|for|to|at|there|and)\b{_ON})?",
    rf"(?:many |hearty |warm )?(?:congratulations|congrats|bravo|kudos|well done|cheers|hooray|yay|great job|good job"
    rf"|nice work|way to go|bon (?:app[eé]tit|voyage|courage))(?: (?:on|to|for|and|from|everyone|all)\b{_ON})?",
    rf"(?:happy (?:\w+ing|birthday|holidays?|anniversary|new year|easter|travels|trails|weekend)|merry christmas"
    rf"|{_PLEASANT} (?:travels?|trip|journey|flight|stay))(?: (?:to|and|with|from|everyone|home|all)\b{_ON})?",
    # praise
    rf"(?:(?:that|this|it)(?:'s| is| was| sounds)(?: (?:like|really|very|such|quite|actually|definitely|truly"
    rf"|indeed))* "
    rf"|what )?(?:an? )?(?:(?:very|really|truly|super|such a|most) )?{_FINE}(?:,? (?:and )?{_FINE})?"
    r" (?:question|choice|idea|point|plan|pick|start|news|thing to (?:ask|know)|decision|taste|move|thinking|job"
    r"|suggestion|observation|catch|call|topic|thought|request|guess|one|to (?:hear|know|see)(?: (?:it|that))?)s?"
    r"(?: (?:to (?:ask|raise|bring up|start|hear|see|know)|there|from you|indeed|of you|you(?:'ve)? \w+"
    r"|you have \w+(?: there)?))*(?:, [^\W\d]+)?",
    rf"how (?:very )?(?:{_FINE}|{_PLEASANT}|{_FEELING_BAD}|sad|kind)",
    r"(?:i )?(?:really |just )?love (?:that|this|it|your)(?: [^\W\d]+){0,3}",
    # assent, and what takes thanks
    r"(?:perfect|wonderful|excellent|awesome|fantastic|brilliant|lovely|great|sure|certainly|absolutely|of course"
    r"|okay|alright|all right|sure thing|by all means|understood|noted|gladly|with pleasure|any ?time|fair enough"
    r"|(?:(?:i|you)(?:'ve)? )?got it|you bet|will do|say no more|consider it done|glad you asked|glad (?:i"
    r"|we) could help|no sweat"
    r"|(?:(?:that|this|it|sure) )?(?:makes sense|sounds good|sounds like a plan)|(?:that )?makes perfect sense"
    r"|(?:it(?:'s| is) )?(?:my|our) pleasure|(?:and )?you(?:'re| are)(?: (?:very|most|more than|always|so))* welcome"
    r"|don't mention it|roger that|right away|coming right up|you've come to the right place|you're in good hands"
    r"|(?:i|we)(?:'ve| have) got you(?: covered)?|(?:i'm )?(?:just|only) a (?:\w+ )?(?:message|call|click"
    r"|chat) away)(?:,? (?:it is|there|indeed|everyone|[^\W\d]+))?",
    r"(?:(?:that(?:'s| is)|it(?:'s| is)|please) )?(?:no|not an?|don't|do not)(?: \w+)?"
    r" (?:problem|worries|worry|trouble|bother|biggie|need to (?:worry|apologi[sz]e)|stress|rush|hurry)"
    r"(?: (?:at all|whatsoever|there|about (?:it|that|this)))?",
    rf"(?:(?:{_WE}|so|very){_MUCH} )?(?:glad|happy|pleased|delighted|thrilled|excited) (?:you|for you|that you"
    rf"|to (?:hear|have|see) (?:from|you|that|it))\b{_HEARD}",
)
_COURTESY: Final = "|".join(_FORMS)  # a text, as ``re`` compiles it when the first answer needs it
_SIGN_OFF: Final = re.compile(
    r"(?:with )?(?:(?:many|my|our|very|warm|warmest|kind|kindest|best|sincere|friendly) )*(?:regards|wishes"
    r"|greetings)(?:,.*| (?:from|to|and)\b.*)?"
    r"|(?:yours )?(?:sincerely|faithfully|truly|cordially|respectfully|warmly)(?: yours)?(?:,.{0,40})?"
    r"|(?:all the )?best,|(?:thanks|cheers|love),"
)
_LEAD: Final = re.compile(
    r"(?:(?:yes|no(?= (?:worries|problem))|sure|of course|certainly|absolutely|oh no|oh|rest assured|wow|well|great"
    r"|okay|ok|ah|hi|hello|hey"
    r"|perfect|again|also|and|thanks|thank you|hi there|hello there)(?:[,.!]| -) +)+"
)
_PARTS: Final = re.compile(r" ?[,;!.–—] ?(?:and )?| and | - ")  # noqa: RUF001
_LONGEST: Final = 200  # characters of a courtesy
_LAST_WORDS: Final = 6  # of a signature


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence, from its first sign to its last, is said for politeness' sake.

    >>> is_courtesy("I'd be happy to help with that!"), is_courtesy("I'm happy to confirm that refunds take five days.")
    (True, False)
    """
    if len(sentence) > _LONGEST:
        return False
    plain = _plain(sentence)
    bare = plain.rstrip(",.!:;- ")
    told = bool(wording(sentence).of_kind("number"))
    forms = {bare, _LEAD.sub("", bare, count=1), *([plain] if plain.endswith(",") else [])}
    parts = _PARTS.split(bare)
    return any(_is_courtesy(form, told) for form in forms) or (
        len(parts) > 1 and all(_is_courtesy(part, told) for part in parts)
    )


def _is_courtesy(text: str, told: bool) -> bool:
    """Whether a plain text is one; with a figure, only thanks and apologies are, which may name what happened."""
    if re.fullmatch(_OWED, text):
        return True
    return not told and bool(re.fullmatch(_COURTESY, text) or _SIGN_OFF.fullmatch(text) or _offers(text))


def is_sign_off(sentence: str) -> bool:
    """Whether it ends a letter, so that what follows is who has written it: "Kind regards,"."""
    return bool(_SIGN_OFF.fullmatch(_plain(sentence)))


def is_signature(line: str) -> bool:
    """Whether a line behind a sign-off says who has written: a few words that are no sentence."""
    return len(line.split()) <= _LAST_WORDS and line[-1:].isalnum() and not wording(line).of_kind("number")


def _offers(text: str) -> bool:
    """Help for what may still be open: "If anything is unclear, just ask"."""
    if _IF_OPEN.fullmatch(text) and " " in text and "," not in text:
        return True
    for order in _CONDITIONAL:
        found = order.fullmatch(text)
        if found and _IF_OPEN.fullmatch(found["open"]):
            offer = found["offer"]
            return bool(_OFFERED.fullmatch(offer) or re.fullmatch(_COURTESY, offer))
    return False


def _plain(sentence: str) -> str:
    """In lower case with straight apostrophes, without quotation marks and signs that are no words at its ends."""
    spoken = sentence.lower().replace("\u2019", "'")
    return re.sub(r"^\W+|[^\w,.!:]+$", "", " ".join(spoken.split()))

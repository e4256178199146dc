"""Tables and sentences of the turns that lost conversations."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.turns import BotTurns, LostConversation, TurnAttribution
from ..table import BLANK, Block, Column, Heading, Sentence, Table, Words, quoted
from ..text import count

MOST = 20  # lost conversations of a bot that are listed


def turn_blocks(found: TurnAttribution) -> Iterator[Block]:
    """Bot by bot what earlier errors cost, and the turn that lost each conversation."""
    yield Heading((quoted(found.suite, 80, "bold"), ": which turn lost the conversation"), 2)
    for bot in found.bots:
        yield BLANK
        yield Sentence(_summary(bot))
        if bot.lost:
            yield Table(
                [Column("conversation", "name"), Column("lost at"), Column("by", "text"), Column("later", "text"),
                 Column("details", "text")],
                [_line(each) for each in bot.lost[:MOST]],
            )  # fmt: skip
        if len(bot.lost) > MOST:
            yield Sentence(f"and {len(bot.lost) - MOST:,} more; --json has all", "dim")
    yield BLANK
    yield Sentence(
        "Each turn was asked on the bot's own history and on that of the expected answers; the difference is what"
        " earlier errors cost, with a 95 % interval over conversations. Lost by itself: wrong on the expected history,"
        " too, or the first turn; by history: right on the expected one.",
        "dim",
    )
    if found.left_out:
        left = count(found.left_out, "conversation")
        yield Sentence(f"{left} left out: without expected answers for all earlier turns, or simulated.", "dim")


def _summary(bot: BotTurns) -> Words:
    right = bot.conversations - len(bot.lost)
    of = count(bot.conversations, "conversation")
    text = f": {right:,} of {of} without a wrong turn."
    if bot.cost is None or bot.own is None or bot.expected is None:
        return (
            quoted(bot.bot, 80, "bold"),
            f"{text} What earlier errors cost can't be told: no later turn has a verdict.",
        )
    ends = "" if bot.cost.low is None or bot.cost.high is None else f" [{bot.cost.low:.2f}, {bot.cost.high:.2f}]"
    why = f" (no interval: {bot.cost.no_interval})" if not ends else ""
    cost = f" Earlier errors cost {bot.cost.mean:.2f}{ends} of right answers after the first turn{why}:"
    return (
        quoted(bot.bot, 80, "bold"),
        f"{text}{cost} {bot.own:.2f} on its own history, {bot.expected:.2f} on the expected one,"
        f" {count(bot.turns, 'turn')}.",
    )


def _line(lost: LostConversation) -> list[Words]:
    later = []
    if lost.carried:
        later.append(f"{', '.join(map(str, lost.carried))} by that")
    if lost.independent:
        later.append(f"{', '.join(map(str, lost.independent))} by themselves")
    first = lost.lost_at
    details: list[Words] = []
    if first.forgotten:
        details.append(quoted(first.forgotten, 160))
    if first.expected_documents and set(first.documents) != set(first.expected_documents):
        there, instead = ", ".join(first.documents) or "nothing", ", ".join(first.expected_documents)
        details.append(quoted(f"retrieved {there}; on the expected history {instead}", 160))
    name = lost.conversation if not lost.repeat else f"{lost.conversation}, repeat {lost.repeat}"
    return [
        quoted(name, 60), f"turn {first.turn}", lost.cause, "; ".join(later),
        details[0] if details else quoted(first.question, 80),
    ]  # fmt: skip

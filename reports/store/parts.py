"""Parts: what another machine must know of cached answers, and a writer that also says what it writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ...bots import Reply
from ...metrics import Score, Status
from .database import Store, in_parts, marks
from .judge_calls import CachedCall, CallRecord
from .row_tables import QUESTION_COLUMNS, REPLY_COLUMNS, AnswerColumns, found_row
from .run import Row
from .run_results import OpenRun, RunResults
from .writer import RowWriter

CONTEXTS = """
SELECT reply_id, fingerprint, document, start, "end", text, score
FROM contexts JOIN passages ON passages.id = passage_id WHERE reply_id IN ({}) ORDER BY reply_id, rank"""

EARLIER = """
SELECT question_hash, repeat, request_hash, replies.id, latency_ms FROM replies JOIN bots ON bots.id = bot_id
WHERE request_hash IS NOT NULL AND status = 'answered' AND bot_id != ?
AND bots.name = (SELECT name FROM bots WHERE id = ?) AND question_hash IN ({}) ORDER BY replies.id"""


class RowKey(NamedTuple):
    """What tells a row of a bot in a run from its others: what is asked, in which repeat, and at which place."""

    question_hash: bytes
    repeat: int
    position: int


def row_key(row: Row) -> RowKey:
    """The key of a row."""
    return RowKey(row.question_hash, row.repeat, row.position)


class StoredScore(NamedTuple):
    """A score as far as it decides whether it is worked out again."""

    metric: str
    value: float | None
    status: str


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer of the database as columns, with its ids there, and the scores that it has with its question."""

    columns: AnswerColumns
    reply_id: int
    question_id: int | None
    scores: tuple[StoredScore, ...] = ()

    def row(self, bot_id: int, position: int) -> Row:
        """The row as it can be written, for a bot with this id."""
        return found_row(position, replace(self.columns, reply=(bot_id, *self.columns.reply[1:])))


class SameRequest(NamedTuple):
    """The answer of an earlier version of a bot, to a request with this hash."""

    request_hash: str
    repeat: int
    reply: Reply
    latency_ms: float | None


Wanted = tuple[int, int | None, Sequence[object] | None]


def stored_answers(store: Store, run: OpenRun, wanted: Sequence[Wanted]) -> list[StoredAnswer]:
    """Cached answers with their scores by the metrics of a run.

    Args:
        store: the database.
        run: whose metrics count.
        wanted: of each the id of the reply, that of the question where it is stored, and the question's columns where
            they are not to be read.
    """
    replies: dict[int, tuple[object, ...]] = {}
    questions: dict[int, tuple[object, ...]] = {}
    contexts: dict[int, list[tuple[tuple[object, ...], float | None]]] = {}
    scores: dict[tuple[int, int], list[StoredScore]] = {}
    names = {number: name for name, number in run.metric_ids.items()}
    for part in in_parts([reply_id for reply_id, _, _ in wanted]):
        for number, *columns in store.query(f"SELECT {REPLY_COLUMNS} FROM replies WHERE id IN ({marks(part)})", part):
            replies[number] = tuple(columns)
        for number, *passage, score in store.query(CONTEXTS.format(marks(part)), part):
            contexts.setdefault(number, []).append((tuple(passage), score))
        for reply_id, question_id, metric_id, value, status in store.query(
            f"SELECT reply_id, question_id, metric_id, value, status FROM scores WHERE reply_id IN ({marks(part)})",
            part,
        ):
            if metric_id in names:
                found = scores.setdefault((reply_id, question_id), [])
                found.append(StoredScore(names[metric_id], value, status))
    for part in in_parts([number for _, number, given in wanted if given is None and number is not None]):
        sql = f"SELECT {QUESTION_COLUMNS} FROM questions WHERE id IN ({marks(part)})"
        questions.update((number, tuple(columns)) for number, *columns in store.query(sql, part))
    return [
        StoredAnswer(
            AnswerColumns(
                tuple(questions[question_id or 0] if given is None else given),
                replies[reply_id],
                tuple(contexts.get(reply_id, ())),
            ),
            reply_id,
            question_id,
            tuple(scores.get((reply_id, question_id or 0), ())),
        )
        for reply_id, question_id, given in wanted
    ]


def conversation_rows(store: Store, run: OpenRun, bot_id: int, conversation: str) -> list[tuple[int, int]]:
    """Ids of the answered replies of a bot in a conversation, each with that of its question."""
    only = "AND run_rows.run_id = ?" if run.own_only else ""
    return store.query(
        "SELECT DISTINCT reply_id, question_id FROM run_rows JOIN questions ON questions.id = question_id"
        " JOIN replies ON replies.id = reply_id AND status = 'answered'"
        f" WHERE run_rows.bot_id = ? AND conversation = ? {only} ORDER BY reply_id",
        [bot_id, conversation, *([run.id] if run.own_only else [])],
    )


def earlier_answers_to(store: Store, bot_id: int, asks: Sequence[bytes]) -> list[SameRequest]:
    """What earlier versions of a bot answered to these questions, the newest last."""
    results = RunResults(store)
    return [
        SameRequest(request_hash, repeat, results.load_reply(number), latency_ms)
        for part in in_parts(asks)
        for _, repeat, request_hash, number, latency_ms in store.query(
            EARLIER.format(marks(part)), [bot_id, bot_id, *part]
        )
    ]


def has_earlier_versions(store: Store, bot_id: int) -> bool:
    """Whether other versions of a bot were asked."""
    sql = "SELECT 1 FROM bots WHERE name = (SELECT name FROM bots WHERE id = ?) AND id != ? LIMIT 1"
    return bool(store.query(sql, [bot_id, bot_id]))


@dataclass(frozen=True, slots=True)
class Linked:
    """A cached answer belongs to the run."""

    key: RowKey


@dataclass(frozen=True, slots=True)
class Answered:
    """A bot was asked, and answered or failed."""

    row: Row


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of a row that came before."""

    key: RowKey
    scores: Sequence[Score]


@dataclass(frozen=True, slots=True)
class Rested:
    """The keys of the judge calls that the scores of a row rest on."""

    key: RowKey
    calls: tuple[bytes, ...]


Written = Linked | Answered | Scored | Rested | CallRecord


class PartWriter(RowWriter):
    """Writes a part as any run is written, and says each thing that another database is to have as well.

    A part is lost with its program without loss: there is no journal.
    """

    def __init__(
        self,
        path: Path,
        run: OpenRun,
        redact: Callable[[str], str],
        say: Callable[[Written], None],
        is_behind: Callable[[], bool],
    ) -> None:
        super().__init__(path, run.id, run.metric_ids, redact)
        self._say, self._is_behind = say, is_behind

    @property
    def crowded(self) -> bool:
        """See ``RowWriter``; also where too many answers wait to be fetched, which would be asked for again."""
        return super().crowded or self._is_behind()

    def seed(self, answer: StoredAnswer, bot_id: int, metrics: Mapping[str, int]) -> None:
        """Write what was known before."""
        row = answer.row(bot_id, 0)
        super().row(row)
        known = [each for each in answer.scores if each.metric in metrics]
        super().scores(row, [Score(each.metric, each.value, Status(each.status)) for each in known])

    def row(self, row: Row) -> None:
        """See ``RowWriter``."""
        super().row(row)
        self._say(Linked(row_key(row)) if row.cached else Answered(replace(row)))

    def answer(self, row: Row) -> None:
        """See ``RowWriter``."""
        super().row(row)
        self._say(Answered(replace(row)))

    def scores(self, row: Row, scores: Sequence[Score]) -> None:
        """See ``RowWriter``."""
        super().scores(row, scores)
        self._say(Scored(row_key(row), scores))

    def judge_call(self, record: CallRecord) -> None:
        """See ``RowWriter``."""
        self._put(record)
        self._say(record)

    def judge_notes(self, row: Row, calls: Sequence[CachedCall]) -> None:
        """See ``RowWriter``."""
        super().judge_notes(row, calls)
        self._say(Rested(row_key(row), tuple(call.key for call in calls if call.key)))


class Merging:
    """Writes what a part said into the database of the run; all rows of one bot.

    Args:
        writer: of the run.
        bot_id: of the bot there.
        cached: the answers of the database that the part was given.
        find: a judge call of the database by its key.
    """

    def __init__(
        self, writer: RowWriter, bot_id: int, cached: Sequence[StoredAnswer],
        find: Callable[[bytes], CachedCall | None],
    ) -> None:  # fmt: skip
        self._writer = writer
        self._bot_id = bot_id
        self._cached = {each.columns.reply[1:3]: each for each in cached}  # by what was asked, and its repeat
        self._rows: dict[RowKey, Row] = {}
        self._find = find

    def row(self, key: RowKey) -> Row:
        """A row that was linked or answered."""
        return self._rows[key]

    def take(self, written: Written) -> None:
        """Write one thing; it is on disk as soon as any other row would be."""
        match written:
            case Linked(key):
                answer = self._cached[key[:2]]
                self._rows[key] = row = answer.row(self._bot_id, key.position)
                row.cached, row.reply_id, row.question_id = True, answer.reply_id, answer.question_id
                self._writer.row(row)
            case Answered(row):
                row.bot_id, row.reply_id, row.question_id, row.columns = self._bot_id, None, None, None
                self._rows[row_key(row)] = row
                self._writer.answer(row)
            case Scored(key, scores):
                self._writer.scores(self._rows[key], scores)
            case Rested(key, calls):
                found = [call for each in calls if (call := self._find(each)) is not None]
                self._writer.judge_notes(self._rows[key], found)
            case CallRecord():
                written.stored.id = None
                self._writer.judge_call(written)

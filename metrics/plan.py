"""Plan: some metrics of a catalog, prepared so that scoring a row is only calling functions."""

from collections.abc import Collection, Iterable

from .. import InputError
from .bench import Failure, Values, make_all, measure
from .facts import ROW_CHECKS, RUN_CHECKS, Facts, RunFacts
from .messages import nearest
from .planned import Prepared, in_order
from .request_plan import RequestPlan, plan_requests
from .row import Row, RowPlan, no_value, score_of
from .score import Reason, Score, Status


class Plan:
    """Some metrics, ready to score rows; made by ``Catalog.plan``.

    Attributes:
        metrics: the planned metrics of level ``row``, in the order of their scores.
        run_metrics: those of level ``run``.
        needs: every fact that a row should bring, required or not.
        is_sync: whether nothing has to be awaited, so that ``score_now`` can be used.
    """

    def __init__(self, prepared: Iterable[Prepared]) -> None:
        """Take prepared metrics, in the order in which scores are wanted."""
        self._all = tuple(prepared)
        of_row = tuple(one for one in self._all if one.metric.level == "row")
        self._of_run = tuple(one for one in self._all if one.metric.level == "run")
        self.metrics = tuple(one.metric for one in of_row)
        self.run_metrics = tuple(one.metric for one in self._of_run)
        required = {fact for metric in self.metrics for fact in metric.needs}
        self.needs = frozenset(required.union(*(metric.optional for metric in self.metrics)))
        steps = in_order(of_row)
        self.is_sync = not any(step.waits for step in steps)
        required |= {name for step in steps for name in step.names if name not in step.defaults}
        checks = tuple((name, check) for name, check in ROW_CHECKS.items() if name in required)
        is_on_expected = any(step.on_expected for step in (*steps, *(one.step for one in of_row)))
        self._row_plan = RowPlan(of_row, steps, checks, is_on_expected)

    @property
    def requests(self) -> RequestPlan:
        """Which requests to the judge a row and a question cost, and which metrics rest on them."""
        return plan_requests(self._row_plan.prepared)

    def subset(self, ids: Collection[str]) -> "Plan":
        """The plan of some of these metrics, with the same versions and requests as in this one.

        A request that serves several metrics stays as it is, so that what is kept of it can be used.

        Raises:
            InputError: for a metric that is not planned.
        """
        planned = {one.metric.id for one in self._all}
        for id in ids:
            if id not in planned:
                raise InputError(f"The metric '{id}' is not in this plan{nearest(id, planned)}")
        return Plan(one for one in self._all if one.metric.id in ids)

    async def score(self, facts: Facts) -> list[Score]:
        """Scores of a row, in the order of ``metrics``; whatever can be awaited together is."""
        row = Row(self._row_plan, facts)
        row.make_plain()
        if not self.is_sync:
            await make_all(row.work(waiting=True))
        return row.scores()

    def score_now(self, facts: Facts) -> list[Score]:
        """The same without awaiting anything. Raises RuntimeError unless ``is_sync``."""
        if not self.is_sync:
            raise RuntimeError("Some of these metrics await a model: use 'await plan.score(facts)'.")
        row = Row(self._row_plan, facts)
        row.make_plain()
        return row.scores()

    def bot_failed(self) -> list[Score]:
        """Scores of a row on which the bot raised, timed out or was refused: no number at all."""
        return [
            Score(metric.id, None, Status.BOT_ERROR, Reason.BOT_RAISED, {}, metric.version) for metric in self.metrics
        ]

    def broken_off(self, message: str) -> list[Score]:
        """Scores of a row whose scoring ended before there was any: an error of each metric."""
        details = {"exception": "", "message": message[:500], "raised_by": ""}
        return [
            Score(metric.id, None, Status.ERROR, Reason.METRIC_RAISED, details, metric.version)
            for metric in self.metrics
        ]

    def score_run(self, facts: RunFacts) -> list[Score]:
        """Scores of one bot over a whole run, in the order of ``run_metrics``."""
        values = Values(facts)
        scores = []
        for one in self._of_run:
            missing = [reason for name in one.facts if (reason := RUN_CHECKS[name](values[name]))]
            if missing:
                scores.append(no_value(one, Failure(Status.NOT_APPLICABLE, missing[0])))
            else:
                scores.append(score_of(one, measure(one.step, values)))
        return scores

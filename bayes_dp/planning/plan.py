"""`plan`: how many challenges or bases an interval of a wanted width takes, by simulation.

The truth is drawn (ε, s and the error rates), then counts of a larger experiment, whose posterior is computed as
`estimate` does. Many such experiments give the distribution of the width. The sizes are doubled until one is surely
enough. The limit of many challenges (`limit.py`) says when more of them do not help.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayes_dp.bayes.exact.many import estimate_many
from bayes_dp.bayes.exact.posterior import MOST_CHALLENGES, ExactPosterior
from bayes_dp.bayes.question import Question, Strength, ask
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.planning.limit import limit_width
from bayes_dp.planning.result import Plan, PlanRow, Way
from bayes_dp.planning.simulated import Experiment, Simulated
from bayes_dp.support.arrays import Floats
from bayes_dp.support.progress import bar, check_shown
from bayes_dp.support.workers import check_jobs, pool

__all__ = ["Work", "plan"]


_WAYS: tuple[Way, ...] = ("challenges", "bases")
_AT_ONCE = 10  # experiments of a job
_IN_VAIN = 4.0  # times the challenges are shown, where not even their limit is enough
_DRAWN = (
    "The truth is drawn from the posterior given these counts; new bases are like these.",
    "The truth is as given, or drawn from the priors.",
)


def plan(
    given: ErrorCounts | Experiment,
    delta: float,
    width: float,
    *,
    prob: float = 0.9,
    assurance: float = 0.8,
    vary: Way | Literal["both"] = "both",
    largest: float = 32.0,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    repetitions: int = 100,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Plan:
    """How many challenges, or bases, are needed for an interval of ε that is at most so wide.

    Parameters
    ----------
    given : counts, to which more are to be added, or an `Experiment` that has not been made.
    delta, width : the known δ, and the width that is wanted.
    prob : of the equal-tailed interval.
    assurance : the share of the simulated experiments whose interval must be narrow enough.
    vary : grow by more "challenges" of the same bases, by more "bases", or tell about "both".
    largest : the largest size to try, as a multiple of the first.
    prior_epsilon, prior_strength, strength : of the analysis, as for `estimate`, but not strength="tight".
    repetitions : simulated experiments of each size.
    seed : of all draws; the same seed gives the same plan, whatever `n_jobs`.
    n_jobs : of joblib: by default one process, or the active backend's (`joblib.parallel_config`).
    progress : whether there is a bar on standard error, by default on a terminal.

    An interrupted plan keeps the sizes that are finished, if there are any.

    >>> experiment = bdp.Experiment(bases=2, negatives=100, positives=100, epsilon=1.0)
    >>> plan = bdp.plan(experiment, 1e-3, width=1.0, vary="challenges", largest=2.0, repetitions=2)
    >>> print(plan.reason("challenges"))
    No number of challenges of these bases is enough: were their error rates known exactly, the interval would still be
    ... wide, as few bases do not tell how strong the attacks are.
    """
    settings = _settings(width, prob, assurance, vary, largest, repetitions, seed)
    check_jobs(n_jobs)
    check_shown(progress)
    if not isinstance(given, ErrorCounts | Experiment):
        raise InputError(f"given must be ErrorCounts or an Experiment, not {type(given).__name__}")
    counts = given if isinstance(given, ErrorCounts) else given.no_errors()
    question = ask(counts, "epsilon", delta, prior=prior_epsilon, prior_strength=prior_strength, strength=strength)
    if question.strength == "tight":
        raise InputError("a plan needs the strength 'free' or a number below 1, not 'tight'")

    work = Work(question, settings["prob"], n_jobs, progress)
    present = None
    if isinstance(given, ErrorCounts):
        post = work.posteriors([given])[0]
        present = float(np.ptp(post.interval(prob)))
        start = Simulated.of_counts(given, post, question.known, repetitions, settings["seed"])
    else:
        start = Simulated.of_experiment(given, question, repetitions, settings["seed"])

    rows: list[PlanRow] = []
    limit, complete = None, True
    ways = _WAYS if vary == "both" else (vary,)
    try:
        widths = work.widths(start) if present is None else np.full(repetitions, present)
        if "challenges" in ways:
            limit = _row("challenges", math.inf, start, work.limits(start))
        for way in ways:
            most = settings["largest"]
            if way == "challenges" and limit is not None and limit.assured(assurance)[1] > width:
                most = min(most, _IN_VAIN)
            rows.append(_row(way, 1.0, start, widths))
            rng = np.random.default_rng([settings["seed"], 1 + _WAYS.index(way)])
            for times, experiments in _growing(start, way, most, rng):
                if rows[-1].assured(assurance)[2] <= width:  # with its error
                    break
                rows.append(_row(way, times, experiments, work.widths(experiments)))
    except KeyboardInterrupt:
        if not rows or (present is not None and all(row.times == 1.0 for row in rows)):
            raise
        complete = False

    provenance = question.provenance("plan", settings)
    if isinstance(given, Experiment):
        provenance = replace(provenance, digest="", settings={**provenance.settings, **given.to_dict()})
    return Plan(
        width=settings["width"],
        prob=settings["prob"],
        assurance=settings["assurance"],
        present=present,
        design=counts.design,
        rows=tuple(rows),
        limit=limit,
        assumptions=(*question.assumptions(), _DRAWN[present is None]),
        warnings=(question.caution(),) if question.caution() else (),
        provenance=provenance,
        complete=complete,
    )


def _settings(
    width: float, prob: float, assurance: float, vary: str, largest: float, repetitions: int, seed: int
) -> dict[str, Any]:
    """What does not concern the model, checked."""
    if not is_one_of(vary, (*_WAYS, "both")):
        raise InputError(f"vary must be 'challenges', 'bases' or 'both', not {show(vary)}")
    return {
        "width": one_number("width", width, 0.0, low_open=True, high_open=True),
        "prob": one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True),
        "assurance": one_number("assurance", assurance, 0.0, 1.0, low_open=True, high_open=True),
        "largest": one_number("largest", largest, 1.0, high_open=True),
        "vary": vary,
        "repetitions": whole_number("repetitions", repetitions, 2),
        "seed": seed_of(seed),
    }


class Work:
    """The computations of one plan, on one processor or many."""

    def __init__(self, question: Question, prob: float, n_jobs: int | None, progress: bool | None) -> None:
        self._question, self._prob, self._n_jobs, self._progress = question, prob, n_jobs, progress

    def posteriors(self, counts: Iterable[ErrorCounts]) -> list[ExactPosterior]:
        """Of the counts of experiments, by the analysis that is planned for."""
        priors = {f"prior_{name}": prior for name, prior in self._question.priors.items()}
        return estimate_many(counts, self._question.known, strength=self._question.strength, **priors)

    def widths(self, experiments: Simulated) -> Floats:
        what = f"{len(experiments.n0)} bases, {experiments.n0.mean():.0f} + {experiments.n1.mean():.0f} each"
        return self._all(self._widths, [experiments.counts(i) for i in range(len(experiments))], what)

    def limits(self, experiments: Simulated) -> Floats:
        rates = list(zip(experiments.alpha, experiments.beta, strict=True))
        return self._all(self._limits, rates, "no limit to challenges")

    def _widths(self, counts: Sequence[ErrorCounts]) -> list[float]:
        return [float(np.ptp(post.interval(self._prob))) for post in self.posteriors(counts)]

    def _limits(self, rates: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """The widths that more and more challenges lead to, where these are the error rates."""
        q = self._question
        return [limit_width(*each, q.known, q.priors, q.strength, self._prob) for each in rates]

    def _all(self, some: Any, arguments: Sequence[Any], what: str) -> Floats:
        """What `some` gives for a few arguments, for all of them."""
        from joblib import delayed

        parts = [arguments[i : i + _AT_ONCE] for i in range(0, len(arguments), _AT_ONCE)]
        found: list[float] = []
        with bar(len(arguments), self._progress) as show:
            for widths in pool(self._n_jobs, return_as="generator")(delayed(some)(part) for part in parts):
                found += widths
                show(len(widths), what)
        return np.array(found)


def _growing(start: Simulated, way: Way, largest: float, rng: np.random.Generator) -> Iterator[tuple[float, Simulated]]:
    """The experiments twice as large, four times, and so on up to `largest` times."""
    experiments, times = start, 1.0
    if way == "challenges":
        largest = min(largest, MOST_CHALLENGES / max(start.n0.max(), start.n1.max()))
    while times < largest:
        times = min(2 * times, largest)
        if way == "challenges":
            n0, n1 = (np.ceil(times * n).astype(np.int64) for n in (start.n0, start.n1))
            experiments = experiments.with_challenges(n0, n1, rng)
        else:
            n0, n1 = (round(n.mean()) for n in (start.n0, start.n1))
            experiments = experiments.with_bases(math.ceil(times * len(start.n0)), n0, n1, rng)
        yield times, experiments


def _row(way: Way, times: float, experiments: Simulated, widths: Floats) -> PlanRow:
    n0, n1 = (math.inf,) * 2 if math.isinf(times) else (float(n.mean()) for n in (experiments.n0, experiments.n1))
    return PlanRow(way, times, len(experiments.n0), n0, n1, widths)

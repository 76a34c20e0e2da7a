"""Do the memberships contradict the propensities? An audit of the propensities themselves, at ε = 0 (App. C.1 of
Zero-Run).

If each example is a member with its propensity π_i, independent of the others, then whoever guesses memberships without
knowing them is right as often as independent events of chances q_i happen, where q_i = π_i for an example called a
member and 1 − π_i for one called a non-member. Let v guesses be right. Then P[V ≥ v] is a p-value, with V of the
Poisson binomial law of the q_i. (This is Theorem D.1 at ε = 0 with directions; the tampered count of Theorem C.1 tells
less.)

Three guessers try:

    along       calls a member who has π > ½: is right too often if propensities are too timid
    against     calls a member who has π < ½: is right too often if propensities are too bold
    challenger  another classifier, which takes the half of the examples where it differs most from π and sides with
                itself against π: is right too often if it has seen a shift that the propensities leave out

A guess on one fold is made from the other folds only, so given those the p-value of a fold holds. The smallest p-value
of all guessers and folds is multiplied by their number.

Learned propensities are never quite right, and a guesser who sees the shift more sharply finds their chance errors. So
of the right guesses on a fold some are excused, as many as chance errors of a fit may explain. Let the n examples of a
fold be judged by a logistic regression of the right form with d coefficients, fitted on N others, and let its log-odds
be wrong by e_i. For large N the mean of Σ q_i(1 − q_i)e_i² over the fold is d n/N. Guesses exceed the expected number
of right ones by Σ q_i(1 − q_i)|e_i| at most, to first order, whatever they are, and by the inequality of Cauchy and
Schwarz that is at most

    sqrt(d n/N · Σ q_i(1 − q_i)),  the last sum over the guesses.

So many are excused for every classifier: it is rejected where it errs by more than a logistic regression of the right
form would. How often that one is rejected is in docs/methods/propensity.md, by simulation.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import special

from bayes_dp.audits.poisson_binomial import tail
from bayes_dp.audits.propensity_bounds import untampered_bounds
from bayes_dp.audits.tampering import lean
from bayes_dp.checks import InputError, one_number, seed_of, show
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_COUNT,
    A_LINE,
    A_NUMBER,
    A_SHARE,
    AN_OBJECT,
    TRUTH,
    Wanted,
    a_list,
    checked_object,
    finite,
    one_of,
)
from bayes_dp.propensity.cross_fitting import Classifier, Task, classifier, task
from bayes_dp.propensity.features import as_features
from bayes_dp.results.base import Saved
from bayes_dp.results.posterior import Provenance, checked_provenance
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.text import Line, Part, Rows
from bayes_dp.support.workers import one_thread

if TYPE_CHECKING:
    from bayes_dp.propensity.result import Propensity

__all__ = ["LEVEL", "Falsification", "Trial", "falsify", "most_different"]

LEVEL = 0.01
FOLDS = 5  # of a challenger to propensities that were given


@dataclass(frozen=True)
class Trial:
    """One guesser on one fold."""

    guesser: str
    fold: int
    made: int
    correct: int
    expected: float  # correct guesses, if the propensities are right
    excused: float  # correct guesses that chance errors of learned propensities may explain
    p_value: float


@dataclass(frozen=True, repr=False)
class Falsification(Saved):
    """Whether propensities are rejected, with what error probability, and by whom.

    `excess` bounds their fault from below, with confidence 1 − `level`: for some examples the log-odds are wrong by at
    least this much. Of an audit's ε as much may be due to the propensities.

    >>> member = np.random.default_rng(0).random(2000) < 0.5
    >>> found = bdp.propensity.falsify(bdp.propensity.known(np.full(2000, 0.9), member))
    >>> found.rejected, round(found.excess, 2)  # the log-odds of 0.9 and 0.5 differ by 2.2
    (True, 2.07)
    """

    p_value: float
    level: float
    excess: float
    trials: tuple[Trial, ...]
    provenance: Provenance

    format = "bayes-dp/falsification/1"
    kind = "falsification"

    @property
    def rejected(self) -> bool:
        return self.p_value <= self.level

    def statement(self) -> str:
        """The outcome in a sentence."""
        if not self.rejected:
            return (
                f"The memberships do not contradict the propensities (p = {self.p_value:.2g}); this does not prove them"
                " right."
            )
        first = min(self.trials, key=lambda trial: trial.p_value)
        return (
            f"The propensities are REJECTED (p = {self.p_value:.2g}): of {first.made} guesses of the kind"
            f" '{first.guesser}' {first.correct} were right, {first.expected:.1f} expected"
            + (f", and {first.excused:.1f} more excused as chance errors" if first.excused else "")
            + f"; some log-odds are wrong by at least {self.excess:.3g}{' more' * (first.excused > 0)}."
        )

    def _parts(self) -> Iterator[Part]:
        cells = []
        for t in self.trials:
            numbers = str(t.fold), str(t.made), str(t.correct), f"{t.expected:.1f}", f"{t.excused:.1f}"
            cells.append((t.guesser, *numbers, f"{t.p_value:.2g}"))
        yield Line(self.statement())
        yield Rows(cells, ("guesser", "fold", "guesses", "right", "expected", "excused", "p"), sides="lrrrrrr")
        yield Line(f"The smallest p was multiplied by {len(self.trials)}, the number of trials.")

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, fit for JSON."""
        return (
            {"format": self.format}
            | finite(asdict(self))
            | {
                "kind": self.kind,
                "rejected": self.rejected,
                "provenance": self.provenance.to_dict(),
            }
        )

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_falsification(name, without_format(name, content, cls.format))
        made = cls(
            p_value=found["p_value"],
            level=found["level"],
            excess=math.inf if found["excess"] is None else found["excess"],
            trials=tuple(Trial(**trial) for trial in found["trials"]),
            provenance=Provenance(**found["provenance"]),
        )
        if made.rejected != found["rejected"]:
            raise InputError(f"{name}: rejected is {show(found['rejected'])}, which is not what p_value and level say")
        return made


def falsify(
    propensity: Propensity,
    *,
    challenger: Any = None,
    features: Any = None,
    level: float = LEVEL,
    seed: int | None = None,
) -> Falsification:
    """Test propensities by the memberships, with error probability `level`.

    The test with the defaults is that of `Propensity.falsification`, which remembers it.

    Parameters
    ----------
    challenger : a scikit-learn classifier with predict_proba, by default gradient-boosted trees; it learns from the
        features on the same folds as the propensities did.
    features : of the examples, for propensities that were given; without them no challenger takes part.
    seed : of the challenger, by default that of the fit, and 0 for propensities that were given.

    >>> rng = np.random.default_rng(0)
    >>> member = rng.random(2000) < 0.5
    >>> bdp.propensity.falsify(bdp.propensity.known(np.full(2000, 0.5), member)).rejected
    False
    >>> bdp.propensity.falsify(bdp.propensity.known(np.full(2000, 0.9), member)).rejected
    True
    """
    level = one_number("level", level, 0.0, 1.0, low_open=True, high_open=True)
    if not hasattr(propensity, "origin"):  # its class imports this module
        raise InputError(f"propensity must be a Propensity, as fit and known give it, not {type(propensity).__name__}")
    origin = propensity.origin
    seed = seed_of(seed) if seed is not None else 0 if origin is None else origin.seed
    job = _task(propensity, features, seed)
    odds = special.logit(propensity.values)
    called = {"along": np.sign(odds), "against": -np.sign(odds)}
    fold = propensity.fold
    if job is not None:
        rival = _rival(challenger)
        with one_thread():
            away = special.logit(rival.fit(job, seed=seed).values) - odds
        fold = job.fold[: job.n]
        called["challenger"] = np.sign(away) * most_different(np.abs(away), fold)
    elif challenger is not None:
        raise InputError("a challenger needs features, as these propensities were given and not learned")
    folds = np.unique(fold).tolist()
    count = len(called) * len(folds)
    variance = {k: 0.0 if origin is None else _variance_of_the_fit(origin.task, origin.features, k) for k in folds}
    outcomes = [
        _trial(name, k, np.flatnonzero((fold == k) & (sides != 0)), sides, propensity, variance[k], level / count)
        for name, sides in called.items()
        for k in folds
    ]
    return Falsification(
        p_value=min(1.0, count * min(trial.p_value for trial, _ in outcomes)),
        level=level,
        excess=max(bound for _, bound in outcomes),
        trials=tuple(trial for trial, _ in outcomes),
        provenance=Provenance("falsification", propensity.provenance.digest, {}, {}, {"level": level, "seed": seed}),
    )


def _variance_of_the_fit(task: Task, features: Floats, fold: int) -> float:
    """d n/N: the mean sum over the n examples of the fold of q(1 − q)e², see above."""
    judged = int(np.sum(task.fold[: task.n] == fold))
    return (features.shape[1] + 1) * judged / len(task.training(fold))


def _trial(
    name: str, fold: int, rows: Indices, sides: Floats, propensity: Propensity, variance: float, level: float
) -> tuple[Trial, float]:
    """Guesses on these rows, where `sides` (n,) is 1 for members and −1 for others; and the bound on the excess."""
    if not len(rows):
        return Trial(name, fold, 0, 0, 0.0, 0.0, 1.0), 0.0
    called, values = sides[rows] > 0, propensity.values[rows]
    chance, correct = np.where(called, values, 1 - values), int(np.sum(called == propensity.member[rows]))
    excused = math.sqrt(variance * float(np.sum(chance * (1 - chance))))
    left = max(0, math.ceil(correct - excused))
    trial = Trial(name, fold, len(rows), correct, float(chance.sum()), excused, float(tail(chance, left)))
    bound = untampered_bounds(lean(values, called)[None], np.array([left]), level)
    return trial, float(bound[0])


def _task(propensity: Propensity, features: Any, seed: int) -> Task | None:
    """What the challenger learns from: the folds of learned propensities, or new ones for given propensities."""
    origin = propensity.origin
    if origin is not None:
        if features is not None:
            raise InputError("features are for propensities that were given; these were learned from their own")
        return dataclasses.replace(origin.task, x=origin.features)
    if features is None:
        return None
    matrix = as_features(features).matrix()[1]
    if len(matrix) != len(propensity):
        raise InputError(
            f"features must hold as many examples as there are propensities, {len(propensity)}, not {len(matrix)}"
        )
    return task(matrix, propensity.member, np.arange(len(matrix)), FOLDS, np.random.SeedSequence(seed))


def _rival(challenger: Any) -> Classifier:
    if challenger is None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        challenger = HistGradientBoostingClassifier(max_depth=3, max_iter=100)
    rival = classifier(challenger, "none")
    assert isinstance(rival, Classifier)
    return rival


def most_different(distance: Floats, fold: Indices) -> Bools:
    """Of each fold the half with the largest distances, (n,)."""
    chosen = np.zeros(len(distance), dtype=np.bool_)
    for k in np.unique(fold):
        rows = np.flatnonzero(fold == k)
        chosen[rows[np.argsort(-distance[rows], kind="stable")[: len(rows) // 2]]] = True
    return chosen


_FIELDS: dict[str, Wanted] = {
    "p_value": A_SHARE,
    "level": A_SHARE,
    "excess": A_NUMBER,
    "trials": a_list("trials"),
    "provenance": AN_OBJECT,
    "kind": one_of(Falsification.kind),
    "rejected": TRUTH,
}
_TRIAL: dict[str, Wanted] = {
    "guesser": A_LINE,
    "fold": A_COUNT,
    "made": A_COUNT,
    "correct": A_COUNT,
    "expected": A_NUMBER,
    "excused": A_NUMBER,
    "p_value": A_SHARE,
}


def checked_falsification(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a falsification says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        checked_provenance(f"{name}: provenance", found["provenance"])
        for i, trial in enumerate(found["trials"]):
            checked_object(f"{name}: trials[{i}]", trial, _TRIAL)
            if None in trial.values():
                raise InputError(f"{name}: trials[{i}] has a number that is missing")
        if not found["trials"]:
            raise InputError(f"{name}: there must be a trial")
    except InputError as error:
        raise InputError(f"{error}; this is not a falsification as to_json and to_dict give it") from None
    return found

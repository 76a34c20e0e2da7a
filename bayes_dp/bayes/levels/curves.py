"""The posterior of a member of a family of trade-off functions, from the order of the scores of each base.

It is the model of `posterior.py` with the threshold of the attack left free: what is known of a base is where its
scores with z stand among those without, and all thresholds count at once. Nothing but the order is used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.registry import FAMILIES, family_of
from bayes_dp.bayes.levels.average import AveragePosterior
from bayes_dp.bayes.levels.fit import Fit
from bayes_dp.bayes.levels.placements import placement_check
from bayes_dp.bayes.levels.posterior import FamilyPosterior, finite_delta
from bayes_dp.bayes.levels.ranks import RankLevels
from bayes_dp.bayes.levels.score_orders import ScoreOrders
from bayes_dp.bayes.priors import describe, prior_of
from bayes_dp.bayes.question import Strength, priors_for
from bayes_dp.checks import InputError, interval_probability, numbers, one_number, seed_of, truth
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.loss_table import LossTable
from bayes_dp.results.interop import of_bases
from bayes_dp.results.posterior import Posterior, Provenance, check_draws
from bayes_dp.support.arrays import Floats
from bayes_dp.support.text import Part, Sentences

__all__ = ["CurvePosterior", "CurvesAverage", "estimate_curves"]

_TIED = 0.01  # share of tied scores from which there is a warning
_CHECKED = 200  # draws of the check
_REJECTED = 0.05
_BAND = 2001  # members of each family by which a band is made
_BEYOND = 1e-3  # of the posterior that may lie where a likelihood is not computed
_NO_COUNTS = "this posterior is of the order of scores, and not of error counts"
_STRENGTH = {
    "free": "The strength s that every attack reaches is unknown and estimated along with the parameter of the family.",
    "tight": "Every attack is the strongest possible on the worst possible challenge base (s → 1).",
}


@dataclass(frozen=True)
class CurveQuestion:
    """What a posterior from orders of scores answers: see `FamilyQuestion`."""

    orders: ScoreOrders
    family: TradeOffFamily
    parameter: str
    known: float | None
    prior: Any
    prior_epsilon: Any
    strength: Strength
    prior_strength: Any
    seed: int
    left_out: int  # bases of which not all scores were used
    priors: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        name = "epsilon" if self.prior is None else self.family.parameter
        priors = {name: prior_of("epsilon", self.prior_epsilon) if self.prior is None else self.prior}
        if self.strength == "free":
            priors["strength"] = self.prior_strength
        object.__setattr__(self, "priors", priors)

    @property
    def counts(self) -> ErrorCounts:
        raise InputError(_NO_COUNTS)

    def law(self) -> RankLevels:
        return RankLevels(self.orders.labels, self.family)

    def caution(self) -> str:
        return ""

    def given(self, parameter: str, known: float) -> CurveQuestion:
        """The same with another unknown or known value."""
        return replace(self, parameter=parameter, known=known)

    def assumptions(self) -> tuple[str, ...]:
        strength = _STRENGTH.get(str(self.strength), f"The strength of every attack is known, s = {self.strength}.")
        return (
            "Each score is a fixed function of one trained model, and the models of a base are independent.",
            f"The training is as private as one member θ of the {self.family.name} family, at every δ.",
            f"The whole error curve of each base is a member of the {self.family.name} family, between sθ and θ.",
            strength,
        )

    def provenance(self) -> Provenance:
        digest = hashlib.sha256()
        for labels in self.orders.labels:
            digest.update(f"{len(labels)}:".encode() + np.packbits(labels.astype(np.uint8)).tobytes())
        known = {} if self.known is None else {"delta" if self.parameter == "epsilon" else "epsilon": self.known}
        priors = {name: describe(prior) for name, prior in self.priors.items()}
        if self.prior is None:
            priors[self.family.parameter] = f"that of the largest advantage tanh(ε/2), ε ~ {priors.pop('epsilon')}"
        settings = {"family": self.family.name, "strength": self.strength, "seed": self.seed}
        return Provenance("curves", digest.hexdigest(), known, priors, settings)


class CurvePosterior(FamilyPosterior):
    """The posterior of a member of a family from the order of all scores. `check` is the p-value of its own check.

    >>> rng = np.random.default_rng(0)
    >>> post = bdp.estimate_curves((rng.normal(size=(3, 50)), rng.normal(1.0, 1.0, (3, 50))), 1e-2, family="gaussian")
    >>> [round(end, 2) for end in post.interval(parameter="mu")]
    [1.03, 2.78]
    """

    unchecked = "check is for the posterior of error counts; this one, of orders of scores, has its own, `check`"

    def __init__(
        self, question: CurveQuestion, fit: Fit | None = None, law: Any = None, check: float | None = None
    ) -> None:
        super().__init__(question, fit, law)
        self.check = self._checked() if check is None else check
        self.diagnostics = {**self.diagnostics, "check": self.check}
        self.warnings += tuple(self._of_scores())
        verdict = "did not reject" if self.check > _REJECTED else "rejected"
        self.assumptions += (f"The check of the placements {verdict} this family, p = {self.check:.2g}.",)
        if self.check <= _REJECTED:
            self.caution = (
                f"The scores do not look like those of any member of the {self.family.name} family,"
                f" p = {self.check:.2g}: its ε may be far off, above all at a small δ."
            )

    def _answer(self, question: Any) -> Self:
        return type(self)(question, self._fit, self._law, self.check)

    def _checked(self) -> float:
        seed = self.question.seed
        theta, strength = self._fit.draws(_CHECKED, np.random.default_rng([seed, 5]))
        rng = np.random.default_rng([seed, 6])
        levels, _ = self._fit.levels(theta, strength, rng)
        flipped = rng.random(levels.shape) < self._law.backwards(levels)
        return placement_check(self.question.orders.labels, self.family, levels, flipped, rng)

    def _of_scores(self) -> Iterator[str]:
        tied = self.question.orders.tied
        if tied.max() > _TIED:
            yield f"{100 * tied.max():.2g}% of the scores of a base are tied with others; their order was drawn."
        if self.question.left_out:
            yield f"of {self.question.left_out} bases only some scores were used, drawn by the seed."
        theta, strength, weight = self._fit.nodes
        beyond = float(weight[(theta * strength) > self._law.followed.min()].sum())
        if beyond > _BEYOND:
            yield (
                f"{100 * beyond:.2g}% of the posterior lies where the order of a base's scores is too unlikely to be"
                " computed: the bases contradict each other."
            )

    @property
    def resolved(self) -> float:
        """The smallest rate that the scores resolve, 1/N0."""
        return 1.0 / max(int((labels == 0).sum()) for labels in self.question.orders.labels)

    def high_end(self, prob: float = 0.9) -> str:
        """What the interval rests on besides the scores, whatever its probability: a sentence."""
        one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        return (
            f"The scores tell nothing of rates below about {self.resolved:.1g}: at a smaller δ, ε is what the"
            f" {self.family.name} family makes of the larger rates, and another family may make a multiple of it."
        )

    def _parts(self, prob: float = 0.9) -> Iterator[Part]:
        for part in super()._parts(prob):
            if self.caution and isinstance(part, Sentences) and part.title == "Caution":
                yield Sentences("Caution", (self.caution, self.high_end(prob)), "each")
            else:
                yield part

    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        """Refused: a whole curve has no one pair of error rates."""
        raise InputError(_NO_COUNTS)

    def to_arviz(self, size: int = 4000, seed: int = 0) -> Any:
        """Independent draws as an ArviZ object, one chain."""
        size, seed = check_draws(size, seed)
        return _to_arviz(self, size, seed)


class CurvesAverage(AveragePosterior):
    """The mixture of posteriors from the order of all scores by the probabilities of their families, `weights`."""

    def epsilon_at(self, delta: Any, accept_misfit: bool = False) -> Any:
        """The average at another δ; a list for a sequence of δ.

        Where the check rejects the heaviest family, ε at δ < 1/N0 is refused unless accept_misfit=True.
        """
        accept = truth("accept_misfit", accept_misfit)
        smallest = float(np.min(numbers("delta", delta, 0.0, 1.0, low_open=True, high_open=True)))
        name = max(self.weights, key=lambda name: self.weights[name])
        heaviest = self.posteriors[name]
        if heaviest.check <= _REJECTED and smallest < heaviest.resolved and not accept:
            raise InputError(
                f"the check rejects the {name} family, the most probable one, p = {heaviest.check:.2g}, so that ε at"
                f" delta = {smallest:g}, below 1/N0 = {heaviest.resolved:.2g}, rests on nothing: give"
                " accept_misfit=True to have it all the same"
            )
        return super().epsilon_at(delta)

    @property
    def check(self) -> dict[str, float]:
        """The p-value of the check of each family."""
        return {name: post.check for name, post in self.posteriors.items()}

    def band(self, alpha: ArrayLike, prob: float = 0.9) -> tuple[Floats, Floats]:
        """β at each α between which the curve of the training lies there with this probability, the smaller first."""
        alpha = numbers("alpha", alpha, 0.0, 1.0)
        prob = interval_probability(prob)
        share = (np.arange(_BAND) + 0.5) / _BAND
        beta = np.concatenate(
            [post.family(alpha.ravel(), post.quantile(share, post.family.parameter)[:, None]) for post in self._kept]
        )
        weight = np.repeat(self._share, _BAND) / _BAND
        order = np.argsort(beta, axis=0)
        below = np.cumsum(weight[order], axis=0)
        ordered = np.take_along_axis(beta, order, axis=0)
        ends = [
            np.array([np.interp(p, below[:, j], ordered[:, j]) for j in range(alpha.size)]).reshape(alpha.shape)
            for p in ((1.0 - prob) / 2.0, (1.0 + prob) / 2.0)
        ]
        return ends[0], ends[1]

    def levels(self, size: int = 1000, seed: int = 0) -> Floats:
        """Draws of the level of every base in the most probable family, (size, n)."""
        heaviest = self.posteriors[max(self.weights, key=lambda name: self.weights[name])]
        return np.asarray(heaviest.levels(size, seed))

    def to_arviz(self, size: int = 4000, seed: int = 0) -> Any:
        """Independent draws as an ArviZ object, one chain."""
        size, seed = check_draws(size, seed)
        return _to_arviz(self, size, seed)


def _to_arviz(post: Posterior, size: int, seed: int) -> Any:
    groups = {"posterior": {name: values[None] for name, values in post.draws(size, seed).items()}}
    return of_bases(groups, [], (), post.provenance, {"seed": seed})


def estimate_curves(
    scores: LossTable | tuple[Any, Any],
    delta: float | None = None,
    family: str | TradeOffFamily = "average",
    *,
    prior: Any = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    seed: int = 0,
) -> CurvePosterior | CurvesAverage:
    """The posterior of a whole trade-off curve from the order of the scores of each base, for all thresholds at once.

    Parameters
    ----------
    scores : a LossTable, where a low loss speaks for a member; or scores (without, with z), each of shape (n, N) or a
        list of n arrays, where a high one does. Each has to be a fixed function of one trained model.
    delta : at which ε is asked; without, the posterior is of the family's own parameter, and for "average", whose
        families have none in common, of δ at ε = 0, which is the largest advantage of an attack.
    family : "gaussian", "laplace", "pure", a `Family`, or "average" of these three by their evidence.
    prior, prior_epsilon, prior_strength, strength : see `estimate`.
    seed : of the order of ties, of the scores that are used where a base has more than 5000, and of the check.

    >>> rng = np.random.default_rng(0)
    >>> post = bdp.estimate_curves((rng.normal(size=(3, 50)), rng.normal(1.0, 1.0, (3, 50))), 1e-2)
    >>> sorted(post.weights)
    ['gaussian', 'laplace', 'pure']
    """
    seed = seed_of(seed)
    averaged = isinstance(family, str) and family == "average"
    if averaged and prior is not None:
        raise InputError("prior is for one family; family='average' has prior_epsilon, of the largest advantage")
    if prior is not None and prior_epsilon is not None:
        raise InputError("give prior, of the family's parameter, or prior_epsilon, of the largest advantage, not both")
    chosen = list(FAMILIES.values()) if averaged else [family_of(family)]
    if delta is not None:
        delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
        for each in chosen:
            finite_delta(each, delta)
    if prior is not None:
        prior = prior_of(chosen[0].parameter, prior)
    strength, priors = priors_for("epsilon", prior_epsilon, strength, prior_strength)
    orders, left_out = _orders(scores, seed)
    found = {}
    for each in chosen:
        known: float | None
        parameter, known = ("delta", 0.0) if averaged else (each.parameter, None)
        if delta is not None:
            parameter, known = "epsilon", delta
        found[each.name] = CurvePosterior(
            CurveQuestion(
                orders,
                each,
                parameter,
                known,
                prior,
                priors["epsilon"] if prior is None else None,
                strength,
                priors.get("strength"),
                seed,
                left_out,
            )
        )
    if not averaged:
        return found[chosen[0].name]
    average = CurvesAverage(found)
    return average if delta is None else average.epsilon_at(delta)


def _orders(scores: Any, seed: int) -> tuple[ScoreOrders, int]:
    """The orders, of at most 5000 scores of each base, and of how many bases scores were left out."""
    if isinstance(scores, LossTable):
        without, with_ = list(-scores.without), list(-scores.with_)
        names = None if scores.base is None else list(scores.base)
    elif isinstance(scores, tuple) and len(scores) == 2:
        try:
            without, with_ = (list(map(np.asarray, side)) for side in scores)
        except TypeError:
            raise InputError("scores must be two lists of the scores of each base, without and with it") from None
        names = None
    else:
        raise InputError(f"scores must be a LossTable or a pair (without, with), not {type(scores).__name__}")
    return ScoreOrders.from_some(without, with_, names, seed)

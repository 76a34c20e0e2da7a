"""The posterior of a member of a family of trade-off functions, from error counts.

One θ gives ε at every δ. ε(δ) grows with θ, so that its quantiles are those of θ, mapped; the curves f at the ends of
an interval of θ are a band that holds at all α, and all δ, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.choice import family_of, words_of_family
from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.grid.grid import GridMarginal
from bayes_dp.bayes.levels.counts import CountLevels
from bayes_dp.bayes.levels.fit import Fit, quantile_of
from bayes_dp.bayes.levels.thresholds import THINNEST, log_given_false_positives
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.priors import describe, log_density, prior_of
from bayes_dp.bayes.question import Question, Strength, ask, asked_again
from bayes_dp.checks import InputError, numbers, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.posterior import Marginal, Posterior, Provenance, check_draws
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.tradeoff import TradeOff, TradeOffFunction

__all__ = ["FamilyPosterior", "FamilyQuestion", "finite_delta", "made_of", "posterior_of_family"]

_RESOLVED = 3.0  # runs by which the smallest rate that counts resolve is divided
_BY_PRIOR = "the upper end is the prior's"
_PRIOR = 0.5  # ratio of the upper ends of posterior and prior above which the end is the prior's


@dataclass(frozen=True)
class FamilyQuestion:
    """What a posterior of a family answers: ε at a δ, δ at an ε, or the family's own parameter."""

    asked: Question  # with the checked counts and strength
    family: TradeOffFamily
    parameter: str
    known: float | None
    prior: Any  # of the family's parameter; None for that of the best attack's advantage
    prior_epsilon: Any = None  # by which the advantage of the best attack has its prior, if there is none of θ
    priors: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        name = "epsilon" if self.prior is None else self.family.parameter
        first = {name: prior_of("epsilon", self.prior_epsilon) if self.prior is None else self.prior}
        strength = {key: value for key, value in self.asked.priors.items() if key == "strength"}
        object.__setattr__(self, "priors", first | strength)

    @property
    def counts(self) -> ErrorCounts:
        return self.asked.counts

    @property
    def strength(self) -> Strength:
        return self.asked.strength

    @property
    def likelihood(self) -> BaseLikelihood:
        return self.asked.likelihood

    def law(self) -> CountLevels:
        """What the counts say of the levels of the bases."""
        return CountLevels(self.counts, self.family)

    def caution(self) -> str:
        return self.asked.caution()

    def given(self, parameter: str, known: float) -> FamilyQuestion:
        """The same with another unknown or known value."""
        return replace(self, parameter=parameter, known=known)

    def assumptions(self) -> tuple[str, ...]:
        name = self.family.name
        _, strength, _, law, *caution = self.asked.assumptions()
        place = (
            "The separation d' of every attack lies between sμ and μ, and all pairs of error rates that this allows are"
            " equally likely."
            if name == "gaussian"
            else "The true error rates of the bases are independent and uniform over what the member θ of the family"
            " allows and the member sθ does not."
        )
        return (
            f"The training is as private as one member of the {name} family, at every δ.",
            strength.replace("the privacy parameter", "the parameter of the family"),
            place,
            law,
            *caution,
        )

    def saved(self) -> dict[str, Any] | None:
        """What it takes to ask again; None for a family or a prior of the user's own."""
        priors = dict(self.priors)
        if self.prior is not None:
            priors = {self.family.parameter: self.prior} | {k: v for k, v in priors.items() if k == "strength"}
        return asked_again(self.counts, self.known, self.strength, priors, words_of_family(self.family))

    def provenance(self) -> Provenance:
        asked = self.asked.provenance("exact", {"family": self.family.name})
        known = {} if self.known is None else {"delta" if self.parameter == "epsilon" else "epsilon": self.known}
        priors = {name: describe(prior) for name, prior in self.priors.items()}
        if self.prior is None:
            priors[self.family.parameter] = f"that of the largest advantage tanh(ε/2), ε ~ {priors.pop('epsilon')}"
        return replace(asked, known=known, priors=priors)


class FamilyPosterior(Posterior):
    """A posterior over the members of a family of trade-off functions, by quadrature.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> post = bdp.estimate(counts, delta=1e-3, family="gaussian")
    >>> post
    <Posterior of epsilon given delta=0.001 in the gaussian family: 90% interval 7.601 to 31.29>
    >>> [round(end, 3) for end in post.interval(parameter="mu")]
    [2.004, 5.495]
    >>> post.epsilon_at([1e-5, 0.1])  # the same members, seen at other δ
    [<Posterior of epsilon given delta=1e-05 in the gaussian family: 90% interval 10.02 to 37.8>, <Post...>]
    """

    @underflow_is_zero
    def __init__(
        self, question: Any, fit: Fit | None = None, law: Any = None, *, marginal: GridMarginal | None = None
    ) -> None:
        self.question: Any = question
        self._law = question.law() if law is None else law
        self._fit = fit or Fit(
            self._law,
            question.family,
            prior=question.prior,
            prior_epsilon=question.prior_epsilon,
            prior_strength=question.priors.get("strength"),
            strength=question.strength,
        )
        self.log_evidence = self._fit.log_evidence - self._law.constant
        own = question.family.parameter
        found: dict[str, Marginal] = {}
        if question.parameter != own:
            found[question.parameter] = marginal or self._fit.marginals([self._mapping()], self._one)[0]
        found[own] = self._fit.marginal
        if question.strength == "free":
            found["strength"] = self._fit.grid.marginals["strength"]
        self.marginals = found
        self._own = own
        prior_share = self._fit.upper_end_over_prior
        self.diagnostics = {
            "log_evidence": self.log_evidence,
            "relative_error": self._fit.grid.error,
            "cells": self._fit.grid.cells,
            "upper_end_over_prior": prior_share,
        }
        self.warnings = ()
        if not self._fit.grid.error < 1e-3:
            self.warnings = (f"the quadrature reached a relative error of only {self._fit.grid.error:.1e}.",)
        if prior_share > _PRIOR:
            self.warnings += (f"{_BY_PRIOR}: the 95% quantile of {own} is {prior_share:.2g} times that of its prior.",)
        self.assumptions, self.caution = question.assumptions(), question.caution()
        self.provenance = question.provenance()

    def _mapping(self) -> Callable[[Floats], Floats]:
        family, known = self.question.family, self.question.known
        if self.question.parameter == "epsilon":
            return partial(family.epsilon_at, delta=known)
        return partial(family.delta_at, epsilon=known)

    def _one(self, theta: Floats) -> Floats:
        return self._mapping()(theta)[None]

    @property
    def family(self) -> TradeOffFamily:
        return self.question.family

    def _trade_off(self, probability: float) -> tuple[str, float, TradeOffFunction]:
        value = float(self.quantile(probability, self._own))
        return self._own, value, TradeOff(lambda alpha: self.family(alpha, value))

    def _most(self, probability: Floats, alpha: Floats) -> Floats:
        value = np.asarray(self.quantile(probability, self._own))
        return np.column_stack([1 - self.family(alpha, value[:, None]), self.family.delta_at(value, 0.0)])

    @property
    def unreliable(self) -> tuple[str, ...]:
        """An end that the prior sets is computed well all the same."""
        return tuple(sentence for sentence in self.warnings if not sentence.startswith(_BY_PRIOR))

    def _in_short(self, low: str, high: str) -> str:
        return f" in the {self.family.name} family{super()._in_short(low, high)}"

    @property
    def bases(self) -> tuple[str, ...]:
        """The labels of the bases, or their numbers."""
        return self.counts.base or tuple(str(i) for i in range(len(self.counts)))

    def prior_quantile(self, probability: ArrayLike, parameter: str | None = None) -> Floats:
        """The quantiles of what was believed before the counts: of the strength, of the family's parameter, or of ε or
        δ, of which the prior is that of the parameter, mapped.

        >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3, family="gaussian")
        >>> post.prior_quantile([0.05, 0.95]).round(2)
        array([ 0.59, 33.47])
        """
        p = numbers("probability", probability, 0.0, 1.0)
        name = self.parameter if parameter is None else parameter
        self._marginal(name)
        if name == "strength":
            return quantile_of(axis_of(name, self.question.priors[name]), p)
        return self._fit.prior_quantile(p, None if name == self._own else self._mapping())

    # -- views ----------------------------------------------------------------------------------------------------

    def _answer(self, question: Any, marginal: GridMarginal | None = None) -> Self:
        return type(self)(question, self._fit, self._law, marginal=marginal)

    def epsilon_at(self, delta: Any) -> Any:
        """The posterior of ε at another δ, of the same members; a list for a sequence of δ, which takes little longer
        than one."""
        values, family = numbers("delta", delta, 0.0, 1.0, high_open=True), self.family
        each = np.atleast_1d(values)
        finite_delta(family, each)
        mappings = [partial(family.epsilon_at, delta=v) for v in each]
        marginals = self._fit.marginals(mappings, lambda theta: family.epsilon_at(theta, each[:, None]))
        asked = [self.question.given("epsilon", float(v)) for v in each]
        found = [self._answer(*pair) for pair in zip(asked, marginals, strict=True)]
        return found if values.ndim else found[0]

    def delta_at(self, epsilon: float, prior: Any = None) -> Self:
        """The posterior of δ at a given ε, of the same members: there is no other prior."""
        if prior is not None:
            raise InputError("prior: δ is a function of the family's parameter, which has the prior")
        return self._answer(self.question.given("delta", one_number("epsilon", epsilon, 0.0, 700.0)))

    def band(self, alpha: ArrayLike, prob: float = 0.9) -> tuple[Floats, Floats]:
        """The trade-off curves at the upper and the lower end of the family's parameter: β at α, the smaller first.

        With the given probability the whole curve of the training lies between the two.
        """
        alpha = numbers("alpha", alpha, 0.0, 1.0)
        low, high = self.interval(prob, parameter=self._own)
        return self.family(alpha, np.array(high)), self.family(alpha, np.array(low))

    def pdf(self, value: ArrayLike, parameter: str | None = None) -> Floats:
        """The marginal posterior density of a parameter; of the mass that ε or δ has at 0 it says nothing."""
        marginal = self._marginal(parameter)
        assert isinstance(marginal, GridMarginal)
        return marginal.pdf(numbers("value", value))

    # -- draws ----------------------------------------------------------------------------------------------------

    @underflow_is_zero
    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        size, seed = check_draws(size, seed)
        theta, strength = self._fit.draws(size, np.random.default_rng(seed))
        found = {} if self.question.parameter == self._own else {self.question.parameter: self._mapping()(theta)}
        found[self._own] = theta
        if self.question.strength == "free":
            found["strength"] = strength
        return found

    @underflow_is_zero
    def levels(self, size: int = 1000, seed: int = 0) -> Floats:
        """Draws of the level of every base, the θ that its attack reaches, (size, n); see `draws`, whose they are."""
        size, seed = check_draws(size, seed)
        theta, strength = self._fit.draws(size, np.random.default_rng(seed))
        return self._levels(theta, strength, np.random.default_rng([seed, 1]))[0]

    def _levels(self, theta: Floats, strength: Floats, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Levels and rows (size, n): bases with the same counts have draws of their own."""
        size, n = len(theta), len(self._law.base)
        levels, rows = np.empty((size, n)), np.empty((size, n), int)
        for copy in range(int(self._law.times.max())):
            t, row = self._fit.tables.draw(theta, strength, rng)
            for base in np.flatnonzero(self._law.times > copy):
                column = np.flatnonzero(self._law.base == base)[copy]
                levels[:, column], rows[:, column] = t[:, base], row[:, base]
        return levels, rows

    @underflow_is_zero
    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        size, seed = check_draws(size, seed)
        theta, strength = self._fit.draws(size, np.random.default_rng(seed))
        rng = np.random.default_rng([seed, 1])
        levels, rows = self._levels(theta, strength, rng)
        alpha, beta = self._law.draw_rates(rows.ravel(), levels.ravel(), rng)
        return alpha.reshape(levels.shape), beta.reshape(levels.shape)

    @underflow_is_zero
    def _pointwise(self, draws: Mapping[str, Floats]) -> Floats:
        """log p(X_i, Y_i | draw) of every base, its level integrated out, (size, n)."""
        theta = draws[self._own]
        constant = np.log1p(self.counts.negatives) + np.log1p(self.counts.positives)
        return self._fit.pointwise(theta, draws.get("strength"))[:, self._law.base] - constant

    def _saved_question(self) -> dict[str, Any] | None:
        return self.question.saved() if type(self) is FamilyPosterior else None

    @underflow_is_zero
    def _joint_density(self, value: Floats, strength: Floats) -> Floats | None:
        prior = log_density(self.question.priors["strength"])
        return self.pdf(value)[:, None] * self._fit.given(self._marginal(None), value, strength, prior)

    def _stated(self, size: int, seed: int) -> dict[str, Floats]:
        """What the priors are of, at the same draws as `draws`, (size,) each: ε for one of the largest advantage."""
        return self._fit.grid.draws(size, np.random.default_rng(seed))

    @cached_property
    @underflow_is_zero
    def log_evidence_given_false_positives(self) -> float:
        """log p(Y | X): the log evidence without what the choice of thresholds adds to it, see `thresholds.py`."""
        theta, strength, weight = self._fit.nodes
        family = self.question.family
        theta, inner = np.minimum(theta, family.farthest), theta * strength
        strength = np.minimum(inner / theta, 1.0 - THINNEST)
        area = np.exp(family.log_layer(theta * strength, theta * (1.0 - strength)))

        def length(node: Ints, alpha: Floats) -> Floats:
            t, s = theta[node], strength[node]
            return np.asarray(sum(family(a, s * t) - family(a, t) for a in (alpha, 1.0 - alpha)) / area[node])

        return log_given_false_positives(self.log_evidence, self.counts, weight, length)

    # -- what its ends are worth ----------------------------------------------------------------------------------

    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """The interval under the Gaussian family, with the same kind of prior and strength; of μ, if none of ε or δ."""
        if self.family.name == "gaussian":
            return self.interval(prob)
        family = family_of("gaussian")
        parameter = family.parameter if self.question.parameter == self._own else self.question.parameter
        asked = replace(self.question, family=family, parameter=parameter, prior=None)
        return type(self)(asked).interval(prob)

    @property
    def resolved(self) -> float:
        """The smallest rate that the counts resolve, about 3/N: ε at a smaller δ is what the family says."""
        return float(min(1.0, _RESOLVED / max(self.counts.negatives.max(), self.counts.positives.max())))

    def high_end(self, prob: float = 0.9) -> str:
        """What the interval rests on besides the counts, whatever its probability: a sentence."""
        one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        return (
            f"The counts tell nothing of rates below about {self.resolved:.1g}: at a smaller δ, ε is what the"
            f" {self.family.name} family makes of the larger rates, and another family may make a multiple of it."
        )


def made_of(post: FamilyPosterior) -> tuple[Fit, CountLevels]:
    """What a posterior was made of: the fit of θ and s with its tables of levels, and what the counts say of these."""
    return post._fit, post._law


def posterior_of_family(
    counts: ErrorCounts,
    family: Any,
    delta: float | None = None,
    *,
    prior: Any = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
) -> FamilyPosterior:
    """The posterior of a member of the family; of ε at δ, where there is one, and of the family's parameter."""
    chosen = family_of(family)
    asked = ask(counts, "epsilon", 0.0 if delta is None else delta, prior_strength=prior_strength, strength=strength)
    if prior is not None:
        if prior_epsilon is not None:
            raise InputError(
                "give prior, of the family's parameter, or prior_epsilon, of the largest advantage, not both"
            )
        prior = prior_of(chosen.parameter, prior)
    elif prior_epsilon is not None:
        prior_epsilon = prior_of("epsilon", prior_epsilon)
    if delta is None:
        return FamilyPosterior(FamilyQuestion(asked, chosen, chosen.parameter, None, prior, prior_epsilon))
    finite_delta(chosen, asked.known)
    return FamilyPosterior(FamilyQuestion(asked, chosen, "epsilon", asked.known, prior, prior_epsilon))


def finite_delta(family: TradeOffFamily, delta: ArrayLike) -> None:
    """Refuse a δ at which the family has no finite ε."""
    values = np.atleast_1d(delta)
    infinite = np.isinf(family.epsilon_at(min(1.0, family.most), values))
    if infinite.any():
        bad = float(values[infinite][0])
        larger = "above 0" if bad == 0 else "larger"
        raise InputError(f"delta must be {larger} for the {family.name} family, which has no finite ε at {bad:g}")

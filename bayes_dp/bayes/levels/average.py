"""The mixture of posteriors of ε under several families, each with its probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.levels.beside import TELLING
from bayes_dp.checks import InputError, numbers, one_number
from bayes_dp.results.meaning import FPRS, Attained, Meaning
from bayes_dp.results.posterior import Marginal, Posterior, check_draws
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.support.text import digits

__all__ = ["AveragePosterior", "behind"]

_CURVES = 201  # of each family, by which it is told what they mean
_LIGHT = 1e-6  # weight below which a family is left out
_SHOWN = 0.01  # weight from which a family is named
_P = np.unique(
    np.concatenate([np.linspace(0.0, 1.0, 4001), np.geomspace(1e-9, 1e-3, 61), 1.0 - np.geomspace(1e-9, 1e-3, 61)])
)


class MixedMarginal:
    """The mixture of the marginals of one parameter, by quantiles of its parts between which it is linear."""

    def __init__(self, parts: Sequence[Marginal], weights: Floats) -> None:
        inner = _P[1:-1]
        quantiles: list[Floats] = [part.quantile(inner) for part in parts]
        self._values = np.unique(np.concatenate(quantiles))
        # Where a part has mass in one place, its distribution function there is the largest of its probabilities.
        below = [np.interp(self._values, q, inner, left=0.0, right=1.0) for q in map(_last, quantiles)]
        self._cumulative: Floats = weights @ np.stack(below)
        self.mean = float(weights @ [part.mean for part in parts])
        second = float(weights @ [part.sd**2 + part.mean**2 for part in parts])
        self.sd = float(np.sqrt(max(second - self.mean**2, 0.0)))

    def cdf(self, value: ArrayLike) -> Floats:
        return np.asarray(np.interp(np.asarray(value, float), self._values, self._cumulative, left=0.0, right=1.0))

    def quantile(self, probability: ArrayLike) -> Floats:
        return np.asarray(np.interp(np.asarray(probability, float), self._cumulative, self._values))

    def hdi(self, probability: float) -> tuple[float, float]:
        """The shortest interval with the given probability."""
        tail = np.linspace(0.0, 1.0 - probability, 2001)
        best = tail[int(np.argmin(self.quantile(tail + probability) - self.quantile(tail)))]
        return float(self.quantile(best)), float(self.quantile(best + probability))


def _last(quantiles: Floats) -> Floats:
    """Quantiles in strict order for an interpolation: of equal ones, all but the last a hair below it."""
    return np.asarray(quantiles - 1e-12 * np.abs(quantiles) * np.arange(len(quantiles), 0, -1) / len(quantiles))


def _quantile(values: Floats, weight: Floats, place: float) -> float:
    """Of values with weights of the sum 1, each in the middle of its weight."""
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(weight[order]) - 0.5 * weight[order]
    return float(np.interp(place, middle, values[order]))


def behind(posteriors: Mapping[str, Any], log_evidence: Mapping[str, float]) -> dict[str, float]:
    """By how many nats the evidence of each is below the largest, by p(X, Y) or by p(Y | X), whichever is less.

    p(X, Y) also says how well the choice of the false positive rates agrees with a family's law of them, and that
    choice tells nothing of the family.
    """
    given = {
        name: log_evidence[name] + post.log_evidence_given_false_positives - post.log_evidence
        for name, post in posteriors.items()
    }
    most, most_given = max(log_evidence.values()), max(given.values())
    return {name: float(min(most - log_evidence[name], most_given - given[name])) for name in posteriors}


class AveragePosterior(Posterior):
    """A mixture of posteriors by the probabilities of their families.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3, family="average")
    >>> post
    <Posterior of epsilon given delta=0.001 averaged over 3 families: 90% interval 2.067 to 23.93>
    """

    unchecked = "a mixture of families has no model of its own to be checked; check those that it is made of"

    def __init__(self, posteriors: Mapping[str, Any]) -> None:
        self.posteriors = dict(posteriors)
        evidence = np.array([post.log_evidence for post in posteriors.values()])
        weight = np.exp(evidence - evidence.max())
        self.weights = dict(zip(posteriors, (weight / weight.sum()).tolist(), strict=True))
        self.log_evidence = float(np.logaddexp.reduce(evidence) - np.log(len(evidence)))
        kept = {name: post for name, post in posteriors.items() if self.weights[name] > _LIGHT}
        self._kept = list(kept.values())
        share = np.array([self.weights[name] for name in kept])
        self._share = share / share.sum()
        heaviest = self.posteriors[max(kept, key=lambda name: self.weights[name])]
        self.question = heaviest.question
        self.marginals = {self.parameter: MixedMarginal([p.marginals[self.parameter] for p in self._kept], self._share)}
        probable = ", ".join(f"{name} {share:.2g}" for name, share in self.weights.items())
        self.assumptions = (
            f"The training is a member of one of the families, whose probabilities given the data are {probable}.",
            *dict.fromkeys(sentence for post in self._kept for sentence in post.assumptions),
        )
        self.caution = heaviest.caution
        self.diagnostics = {"log_evidence": self.log_evidence, "weights": self.weights}
        self.warnings = tuple(f"{name}: {sentence}" for name, post in kept.items() for sentence in post.warnings)
        old = heaviest.provenance
        self.provenance = replace(old, settings={**old.settings, "family": "average", "families": list(self.weights)})

    def meaning(self, prob: float = 0.9, *, baseline: float = 0.1) -> Meaning:
        """What the training lets the best attack do, over all families: an example is guessed with chance `baseline`
        without the training.

        The curves of different families cross, so that there is no curve of a quantile of ε. Each number is a quantile
        of its own, of the mixture of what the families say of it: the ends of an interval of probability `prob`, and
        the median.

        >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3, family="average")
        >>> [round(row.tpr[1], 2) for row in post.meaning().rows.values()]  # found, where 1% are falsely accused
        [0.08, 0.48, 1.0]
        """
        prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        baseline = one_number("baseline", baseline, 0.0, 1.0)
        share = (np.arange(_CURVES) + 0.5) / _CURVES
        most = np.concatenate([post._most(share, np.array([*FPRS, baseline])) for post in self._kept])
        weight = np.repeat(self._share, _CURVES) / _CURVES
        rows = {}
        for what, place in (("lower ends", (1 - prob) / 2), ("medians", 0.5), ("upper ends", (1 + prob) / 2)):
            *tpr, reconstruction, advantage = (_quantile(column, weight, place) for column in most.T)
            rows[what] = Attained(tuple(tpr), advantage, (1 - advantage) / 2, reconstruction)
        return Meaning(rows, baseline)

    def _in_short(self, low: str, high: str) -> str:
        return f" averaged over {len(self.weights)} families{super()._in_short(low, high)}"

    @property
    def unreliable(self) -> tuple[str, ...]:
        return tuple(sentence for post in self._kept for sentence in post.unreliable)

    def _answer(self, question: Any) -> Self:
        raise InputError("an average of families is asked by epsilon_at alone")

    def epsilon_at(self, delta: Any) -> Any:
        """The average at another δ; its weights are those of the evidences there. A list for a sequence of δ.

        "approx" is another model at each δ, with a weight of its own, so that the average is of no one curve, and
        may grow with δ where the families are far apart.
        """
        values = numbers("delta", delta, 0.0, 1.0, low_open=True, high_open=True)
        found = [type(self)(posts) for posts in self._each_at(np.atleast_1d(values))]
        return found if values.ndim else found[0]

    def _each_at(self, delta: Floats) -> list[dict[str, Any]]:
        """The posteriors of all families at each δ (k,)."""
        columns = [post.epsilon_at(delta) for post in self.posteriors.values()]
        return [dict(zip(self.posteriors, posts, strict=True)) for posts in zip(*columns, strict=True)]

    def pdf(self, value: ArrayLike, parameter: str | None = None) -> Floats:
        """The posterior density; of the mass that ε or δ has at 0 it says nothing."""
        self._marginal(parameter)
        value = numbers("value", value)
        return np.asarray(
            sum(w * post.pdf(value, self.parameter) for w, post in zip(self._share, self._kept, strict=True))
        )

    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        """Draws of the parameter, each from a family by its probability."""
        size, seed = check_draws(size, seed)
        which = self._which(size, seed)
        found = np.empty(size)
        for i, post in enumerate(self._kept):
            found[which == i] = post.draws(size, seed)[self.parameter][which == i]
        return {self.parameter: found}

    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        size, seed = check_draws(size, seed)
        which = self._which(size, seed)
        alpha, beta = np.empty((2, size, len(self.counts)))
        for i, post in enumerate(self._kept):
            mine = which == i
            if mine.any():
                a, b = post.rates(size, seed)
                alpha[mine], beta[mine] = a[mine], b[mine]
        return alpha, beta

    def _which(self, size: int, seed: int) -> Ints:
        return np.random.default_rng([seed, 3]).choice(len(self._kept), size=size, p=self._share)

    def _saved_question(self) -> dict[str, Any] | None:
        """The question of one family, and the names of all; None where their questions have more differences."""
        asked = [post._saved_question() for post in self.posteriors.values()]
        first = asked[0]
        if first is None or any(each is None or each != first | {"family": each["family"]} for each in asked):
            return None
        return first | {"family": "average", "families": [each["family"] for each in asked if each is not None]}

    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """The interval under the Gaussian family."""
        return self._kept[0].gaussian(prob)

    def high_end(self, prob: float = 0.9) -> str:
        """What the interval rests on besides the counts: a sentence."""
        heavy = [name for name, weight in self.weights.items() if weight > _SHOWN]
        said = f"The interval is an average over families that need not agree: {self._ends(heavy, prob)}."
        gaps = behind(self.posteriors, {name: post.log_evidence for name, post in self.posteriors.items()})
        light = [name for name, gap in gaps.items() if gap < TELLING and name not in heavy]
        if light:
            said += (
                " Only the choice of thresholds speaks against others, which have next to no weight:"
                f" {self._ends(light, prob)}."
            )
        return said

    def _ends(self, names: Sequence[str], prob: float) -> str:
        return "; ".join(f"{name} {' to '.join(map(digits, self.posteriors[name].interval(prob)))}" for name in names)

"""The mixture of posteriors from the order of scores under several families, each with its probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.levels.average import AveragePosterior
from bayes_dp.bayes.levels.curve_posterior import CurvePosterior, OfOrders
from bayes_dp.bayes.levels.posterior import finite_delta
from bayes_dp.checks import InputError, numbers, one_number, truth
from bayes_dp.support.arrays import Floats

__all__ = ["CurvesAverage"]

_BAND = 2001  # members of each family by which a band is made
_SHOWN = 0.01  # weight from which a rejected family is named


class CurvesAverage(OfOrders, AveragePosterior):
    """The mixture of posteriors from the order of all scores by the probabilities of their families, `weights`.

    It is of ε at a δ, or of δ at an ε: the families have no other parameter in common. `posteriors` has the parts.

    >>> rng = np.random.default_rng(0)
    >>> post = bdp.estimate_curves((rng.normal(size=(3, 50)), rng.normal(1.0, 1.0, (3, 50))))
    >>> post
    <Posterior of delta given epsilon=0 averaged over 3 families: 90% interval 0.2645 to 0.8014>
    >>> post.epsilon_at(0.05)
    <Posterior of epsilon given delta=0.05 averaged over 3 families: 90% interval 0.8438 to 6.766>
    >>> low, high = post.band([0.01, 0.1])  # of the error curve
    """

    question: Any

    def __init__(self, posteriors: Mapping[str, CurvePosterior], accept_misfit: bool = False) -> None:
        super().__init__(posteriors)
        self.accept_misfit = accept_misfit
        self.diagnostics = {**self.diagnostics, "check": self.check}
        notes = self.question.orders.notes()
        of_families = (
            f"{name}: {sentence}"
            for name, post in self._used.items()
            for sentence in post.warnings
            if sentence not in notes
        )
        self.warnings = (*of_families, *notes)

    @property
    def _used(self) -> dict[str, CurvePosterior]:
        return {name: post for name, post in self.posteriors.items() if post in self._kept}

    @property
    def heaviest(self) -> CurvePosterior:
        """The posterior of the most probable family."""
        found: CurvePosterior = self.posteriors[max(self.weights, key=lambda name: self.weights[name])]
        return found

    @property
    def resolved(self) -> float:
        """The smallest rate that the scores resolve, 1/N0."""
        return self.heaviest.resolved

    @property
    def check(self) -> dict[str, float]:
        """The p-value of the check of each family."""
        return {name: post.check for name, post in self.posteriors.items()}

    def cautions(self, prob: float = 0.9) -> tuple[str, ...]:
        """What speaks against its families, how far they are apart, and what they rest on besides the scores."""
        named = [post.caution for name, post in self.posteriors.items() if self.weights[name] > _SHOWN]
        return (*filter(None, named), self.high_end(prob))

    def high_end(self, prob: float = 0.9) -> str:
        """What the interval rests on besides the scores: some sentences."""
        return (
            f"{super().high_end(prob)} The scores tell nothing of rates below about {self.heaviest.resolved:.1g}: at a"
            " smaller δ, ε is what the families make of the larger rates."
        )

    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """The interval under the Gaussian family."""
        found: CurvePosterior = self.posteriors.get("gaussian", self.heaviest)
        return found.gaussian(prob)

    def epsilon_at(self, delta: Any, accept_misfit: bool = False) -> Any:
        """The average at another δ; a list for a sequence of δ.

        Where the check rejects the heaviest family, ε at δ < 1/N0 is refused unless accept_misfit=True, here or where
        the average was made.
        """
        accept = truth("accept_misfit", accept_misfit) or self.accept_misfit
        values = numbers("delta", delta, 0.0, 1.0, high_open=True)
        for post in self.posteriors.values():
            finite_delta(post.family, values)
        self._refuse_misfit(float(values.min(initial=1.0)), accept)
        found = [type(self)(posts, accept) for posts in self._each_at(np.atleast_1d(values))]
        return found if values.ndim else found[0]

    def _saved_question(self) -> dict[str, Any] | None:
        """The question of one family, and the families of all with their priors; None where one has no text."""
        asked = [post._saved_question() for post in self.posteriors.values()]
        members = [one for each in asked if each is not None for one in each["members"]]
        if asked[0] is None or len(members) < len(asked):
            return None
        return asked[0] | {"members": members, "averaged": True, "accept_misfit": self.accept_misfit}

    def _refuse_misfit(self, delta: float, accept_misfit: bool) -> None:
        """Say why there is no ε at this δ where the check rejects the heaviest family, unless that is accepted."""
        post = self.heaviest
        if post.rejected and delta < post.resolved and not accept_misfit:
            raise InputError(
                f"the check rejects the {post.family.name} family, the most probable one, p = {post.check:.2g}, so that"
                f" ε at delta = {delta:g}, below 1/N0 = {post.resolved:.2g}, rests on nothing: give accept_misfit=True"
                " to have it all the same"
            )

    def delta_at(self, epsilon: float, prior: Any = None) -> Self:
        """The average of the posteriors of δ at an ε, of the same members: there is no other prior."""
        return type(self)(
            {name: post.delta_at(epsilon, prior) for name, post in self.posteriors.items()}, self.accept_misfit
        )

    def band(self, alpha: ArrayLike, prob: float = 0.9) -> tuple[Floats, Floats]:
        """β at each α between which the curve of the training lies there with this probability, the smaller first.

        It holds at each α by itself, and not at all of them at once: curves of different families cross.
        """
        alpha = numbers("alpha", alpha, 0.0, 1.0)
        prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        low, high = self.curve_quantiles(alpha, [(1.0 - prob) / 2.0, (1.0 + prob) / 2.0])
        return low, high

    def curve_quantiles(self, alpha: ArrayLike, probability: ArrayLike) -> Floats:
        """Quantiles of β at each α; the shape of the probabilities and then that of α."""
        alpha, probability = numbers("alpha", alpha, 0.0, 1.0), numbers("probability", probability, 0.0, 1.0)
        share = (np.arange(_BAND) + 0.5) / _BAND
        beta = np.concatenate(
            [post.family(alpha.ravel(), post.quantile(share, post.family.parameter)[:, None]) for post in self._kept]
        )
        weight = np.repeat(self._share, _BAND) / _BAND
        order = np.argsort(beta, axis=0)
        middle = np.cumsum(weight[order], axis=0) - 0.5 * weight[order]
        ordered = np.take_along_axis(beta, order, axis=0)
        found = [np.interp(probability.ravel(), middle[:, j], ordered[:, j]) for j in range(alpha.size)]
        return np.array(found).reshape(alpha.size, probability.size).T.reshape((*probability.shape, *alpha.shape))

    def levels(self, size: int = 1000, seed: int = 0) -> Floats:
        """Draws of the level of every base in the most probable family, (size, n)."""
        return self.heaviest.levels(size, seed)

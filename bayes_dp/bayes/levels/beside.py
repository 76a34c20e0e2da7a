"""The posterior of the Gaussian family beside that of (ε, δ), on the same counts.

The layer R_s(ε, δ) has attacks come near the corner of R(ε, δ). Gaussian noise has no such corner, and its ε at a small
δ lies in tails that error rates do not show. So no posterior of (ε, δ) is shown alone. The two presume the same of the
strength, and of the largest advantage: that it is as large as against (ε, 0)-DP with the prior of ε.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from bayes_dp.bayes.levels.posterior import FamilyPosterior, posterior_of_family
from bayes_dp.checks import one_number
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.text import digits
from bayes_dp.tradeoff import delta_from_mu, epsilon_from_mu

__all__ = ["TELLING", "BesideGaussian"]

TELLING = 3.0  # difference of log evidences from which counts are said to favour a family
_COLLAPSE = 2.0  # ratio of upper ends, at δ = 0 and at the known δ, from which the thresholds are said to decide


class BesideGaussian(Posterior):
    """A posterior of (ε, δ) that is shown beside the one of the Gaussian family."""

    @property
    def beliefs(self) -> dict[str, Any]:
        """The strength and the priors that other families are to have in common with this posterior."""
        priors = self.question.priors
        return {
            "prior_epsilon": priors.get("epsilon"),
            "prior_strength": priors.get("strength"),
            "strength": self.question.strength,
        }

    @cached_property
    def gaussian_posterior(self) -> FamilyPosterior:
        """That of μ, from the same counts; `epsilon_at` and `delta_at` give what it says of ε and δ."""
        return posterior_of_family(self.counts, "gaussian", **self.beliefs)

    @cached_property
    def _at_no_delta(self) -> FamilyPosterior:
        """That of ε at δ = 0, from the same counts."""
        return posterior_of_family(self.counts, "pure", **self.beliefs)

    @property
    def has_evidence(self) -> bool:
        """Whether its log evidence can be held against that of another family: that of single binomial bases can."""
        return self.question.likelihood.closed_form and self.question.grouped is None

    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """Where the interval would be if the noise of the training were Gaussian, with equal tails.

        At δ = 0 both ends are infinite.
        """
        prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        mu = self.gaussian_posterior.quantile([(1 - prob) / 2, (1 + prob) / 2])
        (known,) = self.provenance.known.values()
        low, high = (epsilon_from_mu if self.parameter == "epsilon" else delta_from_mu)(mu, known)
        return float(low), float(high)

    def shown(self, prob: float = 0.9) -> list[dict[str, Any]]:
        """The rows that are printed: those of `table`, and what the Gaussian family makes of the same counts."""
        (known,) = self.provenance.known.values()
        if self.parameter == "epsilon" and known == 0:
            return self.table(prob)
        member = self.gaussian_posterior
        row = (member.epsilon_at(known) if self.parameter == "epsilon" else member.delta_at(known)).table(prob)[0]
        return [*self.table(prob), row | {"parameter": f"{self.parameter}, if Gaussian"}]

    def _in_short(self, low: str, high: str) -> str:
        return f"{super()._in_short(low, high)}; if Gaussian, {' to '.join(map(digits, self.gaussian()))}"

    @property
    def gaussian_evidence(self) -> float | None:
        """The log evidence of the Gaussian family minus that of this posterior's model; None where that has none."""
        own: Any = getattr(self, "log_evidence", None)
        if own is None or self.parameter != "epsilon":
            return None
        return self.gaussian_posterior.log_evidence - float(own)

    def high_end(self, prob: float = 0.9) -> str:
        """What the interval presumes, what it would be without that, and what the counts say of the two."""
        low, high = self.gaussian(prob)
        name = "ε" if self.parameter == "epsilon" else "δ"
        instead = (
            "no finite ε holds for it at δ = 0, whatever the counts"
            if math.isinf(high)
            else f"were the noise Gaussian, the same counts would put {name} between {digits(low)} and {digits(high)}"
            f" with {100 * prob:g}% probability"
        )
        return (
            "The upper end presumes attacks that come near the corner of R(ε,δ), which Gaussian noise does not have:"
            f" {instead}. {self.told}{self._collapsed(prob)}"
        )

    def why_two_intervals(self, prob: float = 0.9) -> str:
        """What `high_end` says besides both intervals and `told`, for those who have seen these.

        >>> print(bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3).why_two_intervals())
        The first upper end presumes attacks that come near the best that (ε,δ) allows; Gaussian noise allows ...
        """
        prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
        return (
            "The first upper end presumes attacks that come near the best that (ε,δ) allows; Gaussian noise allows no"
            f" such attack.{self._collapsed(prob)}"
        )

    def _collapsed(self, prob: float) -> str:
        """What the same counts say at δ = 0, where an interval that begins below δ ends far below that; else nothing.

        Rates that are uniform over R(ε, δ) lie anywhere along the diagonal if ε ≪ δ, and seldom at a small α if ε ≫ δ.
        So thresholds with a small α speak for an ε near 0, however small δ is. R(ε, 0) has no such end.
        """
        (known,) = self.provenance.known.values()
        low, high = self.interval(prob)
        if self.parameter != "epsilon" or not low < known:
            return ""
        least, most = self._at_no_delta.interval(prob)
        if not most > _COLLAPSE * high:
            return ""
        return (
            " The interval begins below δ, where the places of the thresholds decide and not the errors: at δ = 0 the"
            f" same counts put ε between {digits(least)} and {digits(most)}."
        )

    @property
    def told(self) -> str:
        """Which of the two the counts favour, a sentence."""
        more = self.gaussian_evidence
        if more is None:
            return "Which of the two is right is not known from the counts."
        own: Any = self
        given = (
            self.gaussian_posterior.log_evidence_given_false_positives - own.log_evidence_given_false_positives
            if abs(more) >= TELLING
            else more
        )
        if abs(more) < TELLING or abs(given) < TELLING or given * more < 0:
            but = "" if given == more else ", which is due to the choice of thresholds"
            return f"The counts do not tell which of the two is right (log evidences differ by {abs(more):.2g}{but})."
        favoured = "Gaussian noise" if more > 0 else "(ε,δ)"
        return f"Of the two the counts favour {favoured} (its log evidence is larger by {abs(more):.3g})."

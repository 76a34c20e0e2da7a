"""The posterior of a member of a family of trade-off functions, from the order of the scores of each base.

It is the model of `posterior.py` with the threshold of the attack left free: what is known of a base is where its
scores with z stand among those without, and all thresholds count at once. Nothing but the order is used.
"""

from __future__ import annotations

import hashlib
import importlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.choice import words_of_family
from bayes_dp.bayes.families.registry import FAMILIES
from bayes_dp.bayes.grid.grid import GridMarginal
from bayes_dp.bayes.levels.fit import Fit
from bayes_dp.bayes.levels.placements import placement_check
from bayes_dp.bayes.levels.posterior import FamilyPosterior
from bayes_dp.bayes.levels.ranks import RankLevels
from bayes_dp.bayes.levels.score_orders import ScoreOrders
from bayes_dp.bayes.priors import describe, prior_of
from bayes_dp.bayes.question import Strength, words_of_priors
from bayes_dp.checks import InputError, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.posterior import Posterior, Provenance, check_draws
from bayes_dp.support.arrays import Floats
from bayes_dp.support.text import Part, Sentences

__all__ = ["CurvePosterior", "CurveQuestion", "OfOrders"]

_CHECKED = 200  # draws of the check
_REJECTED = 0.05
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
        name = self.family.name
        strength = _STRENGTH.get(str(self.strength), f"The strength of every attack is known, s = {self.strength}.")
        return (
            "The runs of a base are independent: each score is a fixed function of one trained model.",
            f"The training is as private as one member θ of the {name} family, at every δ.",
            f"The whole error curve of each base is a member of the {name} family, between sθ and θ.",
            strength,
        )

    def saved(self) -> dict[str, Any] | None:
        """What it takes to ask again; None for a family or a prior of the user's own."""
        priors, family = words_of_priors(self.priors), words_of_family(self.family)
        if priors is None or family is None:
            return None
        return {
            "orders": self.orders.to_dict(),
            "members": [{"family": family, "priors": priors}],
            "averaged": False,
            "known": self.known,
            "strength": self.strength,
            "seed": self.seed,
            "accept_misfit": False,
        }

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


class OfOrders(Posterior):
    """What a posterior of one family and an average of several have in common, if they are of the order of scores."""

    question: Any

    @abstractmethod
    def cautions(self, prob: float = 0.9) -> tuple[str, ...]:
        """What speaks against its families, and what it rests on besides the scores, sentences."""

    @property
    def bases(self) -> tuple[str, ...]:
        """The labels of the bases, or their numbers."""
        orders: ScoreOrders = self.question.orders
        return orders.base

    @property
    def unreliable(self) -> tuple[str, ...]:
        """Scores that were drawn leave the posterior right."""
        notes = self.question.orders.notes()
        return tuple(sentence for sentence in super().unreliable if sentence not in notes)

    def _parts(self, prob: float = 0.9) -> Iterator[Part]:
        for part in super()._parts(prob):
            if isinstance(part, Sentences) and part.title == "Caution":
                yield Sentences("Caution", self.cautions(prob), "each")
            else:
                yield part

    def to_dict(self, prob: float = 0.9) -> dict[str, Any]:
        return super().to_dict(prob) | {"cautions": list(self.cautions(prob))}

    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        """Refused: a whole curve has no one pair of error rates."""
        raise InputError(_NO_COUNTS)

    def to_arviz(self, size: int = 4000, seed: int = 0) -> Any:
        """Independent draws as an ArviZ object, one chain, with the groups of `bayes/inference_data.py`: the log
        likelihood of every base's order of scores, the log priors and draws of the prior, and the numbers of scores
        with z below the thresholds of some false positive rates, observed and predicted. `az.loo`, `az.psense` and
        `az.plot_ppc` work on it."""
        size, seed = check_draws(size, seed)
        return importlib.import_module("bayes_dp.bayes.inference_data").of_orders(self, size, seed)


class CurvePosterior(OfOrders, FamilyPosterior):
    """The posterior of a member of a family from the order of all scores. `check` is the p-value of its own check.

    >>> rng = np.random.default_rng(0)
    >>> post = bdp.estimate_curves((rng.normal(size=(3, 50)), rng.normal(1.0, 1.0, (3, 50))), 1e-2, family="gaussian")
    >>> [round(end, 2) for end in post.interval(parameter="mu")]
    [0.68, 2.57]
    >>> post.check > 0.05
    True
    """

    unchecked = "check is for the posterior of error counts; this one, of orders of scores, has its own, `check`"

    def __init__(
        self,
        question: CurveQuestion,
        fit: Fit | None = None,
        law: Any = None,
        check: float | None = None,
        *,
        marginal: GridMarginal | None = None,
    ) -> None:
        super().__init__(question, fit, law, marginal=marginal)
        self.check = self._checked() if check is None else check
        self.diagnostics = {**self.diagnostics, "check": self.check}
        self.warnings += (*self._not_followed(), *question.orders.notes())
        said = "rejected" if self.rejected else "did not reject"
        self.assumptions += (
            f"The check of the placements {said} the {self.family.name} family, p = {self.check:.2g}.",
        )
        if self.rejected:
            self.caution = (
                f"The scores do not look like those of any member of the {self.family.name} family,"
                f" p = {self.check:.2g}: its ε may be far off, above all at a small δ."
            )

    @property
    def rejected(self) -> bool:
        """Whether the check speaks against the family."""
        return self.check <= _REJECTED

    @cached_property
    def log_evidence_given_false_positives(self) -> float:
        """The log evidence itself: orders of scores take all thresholds at once, so that none was chosen."""
        return self.log_evidence

    def _answer(self, question: Any, marginal: GridMarginal | None = None) -> Self:
        return type(self)(question, self._fit, self._law, self.check, marginal=marginal)

    def _saved_question(self) -> dict[str, Any] | None:
        return self.question.saved()

    def _pointwise(self, draws: Mapping[str, Floats]) -> Floats:
        """log p(order of the scores | draw) of every base, its level integrated out, (size, n)."""
        return self._fit.pointwise(draws[self._own], draws.get("strength"))[:, self._law.base]

    def _checked(self) -> float:
        seed = self.question.seed
        theta, strength = self._fit.draws(_CHECKED, np.random.default_rng([seed, 5]))
        rng = np.random.default_rng([seed, 6])
        levels, _ = self._fit.levels(theta, strength, rng)
        flipped = rng.random(levels.shape) < self._law.backwards(levels)
        return placement_check(self.question.orders.labels, self.family, levels, flipped, rng)

    def _not_followed(self) -> Iterator[str]:
        theta, strength, weight = self._fit.nodes
        beyond = float(weight[(theta * strength) > self._law.followed.min()].sum())
        if beyond > _BEYOND:
            yield (
                f"{100 * beyond:.3g}% of the posterior lies where the order of a base's scores is too unlikely to be"
                " computed: the bases contradict each other."
            )

    def gaussian(self, prob: float = 0.9) -> tuple[float, float]:
        """The interval under the Gaussian family, with the same kind of prior and strength; of μ, if none of ε or δ."""
        if self.family.name == "gaussian":
            return self.interval(prob)
        family = FAMILIES["gaussian"]
        parameter = family.parameter if self.question.parameter == self._own else self.question.parameter
        asked = replace(self.question, family=family, parameter=parameter, prior=None)
        return FamilyPosterior(asked).interval(prob)

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

    def cautions(self, prob: float = 0.9) -> tuple[str, ...]:
        """What speaks against the family, and what the interval rests on besides the scores, sentences."""
        return (*filter(None, (self.caution,)), self.high_end(prob))

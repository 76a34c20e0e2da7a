"""Dependent attacks: the posterior of ε, s and κ from bases in groups, by the whole model or by sums.

`hierarchical` samples the model of `nuts/grouped_model.py` by NUTS. `aggregate` takes each group for one base with the
sums of its counts, and samples the law of these sums (`likelihoods/aggregate.py`) by MHAAR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import numpyro.distributions as dist

from bayes_dp.bayes.convergence import warn
from bayes_dp.bayes.groups import Members, spread_of, sums
from bayes_dp.bayes.likelihoods.aggregate import Aggregate
from bayes_dp.bayes.mhaar.posterior import MhaarPosterior, answer
from bayes_dp.bayes.nuts.grouped_model import grouped_model
from bayes_dp.bayes.nuts.sampler import ModelDraws, NutsSettings, sample
from bayes_dp.bayes.precision import doubled
from bayes_dp.bayes.priors import describe
from bayes_dp.bayes.question import Question, Strength, ask, needs_area
from bayes_dp.bayes.sampled import SampledPosterior, saved_run
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["GroupedPosterior", "aggregate", "hierarchical"]


class GroupedPosterior(SampledPosterior):
    """The posterior of the hierarchical model."""

    unchecked = "check is not made for the hierarchical form of groups; take groups='aggregate'"

    def __init__(self, asked: _Asked, found: ModelDraws) -> None:
        names = [name for name in ("epsilon", "strength", "spread") if name in found.samples]
        rates = _unfolded(found.samples, asked.members.group, asked.settings.seed)
        super().__init__(asked.question, {name: found.samples[name] for name in names}, *rates, found.stats)
        self._asked = asked
        self.diagnostics, self.warnings = found.diagnostics, found.warnings
        question, spread = asked.question, asked.spread
        around = "their prior spread" if isinstance(spread, dist.Distribution) else f"the spread κ = {spread:g}"
        self.assumptions = (
            *question.assumptions()[:2],
            "The centres of the groups are independent and uniform over the layer R_s(ε,δ).",
            f"The true error rates of a group's bases lie around its centre with {around}, within R(ε,δ).",
            question.likelihood.assumption,
            *([question.caution()] if question.caution() else []),
        )
        self.caution = question.caution()
        settings = {name: value for name, value in asdict(asked.settings).items() if name != "progress"}
        own = {"spread": describe(spread)} if isinstance(spread, dist.Distribution) else {}
        fixed = {} if own else {"spread": spread}
        base = question.provenance("nuts, hierarchical", settings | fixed | {"groups": asked.size})
        self.provenance = replace(base, priors={**base.priors, **own})

    @property
    def prior_spread(self) -> Any:
        """The prior of κ; None where κ is given."""
        return self._asked.spread if isinstance(self._asked.spread, dist.Distribution) else None

    @classmethod
    def _of(cls, asked: _Asked) -> Self:
        """The answer to a question about groups, by a run; what speaks against its draws is warned of."""
        found = _sampled(asked)
        warn(found.warnings)
        return cls(asked, found)

    def _answer(self, question: Question) -> Self:
        return self._of(replace(self._asked, question=question))

    def _saved_run(self) -> dict[str, Any] | None:
        kept = self.samples["epsilon"].shape[1]
        return saved_run("nuts", self._asked.settings, kept, groups="hierarchical", spread=self._asked.spread)


@dataclass(frozen=True)
class _Asked:
    """A question about groups, and how it is to be answered."""

    question: Question
    members: Members
    spread: Any
    settings: NutsSettings

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.members.group.max()) + 1


def hierarchical(
    counts: ErrorCounts,
    delta: float,
    *,
    spread: Any = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 1000,
    target_accept: float = 0.9,
    seed: int = 0,
    progress: bool | None = None,
) -> GroupedPosterior:
    """The posterior of ε, s and κ given counts whose `group` says which bases belong together, by NUTS.

    `spread` is κ, a number above 0 and at most 1, or its prior, by default HalfNormal(0.1). The sampler's settings are
    those of `method="nuts"`.
    """
    needs_area("groups are", strength)
    question = ask(counts, "epsilon", delta, prior=prior_epsilon, prior_strength=prior_strength, strength=strength)
    question = replace(question, grouped=counts)
    settings = NutsSettings(chains, draws, warmup, target_accept, seed, progress)
    return GroupedPosterior._of(_Asked(question, Members.of(counts), spread_of(spread), settings))


def aggregate(
    counts: ErrorCounts,
    delta: float,
    *,
    spread: Any = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    **settings: Any,
) -> MhaarPosterior:
    """The posterior of ε, s and κ given the sums of the groups' counts (`Aggregate`), by MHAAR.

    Its bases are the groups. `settings` are those of `mhaar`.
    """
    needs_area("groups are", strength)
    members = Members.of(counts)
    law = Aggregate.of(members, spread_of(spread))
    names = dict(zip(members.group[::-1].tolist(), reversed(counts.group or ()), strict=True))
    x, n0, y, n1 = (np.asarray(column) for column in sums(members))
    pooled = ErrorCounts(
        x,
        n0,
        y,
        n1,
        base=[names[g] for g in range(len(names))],
        design=counts.design,
        examples=counts.examples,
    )
    question = ask(
        pooled,
        "epsilon",
        delta,
        prior=prior_epsilon,
        prior_strength=prior_strength,
        strength=strength,
        likelihood=law,
    )
    return answer(replace(question, grouped=counts), **settings)


def _sampled(asked: _Asked) -> ModelDraws:
    priors = asked.question.priors
    strength = doubled(priors["strength"]) if "strength" in priors else asked.question.strength
    spread = doubled(asked.spread) if isinstance(asked.spread, dist.Distribution) else asked.spread
    return sample(
        grouped_model,
        (asked.members, asked.question.known, doubled(priors["epsilon"]), strength, spread, asked.size),
        asked.settings,
    )


def _unfolded(samples: Mapping[str, Any], group: Ints, seed: int) -> tuple[Floats, Floats]:
    """α and β of the members, (chains, draws, n), in an image of each group that is drawn by its weight."""
    rng = np.random.default_rng([seed, 3])
    log_image = samples["log_image"]
    which = np.argmax(log_image + rng.gumbel(size=log_image.shape), axis=-1)[..., group, None]
    low, high = samples["folded_low"], samples["folded_high"]
    alpha, beta = np.stack([low, high, 1 - low, 1 - high], axis=-1), np.stack([high, low, 1 - high, 1 - low], axis=-1)
    return tuple(np.take_along_axis(value, which, axis=-1)[..., 0] for value in (alpha, beta))  # type: ignore[return-value]

"""How much of the answer is the prior's, and how much that of the strength: the same counts, asked otherwise.

An exact posterior is computed again. Draws of a sampler are reweighted by the ratio of the priors, with Pareto-smoothed
importance weights (Vehtari et al. 2024), which say by their k where the draws do not tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_dp.bayes import priors
from bayes_dp.bayes.estimate import Estimates
from bayes_dp.bayes.question import Strength
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.diagnostics import PARETO_K, psis
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.arrays import Floats

__all__ = ["Variation", "reweighted", "variations", "weighted_quantiles"]


_PRIORS: dict[str, dict[str | None, str]] = {  # parameter -> prior, None for the default, and what it says in words
    "epsilon": {
        "HalfNormal(1)": "narrower: an ε above 2 is thought unlikely",
        None: "half-normal with variance 10",
        "HalfNormal(5)": "wider: an ε of 5 and more is thought quite possible",
        "HalfNormal(10)": "very wide: an ε of 10 and more is thought quite possible",
    },
    "strength": {
        "Beta(1, 4)": "weak attacks are thought likely",
        None: "every strength is as likely as another",
        "Beta(4, 1)": "strong attacks are thought likely",
    },
}
_STRENGTHS: dict[Strength, str] = {
    "free": "it is estimated along with ε",
    0: "worthless attacks may be among them",
    0.5: "every attack reaches at least half of the greatest strength",
    "tight": "every attack is the strongest possible",
}
_LETTERS = {"epsilon": "ε", "strength": "s"}
_DRAWS = 20_000


@dataclass(frozen=True)
class Variation:
    """The interval and the median of ε where something else is assumed; None where the draws do not tell."""

    change: str
    meaning: str
    low: float | None
    median: float | None
    high: float | None


def variations(
    post: Posterior, counts: ErrorCounts, options: Mapping[str, Any], prob: float, estimates: Estimates
) -> tuple[Variation, ...]:
    """Other priors of ε and s, and other strengths. `options` are those of `estimate` that gave the posterior."""
    delta = post.provenance.known["delta"]
    sampled = post.provenance.method != "exact"
    shared: dict[str, Any] = {key: options.get(key) for key in ("prior_epsilon", "prior_strength")}
    found = []
    for parameter, choices in _PRIORS.items():
        present = post.provenance.priors.get(parameter)
        for text, meaning in choices.items():
            prior = priors.prior_of(parameter, text)
            if present in (None, priors.describe(prior)):
                continue
            change = f"prior of {_LETTERS[parameter]}: {text or 'the usual one'}"
            if sampled:
                found.append(reweighted(post, parameter, prior, prob, change, meaning))
                continue
            other = estimates(counts, delta, strength=options["strength"], **shared | {f"prior_{parameter}": prior})
            found.append(_of(other, prob, change, meaning))
    strength = options["strength"]
    for value, meaning in _STRENGTHS.items():
        if value == strength and not sampled:
            continue
        free = {} if value == "free" else {"prior_strength": None}
        other = estimates(counts, delta, strength=value, **shared | free)
        change = f"strength: {value}" + (", with independent binomial counts" if sampled else "")
        found.append(_of(other, prob, change, meaning))
    return tuple(found)


def _of(post: Posterior, prob: float, change: str, meaning: str) -> Variation:
    low, high = post.interval(prob)
    return Variation(change, meaning, low, post.median, high)


def reweighted(post: Posterior, parameter: str, prior: Any, prob: float, change: str, meaning: str) -> Variation:
    untold = Variation(change, f"{meaning}; too few of the draws matter then to tell", None, None, None)
    before = priors.read(post.provenance.priors[parameter])
    ends = priors.support(parameter, before), priors.support(parameter, prior)
    if ends[1][0] < ends[0][0] or ends[1][1] > ends[0][1]:  # no weights bring draws to where there were none
        return untold
    draws = post.draws(_DRAWS)
    ratio = priors.log_density(prior)(draws[parameter]) - priors.log_density(before)(draws[parameter])
    with np.errstate(over="ignore"):  # of far too unequal weights, whose k tells
        log_weights, k = psis(ratio[None])
    if not k[0] <= PARETO_K:
        return untold
    low, median, high = weighted_quantiles(
        draws["epsilon"], np.exp(log_weights[0]), ((1 - prob) / 2, 0.5, (1 + prob) / 2)
    )
    return Variation(change, meaning, low, median, high)


def weighted_quantiles(values: Floats, weights: Floats, probabilities: tuple[float, ...]) -> list[float]:
    """The least values at which the sum of the weights reaches the probabilities."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    at = np.searchsorted(total, np.asarray(probabilities) * total[-1])
    return [float(value) for value in values[order][at]]

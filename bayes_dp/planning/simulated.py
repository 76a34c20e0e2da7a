"""Simulated experiments: what is believed of the truth, the error rates it gives, and counts of any size.

A plan starts from counts, whose posterior says what ε, s and the error rates of their bases may be, or from an
`Experiment` that has not been made. The simulated experiments then grow: more challenges of a base have its error
rates, more bases have error rates from the layer R_s(ε, δ). What they had stays, so that sizes differ by their size and
not by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from bayes_dp.bayes import priors
from bayes_dp.bayes.exact.posterior import ExactPosterior
from bayes_dp.bayes.question import Question
from bayes_dp.checks import one_number, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.region import sample
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["Experiment", "Simulated"]


@dataclass(frozen=True)
class Experiment:
    """An experiment that has not been made: its size, and what is believed of the truth.

    Each of the `bases` is to have so many challenges without the example (`negatives`) and with it (`positives`).
    `epsilon` and `strength` are the truth, a number or a prior; by default it is drawn from the priors of the analysis.

    >>> bdp.Experiment(bases=2, negatives=100, positives=100, epsilon=1.0)  # of any strength
    Experiment(bases=2, negatives=100, positives=100, epsilon=1.0, strength=None)
    """

    bases: int
    negatives: int
    positives: int
    epsilon: Any = None
    strength: Any = None

    def __post_init__(self) -> None:
        for name in ("bases", "negatives", "positives"):
            whole_number(name, getattr(self, name), 1)
        for name, high in (("epsilon", 700.0), ("strength", 1.0)):
            value = getattr(self, name)
            if isinstance(value, Real):
                object.__setattr__(self, name, one_number(name, value, 0.0, high, high_open=True))
            elif value is not None:
                object.__setattr__(self, name, priors.prior_of(name, value))

    def no_errors(self) -> ErrorCounts:
        """Counts of this size without errors."""
        return ErrorCounts(np.zeros(self.bases), self.negatives, np.zeros(self.bases), self.positives)

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, fit for JSON."""
        truth = {"true_epsilon": self.epsilon, "true_strength": self.strength}
        shown = {k: v if v is None or isinstance(v, float) else priors.describe(v) for k, v in truth.items()}
        return {"bases": self.bases, "negatives": self.negatives, "positives": self.positives, **shown}


@dataclass(frozen=True)
class Simulated:
    """Experiments of one size: ε and s (size,), error rates and errors (size, n), challenges (n,)."""

    delta: float
    epsilon: Floats
    strength: Floats
    alpha: Floats
    beta: Floats
    x: Ints  # false positives
    n0: Ints
    y: Ints  # false negatives
    n1: Ints

    @classmethod
    def of_counts(cls, counts: ErrorCounts, post: ExactPosterior, delta: float, size: int, seed: int) -> Simulated:
        """Experiments that all begin with these counts; what is behind these is drawn from their posterior."""
        draws = post.draws(size, seed)
        fixed = post.provenance.settings["strength"]
        strength = draws["strength"] if fixed == "free" else np.full(size, fixed)
        alpha, beta = post.rates(size, seed)
        x, y = (np.tile(errors, (size, 1)) for errors in (counts.false_positives, counts.false_negatives))
        return cls(delta, draws["epsilon"], strength, alpha, beta, x, counts.negatives, y, counts.positives)

    @classmethod
    def of_experiment(cls, planned: Experiment, question: Question, size: int, seed: int) -> Simulated:
        """Experiments with a truth of their own each; by default it has the priors and the strength of the analysis."""
        strength = planned.strength
        if strength is None:
            strength = question.priors.get("strength", question.strength)
        epsilon = question.priors["epsilon"] if planned.epsilon is None else planned.epsilon
        epsilon, strength = _truth(0, epsilon, size, seed), _truth(1, strength, size, seed)
        rates, errors, runs = np.empty((size, 0)), np.empty((size, 0), np.int64), np.empty(0, np.int64)
        nothing = cls(question.known, epsilon, strength, rates, rates, errors, runs, errors, runs)
        return nothing.with_bases(planned.bases, planned.negatives, planned.positives, np.random.default_rng([seed, 0]))

    def __len__(self) -> int:
        return len(self.epsilon)

    def counts(self, i: int) -> ErrorCounts:
        """Those of the i-th experiment."""
        return ErrorCounts(self.x[i], self.n0, self.y[i], self.n1)

    def with_challenges(self, n0: Ints, n1: Ints, rng: np.random.Generator) -> Simulated:
        """The same bases with so many challenges, each (n,), those they have among them."""
        x = self.x + rng.binomial(n0 - self.n0, self.alpha)
        y = self.y + rng.binomial(n1 - self.n1, self.beta)
        return replace(self, x=x, n0=n0, y=y, n1=n1)

    def with_bases(self, bases: int, n0: int, n1: int, rng: np.random.Generator) -> Simulated:
        """So many bases, those there are among them; the new ones have n0 + n1 challenges each."""
        size = (len(self), bases - len(self.n0))
        rates = sample(self.epsilon[:, None], self.delta, self.strength[:, None], size, rng)
        new = {
            "alpha": rates[..., 0],
            "beta": rates[..., 1],
            "x": rng.binomial(n0, rates[..., 0]),
            "n0": np.full(size[1], n0),
            "y": rng.binomial(n1, rates[..., 1]),
            "n1": np.full(size[1], n1),
        }
        both: dict[str, Any] = {k: np.concatenate([getattr(self, k), v], axis=-1) for k, v in new.items()}
        return replace(self, **both)


def _truth(which: int, truth: Any, size: int, seed: int) -> Floats:
    """ε (`which` 0) or s (1): a number for all, or draws from a prior."""
    if isinstance(truth, float):
        return np.full(size, truth)
    import jax

    with jax.enable_x64(True):
        key = jax.random.fold_in(jax.random.key(seed), which)
        drawn = np.asarray(priors.numpyro_law(truth).sample(key, (size,)), dtype=np.float64)
    return np.clip(drawn, 1e-12, (700.0, 1.0 - 1e-12)[which])  # a layer needs an area

"""The observational game about any set of attributes, up to whole examples: were they in the training, or imputed?

Keep the training as it was. For each example an imputer draws a counterfactual a¹ of its sensitive attributes given the
public ones, and a fair coin is tossed. The attacker sees the public attributes and either those of the training or a¹,
and says which ("Observational Auditing of Privacy", Algorithm 2). With no public attributes it is about
whole examples: that is membership, with fresh examples in place of those left out (Algorithm 1; Ye et al. 2022).

If the score is the log-likelihood that the audited model gives, or what grows with it, then what the imputer thinks of
the attributes is best subtracted, where it can tell: log M(a | public) − log q(a | public).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayes_dp.checks import InputError, numbers, seed_of, show, truth
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Floats

__all__ = ["AttributeGame", "Imputer"]


class Imputer(Protocol):
    """What draws sensitive attributes given public ones. `log_prob` may be missing, unless a game is `relative`.

    >>> class Normal:
    ...     def sample(self, public, seed):
    ...         return public + np.random.default_rng(seed).normal(size=public.shape)
    >>> Normal().sample(np.zeros((2, 1)), seed=0).round(1)
    array([[ 0.1],
           [-0.1]])
    """

    def sample(self, public: Floats, seed: int) -> Floats:
        """Attributes (n, d) given public ones, (n, p)."""

    def log_prob(self, public: Floats, values: Floats) -> Floats:
        """Log-density or log-probability of attributes (n, d) given public ones, (n,)."""


@dataclass(frozen=True, eq=False, repr=False)
class AttributeGame:
    """A game that can be played again and again, with new coins and newly imputed attributes each time.

    `public` has what is known of each example, (n, p), with p = 0 for nothing; `values` the sensitive attributes of the
    training, (n, d); `score(public, values)` says for any attributes how much they look like those of the training,
    (n,). With `relative` the imputer's `log_prob` is subtracted from it.

    >>> rng = np.random.default_rng(0)
    >>> public, values = rng.normal(size=(2, 500, 1))
    >>> class Normal:
    ...     def sample(self, public, seed):
    ...         return np.random.default_rng(seed).normal(size=public.shape)
    >>> remembered = lambda public, shown: -np.abs(shown - values)[:, 0]
    >>> game = bdp.games.AttributeGame(public, values, Normal(), remembered)
    >>> game.play(seed=0).auc().value
    1.0
    """

    public: Floats
    values: Floats
    imputer: Imputer
    score: Callable[[Floats, Floats], Any]
    relative: bool = False

    def __post_init__(self) -> None:
        public = _rows("public", self.public)
        values = _rows("values", self.values)
        if len(values) != len(public) or not values.size:
            raise InputError(f"values must have attributes of each of the {len(public)} examples of public")
        truth("relative", self.relative)
        for name in ("sample", "log_prob") if self.relative else ("sample",):
            if isinstance(self.imputer, type) or not callable(getattr(self.imputer, name, None)):
                raise InputError(f"imputer must have a method {name}, which {show(self.imputer)} has not")
        if not callable(self.score):
            raise InputError(f"score must be a function of public and sensitive attributes, not {show(self.score)}")
        object.__setattr__(self, "public", public)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return "AttributeGame: {} examples, {} attributes".format(*self.values.shape)

    def play(self, seed: int = 0) -> GuessTable:
        """Coins, counterfactual attributes, and the score of what the attacker is shown; "members" are the examples
        that are shown with the attributes of the training."""
        coins, draws = np.random.SeedSequence(seed_of(seed), spawn_key=(6,)).spawn(2)
        member = np.random.default_rng(coins).random(len(self.values)) < 0.5
        drawn = _rows("imputer.sample(public, seed)", self.imputer.sample(self.public, int(draws.generate_state(1)[0])))
        if drawn.shape != self.values.shape:
            raise InputError(
                f"imputer.sample(public, seed) must be of the shape {self.values.shape}, not {drawn.shape}"
            )
        shown = np.where(member[:, None], self.values, drawn)
        score = self._of_each("score(public, values)", self.score(self.public, shown))
        if self.relative:
            score = score - self._of_each("imputer.log_prob(public, values)", self.imputer.log_prob(self.public, shown))
        return GuessTable(score, member, 0.5, propensity_source="simulated")

    def _of_each(self, name: str, given: Any) -> Floats:
        found = numbers(name, given, low_open=True, high_open=True)
        if found.shape != (len(self.values),):
            raise InputError(f"{name} must be of the shape ({len(self.values)},), not {found.shape}")
        return found


def _rows(name: str, given: Any) -> Floats:
    found = numbers(name, given, low_open=True, high_open=True)
    if found.ndim != 2 or not len(found):
        raise InputError(f"{name} must be of the shape (examples, attributes), not {found.shape}")
    return found

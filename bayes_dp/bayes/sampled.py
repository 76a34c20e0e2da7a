"""A posterior that is given by the draws of several chains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from bayes_dp.bayes.levels.beside import BesideGaussian
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.priors import exact_words
from bayes_dp.bayes.question import Question
from bayes_dp.results.posterior import Marginal, SampleMarginal, check_draws
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["SampledPosterior", "saved_run"]


class SampledPosterior(BesideGaussian):
    """`samples` holds the draws by parameter, each (chains, draws); the error rates have (chains, draws, n)."""

    def __init__(
        self, question: Question, samples: Mapping[str, Floats], alpha: Floats, beta: Floats, stats: Mapping[str, Any]
    ) -> None:
        self.question, self.samples = question, dict(samples)
        self.marginals: Mapping[str, Marginal] = {k: SampleMarginal.of(values) for k, values in samples.items()}
        self._alpha, self._beta, self._stats = alpha, beta, stats

    def _saved_question(self) -> dict[str, Any] | None:
        """The question and the run that answers it, as `estimate` takes both; None where either cannot be repeated."""
        asked, run = self.question.saved(), self._saved_run()
        return None if asked is None or run is None else asked | {"run": run}

    def _saved_run(self) -> dict[str, Any] | None:
        """The method, the likelihood, the groups, their spread and the settings, fit for JSON; None for a likelihood or
        a prior of the user's own, and for a run that was interrupted."""
        return None

    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        """`size` of the draws in random order, each at most once as long as there are enough; arrays (size,)."""
        at = self._choice(size, seed)
        return {name: values.reshape(-1)[at] for name, values in self.samples.items()}

    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        """α and β, each (size, n); with the same size and seed they belong to the parameters that `draws` gives."""
        at = self._choice(size, seed)
        n = len(self.counts)
        return self._alpha.reshape(-1, n)[at], self._beta.reshape(-1, n)[at]

    def _choice(self, size: int, seed: int) -> Ints:
        size, seed = check_draws(size, seed)
        total = self.samples["epsilon"].size
        return np.random.default_rng(seed).choice(total, size, replace=size > total)

    def _chains_of(self, size: int = 4000, seed: int = 0) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """The draws, thinned evenly to at most `size` of all chains together, and the sampler's statistics of each."""
        size, _ = check_draws(size, seed)
        chains, kept = next(iter(self.samples.values())).shape
        step = -(-kept // max(1, size // chains))
        drawn = {**self.samples, "alpha": self._alpha, "beta": self._beta}
        told = {name: np.asarray(values)[:, ::step] for name, values in self._stats.items()}
        return {name: np.asarray(values)[:, ::step] for name, values in drawn.items()}, told


def saved_run(
    method: str, settings: Any, kept: int, *, likelihood: Any = None, groups: str | None = None, spread: Any = None
) -> dict[str, Any] | None:
    """See `_saved_run`: of so many draws kept of each chain, and a likelihood, or a form of groups and their spread."""
    if kept < settings.draws or (groups is None and LIKELIHOODS.get(likelihood.name) is not likelihood):
        return None
    words = spread if spread is None or isinstance(spread, float) else exact_words(spread)
    if words is None and spread is not None:
        return None
    chosen = {name: value for name, value in asdict(settings).items() if name != "progress"}
    name = "binomial" if groups is not None else likelihood.name
    return {"method": method, "likelihood": name, "groups": groups, "spread": words, "settings": chosen}

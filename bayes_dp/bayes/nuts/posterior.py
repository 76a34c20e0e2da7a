"""NUTS: the posterior of ε, s and the parameters of the counts' correlation by Hamiltonian Monte Carlo.

The density is that of `model.bayes_model`, in coordinates that are smooth and without bounds; the sampler is NumPyro's
(`sampler.py`). It is the third way to the same posterior, beside the quadrature of `exact/` and the chains of
`mhaar/`, and the one whose model can be extended.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Self

from bayes_dp.bayes.convergence import warn
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.nuts.model import bayes_model
from bayes_dp.bayes.nuts.sampler import ModelDraws, NutsSettings, sample
from bayes_dp.bayes.precision import doubled
from bayes_dp.bayes.question import Question, Strength, ask, needs_area
from bayes_dp.bayes.sampled import SampledPosterior, saved_run
from bayes_dp.data.counts import ErrorCounts

__all__ = ["NutsPosterior", "nuts"]


class NutsPosterior(SampledPosterior):
    """A posterior by the draws of NUTS."""

    def __init__(self, question: Question, settings: NutsSettings, found: ModelDraws) -> None:
        names = ("epsilon", "strength", *question.likelihood.shared)
        kept = {name: found.samples[name] for name in names if name in found.samples}
        super().__init__(question, kept, found.samples["alpha"], found.samples["beta"], found.stats)
        self._settings = settings
        self.diagnostics, self.warnings = found.diagnostics, found.warnings
        self.assumptions, self.caution = question.assumptions(), question.caution()
        chosen = {name: value for name, value in asdict(settings).items() if name != "progress"}
        self.provenance = question.provenance("nuts", chosen)

    @classmethod
    def _of(cls, question: Question, settings: NutsSettings) -> Self:
        """The answer to a question, by a run; what speaks against its draws is warned of."""
        found = draws_of(question, settings)
        warn(found.warnings)
        return cls(question, settings, found)

    def _answer(self, question: Question) -> Self:
        return self._of(question, self._settings)

    def _saved_run(self) -> dict[str, Any] | None:
        kept = self.samples["epsilon"].shape[1]
        return saved_run("nuts", self._settings, kept, likelihood=self.question.likelihood)


def nuts(
    counts: ErrorCounts,
    delta: float,
    *,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    likelihood: str | BaseLikelihood = "binomial",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 1000,
    target_accept: float | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> NutsPosterior:
    """The posterior of ε (and of s, if free, and of the likelihood's parameters) at a given δ, by NUTS.

    A larger `target_accept` makes smaller steps, which is the first remedy for divergences; by default it is 0.9, and
    0.97 for the bivariate normal likelihood, whose posterior is narrow where |ρ| is near its limit. The same seed gives
    the same draws. `progress` says whether there is a bar on standard error, by default on a terminal. Interrupting
    after the warm-up gives the draws finished so far, with a warning.
    """
    needs_area("NUTS is", strength)
    question = ask(
        counts,
        "epsilon",
        delta,
        prior=prior_epsilon,
        prior_strength=prior_strength,
        strength=strength,
        likelihood=likelihood,
    )
    target = question.likelihood.target_accept if target_accept is None else target_accept
    return NutsPosterior._of(question, NutsSettings(chains, draws, warmup, target, seed, progress))


def draws_of(question: Question, settings: NutsSettings) -> ModelDraws:
    """The draws that answer a question."""
    strength = question.priors.get("strength")
    arguments = (
        Counts.of(question.counts),
        question.known,
        doubled(question.priors["epsilon"]),
        None if strength is None else doubled(strength),
        question.strength,
        question.likelihood,
    )
    return sample(bayes_model, arguments, settings)

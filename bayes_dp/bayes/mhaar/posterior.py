"""MHAAR: the posterior of ε (and s) by Markov chains over (ε, s) and the error rates of every base.

Algorithm 1 of Yildirim et al. (2025), "MCMC for Bayesian estimation of Differential Privacy from Membership Inference
Attacks" (MCMC-DP-Est), an instance of Metropolis-Hastings with averaged acceptance ratios (Andrieu et al. 2020), with
two cheap moves added (`kernel.py`). An iteration costs O(nK) for n bases and K auxiliary pairs per base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import jax
import numpy as np

from bayes_dp.bayes import priors
from bayes_dp.bayes.compiling import Ordered
from bayes_dp.bayes.convergence import Failure, convergence, warn
from bayes_dp.bayes.likelihoods.candidates import AUXILIARIES, Auxiliaries
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.mhaar.adaptation import Covariance, plan
from bayes_dp.bayes.mhaar.kernel import Info, State, Target, advance
from bayes_dp.bayes.mhaar.noise import noise_of_blocks
from bayes_dp.bayes.mhaar.start import start
from bayes_dp.bayes.precision import double, doubled
from bayes_dp.bayes.question import Question, Strength, ask, needs_area
from bayes_dp.bayes.sampled import SampledPosterior, saved_run
from bayes_dp.checks import InputError, seed_of, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.region import log_layer_area
from bayes_dp.support.arrays import Floats
from bayes_dp.support.progress import bar, check_shown

__all__ = ["MhaarPosterior", "answer", "mhaar"]


_BLOCK = 250  # iterations at most between two looks at the progress bar and the keyboard
_PAIRS = 1 << 20  # auxiliary pairs at most in a block (8 MB an array)
_PAIRS_PER_BASE: Mapping[Auxiliaries, int] = {"posterior": 8, "uniform": 1000}
_SHARED_VARIANCE = 1e-5  # of the first proposals of a shared parameter


@dataclass(frozen=True)
class Settings:
    """How a run is to be made, checked and with the defaults filled in."""

    auxiliaries: Auxiliaries
    n_auxiliaries: int
    chains: int
    draws: int
    warmup: int
    seed: int
    progress: bool | None


@dataclass(frozen=True)
class Chains:
    """What the chains brought; arrays (chains, draws, ...)."""

    states: State
    info: Info
    covariance: Floats  # (2, 2) of the averaged move's proposal of (log ε, s)


class MhaarPosterior(SampledPosterior):
    """A posterior by the draws of MHAAR."""

    def __init__(self, question: Question, settings: Settings, chains: Chains) -> None:
        states = chains.states
        samples: dict[str, Floats] = {"epsilon": np.asarray(states.epsilon)}
        if question.strength == "free":
            samples["strength"] = np.asarray(states.strength)
        for i, name in enumerate(question.likelihood.shared):
            samples[name] = np.asarray(states.shared)[..., i]
        stats = {"acceptance_rate": chains.info.averaged, "acceptance_rate_shift": chains.info.shift}
        super().__init__(question, samples, np.asarray(states.alpha), np.asarray(states.beta), stats)
        self._settings, self._chains = settings, chains
        found, sentences = convergence(self.samples)
        kept = self.samples["epsilon"].shape[1]
        if kept < settings.draws:
            sentences.insert(0, Failure.INTERRUPTED.said(kept=kept, wanted=settings.draws))
        self.diagnostics = {
            **found,
            "acceptance": np.mean(chains.info.averaged, axis=1).tolist(),
            "acceptance_shift": np.mean(chains.info.shift, axis=1).tolist(),
            "step_covariance": chains.covariance.tolist(),
            "draws": kept,
        }
        self.warnings = tuple(sentences)
        self.assumptions, self.caution = question.assumptions(), question.caution()
        chosen = {name: value for name, value in asdict(settings).items() if name != "progress"}
        self.provenance = question.provenance("mhaar", chosen)

    @classmethod
    def _of(cls, question: Question, settings: Settings) -> Self:
        """The answer to a question, by a run; what speaks against its draws is warned of."""
        with double():
            posterior = cls(question, settings, _run(question, settings))
        warn(posterior.warnings)
        return posterior

    def _answer(self, question: Question) -> Self:
        return self._of(question, self._settings)

    def _saved_run(self) -> dict[str, Any] | None:
        likelihood: Any = self.question.likelihood
        kept = self.diagnostics["draws"]
        if self.question.grouped is None:
            return saved_run("mhaar", self._settings, kept, likelihood=likelihood)
        return saved_run("mhaar", self._settings, kept, groups="aggregate", spread=likelihood.spread)

    def _chains_of(self, size: int = 4000, seed: int = 0) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """With the acceptance rates, and the log density of (ε, s, α, β) up to a constant as `lp`."""
        self._stats = {**self._stats, "lp": self._log_density()}
        return super()._chains_of(size, seed)

    def _log_density(self) -> Floats:
        states, question = self._chains.states, self.question
        epsilon, strength = np.asarray(states.epsilon), np.asarray(states.strength)
        value = -len(question.counts) * np.asarray(log_layer_area(epsilon, question.known, strength))
        for name, prior in question.priors.items():
            value += priors.log_density(prior)(self.samples[name].ravel()).reshape(epsilon.shape)
        by_base = (np.asarray(rate).reshape(-1, len(self.question.counts)).T for rate in (states.alpha, states.beta))
        with double():
            columns, likelihood = Counts.of(question.counts), question.likelihood
            shared = [self.samples[name].ravel() for name in likelihood.shared]
            if shared:
                log_prior = jax.jit(jax.vmap(lambda *values: likelihood.log_prior(columns, *values)))(*shared)
                value += np.asarray(log_prior).reshape(epsilon.shape)
            log_g = jax.jit(likelihood.log_density)(columns, *by_base, *shared)
            return np.asarray(value + np.asarray(log_g).sum(axis=0).reshape(epsilon.shape))


def mhaar(
    counts: ErrorCounts,
    delta: float,
    *,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    likelihood: Any = "binomial",
    auxiliaries: Auxiliaries = "posterior",
    n_auxiliaries: int | None = None,
    chains: int = 4,
    draws: int | None = None,
    warmup: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> MhaarPosterior:
    """The posterior of ε (and of the attack strength s, if free) at a given δ, by `draws` draws of each chain.

    `likelihood` is a name, as for `estimate`, or an object such as a `Likelihood`. Those for correlated counts have
    parameters of their own, shared by the bases, which are sampled along (Algorithm 6, with τ' drawn around τ and not,
    as printed, around s). `draws` are 4000, or 20 000 for these.

    The auxiliary pairs are drawn from each base's counts alone ("posterior", Beta(X+1, N0-X+1) × Beta(Y+1, N1-Y+1)) or
    from the unit square ("uniform", as in the paper); `n_auxiliaries` is K, the current pair among them, by default 8
    or 1000, and twice that for correlated counts. The same seed gives the same draws. `progress` says whether
    there is a bar on standard error, by default on a terminal.

    Interrupting (KeyboardInterrupt) after the warm-up gives the draws finished so far, with a warning; during the
    warm-up there are none and the interrupt goes on to the caller. A `ConvergenceWarning` says when the draws are not
    to be trusted.
    """
    needs_area("MHAAR is", strength)
    question = ask(
        counts,
        "epsilon",
        delta,
        prior=prior_epsilon,
        prior_strength=prior_strength,
        strength=strength,
        likelihood=likelihood,
    )
    return answer(
        question,
        auxiliaries=auxiliaries,
        n_auxiliaries=n_auxiliaries,
        chains=chains,
        draws=draws,
        warmup=warmup,
        seed=seed,
        progress=progress,
    )


def answer(
    question: Question,
    *,
    auxiliaries: Auxiliaries = "posterior",
    n_auxiliaries: int | None = None,
    chains: int = 4,
    draws: int | None = None,
    warmup: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> MhaarPosterior:
    """What `mhaar` answers to a question, with its settings."""
    if auxiliaries not in AUXILIARIES:
        raise InputError(f"auxiliaries must be 'posterior' or 'uniform', not {show(auxiliaries)}")
    check_shown(progress)
    several = bool(question.likelihood.shared)  # more parameters, which mix more slowly
    settings = Settings(
        auxiliaries=auxiliaries,
        n_auxiliaries=whole_number(
            "n_auxiliaries",
            _PAIRS_PER_BASE[auxiliaries] * (1 + several) if n_auxiliaries is None else n_auxiliaries,
            2,
        ),
        chains=whole_number("chains", chains, 1),
        draws=whole_number("draws", (20_000 if several else 4000) if draws is None else draws, 1),
        warmup=whole_number("warmup", warmup, 0),
        seed=seed_of(seed),
        progress=progress,
    )
    return MhaarPosterior._of(question, settings)


def _run(question: Question, settings: Settings) -> Chains:
    """Warm up and sample; an interrupt while sampling ends it early."""
    columns, strength, likelihood = Counts.of(question.counts), question.strength, question.likelihood
    free = strength == "free"
    proposal, constant = likelihood.proposal(columns, settings.auxiliaries)
    strength_ends = priors.support("strength", question.priors["strength"]) if free else (strength, strength)
    target = Target(
        counts=columns,
        delta=_array(question.known),
        prior_epsilon=Ordered(doubled(question.priors["epsilon"])),
        prior_strength=Ordered(doubled(question.priors["strength"])) if free else None,
        bounds=_array([priors.support("epsilon", question.priors["epsilon"]), strength_ends]),
        proposal=None if constant else proposal,
    )
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.chains)
    rngs = [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]  # NumPy's fastest
    densities = {name: priors.log_density(prior) for name, prior in question.priors.items()}
    pairs = likelihood.proposal(columns, "posterior")[0]
    starts = [start(rng, target, densities, pairs, likelihood) for rng in rngs]
    states = jax.tree.map(lambda *values: np.stack(values), *starts)
    # Of the averaged move's proposal of (log ε, s) and the shift move's of (log ε, log s).
    others = [_SHARED_VARIANCE] * len(likelihood.shared)
    covariances = Covariance(0.25, 0.04 * free, *others), Covariance(0.25, 0.25 * free, *others)
    log_best = np.tile(np.log([c.best_scale for c in covariances]), (settings.chains, 1))
    log_scales = _array(log_best)
    size = int(np.clip(_PAIRS // (settings.chains * len(question.counts) * settings.n_auxiliaries), 1, _BLOCK))
    blocks = list(plan(settings.warmup, settings.draws, size))
    lengths = [block.iterations for block in blocks]
    kept: list[tuple[State, Info]] = []
    try:
        with (
            bar(settings.warmup + settings.draws, settings.progress) as tell,
            noise_of_blocks(rngs, proposal, 2 + len(others), settings.n_auxiliaries, size, lengths) as noises,
        ):
            for block, noise in zip(blocks, noises, strict=True):
                if not block.warmup and not kept:
                    log_scales = _array(np.broadcast_to(np.mean(log_scales, axis=0), log_best.shape))
                states, log_scales, *trace = advance(
                    states,
                    log_scales,
                    noise,
                    target,
                    np.stack([c.factor for c in covariances]),
                    block.gain,
                    block.iterations,
                    likelihood,
                )
                states, log_scales = jax.tree.map(_array, (states, log_scales))  # as in the first call
                passed, info = (type(part)(*(np.asarray(v)[: block.iterations] for v in part)) for part in trace)
                if block.warmup:
                    log_epsilon, strength = np.log(passed.epsilon), passed.strength
                    shared = np.moveaxis(passed.shared, -1, 0)
                    covariances[0].see(log_epsilon, strength, *shared)
                    covariances[1].see(log_epsilon, np.log(np.maximum(strength, 1e-300)), *shared)
                    if block.learn:
                        for c, scale in zip(covariances, np.exp(np.mean(log_scales, axis=0)), strict=True):
                            c.learn(scale)
                        log_scales = _array(log_best)
                else:
                    kept.append((passed, info))
                tell(block.iterations, "warm-up" if block.warmup else "sampling")
    except KeyboardInterrupt:
        if not kept:
            raise
    step = float(np.exp(np.asarray(log_scales)[0, 0])) * covariances[0].factor
    states, info = jax.tree.map(lambda *parts: np.swapaxes(np.concatenate(parts), 0, 1), *kept)
    return Chains(states, info, step @ step.T)


def _array(values: Any) -> Any:
    """An argument of a program, of NumPy: JAX tells its own arrays apart, and compiles what it makes them with."""
    return np.asarray(values, dtype=np.float64)

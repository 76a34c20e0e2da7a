"""How much a zero-run bound owes to the error of learned propensities: the bootstrap (Algorithm 3 of Zero-Run).

Guesses, memberships and the coins of tampering are fixed, so that the bound Ψ is a function of the propensities. For
each of K replicates the data that the propensities were learned from are resampled with replacement, fold by fold and
by whole groups, the classifiers are fitted again, and Ψ_k is the bound at error probability p. With Ψ that of the
propensities as they were learned, and M the median of the replicates, the result is the p' quantile of

    Ψ_k − M + Ψ − max(0, M − Ψ),

at least 0: the ⌊p'(K + 1)⌋-th smallest. It is claimed to hold with confidence 1 − p − p'. The paper prints the 1 − p'
quantile in its Algorithm 3, which would be an upper bound, and means the lower one, as its Section 6 says.

The last term is ours. A penalty and calibration pull propensities towards the share of members, so that the bound
exceeds that of the true ones. The resamples show it, since their bounds then exceed Ψ in turn, and what they show is
taken off.

A replicate depends on its number and the seed only, whoever computes it. So the result is the same for any number of
jobs and any joblib backend, Dask and Ray among them, and finished replicates can be kept in a file.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_dp import __version__
from bayes_dp.attacks.scores import Bonferroni, Fixed, Sides, Split
from bayes_dp.attacks.scores import Choice as NumberOfGuesses
from bayes_dp.attacks.shifted import Calls, call_members
from bayes_dp.audits.conditional import bounds_for_propensities
from bayes_dp.audits.zero_run import Trust, resting_on, uniforms, zero_run
from bayes_dp.bound import LowerBound
from bayes_dp.checkpoint import Checkpoint
from bayes_dp.checks import InputError, one_number, seed_of
from bayes_dp.guess_table import GuessTable
from bayes_dp.progress import bar
from bayes_dp.propensity.learning import one_thread
from bayes_dp.propensity.result import Origin, Propensity
from bayes_dp.result import Provenance
from bayes_dp.table import show
from bayes_dp.tradeoff import Gaussian
from bayes_dp.workers import pool

__all__ = ["bootstrap", "recentred"]

Floats = NDArray[np.float64]
Path = str | os.PathLike[str]

_SECONDS = 10.0  # tasks grow while a round of them takes less
_LARGEST = 20  # replicates of a task
_SAVED_EVERY = 5.0  # seconds


def bootstrap(
    learned: Propensity,
    score: ArrayLike,
    delta: float | None = None,
    *,
    replicates: int = 600,
    quantile: float | None = None,
    confidence: float = 0.95,
    family: Literal["approx", "gaussian"] = "approx",
    form: Literal["untampered", "tampered"] | None = None,
    directional: bool = True,
    propensity: Trust = "cautious",
    choice: NumberOfGuesses | int | None = None,
    sides: Sides = "both",
    aware: bool = True,
    seed: int = 0,
    n_jobs: int | None = None,
    checkpoint: Path | None = None,
    progress: bool | None = None,
) -> LowerBound:
    """The zero-run bound with the error of the propensities in its confidence.

    Parameters
    ----------
    learned : propensities from `fit`.
    score : (n,), of the attack on the same examples.
    replicates : K.
    quantile : p', by default half of 1 − `confidence`. The audit itself gets p = 1 − `confidence` − p'.
    delta, family, form, directional, choice, sides, aware, seed : as for `audits.zero_run`; the seed is that of the
        resamples too.
    propensity : "cautious" or "exact", as for `audits.zero_run`. With "cautious", propensities that are more extreme
        than the true ones do no harm, even if all replicates share the fault.
    n_jobs : of joblib; None asks the active backend, see `joblib.parallel_config`.
    checkpoint : a file in which finished replicates are kept, also when this is interrupted, and looked for.
    progress : a bar on standard error, by default on a terminal.
    """
    origin = _origin(learned)
    seed, confidence = seed_of(seed), one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    most = 1 - confidence
    ends = {"low_open": True, "high_open": True}
    tail = most / 2 if quantile is None else one_number("quantile", quantile, 0.0, most, **ends)
    if isinstance(replicates, bool) or not isinstance(replicates, int | np.integer) or _place(tail, replicates) < 1:
        fewest = math.ceil(1 / tail - 1 - 1e-9)
        raise InputError(
            f"replicates must be a whole number, at least {fewest} for p' = {tail:g}, not {show(replicates)}"
        )
    p = most - tail
    if form not in (None, "untampered", "tampered"):
        raise InputError(f'form must be "untampered" or "tampered" for a bootstrap, not {show(form)}')
    chosen = Fixed(int(choice)) if isinstance(choice, int | np.integer) else Bonferroni() if choice is None else choice
    table = GuessTable(score, learned.member, learned.values)  # whose learned propensities are judged at the end
    calls = call_members(table, chosen, sides, aware=aware, directional=directional, seed=seed)
    settings: dict[str, Any] = {"family": family, "form": form, "directional": directional, "propensity": propensity}
    plain = zero_run(calls, delta, confidence=1 - p, seed=seed, **settings)
    audit = _Audit.of(calls, chosen, plain, delta)
    state = _state(learned, origin, calls, plain, seed, p)
    kept = Checkpoint(checkpoint, state)
    bounds = _replicates(origin, audit, seed, int(replicates), n_jobs, kept, progress)
    details = dict(plain.details)
    first = details.get("mu", plain.value)
    moved = recentred(bounds, first)
    value = max(0.0, float(np.sort(moved)[_place(tail, len(moved)) - 1]))
    if audit.parameter == "mu" and delta is not None:
        details["mu"], value = value, float(Gaussian(value).epsilon_at(delta))
    low, high = (np.quantile(moved, q, method="inverted_cdf") for q in (tail, 1 - tail))
    bound = LowerBound(
        parameter=plain.parameter,
        value=value,
        confidence=confidence,
        assumptions=(*plain.assumptions, *_sentences(int(replicates), p, tail)),
        provenance=Provenance(
            "zero-run-bootstrap",
            state,
            plain.provenance.known,
            {},
            {**plain.provenance.settings, "confidence": confidence, "quantile": tail, "replicates": int(replicates)}
            | {"learning": dict(learned.provenance.settings)},
        ),
        invalid=plain.invalid,
        warnings=(*plain.warnings, *([kept.problem] if kept.problem else [])),
        details={
            **details,
            "without_bootstrap": plain.value,
            "bootstrap_median": float(np.median(bounds)),
            "bootstrap_interval": [max(0.0, float(low)), max(0.0, float(high))],
            "bootstrap_bounds": bounds.tolist(),
        },
        at=lambda d: bootstrap(
            learned, score, d, replicates=replicates, quantile=quantile, confidence=confidence, family=family,
            form=form, directional=directional, propensity=propensity, choice=choice, sides=sides, aware=aware,
            seed=seed, n_jobs=n_jobs,
        ),
    )  # fmt: skip
    return resting_on(bound, learned.source(), bootstrapped=True)


def recentred(bounds: Floats, first: float) -> Floats:
    """Ψ_k − M + Ψ − max(0, M − Ψ) for K bounds Ψ_k of median M, and Ψ = `first`; (K,)."""
    middle = float(np.median(bounds))
    return bounds - middle + first - max(0.0, middle - first)


def _place(tail: float, replicates: int) -> int:
    return math.floor(tail * (replicates + 1) * (1 + 1e-12))


def _origin(learned: Propensity) -> Origin:
    if not isinstance(learned, Propensity):
        raise InputError(f"learned must come from propensity.fit, not {type(learned).__name__}")
    return learned.learned()


def _sentences(replicates: int, p: float, tail: float) -> tuple[str, ...]:
    return (
        f"The error of the propensities was taken from {replicates} bootstrap resamples of what they were learned from:"
        f" of the error probability {p:g} is the audit's and {tail:g} the bootstrap's.",
        "Bounds from resamples lie about the bound as it lies about that of the true propensities; for large samples"
        " and a classifier that can be right this is so, and here it cannot be checked.",
    )


def _state(learned: Propensity, origin: Origin, calls: Calls, plain: LowerBound, seed: int, p: float) -> str:
    """SHA-256 of all that a replicate depends on, but its number."""
    learner = getattr(origin.learner, "estimator", None)
    content = [
        learned.provenance.digest, calls.digest(), repr(plain.provenance.to_dict()), origin.learner.name,
        origin.learner.calibration, repr(learner), origin.seed, seed, p, __version__,
    ]  # fmt: skip
    found = hashlib.sha256(repr(content).encode())
    found.update(origin.first.values.astype("<f8").tobytes())
    return found.hexdigest()


# The bound as a function of the propensities --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Guessed:
    """One number of guesses: its rows among all examples, who is called a member, who is right, and the coins; (r,)."""

    rows: NDArray[np.intp]
    called: NDArray[np.bool_]
    right: NDArray[np.bool_]
    uniform: Floats


@dataclass(frozen=True, eq=False)
class _Audit:
    """All that the bound depends on, but the propensities."""

    tried: tuple[_Guessed, ...]
    pilot: tuple[_Guessed, ...]  # of the rule "split"
    examples: int
    pilot_examples: int
    level: float  # error probability of each number of guesses
    p: float
    parameter: Literal["epsilon", "mu"]
    delta: float
    form: Any
    directional: bool
    cautious: bool

    @classmethod
    def of(
        cls,
        calls: Calls,
        choice: NumberOfGuesses,
        plain: LowerBound,
        delta: float | None,
    ) -> _Audit:
        settings = plain.provenance.settings
        gaussian, seed = settings["family"] == "gaussian", settings["seed"]
        p = 1 - plain.confidence
        kept, piloted, pilot = np.arange(len(calls.table)), np.arange(0), calls.pilot
        if pilot is not None:
            assert isinstance(choice, Split)
            whole = len(calls.table) + len(pilot.table)
            numbered = GuessTable(np.arange(whole), np.arange(whole) % 2)  # scores that say which row it was
            piloted, kept = (part.score.astype(np.intp) for part in numbered.split(choice.fraction, choice.seed))
        return cls(
            tried=_guessed(calls, kept, uniforms(calls.table, seed)),
            pilot=() if pilot is None else _guessed(pilot, piloted, uniforms(pilot.table, seed, pilot=True)),
            examples=len(calls.table),
            pilot_examples=len(piloted),
            level=p / len(calls) if calls.rule == "bonferroni" else p,
            p=p,
            parameter="mu" if gaussian else "epsilon",
            delta=0.0 if gaussian or delta is None else delta,
            form=plain.details["form"],
            directional=settings["directional"],
            cautious=settings["propensity"] == "cautious",
        )

    def bounds(self, values: Floats) -> Floats:
        """(K,) bounds for propensities of all examples, (K, n)."""
        every = self._each(self.tried, values, self.examples, self.level)
        if not self.pilot:
            return np.max(every, axis=0)
        best = np.argmax(self._each(self.pilot, values, self.pilot_examples, self.p), axis=0)
        return np.take_along_axis(every, best[None], axis=0)[0]

    def _each(self, tried: tuple[_Guessed, ...], values: Floats, examples: int, level: float) -> Floats:
        return np.stack([self._one(each, values[:, each.rows], examples, level) for each in tried])

    def _one(self, guessed: _Guessed, values: Floats, examples: int, level: float) -> Floats:
        """(K,) bounds of one number of guesses for propensities of the guessed examples, (K, r)."""
        bounds = partial(
            bounds_for_propensities, member_called=guessed.called, correct=guessed.right, uniform=guessed.uniform,
            examples=examples, p=level, parameter=self.parameter, delta=self.delta, form=self.form,
            directional=self.directional, cautious=self.cautious,
        )  # fmt: skip
        if self.parameter == "epsilon" and self.form == "tampered":
            return bounds(values)  # K bounds for little more than one
        return np.concatenate([bounds(row) for row in values])  # those of many depend on the others in the last digits


def _guessed(calls: Calls, rows: NDArray[np.intp], uniform: Floats) -> tuple[_Guessed, ...]:
    found = []
    for i in range(len(calls)):
        inside, called = calls.guessed(i)
        found.append(_Guessed(rows[inside], called, calls.table.member[inside] == called, uniform[inside]))
    return tuple(found)


# Replicates -----------------------------------------------------------------------------------------------------------


def _replicates(
    origin: Origin,
    audit: _Audit,
    seed: int,
    replicates: int,
    n_jobs: int | None,
    kept: Checkpoint,
    progress: bool | None,
) -> Floats:
    """The bounds of all replicates, (K,): those in the checkpoint, and the others computed and put there."""
    from joblib import delayed, effective_n_jobs

    done = dict(kept.done)
    left = [k for k in range(replicates) if k not in done]
    light = replace(origin, features=np.empty((0, 0)))  # what a task needs, and no more
    workers, size, saved = max(1, effective_n_jobs(n_jobs)), 1, time.monotonic()
    try:
        with bar(replicates, progress) as move, pool(n_jobs) as parallel:
            move(replicates - len(left), "bootstrap")
            while left:
                now, left = left[: 2 * workers * size], left[2 * workers * size :]
                begun = time.monotonic()
                tasks = (delayed(_task)(light, audit, seed, now[i : i + size]) for i in range(0, len(now), size))
                for part in parallel(tasks):
                    done.update(part)
                move(len(now), "bootstrap")
                if time.monotonic() - begun < _SECONDS:
                    size = min(_LARGEST, 2 * size)
                if time.monotonic() - saved > _SAVED_EVERY:
                    kept.save(done)
                    saved = time.monotonic()
    finally:
        kept.save(done)
    return np.array([done[k] for k in range(replicates)])


def _task(origin: Origin, audit: _Audit, seed: int, numbers: list[int]) -> dict[int, float]:
    with one_thread():
        values = np.stack([_values(origin, seed, k) for k in numbers])
        return dict(zip(numbers, audit.bounds(values).tolist(), strict=True))


def _values(origin: Origin, seed: int, k: int) -> Floats:
    """The propensities of replicate k, (n,)."""
    draws, states = np.random.SeedSequence(seed, spawn_key=(4, k)).spawn(2)
    counts = origin.task.resample(np.random.default_rng(draws))
    state = int(states.generate_state(1)[0])
    return origin.learner.fit(origin.task, counts, origin.first.starts, state).values

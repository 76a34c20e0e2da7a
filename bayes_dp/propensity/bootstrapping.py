"""A zero-run bound with the error of learned propensities in its confidence.

Guesses, memberships and the coins of tampering are fixed, so that the bound is a function of the propensities. That of
learned propensities may be far too large: an adversary may guess just those examples whose learned log-odds err in its
favour, if only because it knows the true ones. What holds whatever is guessed is the least bound for propensities
anywhere in a confidence region:

    bound = min { Ψ(π_θ) : θ in the region },   logit π_θ(x) = x·θ

with Ψ at error probability p and a region that holds the true θ with probability 1 − p' (see `region`; its size comes
from K draws of memberships). If Ψ at the true θ exceeds the truth with a probability of at most p, this one does so
with at most p + p'. It is claimed with confidence 1 − p − p'.

The guesses of an aware adversary depend on propensities too. Here these are Firth's estimate from all memberships, that
of the guessed example among them: a member looks a little more like one by its features than it would without its own
membership, and the adversary is less willing to call it one. So to first order this lowers the number of right guesses.
Cross-fitted propensities would not. Each of two folds is ranked by what was learned from the other, so that their
errors go together, and the number of right guesses varies more than it should.

Algorithm 3 of Zero-Run keeps the guesses, learns from resamples again and recentres the bounds. A resample knows no
more than the data of which examples the learned log-odds err, and the bounds are wrong more often than they say.

A draw depends on its number and the seed only, whoever computes it. So the result is the same for any number of jobs
and any joblib backend, Dask and Ray among them, and finished draws can be kept in a file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import time
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp import __version__
from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Bonferroni, Fixed, NumberOfGuesses, Sides
from bayes_dp.audits.choice import level_of
from bayes_dp.audits.memberships import Memberships, under_independence
from bayes_dp.audits.zero_run import Trust, cautions, resting_on, uniforms, zero_run
from bayes_dp.checks import InputError, is_one_of, is_whole, one_number, seed_of, show
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.propensity.checkpoint import Checkpoint
from bayes_dp.propensity.cross_fitting import EDGE
from bayes_dp.propensity.linear import Linear, linear
from bayes_dp.propensity.region import Regression, regression
from bayes_dp.propensity.result import Origin, Propensity
from bayes_dp.propensity.worst_case import Guessed, Terms, best_of_least
from bayes_dp.results.bound import LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats
from bayes_dp.support.progress import bar, check_shown
from bayes_dp.support.workers import check_jobs, one_thread, pool
from bayes_dp.tradeoff import Gaussian

__all__ = ["bootstrap"]

Path = str | os.PathLike[str]

_SECONDS = 10.0  # tasks grow while a round of them takes less
_LARGEST = 20  # draws of a task
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
    replicates : K, the draws that say how large the region of the coefficients is.
    quantile : p', by default half of 1 − `confidence`. The audit itself gets p = 1 − `confidence` − p'.
    delta, family, form, directional, choice, sides, aware : as for `audits.zero_run`.
    propensity : "cautious" or "exact", as for `audits.zero_run`: whether a guess against its propensity counts for no
        more than one on a fair coin. The region allows for propensities that are too extreme either way.
    seed : of all draws; the same seed gives the same bound, whatever `n_jobs`.
    n_jobs : of joblib: by default one process, or the active backend's (`joblib.parallel_config`).
    checkpoint : a file in which finished draws are kept, also when this is interrupted, and looked for.
    progress : whether there is a bar on standard error, by default on a terminal.

    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(size=(2000, 1))
    >>> member = rng.random(2000) < 1 / (1 + np.exp(-0.5 * age[:, 0]))
    >>> learned = bdp.propensity.fit(age, member)
    >>> score = 6 * member + rng.normal(size=2000)
    >>> naive = bdp.audits.zero_run(learned.table(score), 1e-5)
    >>> bound = bdp.propensity.bootstrap(learned, score, 1e-5, replicates=50, progress=False)
    >>> naive.valid, bound.value < naive.value
    (False, True)
    """
    if not isinstance(learned, Propensity):
        raise InputError(f"learned must come from propensity.fit, not {type(learned).__name__}")
    origin = learned.learned()
    seed, confidence = seed_of(seed), one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    p, tail = _shares(confidence, quantile, replicates)
    check_jobs(n_jobs)
    check_shown(progress)
    if form is not None and not is_one_of(form, ("untampered", "tampered")):
        raise InputError(f'form must be "untampered" or "tampered" for a bootstrap, not {show(form)}')
    if isinstance(choice, bool):
        raise InputError(f"choice must be Fixed, Bonferroni, Split, Uncorrected or a whole number, not {choice}")
    chosen = Fixed(int(choice)) if isinstance(choice, int | np.integer) else Bonferroni() if choice is None else choice
    with one_thread():
        model = linear(origin)
        fitted = regression(model.learned_from, model.member)
    values = np.clip(special.expit(model.audited @ fitted.centre), EDGE, 1 - EDGE)
    table = GuessTable(score, learned.member, values)  # whose learned propensities are judged at the end
    calls = call_members(table, chosen, sides, aware=aware, directional=directional, seed=seed)
    settings: dict[str, Any] = {"family": family, "form": form, "directional": directional, "propensity": propensity}
    plain = zero_run(calls, delta, confidence=1 - p, seed=seed, **settings)
    groups = _of_groups(origin, model, fitted)
    state = _state(learned, calls, plain, fitted, seed, p)
    kept = Checkpoint(checkpoint, state)
    ratios = _draws(fitted, seed, int(replicates), n_jobs, kept, progress)
    radius = float(np.sort(ratios)[-_above(tail, len(ratios))])
    terms = _terms(plain, delta)
    with one_thread():
        judged, row, value = _least(terms, calls, model.audited, seed, p, fitted, radius)
    details = _details(judged, row, delta, 1 - plain.details["level"], seed, settings)
    if terms.parameter == "mu" and delta is not None:
        details["mu"], value = value, float(Gaussian(value).epsilon_at(delta))
    overcome = cautions(terms.form, terms.directional, propensity)  # the region says how far propensities may be off
    bound = LowerBound(
        parameter=plain.parameter,
        value=value,
        confidence=confidence,
        assumptions=(*(each for each in plain.assumptions if each not in overcome), _said(model, len(ratios), p, tail)),
        provenance=Provenance(
            "zero-run-bootstrap",
            state,
            plain.provenance.known,
            {},
            {**plain.provenance.settings, "confidence": confidence, "quantile": tail, "replicates": int(replicates)}
            | {"learning": dict(learned.provenance.settings)},
        ),
        invalid=joined(plain.invalid, model.invalid, groups.invalid),
        warnings=(*plain.warnings, *([kept.problem] if kept.problem else [])),
        details={
            **details,
            **groups.details,
            "without_bootstrap": plain.value,
            "coefficients": model.audited.shape[1],
            "bootstrap_radius": radius,
            "bootstrap_ratios": ratios.tolist(),
        },
        at=lambda d: bootstrap(
            learned, score, d, replicates=replicates, quantile=quantile, confidence=confidence, family=family,
            form=form, directional=directional, propensity=propensity, choice=choice, sides=sides, aware=aware,
            seed=seed, n_jobs=n_jobs,
        ),
    )  # fmt: skip
    return resting_on(bound, learned.source(), bootstrapped=True)


def _shares(confidence: float, quantile: Any, replicates: Any) -> tuple[float, float]:
    """The error probability of the audit and that of the region, for which there must be enough replicates."""
    most = 1 - confidence
    ends = {"low_open": True, "high_open": True}
    tail = most / 2 if quantile is None else one_number("quantile", quantile, 0.0, most * (1 - 1e-9), **ends)
    if not is_whole(replicates) or not 1 <= replicates < 2**63 or _above(tail, replicates) < 1:
        fewest = math.ceil(1 / tail - 1 - 1e-9)
        raise InputError(
            f"replicates must be a whole number, at least {fewest} for p' = {tail:g}, not {show(replicates)}"
        )
    return most - tail, tail


def _terms(plain: LowerBound, delta: float | None) -> Terms:
    """What the audit without a bootstrap bounded, and how."""
    settings = plain.provenance.settings
    gaussian = settings["family"] == "gaussian"
    return Terms(
        parameter="mu" if gaussian else "epsilon",
        delta=0.0 if gaussian or delta is None else float(delta),
        form=plain.details["form"],
        directional=settings["directional"],
        cautious=settings["propensity"] == "cautious",
    )


def _above(tail: float, replicates: int) -> int:
    """Which largest of K draws is the ⌈(1 − p')(K + 1)⌉-th smallest."""
    return math.floor(tail * (replicates + 1) * (1 + 1e-12))


def _said(model: Linear, replicates: int, p: float, tail: float) -> str:
    return (
        f"The log-odds of membership are linear in {model.of}. The bound is the least for coefficients in a region of"
        f" confidence {1 - tail:.6g}, whose size comes from {replicates} draws of memberships: of the error probability"
        f" {p:g} is the audit's and {tail:g} the region's."
    )


def _of_groups(origin: Origin, model: Linear, fitted: Regression) -> Memberships:
    """Whether examples of a group are members together, among those that were learned from too."""
    x = model.audited
    if len(origin.task.member) > len(x) and not model.invalid:  # separate training data
        x = np.vstack([x, model.learned_from])
    member, unit = origin.task.member[: len(x)], origin.task.unit[: len(x)]
    return under_independence(member, special.expit(x @ fitted.centre), unit)


def _state(learned: Propensity, calls: Guesses, plain: LowerBound, fitted: Regression, seed: int, p: float) -> str:
    """SHA-256 of all that the result depends on, but the number of draws."""
    origin = learned.learned()
    estimator = getattr(origin.learner, "estimator", None)
    content = [
        learned.provenance.digest, calls.digest_of_examples(), repr(plain.provenance.to_dict()), origin.learner.name,
        origin.learner.calibration, repr(estimator), origin.seed, seed, p, __version__,
    ]  # fmt: skip
    found = hashlib.sha256(repr(content).encode())
    for array in (fitted.x, fitted.centre):
        found.update(array.astype("<f8").tobytes())
    return found.hexdigest()


# The least bound ------------------------------------------------------------------------------------------------------


def _least(
    terms: Terms, calls: Guesses, x: Floats, seed: int, p: float, fitted: Regression, radius: float
) -> tuple[Guesses, int, float]:
    """The guesses that are judged, which number of them was taken, and the least bound of it."""
    if calls.splits:
        found = [_least(terms, split, x, seed, p / 2, fitted, radius) for split in calls.splits]
        return sorted(found, key=lambda one: one[2])[(len(found) - 1) // 2]
    coins = uniforms(calls, seed)
    if calls.pilot is None:
        return calls, *best_of_least(terms, _guessed(calls, x, coins, level_of(calls, p)), fitted, radius)
    row, _ = best_of_least(terms, _guessed(calls.pilot, x, coins, p), fitted, radius)
    return calls, row, best_of_least(terms, _guessed(calls.only(row), x, coins, p), fitted, radius)[1]


def _guessed(calls: Guesses, x: Floats, uniform: Floats, level: float) -> list[Guessed]:
    """The guesses for each number of them, with features x and coins for each row of their table."""
    found = []
    for i in range(len(calls)):
        rows, called = calls.guessed(i)
        right = calls.table.member[rows] == called
        found.append(Guessed(x[rows], called, right, uniform[rows], calls.examples, level))
    return found


def _details(
    calls: Guesses, row: int, delta: float | None, confidence: float, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """Those of the audit with this number of guesses."""
    return dict(zero_run(calls.only(row), delta, confidence=confidence, seed=seed, **settings).details)


# Draws of memberships -------------------------------------------------------------------------------------------------


def _draws(
    fitted: Regression, seed: int, replicates: int, n_jobs: int | None, kept: Checkpoint, progress: bool | None
) -> Floats:
    """The likelihood ratios of all draws, (K,): those in the checkpoint, and the others computed and put there."""
    from joblib import delayed, effective_n_jobs

    done = dict(kept.done)
    left = [k for k in range(replicates) if k not in done]
    workers, size, saved = max(1, effective_n_jobs(n_jobs)), 1, time.monotonic()
    try:
        with bar(replicates, progress) as move, pool(n_jobs) as parallel:
            move(replicates - len(left), "bootstrap")
            while left:
                now, left = left[: 2 * workers * size], left[2 * workers * size :]
                begun = time.monotonic()
                tasks = (delayed(_task)(fitted, seed, now[i : i + size]) for i in range(0, len(now), size))
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


def _task(fitted: Regression, seed: int, numbers: list[int]) -> dict[int, float]:
    with one_thread():
        # A worker's arrays may lie anywhere in memory, and the last digits of sums depend on it
        fitted = dataclasses.replace(fitted, x=np.array(fitted.x), centre=np.array(fitted.centre))
        streams = {k: np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(4, k))) for k in numbers}
        return {k: fitted.redrawn(stream) for k, stream in streams.items()}

"""DP-SGD as its Dirac canaries see it: each has a coordinate of the gradient to itself, and adds c to it where drawn.

So step t shows of canary i the inner product U = bᵢₜ + σ ξᵢₜ in units of the clipping norm, with b Bernoulli(q) for a
member and 0 for others. No network is needed, as what the examples do is in other coordinates. This tries the
mechanism alone: noise, sampling and clipping, as they should be, or with a planted fault:

    half noise     σ/2 is added
    shuffling      in each epoch of 1/q steps a member is in exactly one step, where Poisson sampling is claimed
    no clipping    canaries of the norm 3c are added as they are
    frozen noise   noise is drawn once an epoch, and added in each of its steps

python -m models.dirac_canaries               lower bounds on ε from one run, beside the accountant's ε
python -m models.dirac_canaries --audit 100    how often the posterior of noise and sampling refutes the claim, by fault
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import bayes_dp as bdp
from bayes_dp.attacks import dirac_scores
from bayes_dp.audits import f_dp, one_run
from bayes_dp.checks import InputError, is_one_of, show
from bayes_dp.tradeoff import epsilon_from_mu

__all__ = ["FAULTS", "bounds", "main", "noise_for", "refuted", "transcript"]

Floats = NDArray[np.float64]

FAULTS = ("half noise", "shuffling", "no clipping", "frozen noise")
DELTA, P = 1e-5, 0.05
NORM = 3.0  # of canaries that are not clipped


def transcript(
    member: NDArray[np.bool_],
    noise_multiplier: float,
    sampling_rate: float,
    steps: int,
    rng: np.random.Generator,
    fault: str | None = None,
) -> Floats:
    """The inner products of each step and canary, (steps, m), for the coins `member` (m,)."""
    if fault is not None and not is_one_of(fault, FAULTS):
        raise InputError(f"fault must be {', '.join(map(repr, FAULTS))} or None, not {show(fault)}")
    shape = steps, len(member)
    epoch = round(1 / sampling_rate)
    drawn = rng.random(shape) < sampling_rate
    if fault == "shuffling":
        epochs = math.ceil(steps / epoch)
        when = rng.integers(epoch, size=(epochs, 1, len(member)))
        drawn = (when == np.arange(epoch)[:, None]).reshape(epochs * epoch, -1)[:steps]
    noise = noise_multiplier * rng.standard_normal(shape) * (0.5 if fault == "half noise" else 1.0)
    if fault == "frozen noise":
        noise = np.repeat(noise[::epoch], epoch, axis=0)[:steps]
    return (drawn & member) * (NORM if fault == "no clipping" else 1.0) + noise


def noise_for(epsilon: float, sampling_rate: float, steps: int, delta: float = DELTA) -> float:
    """The noise multiplier with this ε at δ, by halving an interval, to 1e-3."""
    low, high = 0.2, 50.0
    while high - low > 1e-3 * low:
        middle = math.sqrt(low * high)
        found = bdp.Claim.dp_sgd(middle, sampling_rate, steps).epsilon_at(delta)
        low, high = (middle, high) if found > epsilon else (low, middle)
    return high


def bounds(
    canaries: int, guesses: int, noise_multiplier: float, sampling_rate: float, steps: int, *, runs: int, seed: int = 0
) -> tuple[Floats, Floats]:
    """Lower bounds on ε of each run, (runs,): by the one-run audit, and by that for Gaussian DP.

    The `guesses` are those examples that score highest and lowest, half of each.
    """
    rng, correct = np.random.default_rng(seed), []
    for _ in range(runs):
        member = rng.random(canaries) < 0.5
        inner = transcript(member, noise_multiplier, sampling_rate, steps, rng)
        score = dirac_scores(inner, noise_multiplier=noise_multiplier, sampling_rate=sampling_rate)
        table = bdp.GuessTable(score, member)
        correct.append(int(bdp.attacks.guess(table, guesses).correct[0]))
    plain = one_run.lower_bounds(canaries, guesses, np.array(correct), DELTA, P)
    mu = f_dp.lower_bounds(f_dp.GAUSSIAN, canaries, guesses, np.array(correct), P)
    return plain, np.asarray(epsilon_from_mu(mu, DELTA))


def refuted(claim: bdp.Claim, canaries: int, fault: str | None, runs: int, seed: int = 0) -> float:
    """The share of audits by `estimate_steps` that refute the claim, half of the canaries being members."""
    assert claim.training is not None
    rng, found = np.random.default_rng(seed), 0
    member = np.arange(canaries) % 2 == 0
    for _ in range(runs):
        inner = transcript(member, *claim.training, rng, fault)
        found += bdp.estimate_steps(inner, member, claim, clipped=False).refuted
    return found / runs


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m models.dirac_canaries", description="Lower bounds from one run.")
    parser.add_argument("--runs", metavar="N", type=int, default=200, help="of each row")
    parser.add_argument("--audit", metavar="N", type=int, help="audits without a fault; a fifth as many with each")
    parser.add_argument("--rate", metavar="Q", type=float, default=0.1, help="sampling rate")
    parser.add_argument("--steps", metavar="T", type=int, default=200, help="steps of a training")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of all draws: same seed, same table")
    chosen = parser.parse_args(arguments)
    if chosen.runs < 1 or chosen.steps < 1 or not 0 < chosen.rate <= 1:
        parser.error("--runs and --steps must be at least 1, and --rate above 0 and at most 1")
    if chosen.audit is not None:
        if chosen.audit < 5:
            parser.error("--audit must be at least 5")
        claim = bdp.Claim.dp_sgd(1.0, chosen.rate, chosen.steps, DELTA)
        print(f"{claim.statement()}\n{'m':>4}  " + "  ".join(f"{name or 'no fault':>12}" for name in (None, *FAULTS)))
        for canaries in (50, 400):
            shares = [refuted(claim, canaries, fault, chosen.audit if fault is None else chosen.audit // 5, chosen.seed)
                      for fault in (None, *FAULTS)]  # fmt: skip
            print(f"{canaries:>4}  " + "  ".join(f"{100 * share:11.0f}%" for share in shares))
        return 0
    print("ε     m     guesses  one run      Gaussian     runs above ε")
    for epsilon in (1.0, 4.0):
        sigma = noise_for(epsilon, chosen.rate, chosen.steps)
        for canaries, guesses in ((1000, 100), (5000, 400)):
            plain, gaussian = bounds(
                canaries, guesses, sigma, chosen.rate, chosen.steps, runs=chosen.runs, seed=chosen.seed
            )
            words = "  ".join(f"{b.mean():.2f} ± {b.std():.2f}" for b in (plain, gaussian))
            above = f"{int((plain > epsilon).sum())}, {int((gaussian > epsilon).sum())}"
            print(f"{epsilon:<4g}  {canaries}  {guesses:7}  {words}  {above}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

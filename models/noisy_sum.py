"""A sum with noise, whose members differ from the others along one direction: the zero-run audit with a known answer.

The synthetic experiment of "Privacy auditing with zero (0) training run" (Ceberé, Even, Bleistein, Bellet), Appendix F.
With a fixed unit vector u in d dimensions, each example is

    x = z/‖z‖,  z ~ N(γ u, I) for members, N(ργ u, I) for the others,

and the released model is θ = Σ x over the members + N(0, σ² I). As ‖x‖ = 1, this is μ-Gaussian DP with μ = 1/σ. The
attack's score is ⟨x, θ⟩: a member's own share in it is 1. For ρ < 1 the score also grows with ⟨x, u⟩, of which members
have more, and an audit that ignores this calls it a leak.

Memberships are fair coins, which the paper's fixed halves are not. The propensity is known: with t = ⟨x, u⟩ the density
of x on the sphere is proportional to exp(−γ²/2) ∫ s^{d−1} exp(−s²/2 + γts) ds (the length s of z is integrated out), so

    logit π = −(1 − ρ²)γ²/2 + log M(γt) − log M(ργt),  M(v) = ∫ s^{d−1} exp(−s²/2 + vs) ds.

The paper gives neither d nor γ. Here they are such that its one-run audit exceeds μ = 0.66 where the shift is strong.

    python -m models.noisy_sum --figure noisy_sum.png
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from bayes_dp import GuessTable, InputError
from bayes_dp.attacks import Bonferroni, guess
from bayes_dp.audits import f_dp, zero_run
from bayes_dp.checks import numbers, one_number, seed_of
from bayes_dp.data.files import check_writable
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["RATIOS", "Sample", "Settings", "figure_2a", "log_odds", "main", "overlap", "plot", "sample"]


RATIOS = (1.0, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1)
FAILURE = 1e-6  # δ_DS of the compositional bound, which has no overlap for sure

_NUMBERS = (25, 50, 100, 200, 500, 1000)  # of guesses, as in the paper: what is left of 10 000 after abstaining
_ROWS = 1000  # of the examples at a time
_NODES = np.linspace(-40, 12, 521)
_SIZE = 7.0, 4.2  # of the figure, in inches


@dataclass(frozen=True)
class Settings:
    """m examples in d dimensions, γ, the ratio ρ in (0, 1] and μ = 1/σ."""

    ratio: float = 1.0
    examples: int = 10_000
    dimension: int = 10_000
    bias: float = 2.0
    mu: float = 0.66

    def __post_init__(self) -> None:
        one_number("ratio", self.ratio, 0.0, 1.0, low_open=True)
        one_number("bias", self.bias, 0.0)
        one_number("mu", self.mu, 0.0, low_open=True)
        for name, least in (("examples", 1), ("dimension", 2)):
            if getattr(self, name) != int(getattr(self, name)) or getattr(self, name) < least:
                raise InputError(f"{name} must be a whole number, at least {least}, not {getattr(self, name)!r}")


@dataclass(frozen=True)
class Sample:
    """One audit: the attack's scores, and what is left of them when what the propensity predicts is taken off."""

    scores: GuessTable
    residuals: GuessTable


def sample(settings: Settings, seed: int = 0) -> Sample:
    """Draw the examples, release the sum and score all of them."""
    coins, noise, rows = np.random.default_rng(np.random.SeedSequence(seed_of(seed))).spawn(3)
    member = coins.random(settings.examples) < 0.5
    x = np.empty((settings.examples, settings.dimension), dtype=np.float32)
    for i in range(0, settings.examples, _ROWS):
        part = member[i : i + _ROWS]
        block = rows.standard_normal((len(part), settings.dimension), dtype=np.float32)
        block[:, 0] += np.where(part, settings.bias, settings.ratio * settings.bias)  # u is the first axis
        x[i : i + _ROWS] = block / np.linalg.norm(block, axis=1, keepdims=True)
    released = x[member].sum(axis=0, dtype=np.float64) + noise.standard_normal(settings.dimension) / settings.mu
    score = (x @ released.astype(np.float32)).astype(np.float64)
    logit = log_odds(x[:, 0].astype(np.float64), settings)
    propensity = special.expit(logit)
    return Sample(
        GuessTable(score, member, propensity), GuessTable(score - _predicted(score, logit), member, propensity)
    )


def log_odds(along: Floats, settings: Settings) -> Floats:
    """logit π for t = ⟨x, u⟩ = `along`, of any shape."""
    t = numbers("along", along, -1.0, 1.0)
    high, low, d = settings.bias, settings.ratio * settings.bias, settings.dimension
    return (low**2 - high**2) / 2 + _log_integral(high * t, d) - _log_integral(low * t, d)


def overlap(settings: Settings, failure: float = FAILURE) -> float:
    """η with a propensity outside [η, 1−η] of chance at most `failure`, for members and for non-members alike.

    t√(d−1)/√(1−t²) has a noncentral t distribution, and logit π grows with t.
    """
    from scipy import stats

    d, worst = settings.dimension, 0.0
    for shift in (settings.bias, settings.ratio * settings.bias):
        ends = stats.nct.ppf([failure / 2, 1 - failure / 2], d - 1, shift)
        worst = max(worst, float(np.abs(log_odds(ends / np.sqrt(d - 1 + ends**2), settings)).max()))
    return float(special.expit(-worst))


def _log_integral(v: Floats, dimension: int) -> Floats:
    """log M(v) by the trapezoidal rule for y = log s, around the mode of e^{dy − s²/2 + vs}, which is so wide."""
    v = np.asarray(v)[..., None]
    mode = (v + np.sqrt(v**2 + 4 * dimension)) / 2
    width = 1 / np.sqrt(2 * mode**2 - v * mode)
    y = np.log(mode) + width * _NODES
    exponent = dimension * y - np.exp(2 * y) / 2 + v * np.exp(y)
    top = exponent.max(axis=-1, keepdims=True)
    return (top + np.log(np.sum(np.exp(exponent - top), axis=-1, keepdims=True) * width * (_NODES[1] - _NODES[0])))[
        ..., 0
    ]


def _predicted(score: Floats, logit: Floats) -> Floats:
    """The straight line through the scores over the log-odds, members or not."""
    spread = logit - logit.mean()
    slope = float(spread @ score) / float(spread @ spread) if np.ptp(logit) > 1e-12 else 0.0
    return score.mean() + slope * spread


# Figure 2(a) ----------------------------------------------------------------------------------------------------------

_ZERO_RUN: dict[str, Any] = {"family": "gaussian", "choice": Bonferroni(_NUMBERS)}


def _one_run(drawn: Sample, settings: Settings, seed: int) -> float:
    plain = GuessTable(drawn.scores.score, drawn.scores.member)
    return f_dp(guess(plain, Bonferroni(_NUMBERS), seed=seed)).value


def _compositional(drawn: Sample, settings: Settings, seed: int) -> float:
    shift = {"overlap": overlap(settings), "shift_delta": FAILURE}
    return zero_run(drawn.scores, form="compositional", aware=False, seed=seed, **shift, **_ZERO_RUN).value


def _conditional(directional: bool, aware: bool, residual: bool = False) -> Callable[[Sample, Settings, int], float]:
    def bound(drawn: Sample, settings: Settings, seed: int) -> float:
        table = drawn.residuals if residual else drawn.scores
        return zero_run(table, directional=directional, aware=aware, seed=seed, **_ZERO_RUN).value

    return bound


METHODS: dict[str, Callable[[Sample, Settings, int], float]] = {
    "one-run, shift ignored": _one_run,
    "compositional": _compositional,
    "conditional, unaware": _conditional(False, False),
    "conditional, aware": _conditional(False, True),
    "directional, aware": _conditional(True, True),
    "directional, aware, residual scores": _conditional(True, True, residual=True),
}


def figure_2a(
    ratios: Sequence[float] = RATIOS, repetitions: int = 5, seed: int = 0, settings: Settings | None = None
) -> pd.DataFrame:
    """95% lower bounds on μ for each ρ and each method of the paper's Figure 2(a), and for two of ours.

    One row for each ρ, repetition and method, with the columns ratio, repetition, method, bound, truth and log_odds,
    the standard deviation of logit π. `settings` has all but ρ.
    """
    import pandas as pd

    base, rows = settings or Settings(), []
    for ratio in ratios:
        now = Settings(ratio, base.examples, base.dimension, base.bias, base.mu)
        for repetition in range(repetitions):
            drawn = sample(now, seed + repetition)
            assert drawn.scores.propensity is not None
            spread = float(np.std(special.logit(drawn.scores.propensity)))
            for method, bound in METHODS.items():
                value = bound(drawn, now, seed + repetition)
                rows.append((ratio, repetition, method, value, now.mu, spread))
    return pd.DataFrame(rows, columns=["ratio", "repetition", "method", "bound", "truth", "log_odds"])


def plot(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Mean bounds over the shift 1 − ρ, with the range of the repetitions, and the truth as a line."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=_SIZE, layout="constrained")
    styles = zip(METHODS, ("#d55e00", "#6e6e6e", "#e69f00", "#56b4e9", "#0072b2", "#009e73"), "sv^oDP", strict=True)
    for method, colour, marker in styles:
        bounds = frame[frame["method"] == method].groupby("ratio")["bound"].agg(["mean", "min", "max"]).sort_index()
        shift = 1 - bounds.index.to_numpy()
        ax.plot(shift, bounds["mean"], color=colour, marker=marker, markersize=5, label=method)
        ax.fill_between(shift, bounds["min"], bounds["max"], color=colour, alpha=0.12, linewidth=0)
    truth = float(frame["truth"].iloc[0])
    ax.axhline(truth, color="black", linestyle="--", linewidth=1, label=f"truth, μ = {truth:g}")
    ax.set(xlabel="shift 1 − ρ", ylabel="95% lower bound on μ", ylim=(-0.02, None))
    ax.legend(fontsize=8, loc="upper left", frameon=False)
    return ax


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of mean bounds and save the figure; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m models.noisy_sum", description="Figure 2(a) of the zero-run paper."
    )
    parser.add_argument("--figure", metavar="FILE", help="save the figure to this file")
    parser.add_argument("--repetitions", metavar="N", type=int, default=5, help="audits for each shift")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of all draws: same seed, same table")
    chosen = parser.parse_args(arguments)
    if chosen.figure:
        try:
            check_writable(chosen.figure)
        except InputError as error:
            parser.error(str(error))
    frame = figure_2a(repetitions=chosen.repetitions, seed=chosen.seed)
    mean = frame.pivot_table(index="ratio", columns="method", values="bound", sort=False)[list(METHODS)]
    print(mean.round(3).to_string())
    if chosen.figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=_SIZE, layout="constrained")
        plot(frame, figure.subplots())
        figure.savefig(chosen.figure, dpi=150)
    return 0


if __name__ == "__main__":
    sys.exit(main())

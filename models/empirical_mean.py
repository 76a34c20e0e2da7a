"""The mean of data, exact, noisy or sub-sampled: a release of which the leakage of each datum is known.

    release    mean of n data, or of ρn of them drawn without replacement, and N(0, γ²)/√(rows) on each feature
    truth      √m*-Gaussian DP for a datum with the leakage score m*, or the mixture of `leakage.trade_off` with ρ < 1

The data are drawn from a law of independent features. Of n data only the sums are drawn, which are binomial or
Gaussian: 2000 rounds of 1000 data of 5000 features take about a second.

python -m models.empirical_mean --figure figure.png    figure 2 of Azize and Basu (2024)
python -m models.empirical_mean --estimate             posteriors of μ from the games, beside the truth
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

import bayes_dp as bdp
from bayes_dp import games, leakage
from bayes_dp.checks import InputError, numbers, one_number, whole_number
from bayes_dp.data.files import check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Bernoulli", "EmpiricalMean", "Normal", "estimates", "figure_2", "main", "targets"]

Floats = NDArray[np.float64]

N, FEATURES, EDGE = 1000, 5000, 0.25  # of the paper's Appendix E
ROUNDS = 2000


class Law(Protocol):
    """Of data with independent features: mean and variance, (d,), data, and sums of many data."""

    @property
    def mean(self) -> Floats: ...
    @property
    def variance(self) -> Floats: ...
    def data(self, count: int, rng: np.random.Generator) -> Floats: ...
    def sums(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        """A sum of so many data for each entry of `rows` (rounds,): (rounds, d)."""


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """Features that are 1 with the probabilities p (d,), and otherwise 0."""

    p: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", numbers("p", self.p, 0.0, 1.0, low_open=True, high_open=True))

    @property
    def mean(self) -> Floats:
        return self.p

    @property
    def variance(self) -> Floats:
        return self.p * (1 - self.p)

    def data(self, count: int, rng: np.random.Generator) -> Floats:
        return (rng.random((count, len(self.p))) < self.p).astype(np.float64)

    def sums(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        return rng.binomial(rows[:, None], self.p).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Normal:
    """Features with means and variances (d,)."""

    mean: Floats
    variance: Floats

    def data(self, count: int, rng: np.random.Generator) -> Floats:
        return rng.normal(self.mean, np.sqrt(self.variance), (count, len(self.mean)))

    def sums(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Floats:
        whole = rows[:, None].astype(np.float64)
        return np.asarray(
            whole * self.mean + np.sqrt(whole * self.variance) * rng.normal(size=(len(rows), len(self.mean)))
        )


@dataclass(frozen=True, eq=False)
class EmpiricalMean:
    """The mechanism, as `games` plays on it."""

    law: Law
    n: int
    noise: float = 0.0
    subsample: float = 1.0

    def __post_init__(self) -> None:
        whole_number("n", self.n, 1)
        one_number("noise", self.noise, 0.0, math.inf, high_open=True)
        one_number("subsample", self.subsample, 0.0, 1.0, low_open=True)
        rows = self.subsample * self.n
        if abs(rows - round(rows)) > 1e-9 or round(rows) < 1:
            raise InputError(f"subsample must leave a whole number of rows, not {rows:g} of {self.n}")

    @property
    def rows(self) -> int:
        """How many rows the mean is of."""
        return round(self.subsample * self.n)

    def data(self, rounds: int, rng: np.random.Generator) -> Floats:
        return self.law.data(rounds, rng)

    def without(self, rounds: int, rng: np.random.Generator) -> Floats:
        return self._released(self.law.sums(np.full(rounds, self.rows), rng), rng)

    def with_(self, targets: Floats, rng: np.random.Generator) -> Floats:
        """The target is among the rows that are drawn with probability ρ."""
        drawn = rng.random(len(targets)) < self.rows / self.n
        sums = self.law.sums(self.rows - drawn, rng)
        return self._released(sums + drawn[:, None] * targets, rng)

    def score(self, target: Floats) -> float:
        """m* of a datum, before sub-sampling."""
        return float(leakage.score(target, self.law.mean, self.law.variance, self.n, noise=self.noise))

    def likelihood_ratio(self, release: Floats, target: Floats) -> Floats:
        """The best attack, which knows the law."""
        return leakage.likelihood_ratio(
            release, target, self.law.mean, self.law.variance, self.n, noise=self.noise, subsample=self.subsample
        )

    def _released(self, sums: Floats, rng: np.random.Generator) -> Floats:
        mean = sums / self.rows
        return mean if self.noise == 0 else mean + self.noise / math.sqrt(self.rows) * rng.normal(size=mean.shape)


def targets(law: Bernoulli, rng: np.random.Generator) -> dict[str, Floats]:
    """The paper's three data: as far from the mean as can be, one of the law, and as near as can be."""
    easy = (law.p <= 0.5).astype(np.float64)
    return {"easy": easy, "medium": law.data(1, rng)[0], "hard": 1 - easy}


def paper(seed: int, features: int = FEATURES) -> tuple[Bernoulli, dict[str, Floats]]:
    """The law of the paper's experiments, and its three data."""
    rng = np.random.default_rng(seed)
    law = Bernoulli(rng.uniform(EDGE, 1 - EDGE, features))
    return law, targets(law, rng)


# The paper's figure 2 -------------------------------------------------------------------------------------------------


def figure_2(axes: Sequence[Axes], *, rounds: int = ROUNDS, seed: int = 0) -> list[tuple[str, float, float, float]]:
    """Draw panels a to f; returns panel and curve, the theory's TPR at an FPR of 5%, the simulated one, and its error.

    Solid lines are the games, dashed ones the theory. In panel f the dotted ones are Theorem 4.3 as it is printed.
    """
    law, data = paper(seed)
    exact = EmpiricalMean(law, N)
    easy, hard = data["easy"], data["hard"]
    for ax, name in zip(axes[:2], ("easy", "hard"), strict=True):
        _histograms(ax, exact, data[name], rounds, seed, name)
    found = []
    panels: list[tuple[Axes, list[tuple[str, EmpiricalMean, Floats]]]] = [
        (axes[2], [("hard", exact, hard)]),
        (axes[3], [(name, exact, z) for name, z in data.items()]),
        (axes[4], [(f"γ = {noise:g}", EmpiricalMean(law, N, noise), easy) for noise in (0.0, 0.5, 1.0, 2.0)]),
        (axes[5], [(f"ρ = {part:g}", EmpiricalMean(law, N, 0.0, part), easy) for part in (1.0, 0.5, 0.25, 0.1)]),
    ]
    for letter, (ax, curves) in zip("cdef", panels, strict=True):
        for k, (name, mechanism, z) in enumerate(curves):
            found.append((f"{letter} {name}", *_curve(ax, f"C{k}", name, mechanism, z, rounds, seed + k)))
        ax.set(xlabel="FPR α", ylabel="TPR", xlim=(0, 1), ylim=(0, 1.01), title=f"({letter})")
        ax.legend(fontsize=7, loc="lower right", frameon=False)
    return found


def _histograms(ax: Axes, mechanism: EmpiricalMean, z: Floats, rounds: int, seed: int, name: str) -> None:
    """The likelihood ratios with and without z, and the Gaussian laws of Theorem 3.1."""
    table = games.fixed_datum(mechanism, z, mechanism.likelihood_ratio, rounds=rounds, seed=seed)
    m = mechanism.score(z)
    grid = np.linspace(table.score.min(), table.score.max(), 300)
    for inside, colour, label in ((False, "C0", "without z"), (True, "C1", "with z")):
        ax.hist(table.score[table.member == inside], 40, density=True, color=colour, alpha=0.5, label=label)
        middle = m / 2 if inside else -m / 2
        ax.plot(grid, np.exp(-((grid - middle) ** 2) / (2 * m)) / math.sqrt(2 * math.pi * m), f"{colour}--")
    letter = "a" if name == "easy" else "b"
    ax.set(xlabel="log-likelihood ratio", ylabel="density", title=f"({letter}) {name}, m* = {m:.2f}")
    ax.legend(fontsize=7, frameon=False)


def _curve(
    ax: Axes, colour: str, name: str, mechanism: EmpiricalMean, z: Floats, rounds: int, seed: int
) -> tuple[float, float, float]:
    """The ROC curve of a game on the theory; the TPR of both at 5%, and the standard error of the game's."""
    table = games.fixed_datum(mechanism, z, mechanism.likelihood_ratio, rounds=rounds, seed=seed)
    without, with_ = (np.sort(table.score[table.member == inside]) for inside in (False, True))
    alpha = np.linspace(0, 1, 201)
    m, rho = mechanism.score(z), mechanism.subsample
    seen = _tpr(without, with_, alpha)
    ax.plot(alpha, seen, color=colour, linewidth=1.2, label=name)
    ax.plot(alpha, leakage.power(m, alpha, subsample=rho), "--", color=colour, linewidth=1)
    if rho < 1:
        ax.plot(alpha, leakage.power_as_printed(m, alpha, subsample=rho), ":", color=colour, linewidth=1)
    level = 0.05
    truth = float(leakage.power(m, level, subsample=rho))
    step = 1e-3  # for the slope of the curve, by which an error of the threshold counts
    slope = float(np.diff(leakage.power(m, [level - step, level + step], subsample=rho))[0]) / (2 * step)
    error = math.sqrt(truth * (1 - truth) / len(with_) + slope**2 * level * (1 - level) / len(without))
    return truth, float(_tpr(without, with_, np.array([level]))[0]), error


def _tpr(without: Floats, with_: Floats, alpha: Floats) -> Floats:
    """The share of scores with z above the threshold that α of those without z are above."""
    thresholds = np.quantile(without, 1 - alpha, method="higher")
    return 1 - np.searchsorted(with_, thresholds, side="left") / len(with_)


# Posteriors from the games --------------------------------------------------------------------------------------------


def estimates(*, rounds: int = ROUNDS, seed: int = 0) -> list[tuple[str, float, float, float, float]]:
    """For each of the paper's data, and for all of them as three bases: the true μ, and mean and 90% interval of μ.

    The attack is the best one at the threshold 0, so the posterior is that of tight attacks.
    """
    law, data = paper(seed)
    mechanism = EmpiricalMean(law, N)
    table = games.fixed_datum(
        mechanism, np.array(list(data.values())), mechanism.likelihood_ratio, rounds=rounds, seed=seed
    )
    found = games.counts(table, 0.0, per_base=True)
    truths = [math.sqrt(mechanism.score(z)) for z in data.values()]
    asked = [(name, truth, found[i]) for i, (name, truth) in enumerate(zip(data, truths, strict=True))]
    rows = []
    for name, truth, given in (*asked, ("all three", max(truths), found)):
        post = bdp.estimate(given, family="gaussian", strength="tight" if len(given) == 1 else "free")
        rows.append((name, truth, post.mean, *post.interval(0.9)))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, and save the figure; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m models.empirical_mean", description="Membership games on the mean of data."
    )
    parser.add_argument("--figure", metavar="FILE", help="draw figure 2 of the paper to this file")
    parser.add_argument("--estimate", action="store_true", help="posteriors of μ from the games, beside the truth")
    parser.add_argument("--rounds", metavar="N", type=int, default=ROUNDS, help="of each game")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of all draws: same seed, same table")
    chosen = parser.parse_args(arguments)
    if not (chosen.figure or chosen.estimate):
        parser.error("give --figure FILE or --estimate")
    try:
        if chosen.figure:
            check_writable(chosen.figure)
        if chosen.estimate:
            print("datum       true μ  posterior mean  90% interval")
            for name, truth, mean, low, high in estimates(rounds=chosen.rounds, seed=chosen.seed):
                print(f"{name:10}  {truth:6.3f}  {mean:14.3f}  {low:.3f} to {high:.3f}")
    except InputError as error:
        parser.error(str(error))
    if chosen.figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 6.2), layout="constrained")
        print("curve        theory  game   standard errors apart, TPR at an FPR of 5%")
        for name, truth, seen, error in figure_2(figure.subplots(2, 3).ravel(), rounds=chosen.rounds, seed=chosen.seed):
            print(f"{name:11}  {truth:.3f}   {seen:.3f}  {(seen - truth) / error:+.1f}")
        figure.savefig(chosen.figure, dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main())

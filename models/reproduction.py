"""The experiments of Yildirim et al. (2025) again: Figures 2 to 6 and Table 1, with the Monte Carlo error of each end.

"MCMC for Bayesian estimation of Differential Privacy from Membership Inference Attacks" (MCMC-DP-Est). The page is
docs/evidence/reproduction.md; all its tables are what

    python -m models.reproduction --data FOLDER --figures docs/figures

prints, where FOLDER holds the losses that the authors published, as mcmc_dp_est_losses.npz. The losses of our own
networks (`models/mnist_mlp.py`, preset medium) are in docs/evidence/data. Tables are printed, and figures written, as
they are done.

What the paper leaves open is taken from the code published with it: δ, and the values of s and N in Figure 2. That code
has another prior in Figures 2 and 3 than the text, `CodePrior`.

The error of a quantile is that of Vehtari et al. (2021): if the indicator of draws below the quantile is worth S
independent draws, the quantile of probability p is uncertain as the order statistics are at the 16% and 84% points of
Beta(Sp + 1, S(1 − p) + 1).
"""

from __future__ import annotations

import argparse
import io
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from numpyro.distributions import constraints
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.attacks import measure_fast
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.checks import InputError
from bayes_dp.data.files import write_bytes_atomically
from bayes_dp.plots.style import BLUE, ORANGE, dressed, explained
from bayes_dp.results.diagnostics import ess
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CodePrior", "Settings", "Table1", "main", "quantile_error", "weak_attacks"]


# (name in the file, name to show, the paper's 90% interval of ε in Table 1)
PUBLISHED = (
    ("A1", "A1", (5.52, 10.52)),
    ("A2", "A2", (4.95, 10.00)),
    ("A3_sigma0.1", "A3, σ = 0.1", (1.29, 2.53)),
    ("A4_sigma0.1", "A4, σ = 0.1", (1.00, 2.12)),
    ("A4_sigma0.05", "A4, σ = 0.05", (2.80, 7.68)),
    ("A4_sigma0.01", "A4, σ = 0.01", (4.61, 9.62)),
)
OWN = (*PUBLISHED, ("A3_sigma0.05", "A3, σ = 0.05", None), ("A3_sigma0.01", "A3, σ = 0.01", None))

_OWN_LOSSES = Path(__file__).parents[1] / "docs" / "evidence" / "data" / "mnist_medium_losses.npz"
_TARGETS = np.arange(1, 100) / 100  # α* of Figures 4 and 5; Table 1 is at 0.1
_ARTIFICIAL_DELTA, _DELTA = 0.01, 1e-3  # of Figures 2 and 3, and of the others
_STRENGTHS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.925, 0.95, 0.975, 0.99, "tight")
_SIZES = tuple(range(100, 1001, 100))  # N of Figure 2, right
_PAPER_STEPS = (0.1, 0.01, 0.001, 0.001)  # standard deviations of the proposals, Appendix B.3
_PAPER_KEPT = 80_000  # of 100 000 iterations; the code leaves out a fifth


@dataclass(frozen=True)
class Settings:
    """How long it takes."""

    seeds: tuple[int, ...] = (0, 1, 2)
    sampler: Mapping[str, int] = field(default_factory=dict)  # of `estimate`, for Table 1; empty: its defaults
    fit: Mapping[str, int] = field(default_factory=lambda: {"draws": 4000})  # the same for the comparison of laws
    likelihoods: tuple[str, ...] = tuple(LIKELIHOODS)
    size: int = 300  # draws in each check
    iterations: int = 20_000  # of Algorithm 6 as printed
    lags: int = 1000
    strengths: Sequence[Any] = _STRENGTHS
    sizes: Sequence[int] = _SIZES


class CodePrior(dist.Distribution):
    """The prior in effect in the code of Figures 2 and 3: density exp(−ε²/10)/ε, cut at `least` to have an integral.

    The integral is E1(least²/10)/2, with E1 the exponential integral.
    """

    arg_constraints = {"least": constraints.positive}  # noqa: RUF012 (as NumPyro has it)
    reparametrized_params = ["least"]  # noqa: RUF012

    def __init__(self, least: float = 1e-6, *, validate_args: bool | None = None) -> None:
        self.least = least
        self._log_integral = float(np.log(special.exp1(least**2 / 10) / 2))
        super().__init__(validate_args=validate_args)

    @property
    def support(self) -> Any:
        return constraints.greater_than(self.least)

    def log_prob(self, value: Any) -> Any:
        return -(value**2) / 10 - jnp.log(value) - self._log_integral

    def sample(self, key: Any, sample_shape: tuple[int, ...] = ()) -> Any:
        """By the inverse of the distribution function of log ε, whose density is that of ε times ε, on a grid."""
        place = np.linspace(math.log(self.least), math.log(30.0), 10_000)
        mass = np.cumsum(np.exp(-np.exp(2 * place) / 10))
        return jnp.exp(jnp.interp(jax.random.uniform(key, sample_shape), mass / mass[-1], place))


def quantile_error(draws: Floats, probability: float, effective: float | None = None) -> float:
    """The Monte Carlo standard error of a quantile of draws (chains, draws).

    `effective` is the number of independent draws that they are worth, by default measured.
    """
    flat = np.sort(draws, axis=None)
    if effective is None:
        effective = ess((draws <= np.quantile(flat, probability)).astype(float))
    tails = stats.beta.ppf(special.ndtr([-1.0, 1.0]), effective * probability + 1, effective * (1 - probability) + 1)
    low, high = np.clip(np.floor(tails * len(flat)), 0, len(flat) - 1).astype(int)
    return float((flat[high] - flat[low]) / 2)


# Figures 2 and 3: artificial counts --------------------------------------------------------------------------------


def weak_attacks(seed: int = 1) -> bdp.ErrorCounts:
    """A draw of the "weak attacks" of Figure 3: 10 bases with rates Beta(10, 10), 1000 + 1000 challenges each."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(10, 10, (2, 10))
    x, y = rng.binomial(1000, rates)
    return bdp.ErrorCounts(x, 1000, y, 1000)


def attack_of(runs: int) -> bdp.ErrorCounts:
    """The one attack of Figure 2: X = Y = 0.4 N."""
    errors = round(0.4 * runs)
    return bdp.ErrorCounts([errors], runs, [errors], runs)


def artificial(counts: bdp.ErrorCounts, least: float | None = None, **options: Any) -> Any:
    """The exact posterior with the prior of the text, or that of the code, cut at `least`."""
    prior = None if least is None else CodePrior(least)
    return bdp.estimate(counts, _ARTIFICIAL_DELTA, prior_epsilon=prior, **options)


def figure_2(settings: Settings) -> Figure:
    """90% intervals of ε from one attack against the assumed strength, and against the number of runs at s = 0.99."""
    leasts = (None, 1e-3, 1e-6, 1e-9)
    by_strength = [
        [artificial(attack_of(500), least, strength=s).interval(0.9) for least in leasts] for s in settings.strengths
    ]
    by_size = [
        [artificial(attack_of(runs), least, strength=0.99).interval(0.9) for least in leasts] for runs in settings.sizes
    ]
    heads = ["prior of the text", *(f"of the code, from {least:g}" for least in leasts[1:])]
    names = [str(s) for s in settings.strengths]
    print_table(
        "Figure 2, left: 90% intervals of ε from X = Y = 200 of 500",
        ["s", *heads],
        [[name, *(show(ends, 3) for ends in row)] for name, row in zip(names, by_strength, strict=True)],
    )
    print_table(
        "Figure 2, right: 90% intervals of ε from X = Y = 0.4 N with s = 0.99",
        ["N", *heads],
        [[str(runs), *(show(ends, 3) for ends in row)] for runs, row in zip(settings.sizes, by_size, strict=True)],
    )
    figure = new_figure(7.4, 3.0)
    panels = (
        (names, by_strength, "assumed strength s (unequal steps)", "X = Y = 200 of N = 500"),
        ([str(runs) for runs in settings.sizes], by_size, "runs N on each side", "X = Y = 0.4 N, s = 0.99"),
    )
    for ax, (ticks, rows, words, title) in zip(figure.subplots(1, 2), panels, strict=True):
        places = np.arange(len(ticks))
        for column, colour, marker, shift, label in (
            (0, BLUE, "o", -0.12, "prior of the text"),
            (2, ORANGE, "^", 0.12, "prior of the code, from $10^{-6}$"),
        ):
            low, high = np.array([row[column] for row in rows]).T
            ax.vlines(places + shift, low, high, color=colour, linewidth=1.4, label=label)
            for ends in (low, high):
                ax.plot(places + shift, ends, marker, color=colour, markersize=3)
        dressed(ax, words, "90% interval of ε", title)
        ax.set_xticks(places, ticks, rotation=60 if len(ticks) > len(settings.sizes) else 0)
        ax.set_ylim(0, None)
        explained(ax)
    return figure


def figure_3(settings: Settings) -> Figure:
    """ε and s from ten weak and from ten strong attacks, in the plane of rates and jointly."""
    figure, rows = new_figure(7.0, 7.4), []
    axes = figure.subplots(2, 2)
    for (name, counts), (plane, both) in zip(
        (("weak", weak_attacks()), ("strong", bdp.datasets.strong_attacks())), axes, strict=True
    ):
        if name == "weak":
            print("weak attacks: X =", counts.false_positives.tolist(), " Y =", counts.false_negatives.tolist())
        for words, least in (("of the text", None), ("of the code, from 1e-06", 1e-6)):
            post = artificial(counts, least)
            strength = post.interval(0.9, parameter="strength")
            rows.append([name, words, f"{post.mean:.3f}", show(post.interval(0.9), 3), show(strength, 3)])
            if least is None:
                plots.roc_plane(counts, plane, post=post)
                plots.joint(post, both)
                plane.set_title(f"{name.capitalize()} attacks", fontsize="small")
                both.set_title("")
    print_table("Figure 3", ["attacks", "prior", "mean of ε", "90% of ε", "90% of s"], rows)
    return figure


# Figures 4 to 6 and Table 1: losses of networks --------------------------------------------------------------------


@dataclass(frozen=True)
class Table1:
    """The counts, curves and posteriors of several algorithms, by the name to show; posteriors of the first seed."""

    curves: Mapping[str, Any]
    counts: Mapping[str, bdp.ErrorCounts]
    posteriors: Mapping[str, Any]


def table_1(path: Path, which: Sequence[Any], title: str, settings: Settings) -> Table1:
    """90% intervals of ε at α* = 0.1 by the four-parameter sampler, beside those of the paper."""
    result, rows = Table1({}, {}, {}), []
    for key, name, paper in which:
        curve = measure_fast(bdp.LossTable.from_npz(path, key), _TARGETS)
        counts = curve.at(0.1)
        posteriors, seconds = [], []
        for seed in settings.seeds:
            began = time.process_time()
            posteriors.append(
                bdp.estimate(
                    counts, _DELTA, likelihood="bivariate_normal", seed=seed, progress=False, **settings.sampler
                )
            )
            seconds.append(time.process_time() - began)
        first, draws = posteriors[0], posteriors[0].samples["epsilon"]
        errors = [quantile_error(draws, p) for p in (0.05, 0.95)]
        spread = np.std([post.interval(0.9) for post in posteriors], axis=0, ddof=1)
        found = first.diagnostics
        rows.append(
            [
                name,
                "" if paper is None else show(paper),
                show(first.interval(0.9)),
                show(errors, 3, " and "),
                show(spread, 3, " and "),
                f"{min(found['ess_bulk']['epsilon'], found['ess_tail']['epsilon']):.0f}{mark(first)}",
                f"{np.median(seconds):.0f}",
            ]
        )
        say(f"{title}: {name} {rows[-1]}")
        for part, value in zip((result.curves, result.counts, result.posteriors), (curve, counts, first), strict=True):
            part[name] = value  # type: ignore[index]
    heads = ["Data", "Paper", "Here", "Monte Carlo error", f"over {len(settings.seeds)} seeds", "effective draws"]
    print_table(f"Table 1, {title}", [*heads, "processor seconds"], rows)
    return result


def figures_4_5(found: Table1) -> Figure:
    """The plane of counts for all α*, a line for each base, above the joint posterior of (ε, s)."""
    figure, names = new_figure(7.6, 9.0), list(found.curves)[: len(PUBLISHED)]
    axes = figure.subplots(4, 3, height_ratios=[1, 0.9, 1, 0.9])
    for i, name in enumerate(names):
        plane, both = axes[2 * (i // 3) : 2 * (i // 3) + 2, i % 3]
        plots.roc_plane(found.curves[name], plane)
        plane.get_legend().remove()
        plane.set_title(name, fontsize="small")
        dressed(plane, "X(α*)/N", "Y(α*)/N")
        plots.joint(found.posteriors[name], both)
        both.set_title("")
    return figure


def error_curves(found: Table1) -> Figure:
    """Errors against α*: X/N0 should follow the dotted line, if the fitted normal laws were right."""
    figure, names = new_figure(7.6, 5.6), list(found.curves)[: len(PUBLISHED)]
    axes = figure.subplots(3, 4)
    for i, name in enumerate(names):
        pair = axes[i % 3, 2 * (i // 3) : 2 * (i // 3) + 2]
        plots.error_curves(found.curves[name], pair)
        pair[0].set_title(name, fontsize="small")
        if i:
            for ax in pair:
                ax.get_legend().remove()
    return figure


def figure_6(found: Table1, settings: Settings) -> Figure:
    """Autocorrelations of ε: Algorithm 6 as it is printed, τ' drawn around τ, and the sampler of this package.

    Algorithm 6 starts at a draw of the other sampler, so that nothing of it needs to be left out.
    """
    from tests.twins import mcmc_dp_est_correlated

    chains, rows = [], []
    for name, post in found.posteriors.items():
        states, began = post._chains.states, time.process_time()
        plain = mcmc_dp_est_correlated(
            found.counts[name],
            _DELTA,
            iterations=settings.iterations,
            n_auxiliaries=1000,
            sds=_PAPER_STEPS,
            start=[float(values[0, -1]) for values in post.samples.values()],
            rates=np.stack([states.alpha[0, -1], states.beta[0, -1]], axis=1),
            seed=1,
        )[:1]
        seconds = time.process_time() - began
        chains.append(plain[0])
        effective = _PAPER_KEPT * ess(plain) / settings.iterations
        draws = post.samples["epsilon"]
        errors = [quantile_error(draws, p, effective) for p in (0.05, 0.95)]
        rate = 1000 * ess(draws) / draws.size
        rows.append(
            [name, f"{ess(plain):.0f}", f"{seconds:.0f}", f"{effective:.0f}", show(errors, 2, " and "), f"{rate:.0f}"]
        )
        say(f"Figure 6: {name} {rows[-1]}")
    heads = ["Data", "effective draws", "processor seconds", f"effective of {_PAPER_KEPT}", "error of the ends", "here"]
    print_table(f"Figure 6: {settings.iterations} iterations of Algorithm 6", heads, rows)
    figure = new_figure(7.4, 3.1)
    ours = [post.samples["epsilon"][0] for post in found.posteriors.values()]
    titles = f"Algorithm 6 as printed, {settings.iterations} iterations", f"bayes_dp, {len(ours[0])} draws of a chain"
    for ax, values, title in zip(figure.subplots(1, 2, sharey=True), (chains, ours), titles, strict=True):
        plots.autocorrelation(np.stack(values), ax, "epsilon", lags=settings.lags)
        ax.set_title(title, fontsize="small")
        for line, name in zip(ax.lines, found.posteriors, strict=False):
            line.set_label(name)
        explained(ax)
    return figure


# Does the model fit? -----------------------------------------------------------------------------------------------


def fit(found: Table1, settings: Settings) -> None:
    """The checks and leave-one-out scores of four likelihoods."""
    rows, quarters = [], []
    for name, counts in found.counts.items():
        table = bdp.compare_likelihoods(
            counts, _DELTA, settings.likelihoods, size=settings.size, progress=False, **settings.fit
        )
        for row in table.rows():
            law = row["likelihood"]
            checked = table.checks[law]
            rows.append(
                [
                    name,
                    f"`{law}`{mark(table.posteriors[law])}",
                    show((row["low"], row["high"])),
                    f"{row['difference']:.1f} ± {row['difference_se']:.1f}",
                    f"{row['pareto_k']:.2f}",
                    f"{checked.dispersion:.2f}, {checked.dispersion_p:.2f}",
                    f"{checked.rank_p:.1g}",
                    "–" if checked.shape_p is None else f"{checked.shape_p:.2f}",
                    "doubtful" if checked.doubtful else "passed",
                ]
            )
            say(f"fit: {rows[-1]}")
        ranks = table.checks["bivariate_normal"].rank
        quarters.append([name, *(str(k) for k in np.histogram(ranks, bins=4, range=(0, 1))[0])])
    heads = ["Data", "Likelihood", "90% of ε", "score less the best", "Pareto k", "scatter, p", "levels p", "shape p"]
    print_table("Fit", [*heads, "check"], rows)
    heads = ["Data", "lowest quarter", "second", "third", "highest quarter"]
    print_table("Ranks of the levels of the bases, `bivariate_normal`", heads, quarters)


# The command -------------------------------------------------------------------------------------------------------


def run(data: Path, figures: Path | None, settings: Settings) -> None:
    """Everything, in the order of the page."""

    def keep(name: str, figure: Figure) -> None:
        if figures is not None:
            write_bytes_atomically(figures / f"reproduction_{name}.png", small_png(figure))

    losses = data / "mcmc_dp_est_losses.npz"
    for path in (losses, _OWN_LOSSES):
        bdp.LossTable.from_npz(path, "A1")  # a missing file is told before any work
    keep("fig2", figure_2(settings))
    keep("fig3", figure_3(settings))
    theirs = table_1(losses, PUBLISHED, "the authors' losses", settings)
    keep("fig4_5", figures_4_5(theirs))
    keep("error_curves", error_curves(theirs))
    ours = table_1(_OWN_LOSSES, OWN, "our own losses", settings)
    keep("own_fig4_5", figures_4_5(ours))
    fit(theirs, settings)
    keep("fig6", figure_6(theirs, settings))


def new_figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # not of pyplot, so that no window and no global state is there

    return Figure(figsize=(width, height), layout="constrained")


def small_png(figure: Figure) -> bytes:
    """The picture in 256 colours, which makes the file half as large."""
    from PIL import Image  # Matplotlib needs it too

    drawn, reduced = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=110)
    Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(reduced, "PNG", optimize=True)
    return reduced.getvalue()


def show(ends: Sequence[float] | Floats, digits: int = 2, between: str = " to ") -> str:
    return between.join(f"{end:.{digits}f}" for end in ends)


def mark(post: Any) -> str:
    """A star where the sampler warns that its draws are not to be trusted."""
    return "\\*" if post.warnings else ""


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = ["", title, "", *(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows))]
    print("\n".join(lines), flush=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None, settings: Settings | None = None) -> int:
    """Run the command with these arguments (by default those of the process); returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m models.reproduction",
        description="The figures and tables of docs/evidence/reproduction.md: the experiments of MCMC-DP-Est again.",
        epilog="exit codes: 0 done, 2 bad input, 130 interrupted",
    )
    parser.add_argument(
        "--data", metavar="FOLDER", type=Path, required=True, help="with the published mcmc_dp_est_losses.npz"
    )
    parser.add_argument(
        "--figures", metavar="FOLDER", type=Path, help="where the figures go; without it there are none"
    )
    chosen = parser.parse_args(arguments)
    if chosen.figures is not None and not chosen.figures.is_dir():
        parser.error(f"--figures: there is no folder {str(chosen.figures)!r}")
    try:
        run(chosen.data, chosen.figures, settings or Settings())
    except InputError as error:
        parser.error(" ".join(str(error).split()))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

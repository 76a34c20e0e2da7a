"""Figures 2 to 4 of "Observational Auditing of Privacy": the audit of randomized response, whose ε is known.

Labels are uniform over k classes, and the features of the class y are N(e_y, I) in ten dimensions (the paper's five do
not hold ten classes). The proxy is the true posterior, or a logistic regression of 20 000 other examples. Each game is
judged at 95% and δ = 0: by the score of the paper, where M(x) is one where the response is, and by the likelihood. With
a shift, as in Figure 4, the proxy gives the second of two classes τ more than the law does; the paper's slack lowers
the inverse of the trade-off function by τ, and ours counts the labels that can differ.

    python -m models.label_response
    python -m models.label_response --shifts 1e-6 1e-5 1e-4 1e-3 1e-2 1e-1 --epsilon 0.5 2 4

With `--figure FILE` what is printed is drawn, too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from bayes_dp.attacks.label_scores import difference, likelihood
from bayes_dp.audits.f_dp import approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.observational import lower_of, played
from bayes_dp.checks import InputError
from bayes_dp.data.class_probabilities import drawn
from bayes_dp.data.files import check_writable
from bayes_dp.games import LabelGame
from bayes_dp.plots.style import CYCLE, GREY
from bayes_dp.support.arrays import Floats
from models.label_dp import randomized_response

__all__ = ["bounds", "main", "mixture"]

_DIMENSIONS, _TRAINING = 10, 20_000
_PLAIN = ("law: paper's score", "law: likelihood", "logistic: paper's score", "logistic: likelihood")
_SHIFTED = ("paper's score and slack", "likelihood, paper's slack", "likelihood, counted")


def mixture(n: int, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Features (n, 10) and the posterior of the classes, (n, k)."""
    labels = rng.integers(0, k, n)
    x = rng.normal(size=(n, _DIMENSIONS))
    x[np.arange(n), labels] += 1
    return x, softmax(x[:, :k], axis=1)  # |x − e_y|² differs by 2 x_y


def _logistic(x: Floats, k: int, rng: np.random.Generator) -> Floats:
    from sklearn.linear_model import LogisticRegression

    others, law = mixture(_TRAINING, k, rng)
    return np.asarray(LogisticRegression().fit(others, drawn(law, rng)).predict_proba(x))


def bounds(
    k: int,
    epsilon: float,
    made: int,
    proxy: Floats,
    law: Floats,
    *,
    games: int,
    seed: int = 0,
    tau: float = 0.0,
    counted: bool = True,
) -> dict[str, tuple[float, float]]:
    """Mean and sd of the bounds of games with so many guesses, by the score of the paper and by the likelihood.

    `law` and `proxy` are probabilities of the classes, (n, k). The slack `tau` is ours, or the paper's where it is not
    `counted`.
    """
    rng = np.random.default_rng([seed, k])
    y = drawn(law, rng)
    out, chance = randomized_response(y, np.full_like(law, 1 / k), epsilon, seed)
    slack = lower_of("approx", 0.0, tau)
    if not counted:
        slack = lambda m, n, c, p: f_dp_lower_bounds(approx(0.0), m, n, c, p, tau)  # noqa: E731
    found = {}
    for name, score in (
        ("paper", difference(np.eye(k)[out], proxy)),
        ("likelihood", likelihood(chance, proxy)),
    ):
        p = 0.05 if games == 1 else 0.1  # of which each of several games gets half
        each = played({name: LabelGame(y, proxy, score)}, made, slack, p, games, seed)
        found[name] = each["mean"], each["sd"]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.label_response", description=__doc__.split("\n\n")[0])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 5, 10], help="(always 2 with shifts)")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.5, 1, 2, 4, 8])
    parser.add_argument("--n", type=int, default=200_000, help="examples (default 200000; the paper has 1000000)")
    parser.add_argument("--games", type=int, default=20, help="(default 20; the paper has 100)")
    parser.add_argument("--shifts", type=float, nargs="+", help="τ of Figure 4, in place of Figures 2 and 3")
    parser.add_argument(
        "--share", type=float, nargs="+", default=[0.001, 0.01], help="of the examples that are guessed"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figure", metavar="FILE", help="a picture of what is printed")
    given = parser.parse_args(arguments)
    if given.figure is not None:
        try:
            check_writable(given.figure)
        except InputError as error:
            parser.error(str(error))
    lines = _SHIFTED if given.shifts else _PLAIN
    print(f"| {'ε | τ' if given.shifts else 'classes | ε'} | guessed | {' | '.join(lines)} |")
    print("|---:|---:|---:|" + "---:|" * len(lines))
    found: list[_Point] = []
    for point in _shifted(given) if given.shifts else _plain(given):
        found.append(point)
        values = [f"{mean:.2f} ± {sd:.2f}" for mean, sd in point.bounds]
        print(f"| {point.column:g} | {point.x:g} | {point.share:.1%} | {' | '.join(values)} |", flush=True)
    if given.figure is not None:
        _draw(found, given)
    return 0


class _Point(NamedTuple):
    """A row of the table: which column of panels and place there it has, and mean and sd of the bounds."""

    column: float
    x: float
    share: float
    bounds: list[tuple[float, float]]


def _plain(given: argparse.Namespace) -> Iterator[_Point]:
    for k in given.classes:
        x, law = mixture(given.n, k, np.random.default_rng([given.seed, 0, k]))
        fitted = _logistic(x, k, np.random.default_rng([given.seed, 1, k]))
        for epsilon in given.epsilon:
            for share in given.share:
                how = {"games": given.games, "seed": given.seed}
                pairs = [bounds(k, epsilon, round(share * given.n), q, law, **how) for q in (law, fitted)]
                yield _Point(k, epsilon, share, [pair for each in pairs for pair in each.values()])


def _shifted(given: argparse.Namespace) -> Iterator[_Point]:
    _, law = mixture(given.n, 2, np.random.default_rng([given.seed, 0, 2]))
    for epsilon in given.epsilon:
        for share in given.share:
            for tau in given.shifts:
                second = np.minimum(law[:, 1] + tau, 1.0)
                plain, ours = (
                    bounds(
                        2, epsilon, round(share * given.n), np.column_stack([1 - second, second]), law,
                        games=given.games, seed=given.seed, tau=tau, counted=counted,
                    )
                    for counted in (False, True)
                )  # fmt: skip
                yield _Point(epsilon, tau, share, [*plain.values(), ours["likelihood"]])


def _draw(found: Sequence[_Point], given: argparse.Namespace) -> None:
    """A panel for each share and number of classes, against ε; or with shifts for each share and ε, against τ.

    Bars are standard deviations of games. The broken line is the ε of the mechanism, the dotted one what can be shown
    if all guesses are correct.
    """
    from matplotlib.figure import Figure

    columns = list(dict.fromkeys(point.column for point in found))
    shares = list(dict.fromkeys(point.share for point in found))
    figure = Figure(figsize=(2.3 * len(columns), 1.9 * len(shares) + 0.9), layout="constrained")
    panels = figure.subplots(len(shares), len(columns), sharex=True, sharey="col" if given.shifts else True)
    panels = np.reshape(panels, (len(shares), len(columns)))
    for (i, share), (j, column) in product(enumerate(shares), enumerate(columns)):
        ax, made = panels[i, j], round(share * given.n)
        points = [point for point in found if (point.share, point.column) == (share, column)]
        x = [point.x for point in points]
        truth = [column if given.shifts else epsilon for epsilon in x]
        ax.plot(x, truth, color=GREY, linestyle="--", linewidth=1, label="ε of the mechanism")
        most = float(lower_of("approx", 0.0, 0.0)(*(np.array([float(v)]) for v in (given.n, made, made)), 0.05)[0])
        ax.axhline(most, color=GREY, linestyle=":", linewidth=1, label="all guesses correct")
        for number, name in enumerate(_SHIFTED if given.shifts else _PLAIN):
            mean, sd = np.array([point.bounds[number] for point in points]).T
            kind = number if given.shifts else number % 2  # the scores have colours, and the proxies dashes
            look = {"color": CYCLE[kind], "marker": "os^"[kind], "linestyle": ":" if number > kind else "-"}
            ax.errorbar(x, mean, sd, elinewidth=0.8, linewidth=1.1, markersize=3, label=name, **look)
        ax.set_xscale("log", base=10 if given.shifts else 2)
        ax.set_xticks(x, [f"{value:g}" for value in x])
        ax.minorticks_off()
        ax.tick_params(labelsize="x-small")
        ax.set_ylim(bottom=0, top=1.15 * max(truth))
        words = f"ε = {column:g}" if given.shifts else f"{column:g} classes"
        ax.set_title(f"{words}, {share:.1%} guessed", fontsize="small")
        if i == len(shares) - 1:
            ax.set_xlabel("τ" if given.shifts else "ε of the mechanism", fontsize="small")
        if j == 0:
            ax.set_ylabel("bound of ε", fontsize="small")
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize="x-small")
    figure.savefig(given.figure, dpi=160)


if __name__ == "__main__":
    sys.exit(main())

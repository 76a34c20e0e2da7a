"""Make the pictures of docs/reference/figures.md: python docs/figures/make.py [NAME ...], by default all of them.

`error_curves` needs losses of models: those published with Yildirim et al. (2025), of which the environment variable
BAYES_DP_DATA names the folder. The others need nothing. All of them take some minutes, mostly `widths`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import bayes_dp as bdp
from bayes_dp import plots, tradeoff
from bayes_dp.attacks import measure_fast

FOLDER = Path(__file__).parent
DELTA = 1e-3
COUNTS = bdp.datasets.mnist_a4()


@cache
def exact() -> Any:
    return bdp.estimate(COUNTS, DELTA)


@cache
def sampled() -> Any:
    return bdp.estimate(COUNTS, DELTA, method="mhaar", seed=1, progress=False)


def region() -> None:
    counts = bdp.datasets.strong_attacks()
    plots.roc_plane(counts, epsilon=3.0, delta=0.01, strength=0.6)


def boundary() -> None:
    counts = bdp.datasets.strong_attacks()
    plots.roc_plane(counts, post=bdp.estimate(counts, 0.01))


def posterior() -> None:
    plots.posterior(exact(), thresholds=[1, 2])


def prior_posterior() -> None:
    plots.prior_posterior(exact())


def joint() -> None:
    plots.joint(exact())


def tradeoff_band() -> None:
    plots.tradeoff(exact(), others={"1-Gaussian DP": tradeoff.Gaussian(1.0)})


def epsilon_delta() -> None:
    plots.epsilon_delta(exact())


def forest() -> None:
    plots.forest(bdp.compare(bdp.datasets.strong_attacks(), DELTA))


def family_boundary() -> None:
    counts = bdp.datasets.strong_attacks()
    plots.roc_plane(counts, post=bdp.estimate(counts, DELTA, family="gaussian"))


def family_profile() -> None:
    plots.epsilon_delta({"(ε, δ)": exact(), "Gaussian": bdp.estimate(COUNTS, family="gaussian")})


def running() -> None:
    rng = np.random.default_rng(3)
    audit, posteriors = bdp.audits.sequential(1e-5, claim=1.0), {}
    x, y = rng.random(600) < 0.05, rng.random(600) < 0.5
    for n in range(100, 700, 100):
        audit.update(x[n - 100 : n], y[n - 100 : n])
        posteriors[n] = bdp.estimate(bdp.ErrorCounts(int(x[:n].sum()), n, int(y[:n].sum()), n), 1e-5)
    plots.running(audit, posteriors=posteriors)


def bases() -> None:
    rng = np.random.default_rng(3)
    many = bdp.ErrorCounts(rng.binomial(100, 0.1, 14), 100, rng.binomial(100, 0.5, 14), 100)
    plots.bases(many, bdp.audits.combine(many, 1e-5, dependence="independent"))


def families() -> None:
    plots.families(bdp.compare_families(COUNTS, DELTA))


@cache
def of_scores() -> Any:
    rng = np.random.default_rng(0)
    level = rng.uniform(0.9, 1.8, (8, 1))
    return bdp.estimate_curves((rng.normal(size=(8, 100)), rng.normal(size=(8, 100)) + level))


def curves() -> None:
    plots.roc_plane(post=of_scores())


def levels() -> None:
    plots.levels(of_scores())


def records() -> None:
    plots.records(bdp.records(bdp.estimate(COUNTS, DELTA, family="gaussian"), 1.0))


def predictive() -> None:
    plots.predictive(bdp.estimate(COUNTS, DELTA, family="gaussian"))


def family_prior() -> None:
    plots.prior_posterior(bdp.estimate(COUNTS, DELTA, family="gaussian"))


def error_curves() -> None:
    path = Path(os.environ["BAYES_DP_DATA"]) / "mcmc_dp_est_losses.npz"
    curve = measure_fast(bdp.LossTable.from_npz(path, "A1"), np.arange(1, 100) / 100)
    plots.error_curves(curve)


def trace() -> None:
    plots.trace(sampled())


def rank() -> None:
    plots.rank(sampled())


def autocorrelation() -> None:
    plots.autocorrelation(sampled())


def ess() -> None:
    plots.ess(sampled())


def sbc_ranks() -> None:
    rng, ranks = np.random.default_rng(1), []
    for _ in range(300):
        epsilon, s = abs(rng.normal(0, 10**0.5)), rng.random()
        alpha, beta = bdp.region.sample(epsilon, DELTA, s, 3, rng).T
        counts = bdp.ErrorCounts(rng.binomial(40, alpha), 40, rng.binomial(40, beta), 40)
        ranks.append(1 - bdp.estimate(counts, DELTA).prob_above(epsilon))
    plots.sbc_ranks(ranks, bins=15)


def propensities() -> None:
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-rng.normal(0, 0.9, 1000)))
    plots.propensities(chance, rng.random(1000) < chance, overlap=0.15)


def leaking() -> bdp.leakage.LeakageTable:
    x = np.random.default_rng(0).normal(size=(1000, 8))
    x[41] += 6
    return bdp.leakage.scores(x, labels=[f"patient {i}" for i in range(1000)])


def leakage() -> None:
    plots.leakage(leaking())


def at_risk() -> None:
    plots.at_risk(leaking())


def roc() -> None:
    plots.roc(_scores())


def scores() -> None:
    plots.scores(_scores())


def _scores() -> bdp.GuessTable:
    rng = np.random.default_rng(1)
    member = rng.random(2000) < 0.5
    return bdp.GuessTable(rng.normal(size=2000) + member, member)


def widths() -> None:
    counts = bdp.ErrorCounts([12, 8, 20, 15], 100, [55, 70, 41, 60], 100)
    plots.widths(bdp.plan(counts, DELTA, width=1.0, seed=1))


def _labels() -> tuple[np.random.Generator, Any, Any]:
    """A generator, chances of label 1, and labels, (5000,) each."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 0.9, 5000)
    return rng, p, (rng.random(5000) < p).astype(int)


def _both(one: Any) -> Any:
    """Chances of both labels from those of label 1."""
    return np.column_stack([1 - one, one])


def remembered() -> None:
    rng, p, labels = _labels()
    n = len(p)
    proxy, control = _both(p), _both(np.clip(p + rng.normal(0, 0.02, n), 0, 1))
    found: dict[str, dict[float, Any]] = {"told in full": {}, "half learned": {}}
    for epsilon in (1.0, 2.0, 4.0, 8.0, np.inf):
        keep = 1 / (1 + np.exp(-epsilon))
        out = np.where(rng.random(n) < keep, labels, 1 - labels)
        told = proxy * np.where(out[:, None] == [0, 1], keep, 1 - keep)
        told /= told.sum(axis=1, keepdims=True)
        for name, share in (("told in full", 1.0), ("half learned", 0.5)):
            model = share * told + (1 - share) * proxy
            found[name][epsilon] = bdp.audits.labels(labels, proxy, model, 1e-5, control=control)
    plots.remembered(found)


def sensitivity() -> None:
    rng, p, labels = _labels()
    n = len(p)
    seen = rng.normal(0, 0.15, n)  # by models, and not by the proxy
    proxy, control = _both(np.clip(p + seen, 0, 1)), _both(np.clip(p + rng.normal(0, 0.005, n), 0, 1))
    ax = None
    for name, share in (("half learned", 0.5), ("a tenth learned", 0.1)):
        model = _both((1 - share) * p + share * labels)
        how = {"control": control, "choice": 1000}
        curve = bdp.audits.sensitivity(lambda tau: bdp.audits.labels(labels, proxy, model, 1e-5, tau=tau, **how))  # noqa: B023
        ax = plots.sensitivity(curve, ax, label=name)


@cache
def _games() -> Any:
    """Both tables of `models.panoramia`'s tiny task: with generated non-members, 5 games."""
    from models.panoramia import played, tiny

    return dict(played(tiny(6000), 5, rows=["Gaussians"])).popitem()[1]


def precision() -> None:
    plots.precision(_games())


def closeness() -> None:
    plots.closeness(_games())


FIGURES: dict[str, Callable[[], None]] = {
    figure.__name__: figure
    for figure in (
        region, boundary, posterior, prior_posterior, joint, tradeoff_band, epsilon_delta, forest, family_boundary,
        family_profile, families, family_prior, records, predictive, error_curves, trace, rank, autocorrelation, ess,
        sbc_ranks, propensities, leakage, at_risk, roc, scores, widths, remembered, sensitivity, precision,
        closeness, curves, levels, running, bases,
    )
}  # fmt: skip


def main(names: list[str]) -> None:
    plt.switch_backend("agg")
    for name in names or FIGURES:
        if name == "error_curves" and "BAYES_DP_DATA" not in os.environ:
            print("error_curves: left as it is, as BAYES_DP_DATA is not set", file=sys.stderr)
            continue
        FIGURES[name]()
        path = FOLDER / f"{name}.png"
        plt.gcf().savefig(path, dpi=160)
        Image.open(path).quantize(64).save(path, optimize=True)  # half the size
        plt.close("all")
        print(name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])

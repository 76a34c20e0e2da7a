"""Small bundled examples."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from bayes_dp.data.counts import ErrorCounts

__all__ = ["demo_csv", "mnist_a4", "strong_attacks"]


def __dir__() -> list[str]:
    return __all__


def mnist_a4() -> ErrorCounts:
    """Attacks on a small network trained with output perturbation: 20 bases, 100 + 100 challenges each, cross-fed.

    Algorithm A4 with sigma = 0.1 on MNIST, from the losses published with Yildirim et al. (2025), "MCMC for Bayesian
    estimation of Differential Privacy from Membership Inference Attacks".

    >>> counts = bdp.datasets.mnist_a4()
    >>> counts
    ErrorCounts: 20 bases, 100 + 100 challenges each, design "cross_fed"
    >>> float(counts.false_positives.mean()), float(counts.false_negatives.mean())
    (32.7, 55.85)
    """
    return ErrorCounts.from_csv(demo_csv())


def strong_attacks() -> ErrorCounts:
    """The artificial data of "strong attacks" in Fig. 3 of Yildirim et al. (2025): 10 bases, 1000 + 1000 challenges.

    >>> bdp.datasets.strong_attacks()
    ErrorCounts: 10 bases, 1000 + 1000 challenges each, design "repeated"
    """
    return ErrorCounts.from_csv(_path("strong_attacks.csv"))


def demo_csv() -> Path:
    """The CSV file behind `mnist_a4`.

    >>> bdp.ErrorCounts.from_csv(bdp.datasets.demo_csv())
    ErrorCounts: 20 bases, 100 + 100 challenges each, design "cross_fed"
    """
    return _path("mcmc_dp_est_a4_sigma0.1.csv")


def _path(name: str) -> Path:
    return Path(str(resources.files("bayes_dp.data") / "bundled" / name))

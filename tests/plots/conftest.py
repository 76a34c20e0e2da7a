"""What the tests of the figures share: posteriors to draw, axes to draw into, and no traces left in Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import bayes_dp as bdp
from bayes_dp.results.posterior import Posterior, Provenance, SampleMarginal


class Sampled(Posterior):
    """A posterior of draws only, in four chains: ε ~ Gamma(9, rate 3), s ~ Beta(2, 6), ρ ~ Normal(−0.1, 0.2)."""

    parameter = "epsilon"
    assumptions = ()
    warnings = ()

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        shape = (4, 5000)
        self.samples = {
            "epsilon": rng.gamma(9, 1 / 3, shape),
            "strength": rng.beta(2, 6, shape),
            "rho": rng.normal(-0.1, 0.2, shape),
        }
        self.marginals = {name: SampleMarginal.of(values) for name, values in self.samples.items()}
        self.diagnostics = {}
        priors = {"epsilon": "something of the user's own", "strength": "Beta(1, 1)"}
        self.provenance = Provenance("sampled", "", {"delta": 1e-5}, priors, {})

    def draws(self, size=4000, seed=0):
        return {name: values.ravel()[:size] for name, values in self.samples.items()}

    def rates(self, size=1000, seed=0):
        raise NotImplementedError

    def to_arviz(self):
        raise NotImplementedError

    def _answer(self, question):
        raise NotImplementedError

    def gaussian(self, prob=0.9):
        raise NotImplementedError

    def high_end(self, prob=0.9):
        raise NotImplementedError


@pytest.fixture(scope="session")
def sampled() -> Sampled:
    return Sampled()


@pytest.fixture(scope="session")
def exact() -> Posterior:
    return bdp.estimate(bdp.datasets.mnist_a4(), delta=1e-3)


@pytest.fixture(scope="session")
def of_delta() -> Posterior:
    return bdp.estimate(bdp.datasets.strong_attacks(), delta=1e-3).delta_at(1.0)


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(3.4, 2.6), layout="constrained").subplots()


@pytest.fixture(autouse=True)
def no_traces() -> Iterator[None]:
    mpl.get_backend()  # settles the entry "backend"
    before, open_before = mpl.rcParams.copy(), plt.get_fignums()
    yield
    assert mpl.rcParams == before
    assert plt.get_fignums() == open_before

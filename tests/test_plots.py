"""The figures show the numbers of the posterior, and leave Matplotlib's global state alone."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from scipy import stats

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.checks import InputError
from bayes_dp.result import Posterior, Provenance, SampleMarginal


class Sampled(Posterior):
    """A posterior that knows only draws: ε ~ Gamma(9, rate 3), s ~ Beta(2, 6)."""

    parameter = "epsilon"
    assumptions = ()
    warnings = ()

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.samples = {"epsilon": rng.gamma(9, 1 / 3, 20_000), "strength": rng.beta(2, 6, 20_000)}
        self.marginals = {name: SampleMarginal.of(values) for name, values in self.samples.items()}
        self.diagnostics = {}
        priors = {"epsilon": "something of the user's own", "strength": "Beta(1, 1)"}
        self.provenance = Provenance("sampled", "", {"delta": 1e-5}, priors, {})

    def draws(self, size=4000, seed=0):
        return {name: values[:size] for name, values in self.samples.items()}

    def rates(self, size=1000, seed=0):
        raise NotImplementedError

    def to_arviz(self):
        raise NotImplementedError


@pytest.fixture(scope="module")
def exact() -> Posterior:
    return bdp.estimate(bdp.datasets.mnist_a4(), delta=1e-3)


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


@pytest.fixture(autouse=True)
def no_traces() -> Iterator[None]:
    mpl.get_backend()  # settles the entry "backend"
    before = mpl.rcParams.copy()
    yield
    assert mpl.rcParams == before
    assert not plt.get_fignums()


def shaded(ax: Axes) -> np.ndarray:
    (area,) = ax.collections
    assert isinstance(area, PolyCollection)
    return area.get_paths()[0].vertices


def test_the_density_of_an_exact_posterior(exact: Posterior, ax: Axes):
    assert plots.posterior(exact, ax) is ax
    curve, prior = ax.get_lines()
    x, y = curve.get_data()
    np.testing.assert_allclose(y, exact.pdf(x))
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(prior.get_ydata(), stats.halfnorm.pdf(x, scale=np.sqrt(10)), rtol=1e-5)
    assert prior.get_linestyle() == "--"
    assert ax.get_xlim()[0] < exact.quantile(0.005)
    assert ax.get_xlim()[1] > exact.quantile(0.995)
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > y.max()


def test_the_shaded_interval(exact: Posterior, ax: Axes):
    plots.posterior(exact, ax, prob=0.5)
    low, high = exact.interval(0.5)
    outline = shaded(ax)
    assert (outline[:, 0].min(), outline[:, 0].max()) == pytest.approx((low, high))
    x, y = outline.T
    area = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
    assert area == pytest.approx(0.5, abs=1e-3)


def test_the_words(exact: Posterior, ax: Axes):
    plots.posterior(exact, ax, prob=0.95)
    low, high = exact.interval(0.95)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["posterior", f"95% interval, {low:.3g} to {high:.3g}", "prior"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ε", "density")
    assert ax.get_title() == "Posterior of ε given δ = 0.001"


def test_the_strength_starts_at_zero_where_it_is_near(exact: Posterior, ax: Axes):
    plots.posterior(exact, ax, "strength")
    assert ax.get_xlim()[0] == 0
    assert 0 < ax.get_xlim()[1] <= 1
    assert ax.get_xlabel() == "attack strength s"


def test_a_posterior_of_delta(ax: Axes):
    plots.posterior(bdp.estimate(bdp.datasets.strong_attacks(), delta=1e-3).delta_at(1.0), ax)
    assert ax.get_xlabel() == "δ"
    assert ax.get_title() == "Posterior of δ given ε = 1"


def test_draws_are_shown_as_a_histogram(ax: Axes):
    post = Sampled()
    plots.posterior(post, ax)
    (curve,) = ax.get_lines()  # and no prior, because its description cannot be read
    x, y = curve.get_data()
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    middle = (x[::2] + x[1::2]) / 2
    np.testing.assert_allclose(y[::2], stats.gamma.pdf(middle, 9, scale=1 / 3), atol=0.05)
    outline = shaded(ax)
    low, high = post.interval(0.9)
    assert (outline[:, 0].min(), outline[:, 0].max()) == pytest.approx((low, high))


def test_unknown_parameter(exact: Posterior, ax: Axes):
    with pytest.raises(InputError, match="no parameter 'mu'"):
        plots.posterior(exact, ax, "mu")


@pytest.mark.parametrize("sampled", [False, True])
def test_joint(exact: Posterior, ax: Axes, sampled: bool):
    post = Sampled() if sampled else exact
    assert plots.joint(post, ax) is ax
    (cells,) = ax.collections
    draws = post.draws(20_000)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    inside = (left < draws["epsilon"]) & (draws["epsilon"] < right)
    inside &= (bottom < draws["strength"]) & (draws["strength"] < top)
    assert inside.mean() > 0.98
    assert np.asarray(cells.get_array()).sum() == pytest.approx(inside.sum(), rel=0.02)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ε", "attack strength s")


def test_joint_needs_a_free_strength(ax: Axes):
    with pytest.raises(InputError, match="free attack strength"):
        plots.joint(bdp.estimate(bdp.datasets.strong_attacks(), delta=1e-3, strength=0.5), ax)


def test_joint_is_repeatable(exact: Posterior):
    first, again, other = (plots.joint(exact, Figure().subplots(), seed=seed).collections[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.get_array(), again.get_array())
    assert not np.array_equal(first.get_array(), other.get_array())


@pytest.mark.parametrize("plot", [plots.posterior, plots.joint])
def test_without_an_axis_a_figure_is_made(exact: Posterior, plot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plt, "subplots", lambda: (None, Figure().subplots()))
    assert isinstance(plot(exact), Axes)

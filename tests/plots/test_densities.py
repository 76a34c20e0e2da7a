"""The densities are those of the posterior and of its prior, and the numbers in the legends are theirs."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from scipy import stats

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.checks import InputError


def outline(ax, which=0):
    area = [c for c in ax.collections if isinstance(c, PolyCollection)][which]
    return area.get_paths()[0].vertices


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_density_of_an_exact_posterior(exact, ax):
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


def test_the_shaded_interval(exact, ax):
    plots.posterior(exact, ax, prob=0.5)
    low, high = exact.interval(0.5)
    x, y = outline(ax).T
    assert (x.min(), x.max()) == pytest.approx((low, high))
    area = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
    assert area == pytest.approx(0.5, abs=1e-3)


def test_the_words(exact, ax):
    plots.posterior(exact, ax, prob=0.95)
    low, high = exact.interval(0.95)
    assert words(ax) == ["posterior", f"95%: {low:.3g} to {high:.3g}", "prior"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ε", "density")
    assert ax.get_title() == "Posterior of ε given δ = 0.001"


def test_thresholds(exact, ax):
    plots.posterior(exact, ax, thresholds=[1.5, 9.0, 0.01])
    lines = ax.collections[1:]
    assert [line.get_segments()[0][0, 0] for line in lines] == [1.5, 9.0, 0.01]
    assert words(ax)[-3:] == [f"P(ε > 1.5) = {exact.prob_above(1.5):.3f}", "P(ε > 9) < 0.001", "P(ε > 0.01) > 0.999"]
    assert ax.get_xlim()[0] <= 0.01
    assert ax.get_xlim()[1] > 9.0
    assert len({line.get_linestyle()[0][1] and tuple(line.get_linestyle()[0][1]) for line in lines}) == 3


def test_one_threshold_as_a_number(exact, ax):
    plots.posterior(exact, ax, "strength", thresholds=0.1)
    assert words(ax)[-1] == f"P(s > 0.1) = {exact.prob_above(0.1, 'strength'):.3f}"


def test_the_strength_starts_at_zero_where_it_is_near(exact, ax):
    plots.posterior(exact, ax, "strength")
    assert ax.get_xlim()[0] == 0
    assert 0 < ax.get_xlim()[1] <= 1
    assert ax.get_xlabel() == "attack strength s"


def test_a_posterior_of_delta(of_delta, ax):
    plots.posterior(of_delta, ax)
    assert ax.get_xlabel() == "δ"
    assert ax.get_title() == "Posterior of δ given ε = 1"


def test_draws_are_shown_as_a_histogram(sampled, ax):
    plots.posterior(sampled, ax)
    (curve,) = ax.get_lines()  # and no prior, because its description cannot be read
    x, y = curve.get_data()
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    middle = (x[::2] + x[1::2]) / 2
    np.testing.assert_allclose(y[::2], stats.gamma.pdf(middle, 9, scale=1 / 3), atol=0.05)
    edges = outline(ax)[:, 0]
    assert (edges.min(), edges.max()) == pytest.approx(sampled.interval(0.9))


def test_a_parameter_that_may_be_negative(sampled, ax):
    plots.posterior(sampled, ax, "rho")
    assert ax.get_xlabel() == "ρ"
    assert ax.get_xlim()[0] < sampled.quantile(0.01, "rho") < 0
    assert ax.get_xlim()[1] > sampled.quantile(0.99, "rho")


@pytest.mark.parametrize("plot", [plots.posterior, plots.prior_posterior])
def test_unknown_parameter(exact, ax, plot):
    with pytest.raises(InputError, match="no parameter 'mu'"):
        plot(exact, ax, "mu")
    assert not ax.lines


@pytest.mark.parametrize("parameter", ["epsilon", "strength"])
def test_prior_and_posterior(exact, ax, parameter):
    assert plots.prior_posterior(exact, ax, parameter, prob=0.8) is ax
    law = {"epsilon": stats.halfnorm(scale=np.sqrt(10)), "strength": stats.uniform()}[parameter]
    after, bar, dot, before, prior_bar, prior_dot, _ = ax.get_lines()
    np.testing.assert_allclose(after.get_ydata(), exact.pdf(after.get_xdata(), parameter))
    np.testing.assert_allclose(before.get_ydata(), law.pdf(before.get_xdata()), rtol=1e-5)
    assert bar.get_xdata() == pytest.approx(exact.interval(0.8, parameter=parameter))
    assert dot.get_xdata() == pytest.approx(exact.quantile([0.5], parameter))
    assert prior_bar.get_xdata() == pytest.approx(law.ppf([0.1, 0.9]), abs=2e-3)
    assert prior_dot.get_xdata() == pytest.approx(law.ppf([0.5]), abs=2e-3)
    left, right = ax.get_xlim()
    assert left <= law.ppf(0.003)
    assert right >= law.ppf(0.969)
    low, high = exact.interval(0.8, parameter=parameter)
    assert words(ax)[0] == f"posterior, 80%: {low:.3g} to {high:.3g}"
    assert after.get_linestyle() != before.get_linestyle()
    assert min(ax.get_yticks()) >= 0


def test_a_prior_of_the_users_own_has_its_quantiles(ax):
    post = bdp.estimate(bdp.ErrorCounts(5, 20, 9, 20), 1e-3, prior_epsilon="Gamma(2, 1)", strength=0.3)
    plots.prior_posterior(post, ax)
    assert ax.get_lines()[4].get_xdata() == pytest.approx(stats.gamma(2).ppf([0.05, 0.95]), abs=5e-3)


def test_a_prior_that_cannot_be_read_cannot_be_drawn(sampled, ax):
    with pytest.raises(InputError, match="the prior of epsilon cannot be drawn"):
        plots.prior_posterior(sampled, ax)


def test_joint_of_draws(sampled, ax):
    assert plots.joint(sampled, ax) is ax
    (cells,) = ax.collections
    draws = sampled.draws(20_000)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    inside = (left < draws["epsilon"]) & (draws["epsilon"] < right)
    inside &= (bottom < draws["strength"]) & (draws["strength"] < top)
    assert inside.mean() > 0.98
    assert np.asarray(cells.get_array()).sum() == pytest.approx(inside.sum(), rel=0.02)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("ε", "attack strength s")


def test_the_marginals_of_the_joint_posterior(exact, ax):
    plots.joint(exact, ax)
    above, beside = ax.child_axes
    assert above.get_xlim() == ax.get_xlim()
    assert beside.get_ylim() == ax.get_ylim()
    for panel, name, across in ((above, "epsilon", 0), (beside, "strength", 1)):
        points = outline(panel)
        values, heights = points[:, across], points[:, 1 - across]
        on_curve = heights > 0
        np.testing.assert_allclose(heights[on_curve], exact.pdf(values[on_curve], name))


def test_joint_needs_a_free_strength(ax):
    with pytest.raises(InputError, match="free attack strength"):
        plots.joint(bdp.estimate(bdp.datasets.strong_attacks(), delta=1e-3, strength=0.5), ax)


def test_joint_is_repeatable(sampled, ax):
    first, again = (plots.joint(sampled, ax.figure.add_subplot()).collections[0] for _ in range(2))
    np.testing.assert_array_equal(first.get_array(), again.get_array())


def test_two_posteriors_on_one_axes(ax, exact):
    """Both curves are whole, each with its own name and colour; a prior that they share is there once."""
    wide = bdp.estimate(bdp.ErrorCounts(3, 20, 2, 20), delta=1e-3)
    shared = bdp.estimate(bdp.ErrorCounts(3, 20, 2, 20), delta=1e-2, prior_epsilon="HalfNormal(1)")
    plots.posterior(exact, ax)
    narrow = ax.get_xlim(), ax.get_ylim()
    plots.posterior(wide, ax)
    plots.posterior(shared, ax, label="few runs", color="purple", thresholds=1.0)
    curves = {line.get_label(): line for line in ax.get_lines()}
    assert next(iter(curves)) == "posterior"
    assert set(curves) == {"posterior", "posterior 2", "few runs", "prior", "prior of few runs"}
    assert len({curves[name].get_color() for name in ("posterior", "posterior 2", "few runs", "prior")}) == 4
    assert curves["few runs"].get_color() == curves["prior of few runs"].get_color() == "purple"
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert right > narrow[0][1]
    for line in curves.values():
        x, y = line.get_data()
        assert left <= x.min()
        assert x.max() <= right
        if not line.get_label().startswith("prior"):
            assert bottom <= y.min()
            assert y.max() <= top
            assert y[-1] < 0.1 * y.max()  # not cut off at its end
    assert curves["prior"].get_xdata()[-1] > 0.99 * narrow[0][1]
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(words) == len(set(words))
    assert ax.get_title() == "Posterior of ε"


def test_the_wrong_thing_is_named(ax, exact):
    """Counts, or a bound, where a posterior is needed: a sentence."""
    counts = bdp.ErrorCounts(3, 20, 2, 20)
    calls = (
        plots.posterior, plots.prior_posterior, plots.joint, plots.tradeoff, lambda post: plots.roc_plane(post=post)
    )  # fmt: skip
    for call in calls:
        for wrong in (counts, "counts.csv", 3.0, None, bdp.audits.katz(counts, 0.0)):
            if wrong is None and call is calls[-1]:
                continue
            with pytest.raises(InputError, match=f"post must be a posterior, as .* not {type(wrong).__name__}"):
                call(wrong)
    for wrong, message in (
        ({"label": 3}, "label must be text, not 3"),
        ({"color": "no colour"}, "color must be a colour as Matplotlib writes it, not 'no colour'"),
        ({"parameter": ["epsilon"]}, "this posterior has no parameter"),
        ({"thresholds": [[1.0]]}, r"thresholds must be a number or numbers in a row, not of the shape \(1, 1\)"),
    ):
        with pytest.raises(InputError, match=message):
            plots.posterior(exact, ax, **wrong)
    with pytest.raises(InputError, match="others must be a mapping"):
        plots.tradeoff(exact, ax, others=[bdp.tradeoff.Gaussian(1.0)])
    with pytest.raises(InputError, match="others must have trade-off functions by their names, not 'mine': 3"):
        plots.tradeoff(exact, ax, others={"mine": 3})

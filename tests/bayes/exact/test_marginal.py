"""The marginal likelihood of a base against golden values, a slow obvious twin, and its own limits."""

import json
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import stats

from bayes_dp import region
from bayes_dp.bayes.exact.corner_tables import CornerTable
from bayes_dp.bayes.exact.marginal import MarginalLikelihood

# ε, s, δ, X, N0, Y, N1 -> log L (mpmath, 15 digits)
GOLDEN = [
    (1.2, 0.5, 0.01, 40, 100, 40, 100, -10.0061334563814),
    (3.0, 0.7, 0.01, 100, 1000, 250, 1000, -13.5947846152465),
    (3.0, 0.7, 0.01, 110, 1000, 100, 1000, -11.8778083482337),
    (0.5, 0.3, 0.0, 200, 500, 200, 500, -10.7681321337284),
    (0.5, 0.99, 0.0, 200, 500, 200, 500, -10.6675145305385),
    (2.0, 0.9, 1e-05, 5, 50, 20, 60, -6.65592336009581),
    (4.0, 0.1, 0.001, 0, 100, 0, 100, -12.590726144703),
    (6.0, 0.5, 0.001, 0, 100, 3, 100, -7.06404015315214),
]


def likelihood(*bases):
    return MarginalLikelihood(*np.array(bases, dtype=np.int64).reshape(-1, 4).T)


def log_likelihood(base, epsilon, s, delta):
    total = likelihood(base).total(np.array([epsilon]), np.array([delta]), np.array([[s]]))
    return float(total[0, 0])


def slow_log_likelihood(base, epsilon, s, delta):
    """The definition: ∫ p(α) P[β in the slice of the layer] dα, by Gauss-Legendre between its kinks."""
    x, n0, y, n1 = base
    a, b = stats.beta(x + 1, n0 - x + 1), stats.beta(y + 1, n1 - y + 1)

    def slice_mass(t):
        (lo_out, hi_out), (lo_in, hi_in) = (
            (region.lower(t, e, d), 1 - region.lower(1 - t, e, d))
            for e, d in ((epsilon, delta), (s * epsilon, s * delta))
        )
        return np.exp(a.logpdf(t)) * (b.cdf(lo_in) - b.cdf(lo_out) + b.sf(hi_in) - b.sf(hi_out))

    corners = [float(region.corner(e, d)) for e, d in ((epsilon, delta), (s * epsilon, s * delta))]
    breaks = [0, *corners, *(1 - c for c in corners), delta, 1 - delta, s * delta, 1 - s * delta, 1]
    breaks = np.unique(np.clip([*breaks, *a.ppf([1e-12, 1e-4, 0.02, 0.3, 0.7, 0.98, 1 - 1e-4, 1 - 1e-12])], 0, 1))
    breaks = np.unique(np.concatenate([np.linspace(p, q, 7) for p, q in pairwise(breaks)]))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    length = np.diff(breaks)[:, None]
    mass = (slice_mass(breaks[:-1, None] + length * (0.5 + 0.5 * nodes)) * 0.5 * weights * length).sum()
    return np.log(mass) - np.log((n0 + 1) * (n1 + 1)) - float(region.log_layer_area(epsilon, delta, s))


@pytest.mark.parametrize("row", GOLDEN)
def test_golden(row):
    epsilon, s, delta, *base, expected = row
    assert log_likelihood(base, epsilon, s, delta) == pytest.approx(expected, abs=1e-9)


@pytest.mark.skipif("BAYES_DP_GOLDEN" not in os.environ, reason="BAYES_DP_GOLDEN names no folder of golden values")
def test_golden_file():
    for row in json.loads((Path(os.environ["BAYES_DP_GOLDEN"]) / "loglik.json").read_text()):
        base = [row[key] for key in ("X", "N0", "Y", "N1")]
        found = log_likelihood(base, row["eps"], row["s"], row["delta"])
        assert found == pytest.approx(float(row["loglik"]), abs=1e-9)


@settings(max_examples=150, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    n0=st.integers(1, 300),
    n1=st.integers(1, 300),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    epsilon=st.floats(0.05, 6),
    s=st.floats(0, 0.98),
    delta=st.sampled_from([0.0, 1e-5, 0.01, 0.2]),
)
def test_agrees_with_the_definition(n0, n1, share, epsilon, s, delta):
    base = (round(share[0] * n0), n0, round(share[1] * n1), n1)
    expected = slow_log_likelihood(base, epsilon, s, delta)
    if expected > -25:  # beyond, the twin loses its digits
        assert log_likelihood(base, epsilon, s, delta) == pytest.approx(expected, abs=1e-8)  # 4e-9 is seen at N = 1


def test_the_likelihoods_of_all_counts_sum_to_one():
    """For any ε, s and δ; here with N0 = N1 = 12."""
    counts = [(x, 12, y, 12) for x in range(13) for y in range(13)]
    for epsilon, s, delta in ((1.0, 0.4, 0.0), (3.0, 0.9, 0.01), (0.1, 0.0, 0.3)):
        found = [log_likelihood(c, epsilon, s, delta) for c in counts]
        assert np.exp(found).sum() == pytest.approx(1.0, abs=1e-9)


def test_four_images_of_a_base_have_the_same_likelihood():
    for epsilon, s, delta in ((2.0, 0.5, 0.01), (0.7, 0.9, 0.0)):
        images = [(10, 100, 25, 80), (25, 80, 10, 100), (90, 100, 55, 80), (55, 80, 90, 100)]
        found = [log_likelihood(image, epsilon, s, delta) for image in images]
        np.testing.assert_allclose(found, found[0], atol=1e-10)


def test_equal_bases_count_as_often_as_they_occur():
    base = (10, 100, 25, 80)
    epsilon, delta, s = np.array([1.5]), np.array([0.01]), np.array([[0.3, 0.8]])
    once = likelihood(base).total(epsilon, delta, s)
    np.testing.assert_allclose(likelihood(base, base, base).total(epsilon, delta, s), 3 * once, rtol=1e-14)


@pytest.mark.parametrize("row", GOLDEN)
def test_the_tight_limit_is_approached_linearly(row):
    epsilon, _, delta, *base, _ = row
    model = likelihood(base)
    args = np.array([epsilon]), np.array([delta])
    tight = model.total_tight(*args)[0]
    gaps = model.total(*args, 1 - np.array([[1e-3, 1e-4, 1e-5, 1e-8]]))[0] - tight
    assert abs(gaps[-1]) < 1e-6
    np.testing.assert_allclose(gaps[0] / gaps[1], 10, rtol=0.05)
    np.testing.assert_allclose(gaps[1] / gaps[2], 10, rtol=0.05)


def test_the_tight_limit_is_the_boundary_integral():
    """lim L = ∮ p_a p_b dw / ∮ dw, over the boundary points drawn by the local width of the layer."""
    base, epsilon, delta = (30, 100, 20, 90), 1.8, 0.02
    points = region.sample_boundary(epsilon, delta, 200_000, np.random.default_rng(5))
    x, n0, y, n1 = base
    density = stats.binom.pmf(x, n0, points[:, 0]) * stats.binom.pmf(y, n1, points[:, 1])
    found = likelihood(base).total_tight(np.array([epsilon]), np.array([delta]))[0]
    error = density.std() / density.mean() / np.sqrt(len(density))
    assert found == pytest.approx(np.log(density.mean()), abs=4 * error)


def test_a_base_far_outside_keeps_relative_accuracy():
    """ε = 0.2 while the counts say 3: log L = -800 and beyond is smooth and decreasing, not -inf or noise."""
    epsilon = np.linspace(0.05, 2.5, 60)
    found = likelihood((50, 1000, 50, 1000)).total(epsilon, np.full(60, 0.001), np.full((60, 1), 0.3))[:, 0]
    assert np.isfinite(found).all()
    assert found[0] < -700
    assert (np.diff(found) > 0).all()
    assert np.abs(np.diff(found, n=3)).max() < 1.0


@pytest.mark.parametrize(
    "base",
    [(0, 1, 0, 1), (1, 1, 1, 1), (0, 1, 1, 1), (0, 100, 0, 100), (100, 100, 100, 100), (0, 100, 100, 100)]
    + [(5_000_000, 10**7, 0, 10**7), (10**7, 10**7, 10**7, 10**7), (0, 10**7, 0, 10**7), (10, 10**7, 3, 5)],
)
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-5, 0.5, 0.999])
def test_extremes_are_finite(base, delta):
    epsilon = np.array([1e-8, 1e-3, 0.1, 1.0, 10.0, 100.0, 700.0])
    s = np.tile([0.0, 1e-9, 0.3, 0.999, 1 - 1e-9], (len(epsilon), 1))
    model = likelihood(base)
    assert np.isfinite(model.total(epsilon, np.full(len(epsilon), delta), s)).all()
    assert np.isfinite(model.total_tight(epsilon, np.full(len(epsilon), delta))).all()


@pytest.mark.parametrize(("trials", "delta"), [(20, 0.3), (100, 1e-3), (1000, 0.01), (1000, 0.0), (10**5, 1e-3)])
def test_the_table_agrees_with_the_integrals(trials, delta):
    rng = np.random.default_rng(11)
    x, y = rng.binomial(trials, rng.beta(1, 3, (2, 12)))
    x[0], y[0], x[1], y[1] = 0, 0, trials, trials // 2
    model = MarginalLikelihood(x, np.full(12, trials), y, np.full(12, trials))
    table = CornerTable(model, delta, 25.0)
    epsilon = np.exp(rng.uniform(-3, 3, 25))
    s = rng.uniform(0, 0.98, (25, 20))
    args = epsilon, np.full(25, delta), s
    exact, quick = model.total(*args), model.total(*args, table)
    near = exact > exact.max() - 60
    assert np.abs(quick - exact)[near].max() < 1e-5
    far = ~near
    assert (np.abs(quick - exact)[far] < 1e-2 * np.abs(exact)[far] + 1e-3).all()


@pytest.mark.parametrize(("trials", "delta"), [(10, 0.3), (100, 1e-3), (1000, 0.0), (10**5, 1e-3)])
def test_the_table_of_a_thin_layer(trials, delta):
    """Where nearly all digits of the difference of the corners cancel, the table knows its slope."""
    x, y = np.array([[0, 1, trials // 5, trials // 3], [0, trials // 4, trials // 10, trials // 2]])
    model = MarginalLikelihood(x, np.full(4, trials), y, np.full(4, trials))
    epsilon = np.append(np.geomspace(0.05, 20.0, 12), np.abs(model.levels()[0][0, 0]))
    strength = np.tile(1 - np.geomspace(1e-2, 1e-11, 10), (len(epsilon), 1))
    args = epsilon, np.full(len(epsilon), delta), strength
    exact, quick = model.total(*args), model.total(*args, CornerTable(model, delta, 25.0))
    assert np.abs(quick - exact)[exact > exact.max() - 60].max() < 2e-5


SHARP = [  # false positives of, false negatives of, δ
    (5 * 10**7, 10**8, 5 * 10**7, 10**8, 0.5),
    (10**7, 10**8, 85 * 10**6, 10**8, 0.1),
    (3 * 10**5, 10**6, 6 * 10**5, 10**6, 0.9),
    (28_240, 41_077, 662_492, 2_133_397, 0.39),
    (2, 2, 30_898_960, 32_056_317, 0.7),
]


@pytest.mark.parametrize(("x", "n0", "y", "n1", "delta"), SHARP)
def test_the_table_of_a_base_that_is_sharp_in_delta(x, n0, y, n1, delta):
    """Many challenges and a large δ: the layer passes the base within a thousandth of the range of sδ."""
    model = MarginalLikelihood(*(np.array([value]) for value in (x, n0, y, n1)))
    epsilon = np.array([1e-9, 1e-4, 1e-3, 0.1, 0.5, 2.0, 12.0])
    args = epsilon, np.full(7, delta), np.tile(np.append(np.geomspace(1e-9, 0.5, 25), [0.7, 0.9]), (7, 1))
    exact, quick = model.total(*args), model.total(*args, CornerTable(model, delta, 12.0))
    assert np.abs(quick - exact)[exact > exact.max() - 15].max() < 1e-4

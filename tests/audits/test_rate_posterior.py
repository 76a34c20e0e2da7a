"""The posterior of one attack's ε: golden values, a Monte Carlo twin, and all sizes of counts."""

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from bayes_dp import region
from bayes_dp.audits.rate_posterior import JointBeta

# X, N0, Y, N1, δ, ε -> P[ε ≤ that]
CDF = [
    ((10, 100, 20, 100, 1e-5, 1.0), 2.171607238822705e-06),
    ((10, 100, 20, 100, 1e-5, 2.0), 0.41574844142806316),
    ((0, 50, 3, 50, 0.0, 2.0), 4.226411996466043e-05),
    ((5, 20, 18, 20, 0.01, 0.2), 0.14023874800197036),
    ((5, 20, 18, 20, 0.0, 0.0), 0.0),
    ((5, 20, 18, 20, 0.01, 0.0), 0.03152362880985454),
    ((0, 100, 50, 100, 1e-5, 4.0), 0.17593745388921844),
]


@pytest.mark.parametrize(("given", "expected"), CDF)
def test_cdf(given, expected):
    assert JointBeta(*given[:-1]).cdf(given[-1]) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_quantiles():
    assert JointBeta(0, 100, 50, 100, 1e-5).quantile(0.05) == pytest.approx(3.2592389551332643, rel=1e-8)
    assert JointBeta(10, 20, 10, 20, 0.05).quantile(0.05) == 0.0


def test_against_another_package():
    """TP 487, TN 1, FP 512, FN 0 at δ = 1e-5: the test vector of privacy-estimates, .145 to 6.399."""
    posterior = JointBeta(512, 513, 0, 487, 1e-5)
    assert posterior.quantile(0.05) == pytest.approx(0.145, abs=2e-3)
    assert posterior.quantile(0.95) == pytest.approx(6.399, abs=0.02)


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.4])
@pytest.mark.parametrize("prior", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("base", [(3, 10, 4, 12), (0, 5, 0, 5), (9, 10, 11, 12), (0, 1, 1, 1), (400, 1000, 20, 50)])
def test_against_simulation(base, delta, prior):
    x, n0, y, n1 = base
    posterior = JointBeta(x, n0, y, n1, delta, prior)
    rng = np.random.default_rng(1)
    alpha = rng.beta(x + prior, n0 - x + prior, 200_000)
    beta = rng.beta(y + prior, n1 - y + prior, 200_000)
    levels = region.level(alpha, beta, delta)
    for epsilon in (0.0, 0.2, 1.0, 3.0):
        p = posterior.cdf(epsilon)
        assert np.mean(levels <= epsilon) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 200_000) + 1e-5)


@pytest.mark.parametrize("base", [(3, 10, 4, 12), (0, 6, 1, 5)])
def test_against_multiple_precision(base):
    x, n0, y, n1 = base
    a0, b0, a1, b1 = (mp.mpf(v) + 0.5 for v in (x, n0 - x, y, n1 - y))
    epsilon, delta = mp.mpf("1.3"), mp.mpf("0.02")

    def below(p, q, t):
        return mp.betainc(p, q, 0, min(max(t, 0), 1), regularized=True)

    def edge(t):
        return max(0, 1 - delta - mp.exp(epsilon) * t, mp.exp(-epsilon) * (1 - delta - t))

    def integrand(t):
        density = t ** (a0 - 1) * (1 - t) ** (b0 - 1) / mp.beta(a0, b0)
        return density * (below(a1, b1, 1 - edge(1 - t)) - below(a1, b1, edge(t)))

    kink = (1 - delta) / (1 + mp.exp(epsilon))
    whole = mp.quad(integrand, [0, 1e-6, kink / 2, kink, 1 - delta - 1e-6, 1 - kink, 1 - kink / 2, 1 - 1e-6, 1])
    assert JointBeta(*base, 0.02).cdf(1.3) == pytest.approx(float(whole), rel=1e-7)


def test_quantile_inverts_the_cdf_for_all_sizes():
    rng = np.random.default_rng(0)
    for _ in range(150):
        n0, n1 = (int(10 ** rng.uniform(0, 7)) for _ in range(2))
        x, y = (int(rng.integers(0, n + 1) if rng.random() < 0.5 else rng.choice([0, n])) for n in (n0, n1))
        posterior = JointBeta(x, n0, y, n1, float(rng.choice([0.0, 1e-5, 0.01, 0.3])))
        last = 0.0
        for p in (0.001, 0.05, 0.5, 0.95, 0.999):
            epsilon = posterior.quantile(p)
            assert last <= epsilon < 60
            assert posterior.cdf(epsilon) == pytest.approx(p, abs=1e-9) or (epsilon == 0 and posterior.cdf(0.0) >= p)
            last = epsilon


def test_the_density_is_the_slope():
    posterior = JointBeta(3, 10, 4, 12, 0.01)
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        slope = (posterior.cdf(epsilon + 1e-5) - posterior.cdf(epsilon - 1e-5)) / 2e-5
        assert posterior._at(epsilon)[2] == pytest.approx(slope, rel=1e-6)


def test_shrinks_to_the_truth():
    posterior = JointBeta(10**6, 10**7, 2 * 10**6, 10**7, 0.0)
    truth = region.level(0.1, 0.2, 0.0)
    spread = stats.norm.ppf(0.975) * np.sqrt(0.9 / 10**6 + 0.2 / 0.8 / 10**7)
    assert posterior.quantile(0.975) - posterior.quantile(0.025) == pytest.approx(2 * spread, rel=0.01)
    assert posterior.quantile(0.5) == pytest.approx(truth, abs=1e-4)

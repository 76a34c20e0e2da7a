"""Questions far out: priors on scales from 1e-300 to 1e300, one to 1e8 challenges, counts at their ends."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.exact.posterior import exact

LEVELS = [0.05, 0.5, 0.95]
LAWS = {"Uniform(0, {})": stats.uniform(), "HalfNormal({})": stats.halfnorm()}


def ask(text, scale, trials, errors, delta, strength):
    counts = bdp.ErrorCounts([errors[0] * trials // 2], trials, [errors[1] * trials // 2], trials)
    return exact(counts, delta, prior_epsilon=text.format(f"{scale:.0e}"), strength=strength)


def check_against_the_prior(text, scale, trials, errors, delta, strength):
    """Far below 1/sqrt(N) the likelihood of ε is flat, unless δ is as small: the posterior is the prior."""
    post = ask(text, scale, trials, errors, delta, strength)
    expected = LAWS[text].ppf(LEVELS) * scale
    np.testing.assert_allclose(post.quantile(LEVELS), expected, rtol=2e-3 + 5 * scale * trials)
    assert post.diagnostics["relative_error"] < 1e-3


CORE = [
    ("Uniform(0, {})", 1e-10, 10**8, (1, 1), 1e-5, "free"),
    ("Uniform(0, {})", 1e-300, 100, (0, 2), 1e-5, 0.5),
    ("Uniform(0, {})", 1e-40, 1, (0, 0), 0.0, "tight"),
    ("HalfNormal({})", 1e-40, 10, (0, 0), 0.0, "free"),
    ("HalfNormal({})", 1e-40, 10**4, (1, 1), 0.5, 0.5),
    ("HalfNormal({})", 1e-300, 10, (1, 2), 1e-5, "free"),
    ("HalfNormal({})", 1e-12, 10**4, (2, 0), 0.999999, "tight"),
    ("Uniform(0, {})", 1e-300, 1, (1, 1), 0.0, "tight"),
    ("Uniform(0, {})", 1e-40, 10**6, (1, 1), 0.5, "free"),  # where the strength decides alone
]


@pytest.mark.parametrize("question", CORE, ids=str)
def test_a_prior_too_small_for_the_counts_to_tell(question):
    check_against_the_prior(*question)


@pytest.mark.parametrize("strength", ["free", pytest.param(0.5, marks=pytest.mark.slow), "tight"])
@pytest.mark.parametrize("delta", [1e-5, 0.1])
def test_counts_that_contradict_the_prior_beyond_the_digits_are_refused(delta, strength):
    with pytest.raises(bdp.InputError, match=r"base 0 contradict the prior of epsilon: .* has digits for e\^-1e\+06"):
        ask("Uniform(0, {})", 1e-10, 10**8, (0, 0), delta, strength)


def test_depth_within_the_digits_is_part_of_the_error():
    """e^-14000: the evidence is known to 4e-5, and says so."""
    post = ask("Uniform(0, {})", 1e-6, 10**4, (0, 0), 0.0, 0.0)
    assert 1e-5 < post.diagnostics["relative_error"] < 1e-4
    np.testing.assert_allclose(post.quantile(LEVELS), 1e-6 * np.array(LEVELS), rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e-12])
@pytest.mark.parametrize("trials", [1, 10**4, 10**8])
def test_the_battery(scale, trials):
    errors = [(0, 0), (1, 1), (2, 2), (0, 2)]
    for text, pair, delta, strength in itertools.product(
        LAWS, errors, (0.0, 1e-5, 0.5, 0.999999), ("free", 0.5, "tight")
    ):
        if pair in [(0, 0), (2, 2)] and trials == 10**8:
            continue  # all refused, after a long search
        if trials == 10**8 and delta >= 0.5 and strength != "free":
            with pytest.raises(bdp.InputError, match="contradict the prior"):
                ask(text, scale, trials, pair, delta, strength)
            continue
        check_against_the_prior(text, scale, trials, pair, delta, strength)


def test_a_strength_far_below_a_large_delta():
    """Many challenges on the line α + β = 1, where only s of about 1e-4 is possible: against a plain grid."""
    counts, delta = bdp.ErrorCounts([10**8 // 2], 10**8, [10**8 // 2], 10**8), 0.5
    post = bdp.estimate(counts, delta)
    epsilon, s = (np.arange(120) + 0.5) / 10, (np.arange(150) + 0.5) * 2e-6
    model = MarginalLikelihood(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    log_density = model.total(epsilon, np.full(120, delta), np.tile(s, (120, 1))) - epsilon[:, None] ** 2 / 20
    weight = np.exp(log_density - log_density.max())
    for name, at, axis in (("epsilon", epsilon, 1), ("strength", s, 0)):
        share = np.cumsum(weight.sum(axis=axis)) / weight.sum()
        edges = at + (at[1] - at[0]) / 2
        np.testing.assert_allclose(post.marginals[name].cdf(edges[::10]), share[::10], atol=3e-3)


@pytest.mark.parametrize(("low", "high"), [(40, 1e4), (1e5, 1e8)])
def test_priors_far_beyond_the_data(low, high):
    """There the likelihood of ε falls like 1/ε, as only strengths below a level over ε explain the counts."""
    counts = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100)
    post = exact(counts, 1e-3, prior_epsilon=f"Uniform({low}, {high})")
    np.testing.assert_allclose(post.quantile(LEVELS), low * (high / low) ** np.array(LEVELS), rtol=5e-3)


def test_strengths_that_cannot_be_followed_are_refused():
    with pytest.raises(bdp.InputError, match="100% of the posterior lies at epsilon > 1e"):
        exact(bdp.ErrorCounts([12], 100, [55], 100), 1e-3, prior_epsilon="Uniform(1e100, 1e200)")


@pytest.mark.slow
def test_ten_thousand_bases_in_less_than_two_gigabytes():
    program = """if True:
        import resource
        import numpy as np
        import bayes_dp as bdp
        rates = bdp.region.sample(2.0, 1e-3, 0.6, 10_000, np.random.default_rng(0))
        fp, fn = np.rint(10**4 * rates).astype(int).T  # no draws of binomial laws, which differ with NumPy's version
        post = bdp.estimate(bdp.ErrorCounts(fp, 10**4, fn, 10**4), 1e-3)
        post.rates(50)
        print(post.log_evidence, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    """
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=1800)
    log_evidence, kilobytes = map(float, found.stdout.split())
    assert log_evidence == pytest.approx(-169623.5391, abs=1e-3)
    assert kilobytes < 2e6

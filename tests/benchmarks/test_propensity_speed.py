"""How long propensities and their bootstrap take: `make bench`."""

import os
import time

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_dp.attacks.scores import Bonferroni
from bayes_dp.propensity import bootstrap, falsify, fit
from bayes_dp.propensity.cross_fitting import Classifier
from bayes_dp.support.workers import one_thread

NUMBERS = Bonferroni([25, 50, 100, 200, 500, 1000])  # the abstentions of the Zero-Run paper


def audited(n, d):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    truth = expit(x @ rng.normal(size=d) / np.sqrt(d))
    member = rng.random(n) < truth
    return x, member, rng.normal(size=n) + member + truth


def check(benchmark, limit):
    if benchmark.enabled:
        assert benchmark.stats.stats.min < limit


def sized(benchmark, n):
    """So many examples where they are timed; otherwise a few that take the same way."""
    return n if benchmark.enabled else 1000


def test_cross_fitting(benchmark):
    x, member, _ = audited(sized(benchmark, 100_000), 50)
    benchmark.pedantic(fit, args=(x, member), rounds=1)
    check(benchmark, 60.0)


def test_falsification(benchmark):
    x, member, _ = audited(sized(benchmark, 100_000), 50)
    pi = fit(x, member)
    benchmark.pedantic(falsify, args=(pi,), rounds=1)
    check(benchmark, 60.0)


@pytest.mark.parametrize(
    "settings", [{}, {"family": "gaussian"}, {"delta": 1e-5}], ids=["epsilon", "gaussian", "epsilon at a delta"]
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_bootstrap(benchmark, jobs, settings):
    """K = 600 for m = 10 000 examples with 50 features and six numbers of guesses; a second job has to start first."""
    x, member, score = audited(sized(benchmark, 10_000), 50)
    pi = fit(x, member)
    replicates = 600 if benchmark.enabled else 39
    given = {"choice": NUMBERS, "replicates": replicates, "n_jobs": jobs, **settings}
    benchmark.pedantic(bootstrap, args=(pi, score), kwargs=given, rounds=1)
    benchmark.extra_info["cores"] = os.cpu_count()
    check(benchmark, 15.0)


def test_ratio_to_scikit_learn(benchmark):
    """Cross-fitting by Newton's method and by scikit-learn: the same propensities."""
    x, member, _ = audited(sized(benchmark, 10_000), 50)
    origin = fit(x, member).origin
    peer = Classifier(make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=1000)), "platt")

    def seconds(function, *arguments):
        with one_thread():
            start = time.perf_counter()
            return function(*arguments).values, time.perf_counter() - start

    ours = benchmark.pedantic(seconds, args=(origin.learner.fit, origin.task), rounds=3)
    theirs = seconds(peer.fit, origin.task)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-5)
    benchmark.extra_info["ratio"] = theirs[1] / ours[1]
    if benchmark.enabled:
        print(f"{1e3 * ours[1]:.0f} ms, {theirs[1] / ours[1]:.1f} times as fast as scikit-learn")
        assert theirs[1] / ours[1] > 1.5

"""Evidences of families, the average over them, and what they say."""

import json

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp

COUNTS = bdp.ErrorCounts([10, 30], [100, 100], [20, 5], [100, 100])


@pytest.fixture(scope="module")
def found():
    return bdp.compare_families(COUNTS, 1e-3)


def test_evidences_and_weights(found):
    assert list(found.posteriors) == ["approx", "gaussian", "laplace"]
    for name, post in found.posteriors.items():
        family = {} if name == "approx" else {"family": name}
        assert found.log_evidence[name] == pytest.approx(bdp.estimate(COUNTS, 1e-3, **family).log_evidence, abs=1e-9)
        assert post.interval() == bdp.estimate(COUNTS, 1e-3, **family).interval()
    weights = found.weights
    assert sum(weights.values()) == pytest.approx(1.0)
    ratio = np.log(weights["gaussian"] / weights["approx"])
    assert ratio == pytest.approx(found.log_evidence["gaussian"] - found.log_evidence["approx"])
    assert found.best == max(weights, key=weights.get)


def test_published_evidences():
    """The values of the bundled data, and of a set of strong attacks, to two digits."""
    strong = bdp.compare_families(bdp.datasets.strong_attacks(), 1e-3, ["approx", "gaussian"])
    assert [round(value, 2) for value in strong.log_evidence.values()] == [-123.46, -114.98]
    assert strong.told
    assert strong.said == "The counts favour the family 'gaussian'."
    a4 = bdp.compare_families(bdp.datasets.mnist_a4(), 1e-3, ["approx", "gaussian"])
    assert a4.log_evidence["gaussian"] == pytest.approx(-186.01, abs=0.02)
    assert a4.log_evidence["approx"] == pytest.approx(-184.35, abs=0.01)
    assert not a4.told
    assert "do not tell which of the families approx, gaussian is right, under which ε is anywhere from 1.27" in a4.said


def test_with_one_base_no_family_is_told():
    for counts in (bdp.ErrorCounts(10, 100, 20, 100), bdp.ErrorCounts(0, 10, 0, 10), bdp.ErrorCounts(5, 10, 5, 10)):
        assert not bdp.compare_families(counts, 1e-3).told


def test_within(found):
    assert list(found.within(1e9)) == list(found.posteriors)
    assert list(found.within(0.0)) == [found.best]


def test_in_words_and_as_json(found, tmp_path):
    text = str(found)
    assert "log evidence" in text
    assert found.said in text
    found.to_json(tmp_path / "families.json")
    content = json.loads((tmp_path / "families.json").read_text())
    assert content["format"] == "bayes-dp/families/1"
    assert [row["family"] for row in content["families"]] == list(found.posteriors)
    assert content["known"] == {"delta": 1e-3}


def test_the_average_is_the_mixture(found):
    average, rng = found.average, np.random.default_rng(0)
    draws = np.concatenate(
        [
            rng.choice(post.draws(60_000, seed=7)["epsilon"], int(60_000 * found.weights[name]))
            for name, post in found.posteriors.items()
        ]
    )
    probability = [0.05, 0.25, 0.5, 0.75, 0.95]
    assert average.quantile(probability) == pytest.approx(np.quantile(draws, probability), rel=0.03)
    assert average.mean == pytest.approx(draws.mean(), rel=0.02)
    assert average.sd == pytest.approx(draws.std(), rel=0.03)
    for value in (2.0, 5.0, 20.0):
        wanted = sum(found.weights[name] * post.prob_above(value) for name, post in found.posteriors.items())
        assert average.prob_above(value) == pytest.approx(wanted, abs=1e-3)
    own = average.draws(60_000, seed=1)["epsilon"]
    assert np.quantile(own, probability) == pytest.approx(np.quantile(draws, probability), rel=0.05)
    low, high = average.interval(0.9, kind="hdi")
    assert ((own > low) & (own < high)).mean() == pytest.approx(0.9, abs=0.01)


def test_estimate_gives_the_average(found):
    post = bdp.estimate(COUNTS, 1e-3, family="average")
    assert post.weights == found.weights
    assert post.interval() == found.average.interval()
    there = post.epsilon_at(0.1)
    assert there.weights["approx"] != post.weights["approx"]  # (ε, 0.1) is another model of the counts
    assert there.interval()[1] < post.interval()[1]
    alpha, beta = post.rates(200)
    assert alpha.shape == beta.shape == (200, 2)
    assert "averaged over 3 families" in repr(post)
    assert "need not agree" in post.high_end()


def test_own_families():
    logistic = bdp.Family("logistic", lambda a, theta: (1 - a) / (1 - a + a * np.exp(theta)))
    found = bdp.compare_families(COUNTS, 1e-3, ["gaussian", logistic])
    assert list(found.weights) == ["gaussian", "logistic"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0.0}, "delta must lie in"),
        ({"families": []}, "families is empty"),
        ({"families": ["gaussian", "gaussian"]}, "names one twice"),
        ({"families": ["normal"]}, "family must be"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.compare_families(COUNTS, **{"delta": 1e-3} | arguments)


@pytest.mark.slow
def test_where_thresholds_differ_the_family_is_told():
    """Truths of each family, attacked at all rates: the true one is favoured, or at least not rejected."""
    rng, n = np.random.default_rng(0), 30
    level = rng.uniform(0.5, 1.0, n) * 1.5
    alpha = rng.uniform(0.005, 0.6, n)
    beta = special.ndtr(-special.ndtri(alpha) - level)
    counts = bdp.ErrorCounts(rng.binomial(10_000, alpha), 10_000, rng.binomial(10_000, beta), 10_000)
    found = bdp.compare_families(counts, 1e-3)
    assert found.best == "gaussian"


def test_the_density_of_the_average():
    post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, family="average")
    inside = np.linspace(*post.interval(0.9), 801)
    assert np.trapezoid(post.pdf(inside), inside) == pytest.approx(0.9, abs=2e-3)

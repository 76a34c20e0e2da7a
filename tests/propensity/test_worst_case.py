"""The least bound over a region: slopes against differences, and the least against many points of the region."""

import numpy as np
import pytest
from scipy.special import expit

from bayes_dp.audits.propensity_bounds import bounds_for_propensities
from bayes_dp.propensity.cross_fitting import standardised
from bayes_dp.propensity.region import regression
from bayes_dp.propensity.worst_case import Guessed, Terms, best_of_least, least_bound

FORMS = {
    "exact": Terms("epsilon", 0.0, "untampered", True, False),
    "cautious": Terms("epsilon", 0.0, "untampered", True, True),
    "as in the paper": Terms("epsilon", 0.0, "untampered", False, True),
    "tampered": Terms("epsilon", 1e-3, "tampered", True, True),
    "Gaussian": Terms("mu", 0.0, "tampered", True, True),
}


def audit(seed, d, n=150, r=60, shift=1.5, level=0.1):
    """A regression, and guesses that are right more often than features tell, on examples of many kinds."""
    rng = np.random.default_rng(seed)
    x = standardised(rng.normal(size=(n, d)))
    member = rng.random(n) < expit(shift * x[:, 0])
    told = member ^ (rng.random(n) > expit(3.0))
    rows = rng.permutation(n)[:r]
    return regression(x, member), Guessed(x[rows], told[rows], told[rows] == member[rows], rng.random(r), n, level)


def search(terms, guessed, found, radius, rng):
    """The least bound at points on the edge of the region in random directions, and at random points near the best."""
    points = np.array([found.farthest(direction, radius) for direction in rng.normal(size=(60, found.x.shape[1]))])
    bounds = [terms.bound(guessed, point) for point in points]
    best, where, step = min(bounds), points[int(np.argmin(bounds))], 0.5
    for _ in range(150):
        point = where + step * rng.normal(size=len(where)) * points.std(axis=0)
        if found.ratio(point) <= radius and (bound := terms.bound(guessed, point)) < best:
            best, where = bound, point
        else:
            step = max(0.01, step * 0.98)
    return best


@pytest.mark.parametrize("name", FORMS)
def test_the_bound_is_that_of_the_propensities(name):
    terms, (found, guessed) = FORMS[name], audit(0, 2)
    expected = bounds_for_propensities(
        expit(guessed.x @ found.centre), guessed.called, guessed.right, guessed.uniform, examples=150, p=0.1,
        parameter=terms.parameter, delta=terms.delta, form=terms.form, directional=terms.directional,
        cautious=terms.cautious,
    )  # fmt: skip
    assert terms.bound(guessed, found.centre) == expected[0]


@pytest.mark.parametrize("name", FORMS)
def test_slopes_are_those_of_the_mean_number_of_right_guesses(name):
    """Untampered: Σ sigmoid(ε + lean). Tampered: minus the mean number of right guesses that are kept."""
    terms, (found, guessed), bound = FORMS[name], audit(1, 3), 0.8

    def moved(theta):
        odds = guessed.x @ theta
        lean = np.where(guessed.called, odds, -odds) if terms.directional else np.abs(odds)
        if terms.form == "tampered":
            lean = np.maximum(lean, 0)
            share = 1.0 if terms.parameter == "mu" else expit(-bound)
            return -np.sum((1 - share + share * np.exp(-lean))[guessed.right])
        return np.sum(expit(bound + (np.maximum(lean, 0) if terms.cautious else lean)))

    slopes = terms.fall(guessed, found.centre, bound, of_all=False)
    for j, unit in enumerate(1e-6 * np.eye(4)):
        assert (moved(found.centre + unit) - moved(found.centre - unit)) / 2e-6 == pytest.approx(slopes[j], abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["exact", "cautious", "as in the paper"])
def test_the_least_bound_is_that_of_a_search(name, seed):
    terms, (found, guessed), radius = FORMS[name], audit(seed, 1 + seed), 8.0
    least, first = least_bound(terms, guessed, found, radius), terms.bound(guessed, found.centre)
    assert 0 < least < first
    assert least <= search(terms, guessed, found, radius, np.random.default_rng(seed)) + 0.02 * (first - least) + 0.003


@pytest.mark.parametrize(("seed", "d"), [(44, 1), (47, 4)])
def test_either_search_may_be_the_better_one(seed, d):
    """With weights for all guesses at first, and without: each finds clearly less for one of these audits."""
    terms, (found, guessed), radius = FORMS["cautious"], audit(seed, d, n=100, r=40, shift=0.5), 8.0
    least, first = least_bound(terms, guessed, found, radius), terms.bound(guessed, found.centre)
    assert 0 < least < first
    assert least <= search(terms, guessed, found, radius, np.random.default_rng(seed)) + 0.01 * (first - least)


@pytest.mark.parametrize("name", ["tampered", "Gaussian"])
def test_with_coins_the_fewest_guesses_are_kept_on_average(name):
    terms, (found, guessed), radius = FORMS[name], audit(5, 2, n=2000, r=800, shift=0.5), 8.0
    least, first = least_bound(terms, guessed, found, radius), terms.bound(guessed, found.centre)
    assert 0 < least < first
    rng, means = np.random.default_rng(0), []
    points = [found.farthest(direction, radius) for direction in rng.normal(size=(60, 3))]
    for point in points:
        others = [
            terms.bound(Guessed(guessed.x, guessed.called, guessed.right, rng.random(800), 2000, 0.1), point)
            for _ in range(5)
        ]
        means.append(np.mean(others))
    assert least < min(means) + 0.25 * (first - least)


def test_the_best_of_several_numbers_is_the_largest_least_bound():
    terms, (found, guessed), radius = FORMS["exact"], audit(7, 2), 8.0
    several = [
        Guessed(guessed.x[:r], guessed.called[:r], guessed.right[:r], guessed.uniform[:r], 150, 0.03)
        for r in (10, 25, 60)
    ]
    least = [least_bound(terms, each, found, radius) for each in several]
    assert best_of_least(terms, several, found, radius) == (int(np.argmax(least)), max(least))
    wrong = Guessed(guessed.x, guessed.called, ~guessed.right, guessed.uniform, 150, 0.03)
    assert best_of_least(terms, [wrong, wrong], found, radius) == (0, 0.0)

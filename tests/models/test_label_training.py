"""Trainings with private labels: without noise they are plain trainings, and counts do not refute their ε."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.checks import InputError
from models.label_dp import gaussian_scale, gaussian_votes, laplace_scale, laplace_votes
from models.label_training import MECHANISMS, Task, by_scikit_learn, one_hot, pate
from models.net import learner

FLAT = lambda x, targets: lambda x: np.tile(targets.mean(axis=0), (len(x), 1))  # noqa: E731


class Spy:
    """A learner that keeps the targets of its last training, and says what is most frequent among its neighbours."""

    def __call__(self, x, targets):
        self.targets = targets
        return lambda x: np.tile((1 + targets.sum(axis=0)) / (len(targets) + targets.shape[1]), (len(x), 1))


def task(y, k, learner, teachers=2, public=1, prior=None):
    n = len(y)
    x = np.arange(n)[:, None].astype(float)
    q = np.full((n, k), 1 / k) if prior is None else np.tile(prior, (n, 1))
    return Task(x, np.array(y), q, np.zeros((public, 1)), learner, FLAT, teachers)


def seen(name, y, k, epsilon, runs, **more):
    """What comes out of so many runs, each as one number."""
    spy = Spy()
    found = []
    for seed in range(runs):
        MECHANISMS[name](task(y, k, spy, **more), epsilon, 10 * seed)
        hard = spy.targets.argmax(axis=1)
        found.append(int(np.ravel_multi_index(hard, [k] * len(hard))))
    return np.array(found)


def bound(name, epsilon, first, second, k, runs, **more):
    """Clopper-Pearson's lower bound at 99.9%, by an event that is chosen on other runs."""
    one, other = seen(name, first, k, epsilon, 2 * runs, **more), seen(name, second, k, epsilon, 2 * runs, **more)
    size = max(one.max(), other.max()) + 1
    likelier = np.bincount(one[:runs], minlength=size) > np.bincount(other[:runs], minlength=size)
    counts = bdp.ErrorCounts(likelier[other[runs:]].sum(), runs, runs - likelier[one[runs:]].sum(), runs)
    return bdp.audits.clopper_pearson(counts, 1e-5, confidence=0.999).value


NEIGHBOURS = {
    "LP-1ST": ([0, 1], [1, 1], {}),
    "LP-1ST, corrected": ([0, 1], [2, 1], {}),
    "LP-1ST, prior": ([0, 1], [1, 1], {"prior": [0.5, 0.4, 0.1]}),
    "LP-2ST": ([0, 1, 2, 1], [1, 1, 2, 1], {}),
    "ALIBI": ([0], [1], {"prior": [0.4, 0.3, 0.3]}),
    "PATE, Laplace": ([0, 1], [1, 1], {}),
    "PATE, Gaussian": ([0, 1], [1, 1], {}),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_counts_do_not_refute_epsilon(name):
    first, second, more = NEIGHBOURS[name]
    for epsilon in (0.5, 2.0):
        assert bound(name, epsilon, first, second, 3, 400, **more) <= epsilon


def test_counts_refute_less():
    """With twice the ε, that is with less noise, ε is refuted."""
    assert bound("LP-1ST", 2.0, [0, 1], [1, 1], 2, 1000) > 1.3
    assert bound("LP-2ST", 4.0, [0, 1, 0, 1], [1, 1, 0, 1], 2, 500) > 2.0
    assert bound("ALIBI", 6.0, [0], [1], 2, 1000) > 2.0


@pytest.mark.parametrize("name", MECHANISMS)
def test_without_noise_it_is_the_plain_training(name):
    y = np.array([0, 2, 1, 1, 0, 2] * 5)
    spy = Spy()
    MECHANISMS[name](task(y, 3, spy), math.inf, 0)
    if name.startswith("PATE"):
        assert spy.targets.shape == (1, 3)
    else:
        assert np.array_equal(spy.targets, one_hot(y, 3))


def test_votes_are_of_teachers_on_disjoint_parts():
    trained = []

    def teacher(x, targets):
        trained.append(x[:, 0])
        return lambda x: np.tile(targets.mean(axis=0), (len(x), 1))

    spy = Spy()
    given = task([1] * 7 + [0] * 2, 2, spy, public=4)
    pate(Task(given.x, given.y, given.prior, given.public, spy, teacher, 3), math.inf, 1)
    assert sorted(np.concatenate(trained)) == list(range(9))
    assert [len(part) for part in trained] == [3, 3, 3]
    assert (spy.targets.argmax(axis=1) == 1).all()


def test_scales_have_the_epsilon_that_is_asked():
    for epsilon in (0.1, 1.0, 8.0):
        assert np.isclose(laplace_votes(laplace_scale(epsilon, 50), 50), epsilon)
        assert np.isclose(gaussian_votes(gaussian_scale(epsilon, 50, 1e-5), 50, 1e-5), epsilon)
    assert laplace_scale(math.inf, 50) == gaussian_scale(math.inf, 50, 1e-5) == 0


class TestLearners:
    def data(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(600, 4))
        return x, (x[:, 0] > 0).astype(int) + (x[:, 1] > 1)

    def test_any_classifier_of_scikit_learn(self):
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.tree import DecisionTreeClassifier

        x, y = self.data()
        for make in (LogisticRegression, GaussianNB, KNeighborsClassifier, DecisionTreeClassifier):
            said = by_scikit_learn(make)(x, one_hot(y, 4))(x)
            assert said.shape == (600, 4)
            assert (said[:, 3] == 0).all()  # a class that never came
            assert np.allclose(said.sum(axis=1), 1)
            assert (said.argmax(axis=1) == y).mean() > 0.7

    def test_a_part_of_one_class(self):
        """As teachers have of a rare class, which a logistic regression refuses."""
        from sklearn.linear_model import LogisticRegression

        predict = by_scikit_learn(LogisticRegression)(np.zeros((5, 1)), one_hot(np.full(5, 2), 3))
        assert np.array_equal(predict(np.ones((2, 1))), [[0, 0, 1]] * 2)

    def test_soft_labels_are_weights(self):
        from sklearn.linear_model import LogisticRegression
        from sklearn.neighbors import KNeighborsClassifier

        x, y = self.data()
        soft = 0.7 * one_hot(y, 3) + 0.1
        fitted = by_scikit_learn(LogisticRegression)(x, soft)(x)
        assert np.allclose(fitted.mean(axis=0), soft.mean(axis=0), atol=0.01)
        with pytest.raises(InputError, match="takes sample_weight"):
            by_scikit_learn(KNeighborsClassifier)(x, soft)

    def test_the_network(self):
        x, y = self.data()
        predict = learner(epochs=30, batch=64)(x, one_hot(y, 3))
        assert (predict(x).argmax(axis=1) == y).mean() > 0.95
        assert np.allclose(predict(x).sum(axis=1), 1, atol=1e-5)
        again = learner(epochs=30, batch=64)(x, one_hot(y, 3))
        assert np.array_equal(predict(x), again(x))
        soft = learner(epochs=30, batch=64)(x, np.full((600, 3), 1 / 3))
        assert np.abs(soft(x) - 1 / 3).max() < 0.2

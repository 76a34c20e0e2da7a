"""In what the log-odds are linear: columns of each kind of classifier, and what is not valid."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from bayes_dp.propensity import fit
from bayes_dp.propensity.linear import linear
from bayes_dp.propensity.region import regression

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2)) * [1, 100] + [5, 0]
MEMBER = RNG.random(300) < 1 / (1 + np.exp(5 - X[:, 0]))


def columns(estimator, **settings):
    return linear(fit(X, MEMBER, estimator=estimator, **settings).origin)


def spans(x, matrix):
    """Whether x is an orthogonal basis of the columns of the matrix and 1, and these are columns of unit size."""
    n = len(x)
    np.testing.assert_allclose(x.T @ x / n, np.eye(x.shape[1]), atol=1e-9)
    np.testing.assert_array_equal(x[:, -1], 1)
    unit = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
    np.testing.assert_allclose(x @ (x.T @ unit) / n, unit, atol=1e-9)
    return x.shape[1] == np.linalg.matrix_rank(np.column_stack([unit, np.ones(n)]))


def same(found, matrix):
    """Whether a region in these columns is one in those of the matrix."""
    assert spans(found.audited, matrix)
    np.testing.assert_array_equal(found.learned_from, found.audited)
    np.testing.assert_array_equal(found.member, MEMBER)
    return not found.invalid


def passed_on(x):
    return sparse.csr_matrix(x)


@pytest.mark.parametrize(
    "estimator",
    [None, LogisticRegression(C=0.1), LogisticRegressionCV(Cs=2, cv=2), make_pipeline(LogisticRegression()),
     make_pipeline(StandardScaler(), "passthrough", LogisticRegression(class_weight="balanced")),
     make_pipeline(StandardScaler(), make_pipeline(FunctionTransformer(passed_on), LogisticRegression()))],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:Some fit had")
def test_logistic_regressions_of_the_features(estimator):
    assert same(columns(estimator), X)


def test_a_pipeline_that_makes_columns_without_memberships():
    found = columns(make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), LogisticRegression()))
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert same(found, np.column_stack([z, z[:, 0] ** 2, z[:, 0] * z[:, 1], z[:, 1] ** 2]))
    assert found.of == "what the logistic regression gets of the features"
    assert same(columns(make_pipeline(PCA(1), LogisticRegression())), PCA(1).fit_transform(X))
    assert columns(None).of == "the features"
    kernel = make_pipeline(StandardScaler(), Nystroem(n_components=5), LogisticRegression())
    np.testing.assert_array_equal(columns(kernel, seed=3).audited, columns(kernel, seed=3).audited)


@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(5, random_state=0), SVC(probability=True, random_state=0),
     make_pipeline(SelectKBest(k=1), LogisticRegression()), make_pipeline(StandardScaler(), RandomForestClassifier(5))],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_all_others_are_marked(estimator):
    learned = fit(X, MEMBER, estimator=estimator)
    found = linear(learned.origin)
    assert not same(found, np.column_stack([X, logit(learned.values)]))
    assert found.invalid.startswith(f"How far {type(estimator).__name__} may be from the truth is not known")


def frozen():
    return FrozenEstimator(SelectKBest(k=1).fit(X, MEMBER))


@pytest.mark.parametrize("step", [frozen(), make_pipeline(frozen()), ColumnTransformer([("kept", frozen(), [0, 1])])])
def test_what_was_fitted_before_may_have_seen_memberships(step):
    learned = fit(X, MEMBER, estimator=make_pipeline(StandardScaler(), step, LogisticRegression()))
    assert any("was fitted before" in warning for warning in learned.warnings)
    assert "is not known" in linear(learned.origin).invalid
    again = fit(X, MEMBER, estimator=make_pipeline(StandardScaler(), LogisticRegression()))
    assert not any("was fitted before" in warning for warning in again.warnings)
    assert not linear(again.origin).invalid


def test_with_training_data_the_region_is_theirs():
    training = (X[100:] + 0.0, MEMBER[100:])
    found = linear(fit(X[:100], MEMBER[:100], training=training).origin)
    assert found.audited.shape == (100, 3)
    np.testing.assert_array_equal(found.member, MEMBER[100:])
    assert spans(np.vstack([found.audited, found.learned_from]), X)
    trees = linear(fit(X[:100], MEMBER[:100], training=training, estimator=RandomForestClassifier(5)).origin)
    np.testing.assert_array_equal(
        trees.member, MEMBER[:100]
    )  # what a forest says of its own training data is no column
    assert trees.audited.shape == trees.learned_from.shape == (100, 4)


def test_log_odds_in_a_small_difference_of_columns():
    """Where the start and the end are given, and the length matters, the likelihood is that of start and length."""
    rng = np.random.default_rng(1)
    start, length = rng.normal(size=(2, 500))
    member = rng.random(500) < 1 / (1 + np.exp(-length))

    def highest(*features):
        found = linear(fit(np.column_stack(features), member).origin)
        assert found.audited.shape[1] == 3
        return regression(found.learned_from, found.member).highest

    expected = highest(start, length)
    assert highest(start, start + 1e-3 * length) == pytest.approx(expected, abs=1e-4)
    assert highest(start, start + 1e-6 * length) == pytest.approx(expected, abs=1e-4)
    assert highest(start, length, 2 * start - 1, np.full(500, 3.0)) == pytest.approx(expected, abs=1e-4)


def test_outliers_do_not_rule_out_the_truth():
    """A feature with a few values of thousands, which has a coefficient of hundreds per standard deviation."""
    rng = np.random.default_rng(2)
    x = np.exp(3 * rng.normal(size=(700, 1)))
    odds = x[:, 0] - 1
    found = linear(fit(x, rng.random(700) < 1 / (1 + np.exp(-odds))).origin)
    truth = np.linalg.lstsq(found.audited, odds, rcond=None)[0]
    assert regression(found.learned_from, found.member).ratio(truth) < 12

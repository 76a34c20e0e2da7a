"""Learned propensities: near the truth, never from an example's own group, the same for the same seed, and honest about
what went wrong."""

import json
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bayes_dp as bdp
from bayes_dp.propensity import fit, known
from bayes_dp.propensity.cross_fitting import Classifier, Logistic
from bayes_dp.propensity.diagnostics import area_under_curve, diagnose
from tests.propensity.test_features import refusal


def shifted(n, seed=0, d=4, strength=1.0):
    """Features, memberships and true propensities."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    truth = expit(x @ np.linspace(-1, 1, d) * strength)
    return x, rng.random(n) < truth, truth


def standard_logistic(**settings):
    return make_pipeline(StandardScaler(), LogisticRegression(**settings))


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels of what it has seen, by the first feature, which says which example or group it is."""

    def fit(self, x, y):
        self.seen_ = dict(zip(x[:, 0].tolist(), y.tolist(), strict=True))
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, x):
        chance = np.array([{0: 0.1, 1: 0.9}.get(self.seen_.get(i), 0.5) for i in x[:, 0].tolist()])
        return np.column_stack([1 - chance, chance])

    def predict(self, x):
        return self.predict_proba(x)[:, 1] > 0.5


# Against the truth and scikit-learn -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("calibration", "most"), [("platt", 0.012), ("none", 0.012), ("isotonic", 0.03)])
def test_near_the_true_propensities(calibration, most):
    x, member, truth = shifted(20_000)
    pi = fit(x, member, calibration=calibration)
    assert np.abs(pi.values - truth).mean() < most
    assert pi.diagnostics.ece < 0.015
    assert abs(pi.diagnostics.auc - area_under_curve(truth, member)) < 0.005
    assert abs(pi.diagnostics.brier - np.mean(truth * (1 - truth))) < 0.005


def test_a_calibrated_forest_is_nearer_than_a_raw_one():
    x, member, truth = shifted(4000)
    forest = RandomForestClassifier(30)
    calibrated, raw = fit(x, member, estimator=forest), fit(x, member, estimator=forest, calibration="none")
    assert calibrated.diagnostics.ece < 0.7 * raw.diagnostics.ece
    assert np.abs(calibrated.values - truth).mean() < np.abs(raw.values - truth).mean()


@pytest.mark.parametrize("given", ["folds", "training"])
def test_the_default_is_that_of_scikit_learn(given):
    x, member, _ = shifted(600, d=7)
    groups = np.arange(600) // 2 if given == "folds" else None
    settings = {"groups": groups, "folds": 3} if given == "folds" else {"training": (x[:250], member[:250])}
    rows = slice(None) if given == "folds" else slice(250, None)
    ours = fit(x[rows], member[rows], seed=3, **settings)
    theirs = fit(x[rows], member[rows], seed=3, estimator=standard_logistic(tol=1e-12, max_iter=10_000), **settings)
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-5)
    raw = fit(x[rows], member[rows], seed=3, calibration="none", **settings)
    assert np.abs(raw.values - ours.values).max() > 1e-3


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-600, 2.0**600, 2.0**1020])
def test_the_unit_of_a_feature_does_not_matter(unit):
    """The likelihood of a text may be 1e-200: its square is 0, and it is no constant."""
    x, member, _ = shifted(300, d=1)
    np.testing.assert_array_equal(fit(x * unit, member).values, fit(x, member).values)


def test_a_fold_is_judged_by_hand():
    x, member, _ = shifted(400)
    pi = fit(x, member, calibration="none", estimator=standard_logistic())
    for fold in range(2):
        model = standard_logistic().fit(x[pi.fold != fold], member[pi.fold != fold])
        np.testing.assert_allclose(pi.values[pi.fold == fold], model.predict_proba(x[pi.fold == fold])[:, 1])


# Leaks ----------------------------------------------------------------------------------------------------------------


def test_no_example_is_judged_by_a_classifier_that_saw_it():
    _, member, _ = shifted(200)
    x = np.column_stack([np.arange(200), np.zeros(200)])
    assert (fit(x, member, estimator=Memory(), calibration="none").values == 0.5).all()


@pytest.mark.parametrize("calibration", ["platt", "none"])
def test_no_group_is_judged_by_a_classifier_that_saw_it(calibration):
    rng = np.random.default_rng(0)
    groups = rng.integers(100, size=400)
    member = rng.random(100)[groups] > 0.5
    x = np.column_stack([groups, rng.normal(size=400)])
    apart = fit(x, member, estimator=Memory(), calibration=calibration, groups=groups)
    parted = fit(x, member, estimator=Memory(), calibration=calibration)
    assert apart.diagnostics.auc == pytest.approx(0.5, abs=0.05)
    assert parted.diagnostics.auc > 0.9
    assert all(len(set(apart.fold[groups == g])) == 1 for g in range(100))
    if calibration == "platt":  # inner parts that shared a group would have given a steep curve
        assert np.ptp(apart.values) < 0.1


def test_a_group_on_both_sides_is_refused():
    x, member, _ = shifted(100)
    words = refusal(fit, x, member, groups=np.arange(100), training=(x, member, np.arange(99, 199)))
    assert "the group '99' is among the examples and in the training data too" in words


# Seeds and estimators -------------------------------------------------------------------------------------------------


def test_seeds():
    x, member, _ = shifted(300)
    forest = RandomForestClassifier(5)
    assert np.array_equal(fit(x, member, seed=1).values, fit(x, member, seed=1).values)
    assert not np.array_equal(fit(x, member, seed=1).values, fit(x, member, seed=2).values)
    assert np.array_equal(fit(x, member, estimator=forest).values, fit(x, member, estimator=forest).values)
    assert forest.random_state is None
    assert not hasattr(forest, "estimators_")


def test_random_states_are_set_where_they_are_open():
    learner = Classifier(make_pipeline(StandardScaler(), RandomForestClassifier(5)), "none")
    assert learner._model(np.zeros(1), 7).get_params()["randomforestclassifier__random_state"] == 7
    fixed = Classifier(RandomForestClassifier(5, random_state=3), "none")
    assert fixed._model(np.zeros(1), 7).random_state == 3


@pytest.mark.parametrize("estimator", [KNeighborsClassifier(20), CalibratedClassifierCV(LinearSVC(), cv=3)])
def test_other_classifiers(estimator):
    x, member, truth = shifted(1000)
    assert np.corrcoef(fit(x, member, estimator=estimator).values, truth)[0, 1] > 0.8


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (LinearSVC(), "estimator must have predict_proba, which LinearSVC has not"),
        (LogisticRegression, "estimator must be a scikit-learn classifier"),
        ("forest", "estimator must be a scikit-learn classifier, not 'forest'"),
        (LogisticRegression(C=-1.0), "the classifier LogisticRegression failed: The 'C' parameter"),
    ],
)
def test_estimators_that_are_refused(estimator, words):
    x, member, _ = shifted(100)
    assert words in refusal(fit, x, member, estimator=estimator)


def test_probabilities_that_are_none():
    class Wrong(Memory):
        def predict_proba(self, x):
            return np.full((len(x), 3), 1 / 3)

    x, member, _ = shifted(100)
    assert "predict_proba of Wrong must give two" in refusal(fit, x, member, estimator=Wrong(), calibration="none")


# Warnings -------------------------------------------------------------------------------------------------------------


def test_no_convergence_is_one_warning_of_ours():
    x, member, _ = shifted(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pi = fit(x, member, estimator=standard_logistic(max_iter=1), folds=3)
    assert pi.warnings == ("The classifier Pipeline did not converge (3 of 3 fits).",)
    assert "Warning: The classifier Pipeline did not converge" in pi.summary()


def test_few_examples_for_many_features():
    rng = np.random.default_rng(0)
    x, member = rng.normal(size=(400, 9)), np.arange(400) % 2 == 0
    assert fit(x[:, :8], member, seed=0).warnings == ()  # 160 members in four parts of five
    (sentence,) = fit(x, member, seed=0).warnings
    assert sentence.startswith("Some fit had 160 members or non-members for 9 features; below 20 for each")
    assert fit(x, member, estimator=DecisionTreeClassifier(max_depth=2), seed=0).warnings == ()


def test_other_warnings_are_told_once():
    class Chatty(Memory):
        def fit(self, x, y):
            warnings.warn("old\nnews", FutureWarning, stacklevel=2)
            return super().fit(x, y)

    x, member, _ = shifted(100)
    pi = fit(x, member, estimator=Chatty(), calibration="none")
    assert pi.warnings == ("The classifier Chatty warned: old news (5 of 5 fits).",)


def test_lost_overlap_is_named():
    x, member, _ = shifted(4000, strength=4.0)
    pi = fit(x, member)
    lost = np.minimum(pi.values, 1 - pi.values) < 0.01
    (sentence,) = pi.warnings
    assert sentence.startswith(f"{lost.sum()} of 4000 examples ({(lost & member).sum()} members) have a propensity")
    assert pi.diagnostics.beyond[0.01] == lost.sum() > 0
    np.testing.assert_array_equal(pi.inside(0.01), ~lost)


def test_no_overlap_is_refused():
    rng = np.random.default_rng(0)
    member = rng.random(500) < 0.5
    frame = pd.DataFrame({"a": rng.normal(size=500), "year": 2000 + 20 * member + rng.integers(3, size=500)})
    words = refusal(fit, frame, member)
    assert "members and non-members do not overlap" in words
    assert "(the feature 'year' alone has an AUC of 1.000)" in words
    assert "every member has a higher propensity than every non-member" in refusal(known, 0.4 + 0.2 * member, member)
    assert "every example has a propensity below 0.01 or above" in refusal(
        known, np.where(member, 0.999, 0.001), member
    )
    assert "every member has a" in refusal(known, np.where(member, 0.999, rng.random(500)), member)
    assert "every non-member has a" in refusal(known, np.where(member, rng.random(500), 0.999), member)


def test_other_shares_in_the_training_data():
    x, member, _ = shifted(1000)
    few = np.flatnonzero(~member | (np.arange(1000) % 3 == 0))
    sentence, *_ = fit(x, member, training=(x[few], member[few])).warnings
    assert "are members, of the training data" in sentence
    assert fit(x[:500], member[:500], training=(x[500:], member[500:])).warnings == ()


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"member": np.ones(60)}, "member must have members and non-members, but all 60 are the same"),
        ({"member": np.ones(59)}, "member must hold one value for each of the 60 examples, not the shape (59,)"),
        ({"member": np.arange(60) < 12}, "at least 10 members are needed to learn from, but of the 48 examples"),
        ({"folds": 1}, "folds must be a whole number from 2 to 100, not 1"),
        ({"folds": 2.5}, "folds must be a whole number from 2 to 100, not 2.5"),
        ({"calibration": "beta"}, "calibration must be 'platt', 'isotonic' or 'none', not 'beta'"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"groups": np.zeros(60)}, "folds must be at most the number of groups, 1, not 5"),
        ({"groups": np.arange(60) // 20, "folds": 2}, "the groups are too large to calibrate on some of them"),
        ({"training": np.ones((3, 2))}, "training must be a tuple (features, member)"),
        ({"training": (np.ones((30, 3)), np.arange(30) % 2)}, "both sets of features must have the same columns"),
        ({"training": (np.ones((30, 2)), np.ones(30))}, "training member must have members and non-members"),
        ({"groups": np.arange(60), "training": (np.ones((30, 2)), np.arange(30) % 2)}, "or for neither"),
    ],
)
def test_refusals(settings, words):
    x = np.random.default_rng(0).normal(size=(60, 2))
    assert words in refusal(fit, x, **({"member": np.arange(60) % 2} | settings))


# Known propensities, diagnostics, and the result ----------------------------------------------------------------------


def test_known_propensities():
    _, member, truth = shifted(500)
    pi = known(truth, member)
    np.testing.assert_array_equal(pi.values, truth)
    assert pi.origin is None
    assert "these propensities were given, not learned" in refusal(pi.learned)
    assert (known(0.5, member).values == 0.5).all()
    assert "values[3] must lie in (0, 1), not 1.0" in refusal(known, np.where(np.arange(500) == 3, 1.0, truth), member)
    assert "values must hold one propensity for each of the 500" in refusal(known, truth[:9], member)


def test_diagnostics_by_hand():
    values = np.array([0.2, 0.2, 0.4, 0.6, 0.8, 0.995])
    member = np.array([False, True, False, True, True, True])
    d = diagnose(values, member)
    pairs = [(a > b) + (a == b) / 2 for a in values[member] for b in values[~member]]
    assert d.auc == pytest.approx(np.mean(pairs))
    assert d.brier == pytest.approx(np.mean((values - member) ** 2))
    assert d.brier_constant == pytest.approx(8 / 36)
    assert d.eta == pytest.approx(0.005)
    assert d.beyond == {0.1: 1, 0.05: 1, 0.01: 1, 0.001: 0}
    assert d.kept == pytest.approx(np.mean([0.25, 0.25, 2 / 3, 2 / 3, 0.25, 0.005 / 0.995]))
    assert [each.examples for each in d.reliability] == [1] * 6
    assert d.ece == pytest.approx(np.mean(np.abs(values - member)))
    assert d.quantiles["members"][0.5] == pytest.approx(0.7)
    assert Counter(each.members for each in d.reliability) == {1.0: 4, 0.0: 2}


def test_the_result():
    x, member, _ = shifted(300)
    pi = bdp.propensity.fit(x, member, seed=4)
    assert len(pi) == 300
    text = pi.summary()
    for words in ("AUC", "Brier", "Overlap", "quantile", "Assumptions:", "- Propensities were learned by logistic"):
        assert words in text
    content = json.loads(json.dumps(pi.to_dict()))
    assert content["diagnostics"]["auc"] == pi.diagnostics.auc
    assert content["provenance"]["settings"]["seed"] == 4
    table = pi.table(x[:, 0])
    assert isinstance(table, bdp.GuessTable)
    np.testing.assert_array_equal(table.propensity, pi.values)
    with pytest.raises(ValueError, match="read-only"):
        pi.values[0] = 1.0
    assert "300 examples" in repr(pi)
    assert pi._repr_html_().startswith("<table>")


def test_digests_tell_inputs_apart():
    x, member, truth = shifted(300)
    x2, flipped = x.copy(), member.copy()
    x2[0, 0] += 1
    flipped[0] ^= True
    every = [fit(x, member), fit(x2, member), fit(x, flipped), fit(x, member, groups=np.arange(300) // 2)]
    every += [known(truth, member), known(truth, flipped), known(np.roll(truth, 1), member)]
    assert len({pi.provenance.digest for pi in every}) == 7
    assert fit(x, member, seed=1).provenance.digest == every[0].provenance.digest


def test_files(tmp_path):
    x, member, _ = shifted(60)
    pi = fit(x, member)
    pi.to_csv(tmp_path / "pi.csv")
    frame = pd.read_csv(tmp_path / "pi.csv")
    assert list(frame.columns) == ["member", "propensity", "fold", "propensity_source"]
    np.testing.assert_allclose(frame["propensity"], pi.values, rtol=1e-14)
    pi.to_json(tmp_path / "pi.json")
    assert json.loads((tmp_path / "pi.json").read_text()) == pi.to_dict()


def test_the_default_learner_is_ours():
    x, member, _ = shifted(60)
    assert isinstance(fit(x, member).origin.learner, Logistic)
    assert isinstance(fit(x, member, calibration="isotonic").origin.learner, Classifier)

"""The bootstrap: what it returns, that workers do not matter, and that nothing finished is lost.

How often its bound exceeds the truth is in tests/calibration/test_bootstrap_coverage.py.
"""

import json
import os
import sys

import joblib
import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Bonferroni, Split, Uncorrected
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.propensity import bootstrap, fit, known
from bayes_dp.propensity.linear import linear
from bayes_dp.propensity.logistic import firth
from bayes_dp.tradeoff import Gaussian
from tests.propensity.test_features import refusal

bootstrap_module = sys.modules["bayes_dp.propensity.bootstrapping"]  # the function has the same name


def audited(n=300, seed=0, epsilon=1.0, strength=0.7):
    """Features, memberships, true propensities, and an attack's scores: randomized response, ε-DP, and a shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    truth = expit(strength * x[:, 0])
    member = rng.random(n) < truth
    told = member ^ (rng.random(n) > expit(epsilon))
    return x, member, truth, told + 0.3 * expit(x[:, 0]) + 1e-6 * rng.random(n)


X, MEMBER, TRUTH, SCORE = audited()
PI = fit(X, MEMBER, groups=np.arange(300) // 2)
FEW = {"replicates": 39, "choice": 150}


# What is returned -----------------------------------------------------------------------------------------------------


def ranked_by(pi):
    """The table of a bootstrap: propensities of a logistic regression of all examples, by Firth."""
    x = linear(pi.origin).audited
    return GuessTable(SCORE, pi.member, expit(x @ firth(x, pi.member)))


def test_a_draw_by_hand():
    """Memberships drawn with Firth's estimate, and the likelihood ratio of that estimate to their own."""
    found = bootstrap(PI, SCORE, **FEW, seed=5).details["bootstrap_ratios"]
    x, chance = linear(PI.origin).audited, ranked_by(PI).propensity
    for k in (0, 7):
        member = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(4, k))).random(300) < chance
        peer = LogisticRegression(C=1e4, tol=1e-12, max_iter=10_000).fit(x[:, :2], member)
        own = peer.predict_proba(x[:, :2])[:, 1]
        ratio = 2 * np.sum(np.where(member, np.log(own / chance), np.log((1 - own) / (1 - chance))))
        assert found[k] == pytest.approx(ratio, abs=1e-2)


@pytest.mark.parametrize("separate", [False, True])
def test_groups_that_are_members_together_are_not_taken_for_many_examples(separate):
    rng = np.random.default_rng(8)
    group, x = np.arange(600) // 10, np.repeat(rng.normal(size=(60, 2)), 10, axis=0)
    member = np.repeat(rng.random(60) < expit(x[::10, 0]), 10)
    if separate:  # the examples are by themselves, those to learn from are not
        features, alone = rng.normal(size=(300, 2)), rng.random(300) < 0.5
        learned = fit(features, alone, groups=np.arange(300) + 100, training=(x, member, group))
    else:
        learned = fit(x, member, groups=group)
    found = bootstrap(learned, rng.normal(size=len(learned)), choice=100, replicates=39)
    assert "The memberships contradict their independence" in found.invalid
    assert found.details["memberships_contradict"] == "their independence"
    assert "independence" not in bootstrap(PI, SCORE, **FEW).invalid  # where groups were not chosen together
    assert bootstrap(PI, SCORE, **FEW).details["groups_p_value"] > 1e-4


def test_the_result():
    found = bootstrap(PI, SCORE, **FEW, seed=5)
    plain = zero_run(call_members(ranked_by(PI), 150, seed=5), confidence=0.975, seed=5)
    details = found.details
    assert len(details["bootstrap_ratios"]) == 39
    assert details["bootstrap_radius"] == max(details["bootstrap_ratios"])  # 0.975 of 39
    assert details["coefficients"] == 3
    assert details["without_bootstrap"] == pytest.approx(plain.value, rel=1e-9)
    assert 0 < found.value < plain.value
    assert found.confidence == 0.95
    assert found.valid
    text = found.summary()
    assert text.startswith(f"epsilon >= {found.value:.4g} at delta = 0 with confidence 95% (zero-run-bootstrap)")
    assert "The log-odds of membership are linear in the features." in text
    assert "a region of confidence 0.975, whose size comes from 39 draws" in text
    assert "0.025 is the audit's and 0.025 the region's" in text
    assert "Propensities were learned by logistic regression" in text
    assert "nearer to 1/2" in plain.summary()  # which the region makes up for
    assert "nearer to 1/2" not in text
    assert "The propensities are exact" not in bootstrap(PI, SCORE, **FEW, propensity="exact").summary()
    assert json.loads(json.dumps(found.to_dict()))["details"]["bootstrap_ratios"] == details["bootstrap_ratios"]
    assert found.epsilon_at(1e-4).value == bootstrap(PI, SCORE, 1e-4, **FEW, seed=5).value


def test_propensities_are_taken_as_far_from_one_half_as_they_are():
    x, member, _, score = audited(strength=1.5, epsilon=3.0)
    pi = fit(x, member)
    design = linear(pi.origin).audited
    chance = expit(design @ firth(design, member))
    assert chance.max() > 0.95
    plain = zero_run(call_members(GuessTable(score, member, chance), 150), confidence=0.975)
    assert plain.value > 2
    assert bootstrap(pi, score, **FEW).details["without_bootstrap"] == pytest.approx(plain.value, rel=1e-9)


def test_an_adversary_may_be_unaware():
    found = {aware: bootstrap(PI, SCORE, **FEW, aware=aware).details["without_bootstrap"] for aware in (True, False)}
    plain = zero_run(call_members(ranked_by(PI), 150, aware=False), confidence=0.975)
    assert found[False] == pytest.approx(plain.value, rel=1e-9)
    assert found[True] != pytest.approx(plain.value, rel=1e-3)


def test_the_number_that_a_pilot_took_is_judged_on_the_other_examples(monkeypatch):
    monkeypatch.setattr(bootstrap_module, "_draws", lambda *given: np.full(39, 1e-9))
    calls = call_members(ranked_by(PI), Split([40, 90, 180], 0.4, seed=2))
    found = bootstrap(PI, SCORE, replicates=39, choice=Split([40, 90, 180], 0.4, seed=2))
    row = calls.made.tolist().index(found.details["made"])
    alone = zero_run(calls.only(row), confidence=0.975)
    assert found.value == pytest.approx(alone.value, rel=0.03)


def test_what_could_not_be_kept_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap_module.Checkpoint, "save", lambda kept, done: setattr(kept, "problem", "Disk full."))
    assert bootstrap(PI, SCORE, **FEW, checkpoint=tmp_path / "bootstrap.json").warnings == ("Disk full.",)


def test_the_error_may_be_split_otherwise():
    found = bootstrap(PI, SCORE, replicates=99, choice=150, quantile=0.01)
    assert found.details["level"] == pytest.approx(0.04)
    ratios = sorted(found.details["bootstrap_ratios"])
    assert found.details["bootstrap_radius"] == ratios[98]
    assert bootstrap(PI, SCORE, replicates=99, choice=150, quantile=0.04).details["bootstrap_radius"] == ratios[95]


SETTINGS = [
    {},
    {"propensity": "exact"},
    {"delta": 1e-3},
    {"form": "tampered", "directional": False},
    {"family": "gaussian"},
    {"choice": Bonferroni([30, 80, 160])},
    {"choice": Uncorrected([30, 80, 160]), "family": "gaussian"},
    {"choice": Split([40, 90, 180], 0.4, seed=2), "delta": 1e-3},
    {"choice": Split([40, 90, 180]), "sides": "members", "aware": False},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_with_no_region_the_bound_is_that_of_the_audit(settings, monkeypatch):
    """With draws that say that the coefficients are as good as known; and with a region it is lower."""
    found = bootstrap(PI, SCORE, **{"replicates": 39, "choice": 100, "confidence": 0.8} | settings)
    monkeypatch.setattr(bootstrap_module, "_draws", lambda *given: np.full(39, 1e-9))
    same = bootstrap(PI, SCORE, **{"replicates": 39, "choice": 100, "confidence": 0.8} | settings)
    assert same.details["without_bootstrap"] == found.details["without_bootstrap"] > 0
    centre = 0.03 * same.details["without_bootstrap"]  # Firth's estimate is not quite the most likely one
    if not isinstance(settings.get("choice"), Split):  # which may take another number
        assert same.details.get("mu", same.value) == pytest.approx(same.details["without_bootstrap"], abs=centre)
    assert found.value < same.value
    assert found.details["made"] in ({40, 90, 180, 100, 30, 80, 160} | {24, 54, 108} | {20, 45, 90})
    assert found.valid == (not isinstance(settings.get("choice"), Uncorrected))


def test_details_are_those_of_the_number_that_was_taken():
    found = bootstrap(PI, SCORE, replicates=39, choice=Bonferroni([20, 250]))
    alone = {r: bootstrap(PI, SCORE, replicates=39, confidence=0.9625, quantile=0.025, choice=r) for r in (20, 250)}
    made = max(alone, key=lambda r: alone[r].value)
    assert found.value == pytest.approx(alone[made].value, rel=1e-9)
    assert (found.details["made"], found.details["correct"]) == (made, alone[made].details["correct"])


def test_classifiers_whose_error_is_not_known_are_not_valid():
    found = bootstrap(TREES, SCORE, **FEW)
    assert not found.valid
    assert "How far DecisionTreeClassifier may be from the truth is not known" in found.summary()
    assert found.details["coefficients"] == 4


def test_gaussian_at_a_delta_is_bootstrapped_in_mu():
    mu = bootstrap(PI, SCORE, family="gaussian", replicates=39, choice=100)
    epsilon = bootstrap(PI, SCORE, 1e-3, family="gaussian", replicates=39, choice=100)
    assert mu.parameter == "mu"
    assert epsilon.parameter == "epsilon"
    assert epsilon.details["bootstrap_ratios"] == mu.details["bootstrap_ratios"]
    assert epsilon.value == float(Gaussian(mu.value).epsilon_at(1e-3))
    assert epsilon.details["mu"] == mu.value


def test_warnings_are_handed_on():
    pi = fit(X, MEMBER, estimator=make_pipeline(StandardScaler(), LogisticRegression(max_iter=1)))
    assert "did not converge" in bootstrap(pi, SCORE, **FEW).summary()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"replicates": 38}, "replicates must be a whole number, at least 39 for p' = 0.025, not 38"),
        ({"replicates": 100.0}, "replicates must be a whole number, at least 39"),
        ({"quantile": 0.06}, "quantile must lie in (0, 0.05), not 0.06"),
        ({"quantile": 0.05}, "quantile must lie in (0, 0.05), not 0.05"),  # of which 1 - 0.95 is above by rounding
        ({"confidence": 1.0}, "confidence must lie in (0, 1), not 1.0"),
        ({"family": "laplace"}, "family must be"),
        ({"form": "untampered", "delta": 0.1}, "the untampered form is for epsilon at delta = 0 only"),
    ],
)
def test_refusals(settings, words):
    assert words in refusal(bootstrap, PI, SCORE, **settings)


def test_what_has_nothing_to_resample():
    assert "were given, not learned" in refusal(bootstrap, known(TRUTH, MEMBER), SCORE)
    assert "learned must come from propensity.fit, not GuessTable" in refusal(bootstrap, PI.table(SCORE), SCORE)
    assert "member must hold as many rows as score" in refusal(bootstrap, PI, SCORE[:9])


# Workers --------------------------------------------------------------------------------------------------------------

TREES = fit(X, MEMBER, estimator=DecisionTreeClassifier(max_depth=3, max_features=1), folds=3)


@pytest.mark.parametrize("pi", [PI, TREES], ids=["default", "trees"])
def test_results_do_not_depend_on_the_backend(pi):
    expected = bootstrap(pi, SCORE, **FEW).details["bootstrap_ratios"]
    with joblib.parallel_config("loky", n_jobs=2):
        assert bootstrap(pi, SCORE, **FEW).details["bootstrap_ratios"] == expected
    assert bootstrap(pi, SCORE, **FEW, n_jobs=2).details["bootstrap_ratios"] == expected
    assert bootstrap(pi, SCORE, **FEW, seed=1).details["bootstrap_ratios"] != expected


def test_a_dask_cluster_gives_the_same():
    distributed = pytest.importorskip("distributed")
    expected = bootstrap(PI, SCORE, 1e-3, replicates=60, choice=Bonferroni([50, 150]))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask", client=client),
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        found = bootstrap(PI, SCORE, 1e-3, replicates=60, choice=Bonferroni([50, 150]))
    assert found.details == expected.details


def test_results_do_not_depend_on_the_size_of_tasks(monkeypatch):
    given = {"replicates": 45, "choice": 150, "delta": 1e-3}
    expected = bootstrap(PI, SCORE, **given).details["bootstrap_ratios"]
    monkeypatch.setattr(bootstrap_module, "_LARGEST", 1)
    assert bootstrap(PI, SCORE, **given).details["bootstrap_ratios"] == expected


# Checkpoints ----------------------------------------------------------------------------------------------------------


def stop_after(monkeypatch, tasks):
    """The task after so many is interrupted, as by Ctrl-C."""
    done, task = [], bootstrap_module._task

    def stopping(*given):
        if len(done) == tasks:
            raise KeyboardInterrupt
        done.append(given[-1])
        return task(*given)

    monkeypatch.setattr(bootstrap_module, "_task", stopping)
    return done


def test_an_interruption_keeps_what_is_done(tmp_path, monkeypatch):
    path = tmp_path / "bootstrap.json"
    expected = bootstrap(PI, SCORE, **FEW)
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        with pytest.raises(KeyboardInterrupt):
            bootstrap(PI, SCORE, **FEW, checkpoint=path)
    kept = json.loads(path.read_text())["bounds"]
    assert 0 < len(kept) < 39
    assert all(expected.details["bootstrap_ratios"][int(k)] == bound for k, bound in kept.items())
    with monkeypatch.context() as patch:
        done = stop_after(patch, 100)
        found = bootstrap(PI, SCORE, **FEW, checkpoint=path)
        assert sorted(k for numbers in done for k in numbers) == sorted(set(range(39)) - set(map(int, kept)))
    assert found.details == expected.details
    with monkeypatch.context() as patch:  # all is there
        stop_after(patch, 0)
        assert bootstrap(PI, SCORE, **FEW, checkpoint=path).value == expected.value
    assert os.listdir(tmp_path) == ["bootstrap.json"]
    more = bootstrap(PI, SCORE, replicates=50, choice=150, checkpoint=path).details["bootstrap_ratios"]
    assert more[:39] == expected.details["bootstrap_ratios"]
    assert len(json.loads(path.read_text())["bounds"]) == 50


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path = tmp_path / "bootstrap.json"
    bootstrap(PI, SCORE, **FEW, checkpoint=path)
    others = [
        (PI, SCORE, FEW | {"seed": 1}),
        (PI, SCORE + 1.0, FEW),
        (PI, SCORE, FEW | {"choice": 149}),
        (PI, SCORE, FEW | {"confidence": 0.9, "quantile": 0.025}),
        (PI, SCORE, FEW | {"delta": 1e-9}),
        (fit(X, MEMBER, groups=np.arange(300) // 2, seed=1), SCORE, FEW),
        (fit(X, MEMBER, groups=np.arange(300) // 2, calibration="none"), SCORE, FEW),
    ]
    for pi, score, settings in others:
        assert "is the checkpoint of another bootstrap" in refusal(bootstrap, pi, score, **settings, checkpoint=path)


def test_a_file_that_cannot_be_written_is_known_before_the_work(tmp_path, monkeypatch):
    stop_after(monkeypatch, 0)
    assert "cannot be written" in refusal(bootstrap, PI, SCORE, **FEW, checkpoint=tmp_path / "none" / "b.json")

"""The bootstrap: what it returns, that workers do not matter, that nothing finished is lost, and that it covers."""

import dataclasses
import json
import math
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

from bayes_dp.attacks.scores import Bonferroni, Split, Uncorrected
from bayes_dp.attacks.shifted import call_members
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.guess_table import GuessTable
from bayes_dp.propensity import bootstrap, fit, known
from bayes_dp.propensity.learning import Classifier
from bayes_dp.tradeoff import Gaussian
from tests.propensity.test_features import refusal

bootstrap_module = sys.modules["bayes_dp.propensity.bootstrap"]  # the function has the same name


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


def test_bounds_are_recentred_and_their_quantile_is_the_lower_one():
    bounds = np.array([5.0, 1.0, 3.0, 2.0, 4.0, 7.0, 6.0])  # median 4
    assert (bootstrap_module.recentred(bounds, 10.0) == bounds - 4 + 10).all()
    assert (bootstrap_module.recentred(bounds, 4.0) == bounds).all()
    for tail, place in ((1 / 8, 1), (0.13, 1), (2 / 8, 2), (0.49, 3)):
        assert bootstrap_module._place(tail, 7) == place


def test_what_resamples_add_to_the_bound_is_taken_off_again():
    bounds = np.array([5.0, 1.0, 3.0, 2.0, 4.0, 7.0, 6.0])  # median 4
    assert (bootstrap_module.recentred(bounds, 3.5) == bounds - 4 + 3.5 - 0.5).all()


SETTINGS = [
    {},
    {"propensity": "cautious"},
    {"delta": 1e-3},
    {"form": "tampered", "directional": False},
    {"family": "gaussian"},
    {"choice": Bonferroni([30, 80, 160])},
    {"choice": Uncorrected([30, 80, 160]), "family": "gaussian"},
    {"choice": Split([40, 90, 180], 0.4, seed=2), "delta": 1e-3},
    {"choice": Split([40, 90, 180]), "sides": "members", "aware": False},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_bounds_are_those_of_the_audit_with_the_same_guesses(settings):
    """With the guesses and the coins fixed, and the propensities replaced."""
    given = {"delta": None, "choice": 100, "sides": "both", "aware": True, "directional": True, "family": "approx"}
    given |= {"form": None, "propensity": "exact"} | settings
    choice, sides, aware = given.pop("choice"), given.pop("sides"), given.pop("aware")
    delta, p = given.pop("delta"), 0.1
    calls = call_members(
        PI.table(SCORE), choice, sides, aware=aware, directional=given["directional"], seed=3
    )  # fmt: skip
    plain = zero_run(calls, delta, confidence=1 - p, seed=3, **given)
    audit = bootstrap_module._Audit.of(calls, choice, plain, delta)
    rng = np.random.default_rng(0)
    values = np.stack([PI.values, *expit(rng.normal(size=(3, 300)) * 0.5)])
    found = audit.bounds(values)
    assert found[0] == plain.value > 0
    for bound, row in zip(found, values, strict=True):
        again = _with(calls, row, choice)
        assert bound == zero_run(again, delta, confidence=1 - p, seed=3, **given).value


def _with(calls, values, choice):
    table = GuessTable(SCORE, MEMBER, values)
    if calls.pilot is None:
        return dataclasses.replace(calls, table=table)
    pilot, kept = table.split(choice.fraction, choice.seed)
    return dataclasses.replace(calls, table=kept, pilot=dataclasses.replace(calls.pilot, table=pilot))


def test_a_replicate_by_hand():
    """Resampled rows, repeated, and scikit-learn's fit of them."""
    found = bootstrap(PI, SCORE, **FEW, seed=5).details["bootstrap_bounds"]
    peer = Classifier(make_pipeline(StandardScaler(), LogisticRegression(tol=1e-12, max_iter=10_000)), "platt")
    calls = call_members(PI.table(SCORE), 150, seed=5)
    task = PI.origin.task
    for k in (0, 7):
        draws, _ = np.random.SeedSequence(5, spawn_key=(4, k)).spawn(2)
        counts = task.resample(np.random.default_rng(draws))
        for fold in range(2):
            assert counts[PI.fold == fold].sum() == (PI.fold == fold).sum()
        assert (counts[::2] == counts[1::2]).all()  # groups of two
        values = peer.fit(task, counts).values
        assert found[k] == pytest.approx(zero_run(_with(calls, values, 150), confidence=0.975, seed=5).value, abs=1e-4)


def test_the_result():
    found = bootstrap(PI, SCORE, **FEW, seed=5)
    plain = zero_run(PI.table(SCORE), choice=150, confidence=0.975, seed=5)
    details = found.details
    bounds = np.array(details["bootstrap_bounds"])
    assert len(bounds) == 39
    assert details["without_bootstrap"] == plain.value
    above = np.median(bounds) - plain.value
    assert above > 0
    assert found.value == pytest.approx(bounds.min() - np.median(bounds) + plain.value - above, rel=1e-13)
    assert 0 < found.value < plain.value
    assert found.confidence == 0.95
    low, high = details["bootstrap_interval"]
    assert low == pytest.approx(found.value)
    assert low < plain.value < high
    text = found.summary()
    assert text.startswith(f"epsilon >= {found.value:.4g} at delta = 0 with confidence 95% (zero-run-bootstrap)")
    assert "39 bootstrap resamples" in text
    assert "0.025 is the audit's and 0.025 the bootstrap's" in text
    assert "Propensities were learned by logistic regression" in text
    assert json.loads(json.dumps(found.to_dict()))["details"]["bootstrap_bounds"] == bounds.tolist()
    assert found.epsilon_at(1e-4).value == bootstrap(PI, SCORE, 1e-4, **FEW, seed=5).value


def test_the_error_may_be_split_otherwise():
    found = bootstrap(PI, SCORE, replicates=99, choice=150, quantile=0.01)
    assert found.details["level"] == pytest.approx(0.04)
    bounds = np.array(found.details["bootstrap_bounds"])
    expected = bootstrap_module.recentred(bounds, found.details["without_bootstrap"]).min()
    assert found.value == pytest.approx(expected, rel=1e-13)


def test_gaussian_at_a_delta_is_bootstrapped_in_mu():
    mu = bootstrap(PI, SCORE, family="gaussian", replicates=39, choice=100)
    epsilon = bootstrap(PI, SCORE, 1e-3, family="gaussian", replicates=39, choice=100)
    assert mu.parameter == "mu"
    assert epsilon.parameter == "epsilon"
    assert epsilon.details["bootstrap_bounds"] == mu.details["bootstrap_bounds"]
    assert epsilon.value == float(Gaussian(mu.value).epsilon_at(1e-3))


def test_warnings_are_handed_on():
    pi = fit(X, MEMBER, estimator=make_pipeline(StandardScaler(), LogisticRegression(max_iter=1)))
    assert "did not converge" in bootstrap(pi, SCORE, **FEW).summary()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"replicates": 38}, "replicates must be a whole number, at least 39 for p' = 0.025, not 38"),
        ({"replicates": 100.0}, "replicates must be a whole number, at least 39"),
        ({"quantile": 0.06}, "quantile must lie in (0, 0.05), not 0.06"),
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
    expected = bootstrap(pi, SCORE, **FEW).details["bootstrap_bounds"]
    with joblib.parallel_config("loky", n_jobs=2):
        assert bootstrap(pi, SCORE, **FEW).details["bootstrap_bounds"] == expected
    assert bootstrap(pi, SCORE, **FEW, n_jobs=2).details["bootstrap_bounds"] == expected
    assert bootstrap(pi, SCORE, **FEW, seed=1).details["bootstrap_bounds"] != expected


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
    expected = bootstrap(PI, SCORE, **given).details["bootstrap_bounds"]
    monkeypatch.setattr(bootstrap_module, "_LARGEST", 1)
    assert bootstrap(PI, SCORE, **given).details["bootstrap_bounds"] == expected


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
    assert all(expected.details["bootstrap_bounds"][int(k)] == bound for k, bound in kept.items())
    with monkeypatch.context() as patch:
        done = stop_after(patch, 100)
        found = bootstrap(PI, SCORE, **FEW, checkpoint=path)
        assert sorted(k for numbers in done for k in numbers) == sorted(set(range(39)) - set(map(int, kept)))
    assert found.details == expected.details
    with monkeypatch.context() as patch:  # all is there
        stop_after(patch, 0)
        assert bootstrap(PI, SCORE, **FEW, checkpoint=path).value == expected.value
    assert os.listdir(tmp_path) == ["bootstrap.json"]
    more = bootstrap(PI, SCORE, replicates=50, choice=150, checkpoint=path).details["bootstrap_bounds"]
    assert more[:39] == expected.details["bootstrap_bounds"]
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


# Coverage -------------------------------------------------------------------------------------------------------------


def exceeded(runs, n, replicates, confidence, epsilon=1.0):
    """How often the bound exceeds ε, and how often that of the true propensities; only members are called."""
    beyond, over = 0, 0
    tail = (1 - confidence) / 2
    for seed in range(runs):
        x, member, truth, score = audited(n, seed, epsilon)
        settings = {"choice": n // 4, "sides": "members", "propensity": "exact", "seed": seed}
        found = bootstrap(fit(x, member, seed=seed), score, replicates=replicates, confidence=confidence, **settings)
        calls = call_members(fit(x, member, seed=seed).table(score), n // 4, "members", seed=seed)
        calls = dataclasses.replace(calls, table=GuessTable(calls.table.score, member, truth))
        beyond += found.value > epsilon
        over += found.value > zero_run(calls, propensity="exact", confidence=1 - tail, seed=seed).value
    return beyond / runs, over / runs


def within(rate, level, runs):
    return rate <= level + 3 * math.sqrt(level * (1 - level) / runs)


def test_it_covers():
    runs, confidence = 40, 0.8
    beyond, over = exceeded(runs, 300, 19, confidence)
    assert within(beyond, 0.2, runs)
    assert within(over, 0.1, runs)


@pytest.mark.slow
def test_it_covers_at_length():
    runs = 1000
    beyond, over = exceeded(runs, 600, 199, 0.9)
    print(f"exceeds ε in {beyond:.4f}, the bound of the true propensities in {over:.4f} of {runs} audits")
    assert within(beyond, 0.1, runs)
    assert over < 0.07  # 0.05, if the bootstrap were exact

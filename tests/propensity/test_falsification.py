"""The falsification test: by hand, rarely wrong about right propensities, and sharp about wrong ones."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit
from sklearn.tree import DecisionTreeClassifier

from bayes_dp.audits.poisson_binomial import tail
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.propensity import bootstrap, falsify, fit, known, result
from bayes_dp.propensity.falsification import most_different
from tests.propensity.test_features import refusal
from tests.propensity.test_fitting import shifted

TREE = DecisionTreeClassifier(max_depth=2)


def test_by_hand():
    values = np.repeat([0.25, 0.75], 20)
    member = np.concatenate([np.arange(20) < 8, np.arange(20) < 17])  # 12 + 17 right along, 8 + 3 against
    found = falsify(known(values, member))
    along, against = found.trials
    assert (along.guesser, along.made, along.correct, along.expected) == ("along", 40, 29, pytest.approx(30))
    assert (against.guesser, against.made, against.correct, against.expected) == ("against", 40, 11, pytest.approx(10))
    assert along.p_value == pytest.approx(stats.binom.sf(28, 40, 0.75))
    assert against.p_value == pytest.approx(stats.binom.sf(10, 40, 0.25))
    assert found.p_value == pytest.approx(2 * against.p_value)
    assert not found.rejected
    assert "do not contradict" in found.statement()


def test_the_excess_by_hand():
    values, member = np.full(200, 0.6), np.arange(200) < 170
    found = falsify(known(values, member))
    chance = stats.beta.ppf(0.01 / 2, 170, 31)  # of Clopper and Pearson, at the level of one trial
    assert found.rejected
    assert found.excess == pytest.approx(logit(chance) - logit(0.6), rel=1e-9)
    assert "REJECTED" in found.statement()
    assert "'along' 170 were right, 120.0 expected" in found.statement()


@pytest.mark.parametrize("scale", [0.25, 4.0])
def test_timid_and_bold_propensities_are_rejected(scale):
    _, member, truth = shifted(2000)
    found = falsify(known(expit(scale * logit(truth)), member))
    assert found.rejected
    assert min(found.trials, key=lambda trial: trial.p_value).guesser == ("along" if scale < 1 else "against")


def test_half_for_all_leaves_the_word_to_the_challenger():
    x, member, _ = shifted(1000)
    silent = falsify(known(0.5, member))
    assert (silent.p_value, silent.excess) == (1.0, 0.0)
    assert [trial.made for trial in silent.trials] == [0, 0]
    found = falsify(known(0.5, member), features=x)
    assert found.rejected
    assert {trial.made for trial in found.trials if trial.guesser == "challenger"} == {100}


def bent(n, seed):
    """A shift that no logistic regression on the features sees."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    return x, rng.random(n) < expit(1.2 * x[:, 0] * x[:, 1])


def test_a_classifier_that_cannot_be_right_is_rejected():
    x, member = bent(2000, 0)
    pi = fit(x, member)
    assert abs(pi.diagnostics.auc - 0.5) < 0.05  # it looks like no shift at all
    found = falsify(pi)
    assert found.rejected
    assert found.excess > 0.2
    assert min(found.trials, key=lambda trial: trial.p_value).guesser == "challenger"


@pytest.mark.parametrize("challenger", [None, TREE])
def test_true_propensities_are_rarely_rejected(challenger):
    """At most p + 3 standard errors; fewer runs with the trees, which take longer."""
    runs, level, rejected = (120 if challenger else 30), 0.1, 0
    for seed in range(runs):
        x, member, truth = shifted(300, seed)
        rejected += falsify(known(truth, member), challenger=challenger, features=x, level=level, seed=seed).rejected
    assert rejected / runs <= level + 3 * np.sqrt(level * (1 - level) / runs)


def test_learned_propensities_of_the_right_form_are_rarely_rejected():
    """Those of the default classifier, with features that a tree sees and a fit on few examples does not."""
    runs, rejected = 60, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 30))
        rejected += falsify(fit(x, rng.random(300) < expit(2 * x[:, 0]), seed=seed), challenger=TREE).rejected
    assert rejected / runs <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / runs)


@pytest.mark.slow
def test_rates():
    """At most 1% of true propensities, and of learned ones of the right form; nearly all of the wrong form."""
    runs, level = 2000, 0.01
    rates = {"true": 0, "learned": 0, "wrong": 0}
    for seed in range(runs):
        x, member, truth = shifted(1000, seed)
        rates["true"] += falsify(known(truth, member), features=x, challenger=TREE, seed=seed).rejected
        rates["learned"] += falsify(fit(x, member, seed=seed), challenger=TREE, seed=seed).rejected
        if seed < 100:
            x, member = bent(2000, seed)
            rates["wrong"] += falsify(fit(x, member, seed=seed), seed=seed).rejected
    print({name: count / (100 if name == "wrong" else runs) for name, count in rates.items()})
    for name in ("true", "learned"):
        assert rates[name] / runs <= level + 3 * np.sqrt(level * (1 - level) / runs)
    assert rates["wrong"] > 90


def test_it_runs_once_and_only_when_it_is_asked_for(monkeypatch):
    calls = []

    def counted(*arguments, **settings):
        calls.append(arguments)
        return falsify(*arguments, **settings)

    monkeypatch.setattr(result, "falsify", counted)
    x, member, _ = shifted(400)
    pi = fit(x, member)
    table = pi.table(np.arange(400.0))
    assert not calls
    table[:10], table.split(), str(pi), repr(table), table.digest()
    assert not calls
    zero_run(table, choice=50), zero_run(table[::2], choice=50), bootstrap(pi, table.score, choice=50, replicates=39)
    pi.source(), pi.falsification, table.to_frame()
    assert len(calls) == 1


def test_it_is_made_fold_by_fold():
    x, member, _ = shifted(500)
    pi = fit(x, member, folds=3)
    found = falsify(pi, challenger=TREE)
    assert [(t.guesser, t.fold) for t in found.trials] == [
        (guesser, fold) for guesser in ("along", "against", "challenger") for fold in range(3)
    ]
    for trial in found.trials[:3]:
        rows = pi.fold == trial.fold
        assert trial.correct == ((pi.values[rows] > 0.5) == member[rows]).sum()
        assert trial.expected == pytest.approx(np.maximum(pi.values[rows], 1 - pi.values[rows]).sum())
        spread = (pi.values[rows] * (1 - pi.values[rows])).sum()
        assert trial.excused == pytest.approx(np.sqrt(5 * rows.sum() / (~rows).sum() * spread))  # four features
        chance = np.maximum(pi.values[rows], 1 - pi.values[rows])
        assert trial.p_value == pytest.approx(tail(chance, int(np.ceil(trial.correct - trial.excused))))
    assert found.p_value == pytest.approx(min(1, 9 * min(t.p_value for t in found.trials)))


def test_the_challenger_takes_the_half_where_it_differs_most():
    fold = np.array([0, 0, 0, 0, 1, 1, 1])
    chosen = most_different(np.array([1.0, 4.0, 3.0, 2.0, 9.0, 8.0, 7.0]), fold)
    assert chosen.tolist() == [False, True, True, False, True, False, False]


def test_seeds_and_files():
    x, member, _ = shifted(400)
    pi = fit(x, member)
    a, b = falsify(pi, seed=1), falsify(pi, seed=1)
    assert a.trials == b.trials
    content = json.loads(json.dumps(a.to_dict()))
    assert content["p_value"] == a.p_value
    assert content["trials"][0]["guesser"] == "along"
    assert content["provenance"]["digest"] == pi.provenance.digest
    assert str(a).count("\n") == 1 + 15 + 1
    assert falsify(pi).trials == falsify(pi, seed=pi.provenance.settings["seed"]).trials == pi.falsification.trials


def test_refusals():
    x, member, truth = shifted(300)
    assert "a challenger needs features" in refusal(falsify, known(truth, member), challenger=TREE)
    assert "features are for propensities that were given" in refusal(falsify, fit(x, member), features=x)
    assert "as many examples as there are propensities, 300" in refusal(falsify, known(truth, member), features=x[:9])
    assert "level must lie in (0, 1), not 0.0" in refusal(falsify, known(truth, member), level=0.0)

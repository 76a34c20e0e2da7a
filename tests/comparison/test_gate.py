"""The gate: passed, failed or inconclusive, and why."""

import json
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import tradeoff
from bayes_dp.bayes.checks import model_check
from bayes_dp.comparison import verdict as verdict_module
from bayes_dp.comparison.gate import valid_bounds
from bayes_dp.comparison.guessing import guessing
from bayes_dp.comparison.verdict import Verdict, judge

gate_module = sys.modules["bayes_dp.comparison.gate"]  # the function has the same name

DELTA = 1e-5
COINS = bdp.ErrorCounts([50, 48, 43, 53, 53], 100, [53, 50, 52, 42, 53], 100)  # drawn at rates of one half
LEAKS = bdp.ErrorCounts([0], 5000, [3], 5000)  # with 95% confidence ε ≥ 7.2
NEVER = bdp.ErrorCounts([0] * 5, 100, [100] * 5, 100)
WRONG = bdp.ErrorCounts([60] * 5, 100, [62, 58, 60, 61, 59], 100)


def codes(found):
    return {reason.code for reason in found.reasons}


def judged(counts, limit, prob=0.9, control=None, **changes):
    """The verdict from a posterior with some of its attributes changed."""
    post = bdp.estimate(counts, DELTA)
    for name, value in changes.items():
        setattr(post, name, value)
    return judge(post, counts, limit, prob, bounds=valid_bounds(counts, DELTA, prob), control=control)


# Attacks that see nothing ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def never():
    return bdp.gate(NEVER, DELTA, 0.001)


def test_an_attack_that_always_says_no_does_not_pass(never):
    """The interval ends at 5e-5."""
    found = never
    assert found.verdict == "inconclusive"
    assert "guessing" in codes(found)
    assert found.upper < 0.001
    assert (found.passed, found.exit_code) == (False, 3)


@pytest.mark.parametrize(
    "counts",
    [
        COINS,
        bdp.ErrorCounts([100], 100, [0], 100),  # always "yes"
        bdp.ErrorCounts([100, 0], 100, [0, 100], 100),
        bdp.ErrorCounts([50], 100, [50], 100),
        bdp.ErrorCounts([0], 1, [0], 1),
        bdp.ErrorCounts([55] * 4, 100, [55] * 4, 100),  # worse than chance, but not by more than chance
    ],
    ids=["coins", "yes", "yes or no", "one base", "one run", "mildly worse"],
)
def test_useless_attacks_do_not_pass(counts):
    found = bdp.gate(counts, DELTA, 20.0)
    assert found.verdict == "inconclusive"
    assert "guessing" in codes(found)
    assert "A positive control" in found.reason
    assert not any("worse than chance" in note for note in found.notes)


def test_many_bases_share_the_level_of_the_tests_of_guessing():
    """A p-value of .03 tells one base from guessing, and none of three."""
    one = bdp.ErrorCounts([40], 100, [44], 100)
    assert 0.05 / 3 < guessing(one)[0][0] < 0.05
    assert "guessing" not in codes(bdp.gate(one, DELTA, 20.0))
    assert "guessing" in codes(bdp.gate(bdp.ErrorCounts([40, 50, 50], 100, [44, 50, 50], 100), DELTA, 20.0))
    weak = bdp.ErrorCounts([42], 100, [44], 100)
    assert 0.05 < guessing(weak)[0][0] < 0.1
    assert "guessing" in codes(bdp.gate(weak, DELTA, 20.0))


def test_cross_fed_runs_have_no_exact_test_of_guessing():
    counts = bdp.ErrorCounts([10, 12], 100, [12, 10], 100, design="cross_fed")
    found = bdp.gate(counts, DELTA, 60.0)
    assert "guessing" in codes(found)
    assert "for cross-fed runs there is no exact test" in found.reason


@pytest.mark.slow
def test_coin_flips_hardly_ever_pass():
    """At 5%; here the interval always passes."""
    passed = 0
    for seed in range(60):
        rng = np.random.default_rng([3, seed])
        counts = bdp.ErrorCounts(rng.binomial(100, 0.5, 5), 100, rng.binomial(100, 0.5, 5), 100)
        passed += bdp.gate(counts, DELTA, 8.0).passed
    assert passed <= 3 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_decisions_worse_than_chance_are_not_weak():
    found = bdp.gate(WRONG, DELTA, 8.0)
    assert "guessing" not in codes(found)
    assert any("worse than chance" in note and "opposite decisions leak" in note for note in found.notes)
    assert bdp.gate(WRONG, DELTA, 0.3).verdict == "failed"


def test_one_good_attack_among_useless_ones_is_enough_to_be_no_guess():
    counts = bdp.ErrorCounts([30, 49, 52, 51, 47], 100, [30, 51, 46, 53, 50], 100)
    assert "guessing" not in codes(bdp.gate(counts, DELTA, 20.0))


# The control ----------------------------------------------------------------------------------------------------------


def test_a_control_that_leaks_more_than_the_limit():
    found = bdp.gate(COINS, DELTA, 5.0, control=LEAKS)
    assert found.verdict == "passed"
    assert codes(found) == {"interval"}
    bound = bdp.audits.clopper_pearson(LEAKS, DELTA, confidence=0.95).value
    assert any(f"lower bound {bound:.4g} with confidence 95%" in note for note in found.notes)
    assert any("10000 runs a base and the counts have 200" in note for note in found.notes)


@pytest.mark.parametrize(("runs", "unlike"), [(200, False), (201, True), (50, False), (49, True)])
def test_a_control_of_twice_as_many_runs_is_like_the_counts(runs, unlike):
    found = bdp.gate(COINS, DELTA, 1.0, control=bdp.ErrorCounts([0], runs, [0], runs))
    assert any(f"{2 * runs} runs a base and the counts have 200" in note for note in found.notes) == unlike


def test_a_control_on_one_model_has_the_bound_of_guesses():
    counts = bdp.ErrorCounts([50], 100, [50], 100, design="one_run", examples=200)
    control = bdp.ErrorCounts([0], 100, [0], 100, design="one_run", examples=200)
    found = bdp.gate(counts, DELTA, 3.0, control=control)
    bound = bdp.audits.one_run(control, DELTA).value
    assert any(f"lower bound {bound:.4g} with confidence 95% (one_run)" in note for note in found.notes)


@pytest.mark.parametrize("side", [-1e-6, 0.0, 1e-6])
def test_the_controls_bound_is_at_the_same_delta_and_confidence(side):
    bound = bdp.audits.clopper_pearson(LEAKS, 0.01, confidence=0.975).value
    assert bound < bdp.audits.clopper_pearson(LEAKS, DELTA, confidence=0.975).value - 1e-3
    found = bdp.gate(COINS, 0.01, bound + side, prob=0.95, control=LEAKS)
    assert ("control" in codes(found)) == (side >= 0)


def test_the_bases_of_a_control_share_the_error_probability():
    alone = bdp.audits.clopper_pearson(LEAKS, DELTA).value
    many = bdp.ErrorCounts([0] + [2500] * 30, 5000, [3] + [2500] * 30, 5000)
    assert "control" in codes(bdp.gate(COINS, DELTA, alone - 0.01, control=many))


def test_a_control_that_shows_nothing():
    """It blocks even where the attacks are no guesses."""
    strong = bdp.datasets.strong_attacks()
    assert bdp.gate(strong, DELTA, 30.0).verdict == "passed"
    found = bdp.gate(strong, DELTA, 30.0, control=LEAKS)
    assert (found.verdict, codes(found)) == ("inconclusive", {"control"})
    assert codes(bdp.gate(COINS, DELTA, 8.0, control=LEAKS)) == {"control", "guessing"}


def test_a_control_whose_decisions_are_the_wrong_way_round():
    """Its bound is 0; what the opposite decisions would show is said."""
    opposite = bdp.ErrorCounts([5000], 5000, [4997], 5000)
    found = bdp.gate(COINS, DELTA, 5.0, control=opposite)
    assert codes(found) == {"control", "guessing"}
    assert "the opposite decisions would give epsilon >= 7.2" in found.reason


def test_a_control_of_cross_fed_runs_has_no_bound_that_holds():
    crossed = bdp.ErrorCounts([0], 5000, [3], 5000, design="cross_fed")
    found = bdp.gate(COINS, DELTA, 5.0, control=crossed)
    assert codes(found) == {"control", "guessing"}
    assert "cross-fed" in found.reason


def test_going_without_a_control():
    found = bdp.gate(COINS, DELTA, 5.0, control=False)
    assert found.verdict == "passed"
    assert any("useless attack on a training that leaks passes in the same way" in note for note in found.notes)
    assert bdp.gate(COINS, DELTA, 5.0).verdict == "inconclusive"


ONE_RUN = bdp.ErrorCounts([50], 100, [50], 100, design="one_run", examples=200)


@pytest.mark.parametrize(
    ("counts", "control", "message"),
    [
        (COINS, COINS, "the control has the very counts"),
        (COINS, COINS[[4, 3, 2, 1, 0]], "the control has the very counts"),
        (COINS, ONE_RUN, 'its design is "one_run", and theirs "repeated"'),
        (ONE_RUN, LEAKS, 'its design is "repeated", and theirs "one_run"'),
        (COINS, True, "control must be the ErrorCounts"),
        (COINS, [0, 5000, 3, 5000], "control must be the ErrorCounts"),
        ("counts.csv", None, "counts must be ErrorCounts, a GuessTable or Guesses, not str"),
    ],
)
def test_what_can_be_no_control(counts, control, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.gate(counts, DELTA, 5.0, control=control)


# The other reasons ----------------------------------------------------------------------------------------------------


def test_a_failure_needs_no_more_than_the_interval():
    found = bdp.gate(bdp.datasets.strong_attacks(), DELTA, 2.0)
    assert (found.verdict, found.exit_code, codes(found)) == ("failed", 1, {"interval"})
    assert "above 2; P(ε > 2)" in found.reason


def test_the_chance_to_be_above_the_limit_is_the_posterior_s():
    post = bdp.estimate(WRONG, DELTA)
    found = bdp.gate(WRONG, DELTA, post.median)
    assert found.prob_above == pytest.approx(0.5, abs=1e-6)
    assert found.upper == post.interval(0.9)[1]


def test_gaussian_noise_would_mean_more():
    counts = bdp.ErrorCounts([100, 95, 108, 99, 102], 1000, [700, 652, 611, 730, 685], 1000)
    end = bdp.estimate(counts, DELTA).interval()[1]
    gaussian = bdp.compare_families(counts, DELTA).posteriors["gaussian"].interval()[1]
    assert end < 2.5 < gaussian
    assert codes(bdp.gate(counts, DELTA, 2.5)) == {"gaussian"}
    assert bdp.gate(counts, DELTA, gaussian).verdict == "passed"  # an end at the limit is not above it
    assert bdp.gate(counts, DELTA, gaussian - 0.01).verdict == "inconclusive"


def test_at_no_delta_gaussian_noise_has_no_epsilon():
    found = bdp.gate(COINS, 0.0, 5.0, control=LEAKS)
    assert codes(found) == {"gaussian"}
    assert "no finite ε would hold at δ = 0" in found.reason


def test_a_computation_that_is_not_to_be_relied_on():
    found = judged(COINS, 5.0, control=LEAKS, warnings=("The chains disagree on epsilon.",))
    assert codes(found) == {"computation"}
    assert "The chains disagree on epsilon." in found.reason


def test_a_tail_without_a_standard_deviation_is_no_fault_of_the_computation():
    post = bdp.estimate(COINS, DELTA, prior_epsilon="HalfCauchy(1)")
    if not post.warnings:
        post.warnings = (bdp.bayes.exact.posterior.HEAVY_TAIL,)
    assert post.unreliable == ()


@pytest.mark.slow
def test_chains_that_did_not_converge():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bdp.gate(
            COINS, DELTA, 8.0, control=LEAKS, method="mhaar", chains=2, draws=20, warmup=20, progress=False
        )
    assert codes(found) >= {"computation"}


def test_a_model_that_does_not_fit():
    """Nineteen useless attacks and one that sees everything are not spread as the layer says."""
    x = [50, 52, 47, 51, 49, 53, 50, 48, 52, 51, 46, 50, 49, 54, 50, 51, 48, 52, 47, 15]
    counts = bdp.ErrorCounts(x, 100, [100 - k for k in x[:-1]] + [15], 100)
    found = bdp.gate(counts, DELTA, 40.0)
    assert "model" in codes(found)
    assert "look for groups of bases that leak differently" in found.reason


def test_places_of_the_rates_are_no_misfit():
    """Attacks on a private training, all at one small false positive rate."""
    rng = np.random.default_rng(3)
    beta = stats.norm.cdf(stats.norm.isf(0.01) - 0.1 * rng.uniform(0.5, 1.0, 16))
    counts = bdp.ErrorCounts(rng.binomial(300, 0.01, 16), 300, rng.binomial(300, beta), 300)
    post = bdp.estimate(counts, DELTA)
    found = judge(post, counts, 5.0, bounds={}, control=LEAKS, checked=bdp.check(post, size=50))
    assert found.passed


def noisy(shape, n=30):
    """Counts of attacks at thresholds all along the boundary; `shape` gives β at α."""
    alpha = np.linspace(0.02, 0.98, n)
    rng = np.random.default_rng(1)
    return bdp.ErrorCounts(rng.binomial(2000, alpha), 2000, rng.binomial(2000, shape(alpha)), 2000)


def test_a_shape_that_another_family_has():
    """Gaussian noise is no misfit where the Gaussian family is held against the limit; a few strong hits are."""
    counts = noisy(lambda alpha: stats.norm.cdf(stats.norm.isf(alpha) - 1.0))
    found = bdp.gate(counts, DELTA, 60.0, control=LEAKS)
    assert "model" not in codes(found)
    assert any("change along the boundary as in the gaussian family" in note for note in found.notes)
    counts = noisy(lambda alpha: 0.9 * (1 - alpha) + 0.1 * stats.norm.cdf(stats.norm.isf(alpha) - 5.0))
    found = bdp.gate(counts, DELTA, 60.0, control=LEAKS)
    assert "model" in codes(found)


def test_a_check_that_was_made_before_is_taken():
    post = bdp.estimate(COINS, DELTA)
    checked = bdp.check(post)
    assert checked.shape_p is None
    assert checked.p_value == min(1.0, 2 * min(checked.dispersion_p, checked.rank_p))
    rejected, doubtful = (type(checked)(**{**vars(checked), "rank_p": p}) for p in (0.0045, 0.0055))
    for given, expected in ((checked, set()), (rejected, {"model"}), (doubtful, set())):
        found = judge(post, COINS, 5.0, bounds={}, control=LEAKS, checked=given)
        assert codes(found) - {"interval"} == expected


def test_the_likeliest_family_that_fits_is_named(monkeypatch):
    """Of those that the evidence leaves open, other than the layer of (ε, δ)."""
    p_values = {"approx": 1.0, "gaussian": 0.5, "laplace": 0.9, "pure": 0.001}
    found = SimpleNamespace(
        log_evidence={"approx": 0.0, "gaussian": -2.0, "laplace": -3.0, "pure": -1.0},
        left_open=lambda nats: {name: name for name in p_values} if nats == 5 else {},
    )
    monkeypatch.setattr(model_check, "check", lambda name, seed: SimpleNamespace(p_value=p_values[name]))
    assert verdict_module._of_this_shape(None, found, 0) == "gaussian"
    p_values["gaussian"] = p_values["laplace"] = 0.009
    assert verdict_module._of_this_shape(None, found, 0) == ""
    assert verdict_module._of_this_shape(None, None, 0) == ""


def test_the_seed_is_that_of_all_draws_and_a_wrong_control_is_refused_before_them(monkeypatch):
    seeds = []

    def recorded(function):
        def run(*args, seed, **others):
            seeds.append(seed)
            return function(*args, seed=seed, **others)

        return run

    monkeypatch.setattr(gate_module, "estimate", recorded(bdp.estimate))
    monkeypatch.setattr(model_check, "check", recorded(bdp.check))
    with pytest.raises(bdp.InputError, match="the very counts"):
        bdp.gate(COINS, DELTA, 5.0, control=COINS)
    assert seeds == []
    bdp.gate(COINS, DELTA, 5.0, seed=7)
    assert set(seeds) == {7}
    assert len(seeds) == 2


def test_a_valid_bound_above_the_limit():
    """An interval of the strongest attacks that ends below what the accuracy alone shows."""
    a4 = bdp.datasets.mnist_a4()
    counts = bdp.ErrorCounts(a4.false_positives, a4.negatives, a4.false_negatives, a4.positives)
    post = bdp.estimate(counts, 1e-3, strength="tight")
    found = judge(post, counts, 0.9, bounds=valid_bounds(counts, 1e-3, 0.9), checked=bdp.check(post, size=50))
    assert found.verdict == "inconclusive"
    assert "bound" in codes(found)
    assert "0.95 by accuracy" in found.reason
    limit = post.interval(0.9)[1]  # an end and a bound at the limit itself are not above it
    found = judge(post, counts, limit, bounds={"accuracy": limit}, checked=bdp.check(post, size=50))
    assert found.verdict != "failed"
    assert "bound" not in codes(found)


@pytest.mark.parametrize("design", ["cross_fed", "one_run", "observational"])
def test_an_interval_whose_own_words_are_that_it_does_not_hold(design):
    others = {"examples": 1000} if design in ("one_run", "observational") else {}
    counts = bdp.ErrorCounts([49, 52], 100, [51, 46], 100, design=design, **others)
    found = bdp.gate(counts, DELTA, 40.0, control=False)
    assert "design" in codes(found)
    assert bdp.estimate(counts, DELTA).caution in found.reason


def test_what_cannot_be_checked_is_said():
    counts = bdp.ErrorCounts([49, 52, 50], 100, [51, 46, 50], 100)
    post = bdp.estimate(counts, DELTA)
    post.unchecked = "the model cannot be checked"
    found = judge(post, counts, 40.0, bounds={}, control=False)
    assert found.passed
    assert any(note.startswith("Whether the model fits the counts was not checked:") for note in found.notes)


# Its forms ------------------------------------------------------------------------------------------------------------


def test_forms(never):
    found = never
    assert isinstance(found, Verdict)
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["verdict"] == "inconclusive"
    assert content["passed"] is False
    assert {reason["code"] for reason in content["reasons"]} == codes(found)
    assert all(reason["sentence"] in content["reason"] for reason in content["reasons"])
    text = str(found)
    assert text.startswith("Check INCONCLUSIVE: the 90% interval of ε ends at ")
    assert all(reason.sentence in text for reason in found.reasons)
    assert bdp.gate(COINS, DELTA, 5.0) == bdp.gate(COINS, DELTA, 5.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": -1}, "epsilon must lie in"),
        ({"epsilon": np.inf}, "epsilon must lie in"),
        ({"epsilon": "1"}, "epsilon"),
        ({"prob": 1}, "prob must lie in"),
        ({"delta": 1}, "delta must lie in"),
        ({"seed": -1}, "seed"),
        ({"strength": 2}, "strength must"),
        ({"colour": 1}, "colour"),
    ],
)
def test_bad_input(changes, message):
    asked = {"delta": DELTA, "epsilon": 1.0} | changes
    with pytest.raises(bdp.InputError, match=message):
        bdp.gate(COINS, **asked)


def test_a_posterior_of_delta_has_no_verdict_on_epsilon():
    with pytest.raises(bdp.InputError, match="needs a posterior of epsilon, not of delta"):
        judge(bdp.estimate(COINS, DELTA).delta_at(1.0), COINS, 1.0, bounds={})


# Where a limit is given to others -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared():
    return bdp.compare(COINS, DELTA, 0.95, limit=5.0, control=LEAKS)


def test_a_comparison_has_the_verdict_of_the_gate(compared):
    assert str(compared.gate) == str(bdp.gate(COINS, DELTA, 5.0, prob=0.9, control=LEAKS))
    assert compared.gate.passed
    assert str(compared).endswith(str(compared.gate))
    assert "Check passed" in compared.to_html()
    assert "Check passed" in compared.to_latex()
    content = json.loads(json.dumps(compared.to_dict(), allow_nan=False))
    assert bdp.Comparison.from_dict(content) == compared


@pytest.mark.parametrize(
    "changes",
    [
        {"verdict": "perhaps"},
        {"passed": False},
        {"reasons": []},
        {"reasons": [{"code": "x", "sentence": "y"}]},
        {"more": 1},
    ],
)
def test_a_verdict_that_no_comparison_can_have_written(compared, changes):
    content = compared.to_dict()
    content["gate"] = content["gate"] | changes
    with pytest.raises(bdp.InputError, match="gate"):
        bdp.Comparison.from_dict(content)


def test_a_comparison_of_few_methods_judges_by_all_bounds():
    a4 = bdp.datasets.mnist_a4()
    counts = bdp.ErrorCounts(a4.false_positives, a4.negatives, a4.false_negatives, a4.positives)
    tight = bdp.estimate(counts, 1e-3, strength="tight")
    found = bdp.compare(counts, 1e-3, names=["katz"], posteriors={"tight": tight}, limit=0.9, control=False)
    assert "bound" in codes(found.gate)


def test_a_report_has_the_verdict_of_the_gate():
    found = bdp.report(COINS, DELTA, limit=5.0, control=False, source="coins.csv")
    assert found.findings.verdict == bdp.gate(COINS, DELTA, 5.0, control=False)
    short = found.document.sections[0].pieces
    assert any("Asked whether ε is at most 5: it passed." in getattr(piece, "text", "") for piece in short)
    assert found.to_dict()["gate"] == found.findings.verdict.to_dict()
    assert "--fail-above 5.0 --no-control" in found.markdown
    assert "limit=5.0, control=False" in found.markdown


@pytest.mark.parametrize("call", [bdp.compare, bdp.report])
def test_a_control_without_a_limit(call):
    with pytest.raises(bdp.InputError, match="give a limit of epsilon too"):
        call(COINS, DELTA, control=LEAKS)
    with pytest.raises(bdp.InputError, match="limit must lie in"):
        call(COINS, DELTA, limit=-1.0)


def response(n=20, trials=10_000, epsilon=1.5):
    """Attacks on randomized response at rates that differ."""
    rng = np.random.default_rng(3)
    level, alpha = epsilon * rng.uniform(0.5, 1.0, n), rng.uniform(0.05, 0.6, n)
    beta = np.array([tradeoff.approx_dp(a, t, 0.0) for a, t in zip(alpha, level, strict=True)])
    return bdp.ErrorCounts(rng.binomial(trials, alpha), trials, rng.binomial(trials, beta), trials)


def test_a_family_that_the_counts_speak_against_does_not_count():
    counts = response()
    found = bdp.gate(counts, DELTA, 2.2)
    assert bdp.estimate(counts, DELTA).gaussian()[1] > 2.2
    assert "gaussian" not in codes(found)
    assert any("the counts speak against it (its log evidence is" in note for note in found.notes)


@pytest.mark.parametrize(("nats", "left"), [(4.9, {"gaussian"}), (5.1, set())])
def test_families_within_five_nats_are_left_open(nats, left):
    post, found = bdp.estimate(COINS, DELTA), bdp.compare_families(COINS, DELTA)
    vars(found)["_gaps"] = {"approx": 0.0, "gaussian": nats, "laplace": 1000.0}
    limit = post.interval()[1] + 1e-3
    assert found.posteriors["gaussian"].interval()[1] > limit
    assert {doubt.code for doubt in verdict_module._of_families(post, found, limit, 0.9, [])} == left


def test_any_family_that_is_left_open_counts():
    counts = bdp.ErrorCounts(10, 100, 20, 100)
    families = bdp.compare_families(counts, DELTA)
    assert set(families.within(5.0)) == {"approx", "gaussian", "laplace"}
    limit = families.posteriors["approx"].interval()[1] + 1e-3
    assert families.posteriors["laplace"].interval()[1] > limit
    assert codes(bdp.gate(counts, DELTA, limit)) == {"gaussian", "family"}


def test_a_family_that_was_chosen_stands_alone():
    counts = bdp.ErrorCounts([100, 95, 108, 99, 102], 1000, [700, 652, 611, 730, 685], 1000)
    post = bdp.estimate(counts, DELTA, family="gaussian")
    end = post.interval()[1]
    for limit, verdict in ((end - 0.01, "failed"), (end + 0.01, "passed")):
        found = bdp.gate(counts, DELTA, limit, family="gaussian")
        assert (found.verdict, found.upper) == (verdict, end)
    assert any(note.startswith("The family was chosen, and not found by the counts") for note in found.notes)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_average_is_held_to_its_families(seed):
    """Of Gaussian noise with ε = 4.02: at one threshold it has next to no weight in the average, whose interval ends
    below half of that."""
    rng = np.random.default_rng(seed)
    beta = stats.norm.cdf(stats.norm.isf(0.1) - rng.uniform(0.75, 1.5, 20))
    counts = bdp.ErrorCounts(rng.binomial(1000, 0.1, 20), 1000, rng.binomial(1000, beta), 1000)
    found = bdp.gate(counts, 0.01, 2.0, family="average", control=bdp.ErrorCounts(0, 5000, 0, 5000))
    assert found.upper < 2.0
    assert codes(found) == {"gaussian"}
    said = bdp.estimate(counts, 0.01, family="average").high_end()
    assert "Only the choice of thresholds speaks against others, which have next to no weight: gaussian" in said


def test_an_average_passes_where_its_families_do():
    rng = np.random.default_rng(0)
    alpha = rng.uniform(0.02, 0.98, 20)
    beta = stats.norm.cdf(stats.norm.isf(alpha) - rng.uniform(0.05, 0.1, 20))
    counts = bdp.ErrorCounts(rng.binomial(1000, alpha), 1000, rng.binomial(1000, beta), 1000)
    found = bdp.gate(counts, 0.01, 2.0, family="average", control=bdp.ErrorCounts(0, 5000, 0, 5000))
    assert found.passed
    assert not any("was chosen" in note for note in found.notes)


def test_an_average_of_which_no_family_fits():
    counts = bdp.ErrorCounts([10] * 24, 200, [4] * 12 + [185] * 12, 200)
    found = bdp.gate(counts, 0.01, 100.0, family="average", control=False)
    assert "model" in codes(found)

"""The simulations against plain loops over tables, guesses and audits; what a study notices, keeps and prints."""

import json
import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from bayes_dp import ErrorCounts, InputError, calibrate, region
from bayes_dp.attacks.scores import Bonferroni, Fixed, Split, Uncorrected, guess
from bayes_dp.audits import compositional, f_dp, one_run, panoramia
from bayes_dp.audits.f_dp import GAUSSIAN
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.intervals import clopper_pearson
from bayes_dp.audits.one_run import best_lower_bounds, exact_lower_bounds, exact_p_value
from bayes_dp.audits.one_run import lower_bounds as binomial_bounds
from bayes_dp.audits.registry import audit
from bayes_dp.calibrate import Row, Study, guesses, studies, study
from bayes_dp.calibrate.bounds import at_delta, bounds_of, discounted, shift_of, simulated
from bayes_dp.calibrate.counts import draw_above, draw_correct
from bayes_dp.calibrate.extreme import draw_at_once, least_rejecting
from bayes_dp.calibrate.mechanisms import FEW, NoisyScore, RandomizedResponse
from bayes_dp.calibrate.rates import RATE_METHODS, attacks_on_border, rate_bounds
from bayes_dp.calibrate.registered import can_be_studied, tasks_for
from bayes_dp.calibrate.result import row_of
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.tradeoff import ApproxDP, Gaussian, Laplace

REPETITIONS = 2000
ONE_OF_EACH = [
    RandomizedResponse(0.0),
    RandomizedResponse(1.0),
    RandomizedResponse(1.0, 0.4),
    NoisyScore(Gaussian(1.0)),
    NoisyScore(Laplace(1.0)),
]


@pytest.fixture
def small(monkeypatch):
    for module in ("guesses", "rates"):
        monkeypatch.setattr(f"bayes_dp.calibrate.{module}.SIZES", (200,))
    monkeypatch.setattr("bayes_dp.calibrate.mechanisms.MECHANISMS", FEW)
    for name, value in {"EXAMPLES": 60, "GUESSES": 40, "SAMPLE": 3}.items():
        monkeypatch.setattr(f"bayes_dp.calibrate.shifted.{name}", value)
    monkeypatch.setattr("bayes_dp.calibrate.shifted.SHIFTS", {"mild shift": (0.5, False)})


def expit(x):
    return 1 / (1 + np.exp(-x))


def scores(mechanism, examples, rng):
    """A table of scores, straight from the mechanism's description."""
    match mechanism:
        case RandomizedResponse(epsilon, shift):
            features = np.where(rng.random(examples) < 0.5, -1, 1)
            member = rng.random(examples) < expit(shift * features)
            response = np.where(rng.random(examples) < expit(epsilon), 1, -1) * np.where(member, 1, -1)
            return GuessTable(epsilon * response + shift * features, member)
        case NoisyScore(Gaussian(mu)):
            noise = rng.standard_normal(examples)
        case NoisyScore(Laplace(mu)):
            noise = rng.laplace(size=examples)
    member = rng.random(examples) < 0.5
    return GuessTable(noise + mu * member, member)


# The counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", ["both", "members"])
@pytest.mark.parametrize("mechanism", ONE_OF_EACH, ids=lambda mechanism: mechanism.name)
def test_counts_have_the_law_of_sorted_scores(mechanism, sides):
    rng, m, numbers = np.random.default_rng(1), 60, (1, 10, 25, 60)
    plain = np.array(
        [
            guess(scores(mechanism, m, rng), Bonferroni(numbers), sides, seed).correct.tolist()
            for seed in range(REPETITIONS)
        ]
    )
    plan = Guesses(m, numbers, numbers, "bonferroni")
    fast = draw_correct(mechanism, plan, REPETITIONS, rng, sides)
    assert fast.shape == plain.shape
    for j in range(len(numbers)):
        values = np.arange(m + 1)
        table = np.stack([np.bincount(counts[:, j], minlength=m + 1)[values] for counts in (plain, fast)])
        table = table[:, np.argsort(table.sum(axis=0))]  # rare values together
        few = np.cumsum(table.sum(axis=0)) < 40
        table = np.column_stack([table[:, few].sum(axis=1), table[:, ~few]])
        table = table[:, table.sum(axis=0) > 0]
        assert stats.chi2_contingency(table).pvalue > 1e-4, numbers[j]
    spread = np.sqrt(np.outer(plain.var(axis=0), plain.var(axis=0)) * 2 * 2 / REPETITIONS) + 1e-9
    assert (np.abs(np.cov(plain.T) - np.cov(fast.T)) < 4.5 * spread).all()


@pytest.mark.parametrize("mechanism", ONE_OF_EACH, ids=lambda mechanism: mechanism.name)
def test_curves_are_integrals_of_the_chances(mechanism):
    u = np.linspace(0, 1, 200_001)
    below, chance = mechanism.curve(u)
    assert below[0] == pytest.approx(0, abs=1e-12)
    assert below[-1] == pytest.approx(0.5, abs=1e-12)
    integral = np.concatenate([[0], np.cumsum((chance[1:] + chance[:-1]) / 2) * u[1]])
    np.testing.assert_allclose(below, integral, atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_truths_of_randomized_response(epsilon):
    """The families' members with these parameters allow what the response leaks, and hardly more."""
    alpha, response = np.linspace(0, 1, 10_001), RandomizedResponse(epsilon)
    for family, parameter in ((Gaussian, "mu"), (Laplace, "laplace")):
        gap = ApproxDP(epsilon)(alpha) - family(response.truth(parameter, 0.0))(alpha)
        assert gap.min() > -1e-12
        assert (ApproxDP(epsilon)(alpha) - family(0.99 * response.truth(parameter, 0.0))(alpha)).min() < 0
    assert response.truth("epsilon", 0.0) == epsilon
    assert NoisyScore(Gaussian(1.0)).truth("laplace", 0.0) == math.inf
    assert NoisyScore(Laplace(2.0)).truth("epsilon", 0.0) == 2.0


def test_the_extreme_case_rejects_as_often_as_can_be():
    rng, m, epsilon, delta, size = np.random.default_rng(2), 300, 0.5, 3e-3, 40_000
    for least in (195, 205, 301):
        correct = draw_at_once(m, m, least, epsilon, delta, size, rng)
        most = 0.0 if least > m else float(exact_p_value(m, m, least, epsilon, delta))
        assert np.mean(correct >= least) == pytest.approx(most, abs=4 * math.sqrt(most / size))
    exact = at_delta(exact_lower_bounds, delta)
    least = least_rejecting(exact, m, m, epsilon, 0.05)
    assert float(exact(m, m, least - 1, 0.05)) <= epsilon < float(exact(m, m, least, 0.05))


def test_attacks_lie_on_the_border():
    for examples in (200, 20_000):
        for name, alpha, beta, epsilon in attacks_on_border(examples, 0.01):
            if not name.startswith("end"):  # where every ε has the same point
                assert float(region.level(alpha, beta, 0.01)) == pytest.approx(epsilon, abs=1e-9), name


# The bounds -----------------------------------------------------------------------------------------------------------

AUDITS = {
    "one-run": (
        at_delta(best_lower_bounds, 1e-3),
        lambda guesses: one_run(guesses, 1e-3, confidence=0.9),
    ),
    "f-dp": (partial(f_dp_bounds, GAUSSIAN), lambda guesses: f_dp(guesses, confidence=0.9)),
    "zero-run": (
        partial(discounted, shift_of(0.3), 1e-3),
        lambda guesses: compositional(guesses, 1e-3, overlap=0.3, confidence=0.9),
    ),
}


@pytest.mark.parametrize("choice", [Fixed(40), Bonferroni(), Split((20, 50), 0.3, 5), Uncorrected((10, 100))], ids=str)
@pytest.mark.parametrize("audit", AUDITS)
def test_bounds_are_those_of_the_audit(audit, choice, monkeypatch):
    """The same counts, one by one through `Guesses` and the public function."""
    drawn = []

    def remember(*given):
        drawn.append(real(*given))
        return drawn[-1]

    real = draw_correct
    monkeypatch.setattr("bayes_dp.calibrate.bounds.draw_correct", remember)
    lower, public = AUDITS[audit]
    m = 100
    bounds = simulated(RandomizedResponse(3.0), m, choice, lower, 0.1, 40, np.random.default_rng(3))
    plan = guess(GuessTable(np.arange(m), [False] * m), choice)
    for i in range(40):
        pilot = plan.pilot
        if pilot is not None:
            pilot = Guesses(pilot.examples, pilot.made, drawn[1][i], "uncorrected")
        expected = public(Guesses(plan.examples, plan.made, drawn[0][i], plan.rule, pilot)).value
        assert bounds[i] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert len(set(bounds.tolist())) > 3


def test_rates_agree_with_a_plain_loop_over_tables():
    """The whole way, with the plain one: scores, guesses, audit."""
    rng, mechanism, m, choice = np.random.default_rng(4), RandomizedResponse(0.5), 60, Uncorrected((20, 40, 60))
    plain = [one_run(guess(scores(mechanism, m, rng), choice, seed=i), 0.0).value for i in range(REPETITIONS)]
    lower = at_delta(best_lower_bounds, 0.0)
    fast = simulated(mechanism, m, choice, lower, 0.05, REPETITIONS, rng)
    for statistic in (lambda bounds: np.mean(bounds > 0.5), np.mean):
        a, b = statistic(np.array(plain)), statistic(fast)
        assert abs(a - b) < 4 * math.sqrt(2 * 0.1 / REPETITIONS)
    assert stats.ks_2samp(plain, fast).pvalue > 1e-4


def test_panoramia_over_thresholds():
    """Scores that are their own levels, so that the thresholds are known."""
    rng, levels, p = np.random.default_rng(5), np.array([0.3, 0.5, 0.8]), 0.1
    for _ in range(30):
        member = rng.random(50) < 0.5
        score = np.where(member, rng.random(50) ** 0.3, rng.random(50) ** 2)
        taken = np.array([[np.sum(score >= level) for level in levels]])
        right = np.array([[np.sum(member[score >= level]) for level in levels]])
        lower = at_delta(binomial_bounds, 1e-3)
        bound = bounds_of(lower, 50, taken, right, p / len(levels)).max()
        expected = panoramia(GuessTable(score, member), delta=1e-3, confidence=1 - p, thresholds=levels).value
        assert bound == pytest.approx(expected, rel=1e-9)


def test_scores_above_thresholds():
    """The law of how many are taken, and of how many of these are members."""
    size, levels = 20_000, np.array([0.25, 0.9])
    taken, right = draw_above(RandomizedResponse(1.0), 50, levels, size, np.random.default_rng(6))
    assert (taken[:, 0] >= taken[:, 1]).all()
    assert (right <= taken).all()
    np.testing.assert_allclose(taken.mean(axis=0), 50 * (1 - levels), atol=0.1)
    np.testing.assert_allclose(taken.var(axis=0), 50 * levels * (1 - levels), rtol=0.05)
    chance = expit(1.0)
    np.testing.assert_allclose(right.mean(axis=0), [50 * (0.5 * chance + 0.25 * (1 - chance)), 5 * chance], atol=0.1)


def test_rate_bounds_are_those_of_the_method():
    rng = np.random.default_rng(7)
    x, y = rng.binomial(20, 0.2, (2, 60))
    for method, _ in RATE_METHODS.values():
        bounds = rate_bounds(method, x, 20, y, 20, 0.01, 0.1)
        expected = [method(ErrorCounts(a, 20, b, 20), 0.01, confidence=0.9).value for a, b in zip(x, y, strict=True)]
        np.testing.assert_array_equal(bounds, expected)


# Studies --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("audit", calibrate.AUDITS)
@pytest.mark.usefixtures("small")
def test_short_studies_pass(audit):
    few = {"combine": 30, "joint-exact": 12, "profile": 40, "sequential": 200}  # whose bounds take milliseconds
    done = study(audit, repetitions=few.get(audit, REPETITIONS))
    assert done.complete
    assert done.passed, [row for row in done.rows if row.valid_claim and not row.passed]
    assert all(math.isfinite(row.truth) and math.isfinite(row.mean_bound) for row in done.rows)
    assert any(row.valid_claim and row.mean_bound > 0.4 * row.truth > 0 for row in done.rows)


WRONG = {
    "one-run": ("best_lower_bounds", lambda right: lambda m, r, c, d, p: right(m, r, c, d, 3 * p)),
    "f-dp": ("f_dp_bounds", lambda right: lambda family, m, r, c, p: 1.3 * right(family, m, r, c, p)),
    "zero-run-compositional": ("discounted", lambda right: lambda s, d, m, r, c, p: right(s, d, m, r, c, p) + s / 2),
    "panoramia": ("binomial_bounds", lambda right: lambda m, r, c, d, p: right(m, r, np.minimum(c + 2, r), d, p)),
}


@pytest.mark.parametrize("audit", WRONG)
@pytest.mark.usefixtures("small")
def test_a_wrong_audit_is_noticed(audit, monkeypatch):
    name, wrong = WRONG[audit]
    monkeypatch.setattr(guesses, name, wrong(getattr(guesses, name)))
    assert not study(audit, repetitions=REPETITIONS).passed


@pytest.mark.usefixtures("small")
def test_a_wrong_interval_is_noticed(monkeypatch):
    def too_sure(counts, delta, *, confidence):
        return clopper_pearson(counts, delta, confidence=1 - 10 * (1 - confidence))

    monkeypatch.setattr("bayes_dp.calibrate.rates.RATE_METHODS", {"clopper-pearson": (too_sure, True)})
    assert not study("intervals", repetitions=REPETITIONS).passed


@pytest.mark.usefixtures("small")
def test_the_same_seed_gives_the_same_numbers():
    assert study("zero-run-compositional", repetitions=300, seed=3) == study(
        "zero-run-compositional", repetitions=300, seed=3
    )
    first, other = (study("zero-run-compositional", repetitions=300, seed=seed).rows for seed in (3, 4))
    assert [row.mean_bound for row in first] != [row.mean_bound for row in other]


@pytest.mark.usefixtures("small")
def test_an_interrupted_study_keeps_what_is_done(capsys):
    seen = []

    def stop(done, total):
        seen.append((done, total))
        if done == 3:
            raise KeyboardInterrupt

    part, whole = (study("f-dp", repetitions=200, progress=progress) for progress in (stop, None))
    assert [done for done, _ in seen] == [1, 2, 3]
    assert 0 < len(part.rows) < len(whole.rows)
    assert part.rows == whole.rows[: len(part.rows)]
    assert not part.complete
    assert not part.passed
    assert "INTERRUPTED" in str(part)
    assert capsys.readouterr() == ("", "")  # no progress bar, as this is no terminal


def test_an_interrupt_before_the_first_row_is_passed_on(monkeypatch):
    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setitem(studies.TASKS, "one-run", lambda: iter([stop]))
    with pytest.raises(KeyboardInterrupt):
        study("one-run")


def test_a_progress_bar_on_demand(monkeypatch, capsys):
    monkeypatch.setitem(studies.TASKS, "one-run", lambda: iter([lambda rng, size, p: []] * 2))
    study("one-run", progress=True)
    assert "2/2" in capsys.readouterr().err


def test_what_a_study_prints_and_exports():
    row = row_of(("a", "b", 200, "c"), 1.0, np.array([0.5, 1.5, 0.0, 0.0]), 0.05, True)
    assert (row.rate, row.mean_bound, row.passed) == (0.25, 0.5, True)
    assert row.standard_error == pytest.approx(math.sqrt(0.25 * 0.75 / 4))
    bad = row_of(("a", "b", 200, "c"), 1.0, np.full(4, 2.0), 0.05, True)
    loose = row_of(("a", "b", 200, "c"), 1.0, np.full(4, 2.0), 0.05, False)
    done = Study("one-run", 4, 0.05, 0, (row, bad, loose))
    assert [line.verdict for line in done.rows] == ["holds", "VIOLATED", "no claim, exceeds p"]
    assert not done.passed
    assert Study("one-run", 4, 0.05, 0, (row, loose)).passed
    lines = str(done).splitlines()
    assert lines[0] == "one-run: 4 audits a row at p = 0.05, seed 0"
    assert len({len(line) for line in lines[2:]}) == 1
    assert list(done.to_frame().columns) == list(Row.__dataclass_fields__)
    assert done.to_frame().rate.tolist() == [0.25, 1.0, 1.0]
    back = json.loads(json.dumps(done.to_dict()))
    assert back["rows"][1] == {
        "audit": "a",
        "mechanism": "b",
        "truth": 1.0,
        "examples": 200,
        "choice": "c",
        "rate": 1.0,
        "standard_error": 0.0,
        "mean_bound": 2.0,
        "valid_claim": True,
        "passed": False,
    }
    assert (back["passed"], back["complete"], back["repetitions"]) == (False, True, 4)
    assert list(Study("one-run", 4, 0.05, 0, ()).to_frame().columns)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"audit": "lira"}, r"audit must be one of one-run, f-dp, intervals, panoramia, .*, not 'lira'"),
        ({"audit": ["one-run"]}, r"audit must be one of .*, not \['one-run'\]"),
        ({"repetitions": 0}, "repetitions must be a whole number, at least 1, not 0"),
        ({"repetitions": 1.5}, "repetitions must be a whole number, at least 1, not 1.5"),
        ({"repetitions": True}, "repetitions must be a whole number, at least 1, not True"),
        ({"p": 0}, r"p must lie in \(0, 1\), not 0.0"),
        ({"seed": -1}, r"seed must be a whole number from 0 to 2\*\*63 - 1, not -1"),
        ({"progress": "yes"}, "progress must be a function, True, False or None, not 'yes'"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        study(**{"audit": "one-run"} | given)


@pytest.mark.parametrize("name", ["one-run", "f-dp-laplace", "clopper-pearson"])
def test_an_audit_without_a_study_of_its_own_gets_one(name):
    rows = [row for task in tasks_for(audit(name)) for row in task(np.random.default_rng(0), 100, 0.05)]
    assert len(rows) == (4 if audit(name).designs == ("one_run",) else 19)
    assert all(row.valid_claim and row.passed for row in rows)
    assert {row.audit for row in rows} == {f"{name}, δ = 0.01"}
    assert max(row.mean_bound / row.truth for row in rows if row.truth > 0) > 0.5


def test_an_audit_that_needs_more_brings_its_study():
    assert not can_be_studied(audit("zero-run"))
    assert not can_be_studied(audit("zero-run-compositional"))

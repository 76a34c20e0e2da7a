"""Plans: the widths are those of a plain simulation, and the size that is needed is enough."""

from __future__ import annotations

import json
import math

import joblib
import numpy as np
import pytest
from scipy import integrate, optimize, stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes import priors
from bayes_dp.checks import InputError
from bayes_dp.planning import limit
from bayes_dp.planning import plan as search
from bayes_dp.planning.plan import plan
from bayes_dp.planning.result import Plan, PlanRow, crossing
from bayes_dp.planning.simulated import Experiment, Simulated

DELTA, STRENGTH = 0.01, 0.5
PRIOR = {"epsilon": priors.prior_of("epsilon"), "strength": priors.prior_of("strength")}
PILOT = bdp.ErrorCounts([3, 6], [20, 30], [9, 8], [25, 20])


def rates(n, epsilon=2.0, strength=STRENGTH, seed=0):
    return region.sample(epsilon, DELTA, strength, n, np.random.default_rng(seed)).T


# The limit of many challenges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "strength"), [(1, 0.5), (4, 0.3), (30, 0.0)])
def test_the_limit_at_a_fixed_strength_by_plain_integration(n, strength):
    alpha, beta = rates(n)
    first = region.level(alpha, beta, DELTA).max()

    def spare(epsilon):
        return region.strength_level(alpha, beta, epsilon, DELTA).min() - strength

    last = first + 8.0
    last = optimize.brentq(spare, first, last) if spare(last) < 0 else last

    def density(epsilon):
        return math.exp(-(epsilon**2) / 20) * (region.layer_area(epsilon, DELTA, strength) * 10) ** -n

    total = integrate.quad(density, first, last)[0]

    def quantile(p):
        return optimize.brentq(lambda e: integrate.quad(density, first, e)[0] - p * total, first, last)

    expected = quantile(0.95) - quantile(0.05)
    assert limit.limit_width(alpha, beta, DELTA, PRIOR, strength, 0.9) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize(("n", "prior"), [(1, "Beta(1, 1)"), (4, "Beta(2, 3)"), (25, "Uniform(0.2, 0.9)")])
def test_the_limit_at_a_free_strength_on_a_dense_grid(n, prior):
    alpha, beta = rates(n)
    first = region.level(alpha, beta, DELTA).max()
    reach = 3.0 if n > 20 else 12.0
    epsilon = first + (np.arange(4000) + 0.5) * reach / 4000
    s = (np.arange(1500) + 0.5) / 1500
    top = region.strength_level(alpha, beta, epsilon[:, None], DELTA).min(axis=1)
    log_density = -(epsilon[:, None] ** 2) / 20 - n * region.log_layer_area(epsilon[:, None], DELTA, s)
    known = {
        "Beta(1, 1)": stats.uniform(),
        "Beta(2, 3)": stats.beta(2, 3),
        "Uniform(0.2, 0.9)": stats.uniform(0.2, 0.7),
    }
    weight = np.exp(log_density - log_density.max()) * known[prior].pdf(s) * (s <= top[:, None])
    cumulative = np.cumsum(weight.sum(axis=1)) / weight.sum()
    ends = np.interp([0.05, 0.95], cumulative, epsilon)
    found = limit.limit_width(alpha, beta, DELTA, PRIOR | {"strength": priors.parse(prior)}, "free", 0.9)
    assert found == pytest.approx(ends[1] - ends[0], rel=0.02)


@pytest.mark.parametrize("strength", ["free", 0.3])
def test_many_challenges_come_near_the_limit(strength):
    alpha, beta = rates(5)
    challenges = 10**6
    counts = bdp.ErrorCounts(np.rint(alpha * challenges), challenges, np.rint(beta * challenges), challenges)
    low, high = bdp.estimate(counts, DELTA, strength=strength).interval(0.8)
    assert limit.limit_width(alpha, beta, DELTA, PRIOR, strength, 0.8) == pytest.approx(high - low, rel=0.01)


def test_rates_that_the_analysis_excludes_leave_no_width():
    alpha, beta = rates(5)
    narrow = PRIOR | {"epsilon": priors.parse("Uniform(0, 0.1)")}
    assert limit.limit_width(alpha, beta, DELTA, narrow, "free", 0.9) == 0.0
    assert limit.limit_width(alpha, beta, DELTA, PRIOR, 0.95, 0.9) == 0.0


# The simulated experiments -------------------------------------------------------------------------------------------


def test_experiments_begin_with_the_counts():
    post = bdp.estimate(PILOT, DELTA)
    start = Simulated.of_counts(PILOT, post, DELTA, 50, seed=3)
    assert all(start.counts(i) == PILOT for i in range(50))
    assert region.in_layer(start.alpha, start.beta, start.epsilon[:, None], DELTA, start.strength[:, None]).all()
    np.testing.assert_array_equal(start.epsilon, post.draws(50, 3)["epsilon"])


def test_more_challenges_are_added_at_the_rates_of_the_bases():
    start = Simulated.of_counts(PILOT, bdp.estimate(PILOT, DELTA), DELTA, 400, seed=3)
    rng = np.random.default_rng(0)
    grown = start.with_challenges(2 * start.n0, 3 * start.n1, rng)
    np.testing.assert_array_equal((grown.n0, grown.n1), (2 * PILOT.negatives, 3 * PILOT.positives))
    for added, runs, rate in (
        (grown.x - start.x, start.n0, start.alpha),
        (grown.y - start.y, 2 * start.n1, start.beta),
    ):
        assert (added >= 0).all()
        assert (added <= runs).all()
        z = (added - runs * rate) / np.sqrt(runs * rate * (1 - rate))
        assert abs(z.mean()) < 4 / math.sqrt(z.size)
        assert z.std() == pytest.approx(1, abs=0.1)


def test_more_bases_are_drawn_from_the_layer():
    start = Simulated.of_counts(PILOT, bdp.estimate(PILOT, DELTA), DELTA, 300, seed=3)
    grown = start.with_bases(5, 40, 50, np.random.default_rng(0))
    np.testing.assert_array_equal(grown.x[:, :2], start.x)
    np.testing.assert_array_equal(grown.n0, [20, 30, 40, 40, 40])
    assert region.in_layer(grown.alpha, grown.beta, grown.epsilon[:, None], DELTA, grown.strength[:, None]).all()
    z = (grown.y[:, 2:] - 50 * grown.beta[:, 2:]) / np.sqrt(50 * grown.beta[:, 2:] * (1 - grown.beta[:, 2:]))
    assert abs(z.mean()) < 4 / math.sqrt(z.size)


def test_the_truth_of_an_experiment():
    question = search.ask(PILOT, "epsilon", DELTA, prior="Uniform(1, 2)", prior_strength="Beta(8, 2)")
    drawn = Simulated.of_experiment(Experiment(3, 10, 20), question, 500, seed=1)
    assert stats.kstest(drawn.epsilon, stats.uniform(1, 1).cdf).pvalue > 1e-3
    assert stats.kstest(drawn.strength, stats.beta(8, 2).cdf).pvalue > 1e-3
    assert drawn.x.shape == (500, 3)
    assert (drawn.counts(7).negatives == 10).all()
    assert (drawn.counts(7).positives == 20).all()
    fixed = Simulated.of_experiment(Experiment(3, 10, 20, epsilon=2, strength="Uniform(0.2, 0.3)"), question, 500, 1)
    assert (fixed.epsilon == 2).all()
    assert ((fixed.strength > 0.2) & (fixed.strength < 0.3)).all()
    analysed = search.ask(PILOT, "epsilon", DELTA, strength=0.25)
    assert (Simulated.of_experiment(Experiment(3, 10, 20), analysed, 5, 1).strength == 0.25).all()


# The plan ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> Plan:
    """From an experiment that has not been made, at a fixed strength."""
    planned = Experiment(2, 15, 20, epsilon=1.5)
    return plan(planned, DELTA, 1.9, strength=STRENGTH, repetitions=16, largest=4.0, seed=5, progress=False)


def by_hand(bases, n0, n1, size, seed):
    """Widths of experiments of which every number is drawn here."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        alpha, beta = region.sample(1.5, DELTA, STRENGTH, bases, rng).T
        counts = bdp.ErrorCounts(rng.binomial(n0, alpha), n0, rng.binomial(n1, beta), n1)
        low, high = bdp.estimate(counts, DELTA, strength=STRENGTH).interval(0.9)
        found.append(high - low)
    return np.array(found)


def test_the_widths_are_those_of_a_plain_simulation(made):
    last = {way: made.select(way)[-1] for way in made.ways}
    assert (last["challenges"].bases, last["bases"].negatives) == (2, 15)
    for row in last.values():
        assert row.times > 1
        twin = by_hand(row.bases, int(row.negatives), int(row.positives), 16, seed=11)
        assert stats.ks_2samp(row.widths, twin).pvalue > 1e-3
        assert np.median(row.widths) == pytest.approx(np.median(twin), rel=0.2)


def test_the_size_that_is_needed_is_enough(made):
    for way, need in made.needed.items():
        assert need is not None, way
        assert need.fewest <= need.runs
        assert need.runs == need.bases * (need.negatives + need.positives)
        twin = by_hand(need.bases, need.negatives, need.positives, 16, seed=12)
        spread = math.sqrt(0.8 * 0.2) * math.sqrt(1 / 16 + 1 / 16)  # of the share, there and in the plan
        assert np.mean(twin <= 1.9) == pytest.approx(0.8, abs=3.5 * spread)


def test_more_is_narrower(made):
    for way in made.ways:
        medians = [row.quantile(0.5) for row in made.select(way)]
        assert medians == sorted(medians, reverse=True)
    assert made.limit.quantile(0.5) < made.select("challenges")[-1].quantile(0.5)
    assert made.present is None


def test_a_plan_from_counts():
    found = plan(PILOT, DELTA, 2.2, vary="challenges", repetitions=20, largest=2, seed=1)
    low, high = bdp.estimate(PILOT, DELTA).interval(0.9)
    first, last = found.rows
    assert found.present == pytest.approx(high - low)
    np.testing.assert_allclose(first.widths, high - low)
    assert (last.times, last.negatives, last.positives, last.runs) == (2, 50, 45, 190)
    assert found.provenance.digest == PILOT.digest()
    assert found.limit.way == "challenges"
    assert len(np.unique(last.widths)) > 10


# Parts of it, with a width that costs nothing ------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    """The width is 10/√(all challenges), with a little chance, and the limit is 0.5."""

    def width(self, counts):
        chance = 1 + 0.01 * np.sin(counts.false_positives.sum())
        return float(10 * chance / np.sqrt(counts.negatives.sum() + counts.positives.sum()))

    monkeypatch.setattr(search.Work, "_widths", lambda self, many: [width(self, counts) for counts in many])
    monkeypatch.setattr(search.Work, "_limits", lambda self, rates: [0.5 for _ in rates])


@pytest.mark.usefixtures("quick")
def test_the_size_is_found_between_two_that_are_tried():
    found = plan(Experiment(5, 10, 10, epsilon=1.0), DELTA, 0.6, repetitions=30)
    for way, need in found.needed.items():
        runs = (10 / 0.6) ** 2
        assert need.runs == pytest.approx(runs, rel=0.1), way
        assert need.fewest <= need.runs <= need.most
        assert found.reason(way) == ""
    assert found.needed["challenges"].bases == 5
    assert found.needed["bases"].negatives == 10


@pytest.mark.usefixtures("quick")
def test_what_no_number_of_challenges_can_do():
    found = plan(Experiment(5, 10, 10, epsilon=1.0), DELTA, 0.3, repetitions=30)
    assert [row.times for row in found.select("challenges")] == [1, 2, 4]
    assert found.needed["challenges"] is None
    assert "No number of challenges of these bases is enough" in found.reason("challenges")
    assert "0.5" in found.reason("challenges")
    assert found.needed["bases"].bases == pytest.approx((10 / 0.3) ** 2 / 20, rel=0.1)
    assert found.reason("challenges") in str(found)


@pytest.mark.usefixtures("quick")
def test_a_width_that_is_out_of_reach():
    found = plan(Experiment(5, 10, 10, epsilon=1.0), DELTA, 0.1, vary="bases", repetitions=5, largest=3)
    assert [row.times for row in found.rows] == [1, 2, 3]
    assert found.needed == {"bases": None}
    assert (
        found.reason("bases")
        == "The largest size that was tried, 15 bases with 10 + 10 challenges each, is not enough."
    )
    assert found.limit is None


@pytest.mark.usefixtures("quick")
def test_what_is_enough_already():
    found = plan(Experiment(5, 10, 10, epsilon=1.0), DELTA, 20.0, repetitions=5)
    assert [row.times for row in found.rows] == [1, 1]
    assert {need.runs for need in found.needed.values()} == {100}
    assert "The smallest size is enough." in str(found)


@pytest.mark.usefixtures("quick")
def test_the_same_seed_gives_the_same_plan_however_many_jobs():
    def made(seed, n_jobs=None):
        return plan(Experiment(5, 10, 10), DELTA, 0.6, repetitions=10, seed=seed, n_jobs=n_jobs)

    first = made(1)
    with joblib.parallel_config(backend="threading"):
        again = made(1, n_jobs=2)
    assert again.to_dict() == first.to_dict()
    assert made(2).table() != first.table()


def test_processes_give_the_same():
    planned = Experiment(1, 5, 5, epsilon=1.0)
    kwargs = {"repetitions": 3, "largest": 2, "vary": "challenges", "strength": 0.2, "prior_epsilon": "Gamma(2, 1)"}
    alone, two = (plan(planned, DELTA, 0.1, n_jobs=jobs, **kwargs) for jobs in (1, 2))
    for one, other in zip(alone.rows, two.rows, strict=True):
        np.testing.assert_array_equal(one.widths, other.widths)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("after", [25, 5])
def test_an_interrupt_keeps_what_is_done(monkeypatch, after):
    calls, widths = [], search.Work._widths

    def tired(self, many):
        calls.extend(many)
        if len(calls) > after:
            raise KeyboardInterrupt
        return widths(self, many)

    monkeypatch.setattr(search.Work, "_widths", tired)
    if after < 10:
        with pytest.raises(KeyboardInterrupt):
            plan(Experiment(5, 10, 10, epsilon=1.0), DELTA, 0.6, repetitions=10)
        return
    found = plan(Experiment(5, 10, 10, epsilon=1.0), DELTA, 0.6, repetitions=10)
    assert not found.complete
    assert [row.times for row in found.rows] == [1, 2]
    assert found.reason("challenges") == "It was interrupted before a size was enough."
    assert "interrupted" in str(found)


@pytest.mark.usefixtures("quick")
def test_its_forms():
    counts = bdp.ErrorCounts([3, 6], 20, [9, 8], 20, design="one_run", examples=200)
    found = plan(counts, DELTA, 0.6, repetitions=10)
    text = str(found)
    assert "Plan for a 90% interval of epsilon that is at most 0.6 wide at delta = 0.01" in text
    assert "guesses" in text
    assert "challenges" not in text
    assert found.warnings == ("The guesses were made on one model, so their errors are in truth dependent.",)
    assert all(sentence in text for sentence in (*found.assumptions, *found.warnings))
    frame = found.to_frame()
    assert len(frame) == len(found.rows) + 1  # and the limit
    assert (frame["low"] <= frame["median"]).all()
    assert (frame["median"] <= frame["high"]).all()
    row = found.rows[-1]
    last = frame[frame["way"] == "bases"].iloc[-1]
    assert (last["runs"], last["share"]) == (row.runs, np.mean(row.widths <= 0.6))
    assert last["assured"] == np.sort(row.widths)[7]
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["needed"]["bases"]["runs"] == found.needed["bases"].runs
    assert "<table>" in found._repr_html_()


def test_a_plan_is_saved(tmp_path, made):
    made.to_json(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text()) == made.to_dict()
    assert made.provenance.settings["true_epsilon"] == 1.5


def test_crossing():
    times = np.array([1.0, 2.0, 4.0, 8.0])
    assert crossing(times, 3 / times**0.7, 3 / 5**0.7) == pytest.approx(5)
    assert crossing(times, np.array([3.0, 2.0, 1.0, 2.0]), 1.5) == pytest.approx(
        2 * 2 ** (math.log(4 / 3) / math.log(2))
    )
    assert crossing(times, np.full(4, 3.0), 3.0) == 1
    assert crossing(times, np.full(4, 3.0), 2.0) is None
    assert crossing(times, np.array([3.0, 2.0, 0.0, 0.0]), 1.0) == 4


def test_the_interval_of_a_quantile_holds_it():
    """In 95% of samples or more, by simulation from a known law."""
    rng = np.random.default_rng(0)
    truth, held = stats.gamma(3).ppf(0.8), 0
    for _ in range(1000):
        row = PlanRow("bases", 1, 1, 1, 1, rng.gamma(3, size=40))
        _, low, high = row.assured(0.8)
        held += low <= truth <= high
    assert held >= 930


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0.0}, "width must lie in"),
        ({"prob": 1.0}, "prob must lie in"),
        ({"assurance": 0.0}, "assurance must lie in"),
        ({"largest": 0.5}, "largest must lie in"),
        ({"repetitions": 1}, "repetitions must be a whole number, at least 2, not 1"),
        ({"vary": "guesses"}, "vary must be 'challenges', 'bases' or 'both', not 'guesses'"),
        ({"strength": "tight"}, "a plan needs the strength 'free' or a number below 1"),
        ({"given": [1, 2]}, "given must be ErrorCounts or an Experiment, not list"),
        ({"delta": 1.0}, "delta must lie in"),
        ({"seed": -1}, "seed must be"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
        ({"prior_epsilon": "Normal(0, 1)"}, "the prior of epsilon must live within"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match="^" + message.replace("(", r"\(")):
        plan(**{"given": PILOT, "delta": DELTA, "width": 1.0} | arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 10, 10), "bases must be a whole number, at least 1, not 0"),
        ((1, 10, 2.5), "positives must be a whole number"),
        ((1, 10, 10, -1.0), "epsilon must lie in"),
        ((1, 10, 10, 1.0, 1.0), "strength must lie in"),
        ((1, 10, 10, "Nothing(1)"), "prior 'Nothing"),
    ],
)
def test_bad_experiments(arguments, message):
    with pytest.raises(InputError, match=message):
        Experiment(*arguments)

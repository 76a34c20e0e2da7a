"""What Dirac canaries say of a training: the posterior against a grid, ranks of the truth, and faults that it finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.bayes import white_box
from bayes_dp.checks import InputError
from models.dirac_canaries import FAULTS, refuted, transcript

MEMBER = np.arange(300) % 2 == 0
CLAIM = bdp.Claim.dp_sgd(1.0, 0.2, 20, 1e-5)


def seen(fault=None, seed=0, member=MEMBER):
    return transcript(member, 1.0, 0.2, 20, np.random.default_rng(seed), fault)


def test_the_posterior_is_that_of_a_grid():
    rng = np.random.default_rng(1)
    member = np.arange(30) < 15
    inner = 0.8 * rng.normal(size=(10, 30)) + (rng.random((10, 30)) < 0.4) * member
    draws, effective = white_box._posterior(white_box._Data.of(inner, member), True, rng)
    sigma, q = np.exp(draws[:, 0]), special.expit(draws[:, 1])
    s, r = np.meshgrid(np.linspace(0.5, 1.2, 141), np.linspace(0.005, 0.995, 150), indexing="ij")
    ours = inner[:, member].ravel()[:, None, None]
    with np.errstate(divide="ignore"):
        log = np.log((1 - r) * stats.norm.pdf(ours, 0, s) + r * stats.norm.pdf(ours, 1, s)).sum(axis=0)
    log += stats.norm.logpdf(inner[:, ~member].ravel()[:, None, None], 0, s).sum(axis=0)
    log += stats.lognorm.logpdf(s, 1.5)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    for values, grid in ((sigma, s), (q, r)):
        mean = np.sum(weight * grid)
        assert values.mean() == pytest.approx(mean, abs=0.01)
        assert values.std() == pytest.approx(np.sqrt(np.sum(weight * (grid - mean) ** 2)), rel=0.08)
    assert effective > 1000


@pytest.mark.parametrize("known", [True, False])
def test_ranks_of_the_truth_are_uniform(known: bool):
    """Simulation-based calibration, of 30 data sets from the prior; `slow` has more."""
    assert min(_ranks(30, known)) > 0.005


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_ranks_of_the_truth_are_uniform_in_many_data_sets(known: bool):
    assert min(_ranks(1000, known)) > 0.005


def _ranks(size: int, known: bool) -> list[float]:
    """The p-values of uniform ranks, of σ, q and, where it is not known, κ."""
    rng, ranks = np.random.default_rng(0), []
    member = np.arange(20) < 10
    for _ in range(size):
        sigma, q = np.exp(1.5 * rng.normal()), rng.random()
        norm = 1.0 if known else np.exp(rng.normal())
        inner = sigma * rng.normal(size=(20, 20)) + norm * (rng.random((20, 20)) < q) * member
        draws, _ = white_box._posterior(white_box._Data.of(inner, member), known, rng)
        truth = (np.log(sigma), special.logit(q), np.log(norm))[: 2 if known else 3]
        ranks.append([np.mean(draws[:, j] < value) for j, value in enumerate(truth)])
    return [float(stats.kstest(each, "uniform").pvalue) for each in np.array(ranks).T]


@pytest.fixture(scope="module")
def right():
    return bdp.estimate_steps(seen(), MEMBER, CLAIM)


def test_a_right_training(right):
    assert not right.refuted
    for name, truth in (("noise_multiplier", 1.0), ("sampling_rate", 0.2), ("epsilon", CLAIM.epsilon)):
        low, high = right.interval(0.99, name)
        assert low < truth < high
    assert "is not refuted" in right.summary()
    assert right.warnings == ()


def test_epsilon_is_the_accountant_s(right):
    for i in (0, 7, 99):
        wanted = bdp.Claim.dp_sgd(right.noise_multiplier[i], right.sampling_rate[i], 20).epsilon_at(1e-5)
        assert right.epsilon[i] == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault):
    member = np.arange(1000) % 2 == 0
    found = bdp.estimate_steps(seen(fault, member=member), member, CLAIM, clipped=False)
    assert found.refuted
    by_posterior = fault in ("half noise", "no clipping")
    assert found.prob_above > 0.975 or not by_posterior
    assert (found.p_independence < 0.025) == (not by_posterior)
    if fault == "no clipping":
        assert found.interval(0.9, "norm")[0] > 2.5


def test_steps_that_depend():
    rng = np.random.default_rng(2)
    z = [white_box._dependence(rng.normal(3.0, 2.0, (12, 40)), 4) for _ in range(300)]
    assert stats.kstest(z, "norm").pvalue > 0.01
    assert white_box._dependence(np.repeat(rng.normal(size=(3, 40)), 4, axis=0), 4) > 5


def with_noise(noise, m=100):
    """100 canaries of which half are in, 20 steps."""
    member = np.arange(m) % 2 == 0
    drawn = np.random.default_rng(1).random((20, m)) < 0.2
    return bdp.estimate_steps((drawn & member) + noise, member, CLAIM)


@pytest.mark.parametrize(
    ("make", "found_by"),
    [
        (lambda rng: rng.normal(size=(20, 100)) * np.where(np.arange(20) == 7, 0.1, 1.0)[:, None], "p_noise"),
        (lambda rng: rng.normal(size=(20, 100)) * np.where(np.arange(20) % 2, 1.38, 0.3)[:, None], "p_noise"),
        (lambda rng: rng.normal(size=(20, 1)), "p_independence"),
        (lambda rng: np.tile(rng.normal(size=(20, 25)), 4), "p_independence"),
    ],
)
def test_noise_that_is_right_on_average_only(make, found_by):
    """A step with a tenth of it, every other step with .3 of it, one noise for all coordinates, or for four each."""
    found = with_noise(make(np.random.default_rng(5)))
    assert found.refuted
    assert getattr(found, found_by) < 0.01
    text = str(found)
    assert "is REFUTED" in text
    assert f"p = {getattr(found, found_by):.2g}" in text


def test_a_right_training_is_seldom_accused_by_its_steps():
    """All tests of steps and canaries together, in 1000 trainings of the claim: at most 2.5%, but for chance."""
    rng, accused = np.random.default_rng(3), {"steps": 0, "noise": 0, "canaries": 0}
    member = np.arange(40) < 20
    for _ in range(1000):
        inner = rng.normal(size=(20, 40)) + (rng.random((20, 40)) < 0.2) * member
        z = [white_box._dependence(inner[:, side], 5) for side in (member, ~member)]
        accused["steps"] += min(4 * stats.norm.sf(abs(z[0])), 16 * stats.norm.sf(abs(z[1]))) < 0.025
        accused["canaries"] += 16 * stats.norm.sf(abs(white_box._together(inner, member))) < 0.025
        accused["noise"] += white_box._less_noise(inner[:, ~member], 1.0) < 0.025
    assert accused["noise"] <= 14  # of 6.25; P(Binomial > 14) = 0.002
    assert accused["canaries"] <= 12
    assert accused["steps"] <= 30
    assert sum(accused.values()) <= 42


def test_more_noise_than_claimed_is_not_refuted():
    rng = np.random.default_rng(0)
    found = with_noise(rng.normal(size=(20, 100)) * np.linspace(1, 3, 20)[:, None])
    assert found.p_noise > 0.025
    assert any("differs from step to step" in sentence for sentence in found.warnings)


def test_observations_that_no_training_gives():
    rng = np.random.default_rng(0)
    member, drawn = np.arange(2000) % 2 == 0, rng.random((20, 2000)) < 0.2
    noise = rng.normal(size=(20, 2000))
    for inner, words in (
        (noise + (drawn & ~member), "Canaries that are out have a mean of"),
        (noise - 1.0 * (drawn & member), "Canaries that are in have a mean of -"),
        (rng.laplace(size=noise.shape) / np.sqrt(2) + (drawn & member), "is not normal"),
    ):
        inside, others = inner[:, member], inner[:, ~member]
        (told,) = white_box._oddities(inside, others, np.sqrt(np.mean(others**2)))
        assert words in told
    found = bdp.estimate_steps((noise + (drawn & ~member))[:, :300], member[:300], CLAIM)
    assert [sentence[:31] for sentence in found.warnings] == ["Canaries that are out have a me"]


def test_how_many_it_takes_to_see_shuffling():
    rng, limit = np.random.default_rng(4), stats.norm.isf(0.025 / 4)
    for members, least, most in ((200, 0.0, 0.5), (500, 0.9, 1.0)):
        z = []
        for _ in range(20):
            inner = transcript(np.ones(members, bool), 1.0, 0.1, members // 5, rng, "shuffling")
            z.append(white_box._dependence(inner, 10))
        assert np.mean(z) == pytest.approx(-0.9 * np.sqrt(members**2 / 50) / 1.09 / np.sqrt(180), abs=0.7)
        assert least <= np.mean(np.abs(z) > limit) <= most


@pytest.mark.parametrize(("unit", "warned"), [(1.0, False), (0.5, False), (0.01, True), (100.0, True)])
def test_other_units_than_the_clipping_norm(unit: float, warned: bool):
    """Half of the noise is a fault, a hundredth of it a mistake in units; a hundred times as much is not refuted."""
    rng = np.random.default_rng(0)
    member = np.arange(30) < 15
    inner = rng.normal(size=(10, 30)) + (rng.random((10, 30)) < 0.1) * member
    found = bdp.estimate_steps(unit * inner, member, bdp.Claim.dp_sgd(1.0, 0.1, 10, 1e-5))
    assert any("units of the clipping norm" in sentence for sentence in found.warnings) == warned
    assert ("units of the clipping norm" in str(found)) == warned


@pytest.mark.parametrize(
    ("sigma", "q", "steps", "m"), [(1.0, 0.001, 20, 50), (5.0, 0.01, 20, 50), (2.0, 0.01, 10, 10), (150.0, 0.5, 20, 50)]
)
def test_a_right_training_is_not_refuted_by_the_prior(sigma: float, q: float, steps: int, m: int):
    """Few data say nothing of a small rate, of which a uniform prior holds that it is larger."""
    claim, member = bdp.Claim.dp_sgd(sigma, q, steps, 1e-5), np.arange(m) % 2 == 0
    found = bdp.estimate_steps(transcript(member, sigma, q, steps, np.random.default_rng(6)), member, claim)
    assert 0.01 < found.prob_above < 0.97
    low, high = found.interval(0.9)
    assert low < claim.epsilon < high


@pytest.mark.parametrize("sigma", [200.0, 1e4])
def test_much_noise(sigma: float):
    """ε is asked about the claimed noise, however much that is."""
    claim, member = bdp.Claim.dp_sgd(sigma, 1.0, 20, 1e-5), np.arange(400) % 2 == 0
    inner = transcript(member, sigma, 1.0, 20, np.random.default_rng(0))
    found = bdp.estimate_steps(inner, member, claim)
    assert not found.refuted
    assert found.interval(0.999)[1] < 1.1 * claim.epsilon
    assert bdp.estimate_steps(inner / 2, member, claim).refuted


def test_few_steps_of_many_and_no_leak_that_is_seen():
    few = bdp.estimate_steps(seen()[:5], MEMBER, CLAIM)
    low, high = few.interval(0.9)
    assert low < CLAIM.epsilon < high  # ε is of all 20 steps
    blind = bdp.estimate_steps(np.random.default_rng(0).normal(size=(20, 300)), MEMBER, CLAIM)  # nobody is drawn
    assert blind.interval(0.9, "sampling_rate")[1] < 0.1
    assert blind.epsilon.max() < CLAIM.epsilon
    bare = bdp.estimate_steps(1e-3 * seen("half noise") + MEMBER, MEMBER, CLAIM)
    assert bare.refuted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inner": np.zeros((20, 300))}, "inner must differ from step to step"),
        ({"inner": np.zeros((21, 300))}, "inner must have at most the 20 steps of the claim, not 21"),
        ({"member": MEMBER[:3]}, "member must be truth values, or 0 and 1, one for each of the 300 canaries"),
        ({"member": MEMBER | True}, "member must have canaries of both kinds, and all are in"),
        ({"claim": bdp.Claim(1.0, 1e-5)}, "claim must be one of Claim.dp_sgd with its delta"),
        ({"claim": bdp.Claim.dp_sgd(1.0, 0.2, 20)}, "claim must be one of Claim.dp_sgd with its delta"),
        ({"claim": bdp.Claim.dp_sgd(1.0, 0.2, 20, 0.0)}, "claim must be one of Claim.dp_sgd with its delta, above 0"),
        ({"inner": 1e-200 * seen()}, "inner must be in units of the clipping norm, and that of canaries that are out"),
    ],
)
def test_what_cannot_be(change, message):
    with pytest.raises(InputError, match=message):
        bdp.estimate_steps(**{"inner": seen(), "member": MEMBER, "claim": CLAIM} | change)


@pytest.mark.slow
def test_how_often_claims_are_refuted():
    """True ones in at most 5% of 100 audits, but for chance; false ones always, with 400 canaries."""
    claim = bdp.Claim.dp_sgd(1.0, 0.1, 100, 1e-5)
    assert refuted(claim, 100, None, 100, seed=1) <= 0.1
    assert all(refuted(claim, 400, fault, 5, seed=1) == 1 for fault in ("half noise", "no clipping", "frozen noise"))

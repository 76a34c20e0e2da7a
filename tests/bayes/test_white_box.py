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

"""MHAAR: one iteration against its twin, invariance, golden values, starts, diagnostics and interrupts."""

import json
import warnings
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.compiling import uses_earlier_emitters
from bayes_dp.bayes.convergence import ConvergenceWarning, convergence
from bayes_dp.bayes.likelihoods.beta_binomial import BETA_BINOMIAL
from bayes_dp.bayes.likelihoods.binomial import BINOMIAL
from bayes_dp.bayes.likelihoods.bivariate_normal import BIVARIATE_NORMAL
from bayes_dp.bayes.likelihoods.candidates import BetaPair
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.kupper_haseman import KUPPER_HASEMAN
from bayes_dp.bayes.mhaar import adaptation
from bayes_dp.bayes.mhaar import kernel as mhaar_kernel
from bayes_dp.bayes.mhaar import posterior as module
from bayes_dp.bayes.mhaar.kernel import State, Target
from bayes_dp.bayes.mhaar.noise import Noise
from bayes_dp.bayes.mhaar.posterior import mhaar
from tests import twins

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
SMALL = bdp.ErrorCounts([3, 5, 1], [20, 25, 10], [4, 2, 6], [20, 15, 30])
quick = partial(mhaar, chains=2, draws=60, warmup=60, progress=False)
ignored = pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")


def quantile_errors(samples):
    """Monte Carlo standard errors of the quantiles at LEVELS of draws (chains, draws)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    return np.array([float(arviz.mcse(samples, method="quantile", prob=level)) for level in LEVELS])


# One iteration -------------------------------------------------------------------------------------------------------


def problem(auxiliaries, strength="free", delta=0.02):
    counts = Counts.of(SMALL)
    proposal, constant = BINOMIAL.proposal(counts, auxiliaries)
    target = Target(
        counts,
        jnp.asarray(delta),
        dist.Gamma(2.0, 1.5),
        dist.Beta(2.0, 1.5) if strength == "free" else None,
        jnp.array([[0.0, np.inf], [0.0, 1.0] if strength == "free" else [strength, strength]]),
        None if constant else proposal,
    )
    return target, proposal


@pytest.mark.parametrize("strength", ["free", 0.4])
@pytest.mark.parametrize("proposals", [1, 3])
@pytest.mark.parametrize("auxiliaries", ["posterior", "uniform"])
def test_averaged_move_is_algorithm_1(auxiliaries, proposals, strength):
    rng = np.random.default_rng(5)
    n, k, delta = len(SMALL), 6, 0.02
    with jax.enable_x64(True):
        target, proposal = problem(auxiliaries, strength)
        move = jax.jit(partial(mhaar_kernel.averaged_move, likelihood=BINOMIAL))
        factor = np.array([[0.5, 0.0], [-0.2, 0.3]]) if strength == "free" else np.diag([0.5, 0.0])
        law = stats.beta(np.stack([proposal.a0, proposal.a1]), np.stack([proposal.b0, proposal.b1]))

        def log_prior(epsilon, s):
            free = stats.beta(2.0, 1.5).logpdf(s) if strength == "free" else 0.0
            return stats.gamma(2.0, scale=1 / 1.5).logpdf(epsilon) + free

        def log_q(j, a, b):
            both = np.zeros((2, n))
            both[:, j] = a, b
            return law.logpdf(both)[:, j].sum()

        accepted = []
        for _ in range(40):
            epsilon, s = rng.gamma(2.0, 0.7) + 0.2, rng.random() * 0.8 if strength == "free" else strength
            alpha, beta = region.sample(epsilon, delta, s, n, rng).T
            pairs = (draws[0] for draws in proposal.draw(rng, 1, k))
            noise = Noise(
                rng.standard_normal((proposals + 1, 2)),
                np.log(rng.random(proposals + 1)),
                *pairs,
                rng.standard_exponential((n, k)),
                *(np.full(shape, np.nan) for shape in ((2, n), (n,), (n,))),
            )
            start = State(*(jnp.asarray(v) for v in (epsilon, s, alpha, beta)))
            found, _ = move(start, noise, target, factor)
            expected, steps = twins.averaged_move(
                (epsilon, s, alpha.copy(), beta.copy()), noise, Counts.of(SMALL), delta, factor, log_prior, log_q
            )
            accepted += steps
            np.testing.assert_allclose(found.epsilon, expected[0], rtol=1e-13)
            np.testing.assert_allclose(found.strength, expected[1], rtol=1e-13)
            np.testing.assert_array_equal(found.alpha, expected[2])
            np.testing.assert_array_equal(found.beta, expected[3])
    assert 0.1 < np.mean(accepted) < 0.9


MOVES = {
    "averaged": lambda state, noise, target, factors, likelihood: mhaar_kernel.averaged_move(
        state, noise, target, factors[0], likelihood
    )[0],
    "local": lambda state, noise, target, factors, likelihood: mhaar_kernel.local_move(
        state, noise, target, likelihood
    )[0],
    "shift": lambda state, noise, target, factors, likelihood: mhaar_kernel.shift_move(
        state,
        likelihood.log_density(target.counts, state.alpha[:, None], state.beta[:, None], *state.shared)[:, 0],
        noise,
        target,
        factors[1],
        likelihood,
    )[0],
    "all": lambda state, noise, target, factors, likelihood: mhaar_kernel.kernel(
        state, noise, target, factors, likelihood
    )[0],
}


@lru_cache
def draw_model(likelihood, seed, size, n, delta, trials):
    """θ from the prior, rates and counts from the model: ε, s, shared (size, q), rates (size, n, 2), x, y (size, n)."""
    rng = np.random.default_rng(seed)
    epsilon, s = rng.gamma(2.0, 1 / 1.5, size), rng.beta(2.0, 1.5, size)
    rates = region.sample(epsilon[:, None], delta, s[:, None], (size, n), rng)
    alpha, beta = rates[..., 0], rates[..., 1]
    low = {"beta_binomial": 0.0}.get(likelihood.name, -1 / (max(trials) - 1))
    tau = stats.truncnorm.rvs(low / 0.01, 100, scale=0.01, size=(size, 1), random_state=rng)
    shared = tau if likelihood.shared else np.zeros((size, 0))
    if likelihood.name == "binomial":
        x, y = (rng.binomial(t, r) for t, r in zip(trials, (alpha, beta), strict=True))
    elif likelihood.name == "beta_binomial":
        odds = (1 - tau) / tau
        x, y = (
            rng.binomial(t, rng.beta(np.maximum(r * odds, 1e-9), np.maximum((1 - r) * odds, 1e-9)))
            for t, r in zip(trials, (alpha, beta), strict=True)
        )
    elif likelihood.name == "kupper_haseman":
        return draw_kupper_haseman(rng, epsilon, s, tau, rates, trials)
    else:
        grow = [1 + (t - 1) * tau for t in trials]
        limit = np.sqrt(grow[0] * grow[1] / (trials[0] * trials[1]))
        rho = rng.uniform(-1, 1, (size, 1)) * limit
        shared = np.hstack([tau, rho])
        correlation = rho * np.sqrt(trials[0] * trials[1] / (grow[0] * grow[1]))
        z = rng.standard_normal((2, size, n))
        z[1] = correlation * z[0] + np.sqrt(1 - correlation**2) * z[1]
        x, y = (
            t * r + np.sqrt(r * (1 - r) * t * g) * noise
            for t, r, g, noise in zip(trials, (alpha, beta), grow, z, strict=True)
        )
    return epsilon, s, shared, rates, np.asarray(x, float), np.asarray(y, float)


def draw_kupper_haseman(rng, epsilon, s, tau, rates, trials):
    """As `draw_model`, given draws of the rest, of which those that make some count impossible are left out."""
    found = []
    for t, r in zip(trials, np.moveaxis(rates, -1, 0), strict=True):
        k = np.arange(t + 1)
        bracket = (k - t * r[..., None]) ** 2 + k * (2 * r[..., None] - 1) - t * r[..., None] ** 2
        factor = 1 + tau[..., None] / (2 * r * (1 - r))[..., None] * bracket
        found.append((factor, np.cumsum(stats.binom.pmf(k, t, r[..., None]) * factor, axis=-1)))
    legal = np.all([(factor >= 0).all(axis=(1, 2)) for factor, _ in found], axis=0)
    x, y = ((cdf < rng.random((*cdf.shape[:2], 1))).sum(axis=-1)[legal] for _, cdf in found)
    return epsilon[legal], s[legal], tau[legal], rates[legal], x.astype(float), y.astype(float)


@pytest.mark.parametrize("auxiliaries", ["posterior", "uniform"])
@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize(
    "likelihood", [BINOMIAL, BETA_BINOMIAL, BIVARIATE_NORMAL, KUPPER_HASEMAN], ids=lambda one: one.name
)
def test_moves_leave_the_joint_law_as_it_is(likelihood, name, auxiliaries):
    """Parameters from the prior, rates and counts from the model; after moves given the counts all is as it was.

    Half of the 2 × 20 000 replicates are moved and compared with the others, so that the two samples are independent.
    """
    if name in ("local", "shift") and auxiliaries == "uniform":
        pytest.skip("has no auxiliary pairs")
    if likelihood is BIVARIATE_NORMAL and auxiliaries == "posterior" and name not in ("local", "shift"):
        pytest.skip("counts drawn from a normal law may be negative, which the candidates' law is not for")
    m, n, k, delta, trials = 20_000, 2, 4, 0.05, (12, 7)
    rng = np.random.default_rng(12)
    more = 4 if likelihood is KUPPER_HASEMAN else 1
    drawn = draw_model(likelihood, 11, 2 * m * more, n, delta, trials)
    assert len(drawn[0]) >= 2 * m
    epsilon, s, shared, rates, x, y = (values[: 2 * m] for values in drawn)
    counts = Counts(x, np.full_like(x, trials[0]), y, np.full_like(y, trials[1]))
    moved = [v[:m] for v in (epsilon, s, rates[..., 0], rates[..., 1], shared)]
    given = Counts(*(c[:m] for c in counts))
    plain = (
        Counts(*(np.abs(c).ravel() for c in given))
        if likelihood is BIVARIATE_NORMAL
        else Counts(*(c.ravel() for c in given))
    )
    law = likelihood.proposal(plain, "uniform" if likelihood is BIVARIATE_NORMAL else auxiliaries)[0]
    with jax.enable_x64(True):
        target, _ = problem(auxiliaries, delta=delta)
        constant = likelihood is BINOMIAL and auxiliaries == "posterior"
        q = shared.shape[1]
        steps = np.diag([0.6, 0.3, *[0.01, 0.03][:q]]), np.diag([0.6, 0.5, *[0.01, 0.03][:q]])

        def one(state, noise, counts, pairs):
            known = target._replace(counts=counts, proposal=None if constant else pairs)
            return MOVES[name](state, noise, known, np.stack(steps), likelihood)

        step = jax.jit(jax.vmap(one))
        state = State(*map(jnp.asarray, moved))
        pairs = BetaPair(*(np.asarray(v).reshape(m, n) for v in law))
        for _ in range(3):
            shape = (m, n, k)
            noise = Noise(
                rng.standard_normal((m, 3, 2 + q)),
                np.log(rng.random((m, 3))),
                rng.beta(law.a0, law.b0, (k, m * n)).T.reshape(shape),
                rng.beta(law.a1, law.b1, (k, m * n)).T.reshape(shape),
                rng.standard_exponential(shape),
                rng.standard_normal((m, 2, n)) * 0.7,
                rng.random((m, n)),
                np.log(rng.random((m, n))),
            )
            state = step(state, noise, given, pairs)
    still = [v[m:] for v in (epsilon, s, rates[..., 0], rates[..., 1], shared, counts.x, counts.y)]
    after = [np.asarray(v) for v in (*state, given.x, given.y)]
    assert region.in_layer(after[2], after[3], after[0][:, None], delta, after[1][:, None]).all()
    assert np.mean(after[2] != moved[2]) > 0.15
    if q and name != "local":
        assert np.mean(after[4] != moved[4]) > 0.15

    def statistics(epsilon, s, alpha, beta, shared, x, y):
        low, high = region.fold(alpha, beta)
        yield from (epsilon, s, epsilon * s, epsilon * (1 - s), alpha[:, 0], beta[:, 1], low[:, 0], high[:, 0])
        yield from (
            (high - low)[:, 1],
            (alpha * x + beta * y).sum(axis=1),
            (alpha - x / 12)[:, 0],
            (beta - y / 7)[:, 1],
        )
        yield from (epsilon * (x + y).sum(axis=1), s * np.abs(x + y - 9.5).sum(axis=1), alpha[:, 0] * alpha[:, 1])
        yield from (epsilon[(x + y).sum(axis=1) < 12], s[(x + y).sum(axis=1) < 12])
        for values in shared.T:
            yield from (values, values * epsilon, values * s, values * (x[:, 0] - 12 * alpha[:, 0]) ** 2)
            yield values * (x[:, 1] - 12 * alpha[:, 1]) * (y[:, 1] - 7 * beta[:, 1])

    for first, second in zip(statistics(*after), statistics(*still), strict=True):
        assert stats.ks_2samp(first, second).pvalue > 1e-3


# The posterior -------------------------------------------------------------------------------------------------------

# X, N0, Y, N1, δ, s -> quantiles of ε at LEVELS by numerical integration, ±1e-3; prior HalfNormal(variance 10)
FIXED = [
    ((200, 500, 200, 500), 0.01, 0.0, [0.44611, 0.80608, 1.58867, 3.03552, 5.74053]),
    ((200, 500, 200, 500), 0.01, 0.4, [0.37553, 0.50033, 0.63857, 0.81439, 1.05757]),
    ((200, 500, 200, 500), 0.01, 0.8, [0.31952, 0.39348, 0.44698, 0.50260, 0.58609]),
    ((200, 500, 200, 500), 0.01, 0.95, [0.29679, 0.36303, 0.40941, 0.45616, 0.52397]),
    ((40, 100, 40, 100), 0.01, 0.99, [0.16933, 0.31197, 0.41435, 0.51860, 0.67219]),
    ((400, 1000, 400, 1000), 0.01, 0.99, [0.32006, 0.36583, 0.39770, 0.42988, 0.47611]),
    ((3, 50, 40, 60), 0.0, 0.5, [1.11123, 1.78288, 2.37262, 3.08733, 4.31587]),
    ((1, 20, 19, 20), 1e-5, 0.3, [0.12417, 0.63903, 1.39407, 2.51693, 4.68245]),
]


@pytest.mark.parametrize(("base", "delta", "s", "quantiles"), FIXED)
def test_golden_at_fixed_strength(base, delta, s, quantiles):
    x, n0, y, n1 = base
    post = mhaar(bdp.ErrorCounts([x], n0, [y], n1), delta, strength=s, seed=1, progress=False)
    assert list(post.samples) == list(post.marginals) == ["epsilon"]
    errors = 4 * quantile_errors(post.samples["epsilon"]) + 1e-3
    assert (np.abs(post.quantile(LEVELS) - quantiles) < errors).all()
    assert errors.max() < 0.5


def test_golden_joint():
    post = mhaar(bdp.datasets.strong_attacks(), 0.01, progress=False)
    golden = {
        "epsilon": [2.6935, 2.8163, 2.9263, 3.0790, 3.5256],
        "strength": [0.5677, 0.6647, 0.7100, 0.7477, 0.7953],
    }
    for name, quantiles in golden.items():
        errors = 4 * quantile_errors(post.samples[name]) + 0.004
        assert (np.abs(post.quantile(LEVELS, name) - quantiles) < errors).all()
    assert np.corrcoef(*post.draws(16_000).values())[0, 1] == pytest.approx(-0.8545, abs=0.05)
    assert min(post.diagnostics["ess_bulk"].values()) > 2000
    assert post.warnings == ()


@pytest.mark.parametrize(
    ("counts", "delta"), [(SMALL, 0.0), (bdp.ErrorCounts([2, 9, 30], 30, [3, 12, 1], 25), 0.01)], ids=["three", "mixed"]
)
def test_both_auxiliaries_give_the_same_posterior(counts, delta):
    one, other = (
        mhaar(counts, delta, auxiliaries=auxiliaries, n_auxiliaries=20, seed=2, progress=False)
        for auxiliaries in ("posterior", "uniform")
    )
    for name in ("epsilon", "strength"):
        errors = np.hypot(*(quantile_errors(post.samples[name]) for post in (one, other)))
        assert (np.abs(one.quantile(LEVELS, name) - other.quantile(LEVELS, name)) < 4 * errors).all()


# Starts --------------------------------------------------------------------------------------------------------------

BASES = [(0, 50, 0, 50), (50, 50, 0, 50), (0, 50, 50, 50), (50, 50, 50, 50), (45, 50, 40, 50), (0, 1, 1, 1)]
BASES += [
    (0, 10**7, 0, 10**7),
    (10**7, 10**7, 0, 10**7),
    (5 * 10**6, 10**7, 5 * 10**6, 10**7),
    (10, 10**7, 10**7 - 3, 10**7),
]


@ignored
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("strength", ["free", 0.0, 0.99])
def test_extreme_counts(base, strength):
    counts = bdp.ErrorCounts(*([v] for v in base))
    for delta in (0.0, 1e-5, 0.3):
        check(quick(counts, delta, strength=strength))


@ignored
@pytest.mark.parametrize(
    "settings",
    [
        {"prior_epsilon": "Uniform(0, 0.5)"},
        {"prior_epsilon": "Uniform(9, 9.5)"},
        {"prior_epsilon": "Gamma(0.5, 2)"},
        {"prior_strength": "Beta(0.5, 0.5)"},
        {"prior_strength": "Uniform(0.9, 0.95)"},
        {"prior_epsilon": "Uniform(0, 0.5)", "strength": 0.9},
    ],
)
def test_extreme_priors(settings):
    post = quick(bdp.datasets.strong_attacks(), 0.01, **settings)
    check(post)
    for name, marginal in post.marginals.items():
        prior = settings.get(f"prior_{name}", "")
        if prior.startswith("Uniform"):
            low, high = (float(end) for end in prior[8:-1].split(","))
            assert low <= marginal.quantile(0) <= marginal.quantile(1) <= high


@ignored
def test_many_bases_with_outliers():
    rng = np.random.default_rng(4)
    rates = region.sample(1.5, 1e-3, 0.5, 500, rng)
    x, y = rng.binomial(100, rates.T)
    x[:3], y[:3] = (0, 100, 50), (0, 3, 50)
    check(quick(bdp.ErrorCounts(x, 100, y, 100), 1e-3))


def check(post):
    """Finite draws, rates inside the layer, finite log density."""
    data = post.to_arviz()
    assert np.isfinite(data["sample_stats"]["lp"].values).all()
    values = [data["posterior"][name].values for name in ("epsilon", "alpha", "beta")]
    epsilon, alpha, beta = (v.astype(float) for v in values)
    fixed = post.provenance.settings["strength"]
    s = data["posterior"]["strength"].values if fixed == "free" else np.full(epsilon.shape, fixed)
    assert ((epsilon > 0) & (s >= 0) & (s < 1)).all()
    inside = region.in_layer(alpha, beta, epsilon[..., None], post.provenance.known["delta"], s[..., None])
    assert np.mean(inside) > 0.99  # rounding, at rates within 1e-16 of the boundary


def test_start_is_refused_without_prior_density():
    class Nowhere(dist.HalfNormal):
        def log_prob(self, value):
            return jnp.where(value > 1e6, 0.0, -jnp.inf)

    with pytest.raises(bdp.InputError, match="positive where a chain may start"):
        quick(SMALL, 0.01, prior_epsilon=Nowhere(1.0))


def test_the_warm_up_is_cut_into_windows():
    blocks = list(adaptation.plan(1000, 610, 250))
    assert sum(b.iterations for b in blocks if b.warmup) == 1000
    assert [b.iterations for b in blocks if not b.warmup] == [250, 250, 110]
    assert sum(b.learn for b in blocks) == 8
    assert not blocks[-4].learn  # in the last window only the scales adapt
    assert all(b.gain.max() == 0 for b in blocks if not b.warmup)
    assert [b.iterations for b in adaptation.plan(0, 5, 250)] == [5]


def test_the_covariance_is_learned_within_chains():
    rng = np.random.default_rng(0)
    true = np.array([[0.04, -0.03], [-0.03, 0.09]])
    learned = adaptation.Covariance(1.0, 1.0)
    theta = rng.multivariate_normal([0, 0], true, (3000, 4)) + np.arange(4)[:, None]  # chains apart
    learned.see(theta[:1000, :, 0], theta[:1000, :, 1])
    learned.see(theta[1000:, :, 0], theta[1000:, :, 1])
    learned.learn(0.1)
    np.testing.assert_allclose(learned.factor @ learned.factor.T, true, atol=0.004)
    fixed = adaptation.Covariance(1.0, 0.0)
    fixed.see(theta[..., 0], np.full(theta.shape[:2], 0.3))
    fixed.learn(0.1)
    np.testing.assert_allclose(fixed.factor, [[0.2, 0.0], [0.0, 0.0]], atol=0.01)


# A run ---------------------------------------------------------------------------------------------------------------


@ignored
def test_same_seed_same_bits():
    one, again, other = (quick(SMALL, 0.01, seed=seed) for seed in (3, 3, 4))
    for name in ("epsilon", "strength"):
        np.testing.assert_array_equal(one.samples[name], again.samples[name])
        assert (one.samples[name] != other.samples[name]).mean() > 0.9
    np.testing.assert_array_equal(one.rates(), again.rates())
    assert not np.array_equal(one.samples["epsilon"][0], one.samples["epsilon"][1])


@ignored
def test_global_precision_is_left_alone():
    before = jax.config.jax_enable_x64
    quick(SMALL, 0.01)
    assert jax.config.jax_enable_x64 == before
    assert jnp.ones(1).dtype == jnp.float32


@ignored
def test_one_compiled_program_serves_all():
    """Other counts of as many bases, other δ, priors' parameters and numbers of draws compile nothing new."""
    quick(SMALL, 0.01, prior_epsilon="HalfNormal(2)")
    program = mhaar_kernel.program(uses_earlier_emitters(3 * 8))
    size = program._cache_size()
    assert size > 0
    other = bdp.ErrorCounts([1, 2, 3], 40, [3, 2, 1], 50)
    quick(other, 0.0, prior_epsilon="HalfNormal(3)", prior_strength="Beta(2, 1)", draws=777, warmup=101)
    assert program._cache_size() == size


def test_few_draws_are_reported():
    with pytest.warns(ConvergenceWarning, match="epsilon") as caught:
        post = quick(SMALL, 0.01)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert str(caught[0].message) == " ".join(post.warnings)
    assert any("epsilon" in sentence for sentence in post.warnings)
    assert "Warning: " in post.summary()


def test_convergence_sentences():
    rng = np.random.default_rng(0)
    good = rng.standard_normal((4, 1000))
    found, sentences = convergence({"epsilon": good, "strength": good + np.arange(4)[:, None]})
    assert found["rhat"]["epsilon"] < 1.01 < found["rhat"]["strength"]
    assert found["ess_bulk"]["epsilon"] > 3000
    assert len(sentences) == 1
    assert "chains disagree on strength" in sentences[0]
    (sentence,) = convergence({"epsilon": rng.standard_normal((4, 60))})[1]
    assert "epsilon" in sentence
    assert "more draws" in sentence
    assert len(convergence({"epsilon": np.ones((4, 100))})[1]) == 1  # chains that never moved


def interrupting(monkeypatch, blocks):
    """Let `advance` be interrupted after so many blocks."""
    advance, calls = module.advance, []

    def stopped(*arguments):
        calls.append(None)
        if len(calls) > blocks:
            raise KeyboardInterrupt
        return advance(*arguments)

    monkeypatch.setattr(module, "advance", stopped)


def test_interrupt_keeps_finished_draws(monkeypatch):
    warmup = len([b for b in adaptation.plan(100, 1000, 250) if b.warmup])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = mhaar(SMALL, 0.01, draws=1000, warmup=100, seed=5, progress=False)
    interrupting(monkeypatch, warmup + 2)
    with pytest.warns(ConvergenceWarning, match="interrupted: 500 of 1000 draws"):
        part = mhaar(SMALL, 0.01, draws=1000, warmup=100, seed=5, progress=False)
    assert part.diagnostics["draws"] == 500
    np.testing.assert_array_equal(part.samples["epsilon"], whole.samples["epsilon"][:, :500])


def test_interrupt_during_warmup_goes_on(monkeypatch):
    interrupting(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        quick(SMALL, 0.01)


@ignored
def test_progress_is_shown_on_request_only(capsys):
    quick(SMALL, 0.01, progress=None)  # not a terminal
    quick(SMALL, 0.01, progress=False)
    assert capsys.readouterr() == ("", "")
    quick(SMALL, 0.01, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "120/120" in shown.err


# What comes back -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def post():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        counts = bdp.ErrorCounts([3, 5, 1], [20, 25, 10], [4, 2, 6], [20, 15, 30], base=["a", "b", "c"])
        return mhaar(counts, 0.01, chains=3, draws=200, warmup=100, seed=9, progress=False)


def test_posterior(post):
    assert post.parameter == "epsilon"
    assert {name: values.shape for name, values in post.samples.items()} == {
        "epsilon": (3, 200),
        "strength": (3, 200),
    }
    assert post.median == np.median(post.samples["epsilon"])
    assert post.provenance.method == "mhaar"
    assert post.provenance.digest == SMALL.digest()
    assert post.provenance.known == {"delta": 0.01}
    assert post.provenance.settings == {
        "strength": "free",
        "likelihood": "binomial",
        "auxiliaries": "posterior",
        "n_auxiliaries": 8,
        "chains": 3,
        "draws": 200,
        "warmup": 100,
        "seed": 9,
    }
    assert len(post.diagnostics["acceptance"]) == 3
    assert np.shape(post.diagnostics["step_covariance"]) == (2, 2)
    assert set(post.diagnostics["rhat"]) == {"epsilon", "strength"}
    json.dumps(post.to_dict())


def test_draws(post):
    few, many, too_many = (post.draws(size, seed=1) for size in (50, 600, 1000))
    assert len(np.unique(few["epsilon"])) > 30
    np.testing.assert_array_equal(np.sort(many["strength"]), np.sort(post.samples["strength"].ravel()))
    assert len(too_many["epsilon"]) == 1000
    np.testing.assert_array_equal(post.draws(50, seed=1)["epsilon"], few["epsilon"])
    assert not np.array_equal(post.draws(50, seed=2)["epsilon"], few["epsilon"])


def test_rates_belong_to_the_draws(post):
    alpha, beta = post.rates(300, seed=1)
    draws = post.draws(300, seed=1)
    assert alpha.shape == beta.shape == (300, 3)
    assert region.in_layer(alpha, beta, draws["epsilon"][:, None], 0.01, draws["strength"][:, None]).all()


def test_to_arviz(post):
    data = post.to_arviz()
    assert data["posterior"]["alpha"].shape == (3, 200, 3)
    assert data["posterior"]["alpha"].coords["base"].values.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(data["posterior"]["strength"].values, post.samples["strength"])
    rate = data["sample_stats"]["acceptance_rate"].values
    assert ((rate >= 0) & (rate <= 1)).all()
    assert rate.mean() == pytest.approx(np.mean(post.diagnostics["acceptance"]))
    assert json.loads(data.attrs["settings"])["seed"] == 9
    # the log density, computed by hand up to a constant
    epsilon, s, alpha, beta = (data["posterior"][v].values for v in ("epsilon", "strength", "alpha", "beta"))
    expected = stats.halfnorm(scale=np.sqrt(10)).logpdf(epsilon) - 3 * region.log_layer_area(epsilon, 0.01, s)
    expected = expected + stats.binom.logpmf([3, 5, 1], [20, 25, 10], alpha).sum(axis=-1)
    expected = expected + stats.binom.logpmf([4, 2, 6], [20, 15, 30], beta).sum(axis=-1)
    difference = data["sample_stats"]["lp"].values - expected
    np.testing.assert_allclose(difference, difference[0, 0], rtol=1e-6)


@ignored
def test_epsilon_at(post):
    single = post.epsilon_at(0.1)
    assert single.provenance.known == {"delta": 0.1}
    assert single.provenance.settings == post.provenance.settings
    assert single.median < post.median
    first, second = post.epsilon_at([0.01, 0.1])
    np.testing.assert_array_equal(first.samples["epsilon"], post.samples["epsilon"])
    np.testing.assert_array_equal(second.samples["epsilon"], single.samples["epsilon"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strength": "tight"}, "not defined for strength='tight'.*method='exact'"),
        ({"strength": "loose"}, "strength must be 'free', 'tight' or a number"),
        ({"strength": 1.0}, r"strength must lie in \[0, 1\)"),
        ({"strength": 0.5, "prior_strength": "Beta(1, 2)"}, "prior_strength is for strength='free'"),
        ({"auxiliaries": "prior"}, "auxiliaries must be"),
        ({"n_auxiliaries": 1}, "n_auxiliaries must be a whole number, at least 2"),
        ({"chains": 0}, "chains must be a whole number, at least 1"),
        ({"draws": 2.5}, "draws must be a whole number"),
        ({"warmup": -1}, "warmup must be a whole number, at least 0"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"delta": 1.0}, r"delta must lie in \[0, 1\)"),
        ({"prior_epsilon": "Normal(0, 1)"}, "prior of epsilon must live"),
        ({"counts": [1, 2]}, "counts must be ErrorCounts"),
    ],
)
def test_bad_input(settings, message):
    with pytest.raises(bdp.InputError, match=message):
        quick(**({"counts": SMALL, "delta": 0.01} | settings))

"""The density that NUTS samples, integrated over its coordinates, is the marginal likelihood, on a grid of (ε, s)."""

import itertools
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer.util import log_density
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.compiling import compiler_options, uses_earlier_emitters
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.nuts.model import bayes_model, observe_counts
from bayes_dp.bayes.nuts.strength import strength_with
from tests.cubature import log_marginal

# The trapezoidal rule, which is exact to many digits for smooth densities that vanish at both ends.
STEP = 0.4
LINE = np.arange(-16, 16 + STEP / 2, STEP)
PLANE = np.stack(np.meshgrid(LINE, LINE, indexing="ij"), axis=-1).reshape(-1, 1, 2)

BASES = [(3, 20, 4, 25), (0, 20, 11, 30), (40, 200, 190, 200)]
SHARED = {
    "binomial": [()],
    "bivariate_normal": [(0.0, 0.0), (0.02, 0.01), (-0.003, -0.004)],
    "beta_binomial": [(0.0,), (0.03,)],
    "kupper_haseman": [(0.0,), (1e-4,)],
}


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def columns(*base):
    return Counts(*(np.array([float(v)]) for v in base))


def integrator(model, step=STEP):
    """(args, values) -> log ∫ of the model's joint density over the sites in `values`: name -> nodes, (m, ...).

    Numbers among the sites that end in "_place", and "places", are integrated over; the others stay at their values.
    """

    @partial(jax.jit, compiler_options=compiler_options(0, uses_earlier_emitters(0)))
    def total(args, values):
        return jax.scipy.special.logsumexp(
            jax.lax.map(lambda one: log_density(model, args, {}, one)[0], values, batch_size=4096)
        )

    def found(args, values):
        dimensions = sum(2 if name == "places" else name.endswith("_place") for name in values)
        return float(total(args, values)) + dimensions * np.log(step)

    return found


@lru_cache
def integrator_of_rates(name):
    """Compiled once for all bases."""

    def model(counts, epsilon, s, delta, shared):
        def log_g(counts, alpha, beta):
            return LIKELIHOODS[name].log_density(Counts(*(column[:, 0] for column in counts)), alpha, beta, *shared)

        observe_counts(counts, epsilon, delta, s, log_g, *shared[:2])

    return integrator(model)


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("base", BASES)
def test_integral_over_the_rates(name, base):
    law, counts = LIKELIHOODS[name], columns(*base)
    grid = list(itertools.product((0.3, 2.0, 6.0), (0.02, 0.5, 0.97), (0.0, 0.01), SHARED[name]))
    expected = np.array([log_marginal(law, counts, epsilon, d, s, shared)[0] for epsilon, s, d, shared in grid])
    likely = np.flatnonzero(expected > expected.max() - 60)
    assert len(likely) >= len(grid) / 2
    integral = integrator_of_rates(name)
    for i in likely:
        assert integral((counts, *grid[i]), {"places": PLANE}) == pytest.approx(expected[i], abs=1e-4), grid[i]


@lru_cache
def integrator_of_the_normal_law():
    def model(counts, epsilon, s, delta):
        observe_counts(counts, epsilon, delta, s, "bivariate_normal")

    return integrator(model)


@pytest.mark.parametrize("base", BASES)
def test_integral_over_the_rates_where_the_normal_law_pins_them_down(base):
    """At given places of τ and ρ, in the coordinates that the bivariate normal law has of its own."""
    law, counts = LIKELIHOODS["bivariate_normal"], columns(*base)

    def alone():
        law.sites(counts)

    steps = STEP / 16, STEP / 2  # the density has kinks in the first coordinate
    integral = integrator_of_the_normal_law()
    pairs = (0.3, 0.02), (2.0, 0.7), (6.0, 0.02)  # ε and s; a point takes a second
    grid = list(itertools.product(pairs, (0.01,), ((-0.5, 0.0), (2.0, 1.5), (2.0, -1.5))))
    rows = []
    for (epsilon, s), delta, (tau_at, rho_at) in grid:
        at = {"tau_place": jnp.asarray(tau_at), "rho_place": jnp.asarray(rho_at)}
        prior, sites = log_density(alone, (), {}, at)
        shared = [sites[name]["value"] for name in ("tau", "rho")]
        rows.append((float(prior) + log_marginal(law, counts, epsilon, delta, s, shared)[0], (epsilon, s, delta), at))
    most = max(expected for expected, *_ in rows)
    likely = [row for row in rows if row[0] > most - 30]
    assert len(likely) >= len(rows) / 2
    lines = (np.arange(-12, 12, step) for step in steps)
    plane = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 1, 2)
    for expected, args, at in likely:
        values = {"places": plane} | {name: np.full(len(plane), value) for name, value in at.items()}
        # τ and ρ are not integrated over, and the steps are others.
        found = integral((counts, *args), values) - 4 * np.log(STEP) + np.log(steps).sum()
        assert found == pytest.approx(expected, abs=1e-4), (args, at)


def test_a_normal_law_may_be_given_counts_beyond_its_runs():
    """As it draws them itself, in simulations."""
    counts = Counts(*(np.array(v) for v in ([-0.7, 3.0], [20.0, 20.0], [31.2, -0.1], [30.0, 30.0])))
    model = partial(bayes_model, counts, 0.01, likelihood="bivariate_normal")
    at = {"places": jnp.ones((2, 2)), "tau_place": 1.0, "rho_place": 0.5, "epsilon": 1.0, "strength_place": 0.5}
    fast = compiler_options(0, uses_earlier_emitters(0))
    slope = jax.jit(jax.value_and_grad(lambda one: log_density(model, (), {}, one)[0]), compiler_options=fast)
    found, slopes = slope(jax.tree.map(jnp.asarray, at))
    assert np.isfinite(found)
    assert all(np.isfinite(slope).all() for slope in slopes.values())


@pytest.mark.parametrize("name", ["bivariate_normal", "beta_binomial"])
def test_places_of_the_shared_parameters_have_their_prior(name):
    law, counts = LIKELIHOODS[name], Counts(*(np.array(c, dtype=float) for c in ([1, 2], [20, 30], [3, 4], [25, 40])))
    low = 0.0 if name == "beta_binomial" else -1 / 39
    prior = stats.truncnorm(low / 0.01, 100, scale=0.01)

    def model(power):
        tau, *rho = law.sites(counts)
        limit = law.rho_limit(counts, tau) if rho else 1.0
        numpyro.factor("moment", power[0] * jnp.log(tau - low) + power[1] * jnp.log1p(sum(rho) / limit))

    places = {"tau_place": PLANE[:, 0, 0], "rho_place": PLANE[:, 0, 1]} if name == "bivariate_normal" else {}
    integral = integrator(model)
    for power in ((0, 0), (1, 0), (2, 1), (1, 2)):
        expected = np.log(prior.expect(lambda t, k=power[0]: (t - low) ** k, epsabs=1e-14))
        expected += np.log([1, 1, 4 / 3][power[1]]) if places else 0.0
        found = integral((power,), places or {"tau_place": LINE})
        assert found == pytest.approx(expected, abs=1e-6), power


STRENGTH_PRIORS = [dist.Beta(1, 1), dist.Beta(2, 5), dist.Uniform(0.2, 0.7)]


@lru_cache
def integrator_of_strength(prior):
    def model(counts, epsilon, power):
        s = strength_with(prior, counts, epsilon)
        numpyro.factor("moment", power[0] * jnp.log(s) + power[1] * jnp.log1p(-s))

    return integrator(model, 0.05)


@pytest.mark.parametrize("prior", STRENGTH_PRIORS, ids=lambda prior: type(prior).__name__)
@pytest.mark.parametrize("base", [*BASES, (50, 100, 50, 100), (0, 10_000, 5000, 10_000)])
def test_places_of_the_strength_have_its_prior(prior, base):
    """Whatever ε is, and wherever the least level of the bases: the moments of s."""
    line = np.arange(-60, 120, 0.05)
    integral = integrator_of_strength(prior)
    s = (np.arange(200_000) + 0.5) / 200_000
    low, high = float(prior.support.lower_bound), float(prior.support.upper_bound)
    s = low + (high - low) * s
    density = np.exp(np.asarray(prior.log_prob(s))) * (high - low)
    for epsilon, power in itertools.product((0.01, 2.0, 9.0), ((0, 0), (1, 0), (0, 2))):
        wanted = np.log(np.mean(density * s ** power[0] * (1 - s) ** power[1]))
        found = integral((columns(*base), epsilon, power), {"strength_place": line})
        assert found == pytest.approx(wanted, abs=1e-4), (epsilon, power)


def test_place_of_a_parameter_whose_range_depends_on_the_rates():
    """Kupper and Haseman's law: the whole model, at one ε and s."""
    base, delta, epsilon, s = (2, 6, 3, 7), 0.01, 1.2, 0.4
    law, line = LIKELIHOODS["kupper_haseman"], np.arange(-14, 14.1, 0.4)
    z0, z1, place = (part.ravel() for part in np.meshgrid(line, line, line, indexing="ij"))
    values = {
        "places": np.stack([z0, z1], axis=-1)[:, None],
        "tau_place": place,
        "epsilon": np.full(place.size, epsilon),
    }
    counts = bdp.ErrorCounts([base[0]], base[1], [base[2]], base[3])
    model = partial(bayes_model, counts, strength=s, likelihood="kupper_haseman")
    found = integrator(model, 0.4)((delta,), values)
    rng, parts = np.random.default_rng(0), []
    for _ in range(10):
        alpha, beta = region.sample(epsilon, delta, s, 100_000, rng).T
        tau = stats.truncnorm.rvs((-1 / 6) / 0.01, 100, scale=0.01, size=len(alpha), random_state=rng)
        parts.append(np.exp(np.asarray(law.log_density(columns(*base), alpha[None], beta[None], tau))[0]))
    g = np.concatenate(parts)
    expected = np.log(g.mean()) + np.log(2) + stats.norm.logpdf(epsilon, scale=np.sqrt(10))
    assert found == pytest.approx(expected, abs=4 * g.std() / g.mean() / np.sqrt(len(g)))


def test_what_observe_counts_refuses():
    counts = bdp.ErrorCounts([2, 5, 3, 1], 20, [13, 8, 9, 4], 20)

    def said(match, *args):
        with pytest.raises(bdp.InputError, match=match):
            log_density(partial(observe_counts, counts, *args), (), {}, {"places": jnp.zeros((4, 2))})

    said(r"strength must lie in \[0, 1\), not 1\.5", 1.0, 0.01, 1.5)
    said(r"epsilon must lie in \[0, inf\), not -1\.0", -1.0, 0.01, 0.5)
    said(r"delta must be a number or have shape \(4,\), not \(3,\)", 1.0, np.full(3, 0.1), 0.5)
    said("likelihood must be a function or one of binomial", 1.0, 0.01, 0.5, "normal")
    said(r"log g of shape \(4, 4\), as the rates have, not \(4,\)", 1.0, 0.01, 0.5, lambda counts, a, b: a[:, 0])


def test_a_function_takes_counts_of_the_shape_of_a_likelihoods():
    """With four bases, a mistaken axis would broadcast along the four images."""
    counts = bdp.ErrorCounts([2, 5, 3, 1], 20, [13, 8, 9, 4], 20)

    def law(counts, alpha, beta):
        return stats_of(counts.x, counts.n0, alpha) + stats_of(counts.y, counts.n1, beta)

    def stats_of(k, n, p):
        return k * jnp.log(p) + (n - k) * jnp.log1p(-p)

    at = {"places": jnp.asarray(np.random.default_rng(0).normal(size=(4, 2)))}
    one, other = (
        float(log_density(partial(observe_counts, counts, 1.2, 0.01, 0.4, form), (), {}, at)[0])
        for form in (law, "binomial")
    )
    assert one == pytest.approx(other, rel=1e-12)

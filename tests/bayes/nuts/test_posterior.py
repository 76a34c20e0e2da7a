"""NUTS against the exact posterior and against MHAAR, its forms, and what it refuses."""

import subprocess
import sys

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.nuts.posterior import nuts
from bayes_dp.bayes.nuts.sampler import _Form, _start, _without_tiny_steps, compiled
from bayes_dp.bayes.precision import double
from tests.bayes.arviz_contract import works
from tests.bayes.exact.test_posterior import FIXED
from tests.bayes.mhaar.test_agreement import BUNDLED, discrepancies, random_data
from tests.bayes.mhaar.test_correlated_posterior import COUNTS, DELTA, assert_as_weighted, weighted_prior

README = bdp.ErrorCounts([12, 8, 20, 15, 5, 30], 100, [55, 70, 41, 60, 88, 38], 100)


@pytest.mark.parametrize("index", [3, 8, 13])  # of ten bases, as strong_attacks has, so that one program serves all
@pytest.mark.filterwarnings("ignore::UserWarning")  # the error of a short run is taken into account
def test_random_data_sets(index):
    counts, delta = random_data(index)
    sampled = bdp.estimate(counts, delta, method="nuts", seed=index, draws=1600, progress=False)
    found = discrepancies(sampled, bdp.estimate(counts, delta))
    assert max(map(abs, found.values())) < 4, found


@pytest.mark.slow
@pytest.mark.parametrize("row", range(len(FIXED)))
def test_golden_at_fixed_strength(row):
    (x, n0, y, n1), delta, s, *_ = FIXED[row]
    counts = bdp.ErrorCounts([x], n0, [y], n1)
    sampled = bdp.estimate(counts, delta, strength=s, method="nuts", seed=row, progress=False)
    found = discrepancies(sampled, bdp.estimate(counts, delta, strength=s))
    assert max(map(abs, found.values())) < 4, found
    assert sampled.diagnostics["divergences"] == 0


@pytest.mark.parametrize("data", [*BUNDLED, "weak"])
def test_bundled_data(data):
    weak = bdp.ErrorCounts([0, 40, 20] * 2, [20, 40, 50] * 2, [20, 0, 30] * 2, [20, 40, 60] * 2), 0.0  # six, as README
    counts, delta = (BUNDLED | {"weak": weak})[data]
    sampled = bdp.estimate(counts, delta, method="nuts", seed=1, progress=False)
    found = discrepancies(sampled, bdp.estimate(counts, delta))
    assert max(map(abs, found.values())) < 4, found
    assert sampled.diagnostics["divergences"] == 0
    assert max(sampled.diagnostics["rhat"].values()) < 1.01


def test_no_trajectory_diverges_on_the_bases_of_the_readme():
    """With these seeds each run had one where s was sampled by its logit."""
    for seed in (2, 7, 10):
        sampled = bdp.estimate(README, 1e-3, method="nuts", seed=seed, progress=False)
        assert sampled.diagnostics["divergences"] == 0, seed
        assert sampled.diagnostics["ess_tail"]["epsilon"] > 600


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["bivariate_normal", "beta_binomial", "kupper_haseman"])
def test_correlated_counts_against_weighted_draws_from_the_prior(name):
    drawn, weight = weighted_prior(name, 1_000_000, 1)
    post = nuts(COUNTS, DELTA, likelihood=name, seed=2, draws=1500, warmup=700, progress=False)
    assert post.provenance.settings["target_accept"] == (0.97 if name == "bivariate_normal" else 0.9)
    assert_as_weighted(post, drawn, weight)


def test_a_chain_with_tiny_steps_takes_those_of_the_others():
    from numpyro.infer.hmc import HMCState
    from numpyro.infer.hmc_util import HMCAdaptState

    def state(i, step):
        adapted = HMCAdaptState(*[None] * len(HMCAdaptState._fields))._replace(step_size=step, inverse_mass_matrix=i)
        return HMCState(*[None] * len(HMCState._fields))._replace(i=i, adapt_state=adapted)

    states = [state(i, step) for i, step in enumerate((0.05, 0.0006, 0.02, 0.03))]
    found = _without_tiny_steps(states)
    assert [one.i for one in found] == [0, 1, 2, 3]
    assert [one.adapt_state.step_size for one in found] == [0.05, 0.03, 0.02, 0.03]
    assert found[1].adapt_state.inverse_mass_matrix == 3
    assert _without_tiny_steps(states[:1]) == states[:1]


def test_a_chain_starts_with_the_potential_and_the_gradient_of_its_place():
    """Somewhere of positive density: here where x > 1."""
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from numpyro.distributions import constraints

    def model(shift):
        x = numpyro.sample("x", dist.Normal(shift, 2.0))
        z = numpyro.sample("z", dist.ImproperUniform(constraints.real, (), (2,)))
        numpyro.factor("cut", jnp.where(x > 1, 0.0, -jnp.inf) - 1000 * jnp.sum(jnp.cosh(z)) - x**4)

    form, numbers = _Form.of((np.array(0.3),), {})
    with double():
        state = _start(compiled(model, form, 30, 0.9), jax.random.key(0), numbers)
        x, z = state.z["x"], state.z["z"]
        assert x > 1
        potential = (x - 0.3) ** 2 / 8 + np.log(2 * np.sqrt(2 * np.pi)) + 1000 * np.cosh(z).sum() + x**4
        np.testing.assert_allclose(state.potential_energy, potential, rtol=1e-12)
        np.testing.assert_allclose(state.z_grad["x"], (x - 0.3) / 4 + 4 * x**3, rtol=1e-12)
        np.testing.assert_allclose(state.z_grad["z"], 1000 * np.sinh(z), rtol=1e-12)
        assert state.i == 0
        assert state.adapt_state.step_size == 1
        for mass in jax.tree.leaves(state.adapt_state.inverse_mass_matrix):
            np.testing.assert_array_equal(mass, np.ones(2) if mass.ndim == 1 else np.eye(1))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_keywords_of_a_model():
    """A model's arguments by keyword, numbers and others, are as good as those by place."""
    import numpyro
    import numpyro.distributions as dist

    def model(values, scale, kind="normal"):
        x = numpyro.sample("x", {"normal": dist.Normal, "cauchy": dist.Cauchy}[kind](0.0, scale))
        numpyro.sample("y", dist.Normal(x, 1.0), obs=values)

    values, short = np.array([1.0, 2.0]), {"chains": 1, "draws": 20, "warmup": 20, "progress": False}
    by_place = bdp.run_nuts(model, values, 3.0, "cauchy", **short).samples["x"]
    assert np.array_equal(bdp.run_nuts(model, values, kind="cauchy", scale=3.0, **short).samples["x"], by_place)
    assert not np.array_equal(bdp.run_nuts(model, values, kind="cauchy", scale=2.0, **short).samples["x"], by_place)
    with pytest.raises(TypeError, match="unexpected keyword argument 'width'"):
        bdp.run_nuts(model, values, 3.0, width=2, **short)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_packaged_model_takes_its_arguments_by_keyword():
    counts = bdp.ErrorCounts([3, 5], 100, [4, 6], 100)
    found = bdp.run_nuts(
        bdp.bayes_model, counts, delta=1e-3, strength=0.3, chains=1, draws=10, warmup=10, progress=False
    )
    assert "strength" not in found.samples
    assert found.samples["alpha"].shape == (1, 10, 2)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a short run
def test_forms():
    post = nuts(README, 0.01, chains=2, draws=200, progress=False, seed=4)
    again = bdp.estimate(README, 0.01, method="nuts", chains=2, draws=200, progress=False, seed=4)
    np.testing.assert_array_equal(post.samples["epsilon"], again.samples["epsilon"])
    epsilon, strength = (post.draws(300)[name] for name in ("epsilon", "strength"))
    alpha, beta = post.rates(300)
    inside = region.contains(alpha, beta, epsilon[:, None] * (1 + 1e-9), 0.01)
    assert inside.all()
    assert not region.contains(alpha, beta, (strength * epsilon)[:, None] * (1 - 1e-9), 0.0).all()
    assert "(nuts)" in post.summary()
    assert post.provenance.settings["target_accept"] == 0.9
    stats = works(post).sample_stats
    assert "R-hat" in post.summary()
    assert stats["diverging"].shape == (2, 200)
    assert post.epsilon_at(0.1).provenance.known == {"delta": 0.1}
    assert np.isfinite(bdp.check(post, size=100).elpd)


def test_what_is_refused():
    counts = bdp.ErrorCounts([2], 20, [13], 20)
    with pytest.raises(bdp.InputError, match="NUTS is not defined for strength='tight'"):
        bdp.estimate(counts, 0.01, method="nuts", strength="tight")
    with pytest.raises(bdp.InputError, match="method='nuts' has no setting auxiliaries"):
        bdp.estimate(counts, 0.01, method="nuts", auxiliaries="uniform")
    with pytest.raises(bdp.InputError, match="chains must be a whole number"):
        bdp.estimate(counts, 0.01, method="nuts", chains=0)


def test_it_runs_where_arviz_was_imported_first():
    """ArviZ 1 leaves a module that loads lazily in the place of NumPyro, which then runs a part of itself twice."""
    code = """
import arviz
import numpyro.distributions as dist
import bayes_dp as bdp
settings = {"method": "nuts", "draws": 5, "warmup": 5, "chains": 1, "progress": False}
post = bdp.estimate(bdp.ErrorCounts(1, 10, 2, 10), 1e-3, prior_epsilon=dist.HalfNormal(2.0), **settings)
print(post.samples["epsilon"].shape)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "(1, 5)\n"), done.stderr

"""The sampler's behaviour: seeds, extremes, interrupts, diagnostics, export. That it is right is in test_agreement."""

import warnings

import jax
import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes import mhaar as module
from bayes_dp.bayes.convergence import ConvergenceWarning
from bayes_dp.bayes.mhaar import mhaar

QUICK = {"draws": 60, "warmup": 60, "chains": 2, "progress": False}


def quick(counts, delta=0.01, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mhaar(counts, delta, **{**QUICK, **settings})


def test_same_seed_same_bits():
    counts = bdp.datasets.strong_attacks()
    one, again, other = quick(counts, seed=5), quick(counts, seed=5), quick(counts, seed=6)
    np.testing.assert_array_equal(one.samples["epsilon"], again.samples["epsilon"])
    np.testing.assert_array_equal(one.rates(20)[0], again.rates(20)[0])
    assert not np.array_equal(one.samples["epsilon"], other.samples["epsilon"])


def test_every_draw_lies_in_its_layer():
    counts = bdp.datasets.strong_attacks()
    post = quick(counts)
    draws, (alpha, beta) = post.draws(100, seed=1), post.rates(100, seed=1)
    assert alpha.shape == beta.shape == (100, 10)
    folded = region.in_layer(alpha, beta, draws["epsilon"][:, None], 0.01, draws["strength"][:, None])
    assert folded.mean() > 0.999  # up to rounding at the edges


@pytest.mark.parametrize(
    ("x", "y", "trials", "settings"),
    [
        ([0], [0], 100, {}),
        ([100], [0], 100, {}),
        ([100], [100], 100, {}),
        ([70], [80], 100, {}),
        ([0], [5_000_000], 10**7, {}),
        ([10], [20], 100, {"prior_epsilon": "Uniform(0, 0.5)"}),
        ([10], [20], 100, {"prior_epsilon": "Gamma(2, 1)", "prior_strength": "Beta(2, 2)"}),
        ([1], [0], 1, {"strength": 0.5}),
        ([3], [4], 50, {"auxiliaries": "uniform", "n_auxiliaries": 50}),
    ],
)
def test_every_legal_start(x, y, trials, settings):
    post = quick(bdp.ErrorCounts(x, trials, y, trials), 0.0, **settings)
    for values in post.samples.values():
        assert np.isfinite(values).all()
        assert (values >= 0).all()
    if "Uniform" in str(settings):
        assert post.samples["epsilon"].max() <= 0.5


def test_many_bases_and_a_contradiction():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 101, 500)
    post = quick(bdp.ErrorCounts(x, 100, 100 - x, 100), 1e-5, draws=20, warmup=20)
    assert np.isfinite(post.samples["epsilon"]).all()
    outlier = quick(bdp.ErrorCounts([50, 500], 1000, [50, 500], 1000), 0.0, strength=0.9)
    assert np.isfinite(outlier.samples["epsilon"]).all()


def test_an_interrupt_keeps_the_finished_draws(monkeypatch):
    real, calls = module.advance, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    counts = bdp.datasets.strong_attacks()
    whole = quick(counts, draws=750, warmup=0)
    monkeypatch.setattr(module, "advance", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted: 750 of 2000 draws"):
        post = mhaar(counts, 0.01, **{**QUICK, "draws": 2000, "warmup": 0})
    assert post.samples["epsilon"].shape == (2, 750)
    np.testing.assert_array_equal(post.samples["epsilon"], whole.samples["epsilon"])


def test_an_interrupt_in_the_warm_up_goes_on(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "advance", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick(bdp.datasets.strong_attacks())


def test_short_runs_are_called_short():
    with pytest.warns(ConvergenceWarning, match="epsilon"):
        post = mhaar(bdp.datasets.strong_attacks(), 0.01, **QUICK)
    assert post.warnings
    assert "Warning:" in post.summary()


def test_long_runs_pass_the_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        post = mhaar(bdp.datasets.strong_attacks(), 0.01, progress=False)
    assert post.diagnostics["rhat"]["epsilon"] < 1.01
    assert post.diagnostics["ess_bulk"]["epsilon"] > 400
    assert all(0.1 < rate < 0.6 for rate in post.diagnostics["acceptance"])


def test_nothing_global_changes():
    before = jax.config.jax_enable_x64
    quick(bdp.datasets.strong_attacks())
    assert jax.config.jax_enable_x64 == before
    assert jax.numpy.zeros(1).dtype == np.float32


@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_another_delta_and_other_data_of_the_same_size_do_not_compile_again():
    counts = bdp.datasets.strong_attacks()
    quick(counts)
    before = module.advance._cache_size()
    quick(counts, 0.001, seed=3)
    quick(bdp.ErrorCounts(counts.false_positives // 2, 1000, counts.false_negatives, 1000))
    first, second = quick(counts).epsilon_at([0.001, 0.0])
    assert module.advance._cache_size() == before
    assert first.provenance.known == {"delta": 0.001}
    assert second.provenance.known == {"delta": 0.0}


def test_export_to_arviz():
    counts = bdp.ErrorCounts([10, 12], 100, [20, 15], 90, base=["first", "second"])
    data = quick(counts).to_arviz()
    assert data["posterior"]["epsilon"].shape == (2, 60)
    assert data["posterior"]["alpha"].shape == (2, 60, 2)
    assert list(data["posterior"]["base"].values) == ["first", "second"]
    assert {"acceptance_rate", "lp"} <= set(data["sample_stats"].data_vars)
    assert np.isfinite(data["sample_stats"]["lp"].values).all()
    np.testing.assert_array_equal(data["observed_data"]["false_positives"].values, [10, 12])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strength": "tight"}, "not defined for strength='tight'"),
        ({"strength": 1.0}, "strength must lie in"),
        ({"chains": 0}, "chains must be a whole number, at least 1, not 0"),
        ({"draws": 1.5}, "draws must be a whole number"),
        ({"warmup": -1}, "warmup must be a whole number, at least 0"),
        ({"n_auxiliaries": 1}, "n_auxiliaries must be a whole number, at least 2"),
        ({"auxiliaries": "normal"}, "auxiliaries must be 'posterior' or 'uniform'"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"strength": 0.5, "prior_strength": "Beta(1, 1)"}, "prior_strength is for strength='free'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(bdp.InputError, match=message):
        mhaar(bdp.datasets.strong_attacks(), 0.01, **settings)

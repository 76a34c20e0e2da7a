"""DP-SGD: each step against sums over single gradients, its law, its faults, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import bayes_dp as bdp
from bayes_dp.checks import InputError
from models.dirac_canaries import FAULTS
from models.dp_sgd import Settings, replay, train
from models.gradients import dense, first_weights, of_loss
from tests.models.test_gradients import loss

N, M, SIGMA, Q, CLIP = 60, 400, 0.7, 0.2, 0.4
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 6)).astype(np.float32), RNG.integers(0, 3, N)
FIRST = first_weights(0, 6, 5, 3)
MEMBER, COINS = np.arange(N) % 3 > 0, np.arange(M) % 2 == 0
SETTINGS = Settings(SIGMA, Q, 20, clip=CLIP, learning_rate=0.3)


def run(settings: Settings = SETTINGS, x=X, **more):
    given = {"member": MEMBER, "dirac": COINS, "watched": [3, 0], "keep_updates": True, "room": N}
    return train(FIRST, x, Y, settings, **given | more)


@pytest.fixture(scope="module")
def trained():
    return run()


one_gradient = jax.jit(jax.grad(loss))


def gradient(weights, i: int) -> np.ndarray:
    """Of one example, clipped, in the order of the flat weights."""
    g = ravel_pytree(one_gradient(weights, X[i], Y[i]))[0]
    return np.asarray(g * min(1, CLIP / np.linalg.norm(g)))


def test_without_noise_it_is_the_sum_of_clipped_gradients_of_the_members():
    """Three of the steps by hand. With q = 1 who is drawn is known, so that U is, and with it each step."""
    settings = Settings(0.0, 1.0, 20, clip=CLIP, learning_rate=0.3)
    found = run(settings)
    now, unravel = ravel_pytree(FIRST)
    for t in range(3):
        each = np.stack([gradient(unravel(now), i) for i in range(N)])
        wanted = each[MEMBER].sum(axis=0)
        np.testing.assert_allclose(found.updates[t], wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.inner[t], each[[3, 0]] @ wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found.dirac[t], COINS, atol=1e-6)
        now = now - 0.3 / N * wanted
    last = ravel_pytree(FIRST)[0] - 0.3 / N * found.updates.sum(axis=0)
    np.testing.assert_allclose(ravel_pytree(found.weights)[0], last, rtol=1e-4, atol=1e-5)
    assert (found.drawn == MEMBER.sum()).all()


def test_the_law_of_a_step():
    """At first weights that stay where they are: mean and variance of U in directions, and who is drawn."""
    settings = Settings(SIGMA, Q, 3000, clip=CLIP, learning_rate=1e-30)
    found = run(settings)
    each = np.stack([gradient(FIRST, i) for i in np.flatnonzero(MEMBER)])
    mean = Q * each.sum(axis=0)
    np.testing.assert_allclose(found.updates.mean(axis=0), mean, atol=5 * SIGMA * CLIP / np.sqrt(3000) + 0.01)
    for direction in (each[0], each[5], mean):
        at = found.updates @ direction
        variance = SIGMA**2 * CLIP**2 * (direction @ direction) + Q * (1 - Q) * np.sum((each @ direction) ** 2)
        assert at.var() == pytest.approx(variance, rel=0.12)
    assert found.drawn.mean() == pytest.approx(Q * MEMBER.sum(), rel=0.02)
    assert found.drawn.var() == pytest.approx(Q * (1 - Q) * MEMBER.sum(), rel=0.12)


def test_dirac_canaries(trained):
    inner, others = trained.dirac[:, COINS], trained.dirac[:, ~COINS]
    assert others.std() == pytest.approx(SIGMA, rel=0.03)
    assert abs(others.mean()) < 0.05
    assert inner.mean() == pytest.approx(Q, abs=0.04)
    assert inner.var() == pytest.approx(SIGMA**2 + Q * (1 - Q), rel=0.06)


def test_a_larger_norm_is_clipped_and_a_smaller_one_is_not():
    still = Settings(1e-6, 1.0, 20, clip=CLIP)
    for norm, seen in ((3.0, 1.0), (0.5, 0.5)):
        np.testing.assert_allclose(run(still, norm=norm).dirac[0], seen * COINS, atol=1e-4)
    wrong = Settings(1e-6, 1.0, 20, clip=CLIP, fault="no clipping")
    np.testing.assert_allclose(run(wrong, norm=3.0).dirac[0], 3 * COINS, atol=1e-4)
    each = [np.asarray(ravel_pytree(one_gradient(FIRST, X[i], Y[i]))[0]) for i in np.flatnonzero(MEMBER)]
    np.testing.assert_allclose(run(wrong).updates[0], np.sum(each, axis=0), rtol=1e-3, atol=1e-4)


def test_the_faults_of_noise_and_sampling():
    def dirac(fault, sigma=SIGMA):
        return run(Settings(sigma, Q, 20, clip=CLIP, fault=fault)).dirac

    assert dirac("half noise")[:, ~COINS].std() == pytest.approx(SIGMA / 2, rel=0.03)
    frozen = dirac("frozen noise")[:, ~COINS]
    np.testing.assert_array_equal(frozen[0], frozen[4])
    assert (frozen[4] != frozen[5]).all()
    shuffled = dirac("shuffling", 1e-6)[:, COINS].reshape(4, 5, -1).sum(axis=1)
    np.testing.assert_allclose(shuffled, 1, atol=1e-4)  # once in each epoch of five steps
    assert set(FAULTS) == {"half noise", "shuffling", "no clipping", "frozen noise"}


def test_replayed_products_are_those_of_the_training(trained):
    known = MEMBER & (np.arange(N) > 9)
    steps = list(replay(trained, X, Y, SETTINGS, [3, 0], known))
    np.testing.assert_allclose([step.inner for step in steps], trained.inner, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose([step.square for step in steps], np.sum(trained.updates**2, axis=1), rtol=1e-5)
    ours = np.stack([gradient(FIRST, i) for i in (3, 0)])
    np.testing.assert_allclose(steps[0].gram, ours @ ours.T, rtol=1e-4, atol=1e-6)
    others = np.sum([gradient(FIRST, i) for i in np.flatnonzero(known)], axis=0)
    np.testing.assert_allclose(steps[0].summed, ours @ others, rtol=1e-4, atol=1e-5)
    some = list(replay(trained, X, Y, SETTINGS, [3, 0], known, every=7))
    assert len(some) == 3
    np.testing.assert_array_equal(some[1].gram, steps[7].gram)


def test_a_loss_of_the_users_own():
    whole, factors = run(gradients=of_loss(loss), watched=()), run()
    np.testing.assert_allclose(whole.updates, factors.updates, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(whole.drawn, factors.drawn)


def test_only_inner_products_are_kept(trained):
    short = run(keep_updates=False)
    assert short.updates is None
    np.testing.assert_array_equal(short.inner, trained.inner)
    with pytest.raises(InputError, match="run must have its updates: train with keep_updates=True"):
        next(replay(short, X, Y, SETTINGS, [0], MEMBER))


def test_seeds_are_all_different(trained):
    seeds = (0, 1, 2**32, 2**32 + 1)
    found = [run(Settings(SIGMA, Q, 20, seed=seed)).updates[0] for seed in seeds]
    assert all((found[i] != found[j]).mean() > 0.9 for i in range(4) for j in range(i))
    np.testing.assert_array_equal(run().updates, trained.updates)


def test_a_step_that_draws_too_many_stops_the_training():
    with pytest.raises(InputError, match=r"room must be at least \d+, which step \d+ drew, not 5"):
        run(room=5)


def test_it_goes_on_where_it_was_interrupted(trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from models import dp_sgd

    path, write = tmp_path / "begun.npz", dp_sgd._write

    def then_stop(*given):
        write(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(dp_sgd, "_write", then_stop)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run(checkpoint=path, every=8)
    monkeypatch.undo()
    found = run(checkpoint=path, every=8)
    for part in ("updates", "inner", "dirac", "drawn"):
        np.testing.assert_array_equal(getattr(found, part), getattr(trained, part))
    again = run(checkpoint=path, every=8)  # nothing is left to do
    np.testing.assert_array_equal(ravel_pytree(again.weights)[0], ravel_pytree(trained.weights)[0])
    for other in (
        {"settings": Settings(SIGMA, Q, 20, clip=CLIP, learning_rate=0.4)},
        {"member": ~MEMBER},
        {"gradients": of_loss(loss)},
    ):
        with pytest.raises(InputError, match=r"begun\.npz is of another training"):
            run(checkpoint=path, **other)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match=r"begun\.npz cannot be read as a training that was begun"):
        run(checkpoint=path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise_multiplier": -1.0}, r"noise_multiplier must lie in \[0, 1e\+09\], not -1"),
        ({"sampling_rate": 0.0}, r"sampling_rate must lie in \[1e-09, 1\], not 0"),
        ({"sampling_rate": 1e-300}, r"sampling_rate must lie in \[1e-09, 1\], not 1e-300"),
        ({"steps": 0}, "steps must be a whole number, at least 1, not 0"),
        ({"noise_multiplier": 1e39}, r"noise_multiplier must lie in \[0, 1e\+09\], not 1e\+39"),
        ({"clip": 0.0}, r"clip must lie in \[1e-09, 1e\+09\], not 0"),
        ({"fault": "none"}, "fault must be 'half noise', .* or None, not 'none'"),
        ({"seed": -1}, "seed must be a whole number from 0"),
    ],
)
def test_settings_that_cannot_be(change, message):
    with pytest.raises(InputError, match=message):
        Settings(**{"noise_multiplier": 1.0, "sampling_rate": 0.1, "steps": 5} | change)


def test_arguments_that_cannot_be():
    for change, message in (
        ({"member": [True]}, "x must have examples, and y and member one value for each of the 60"),
        ({"watched": [60]}, r"watched must name examples from 0 to 59, not 60"),
        ({"watched": [-1]}, r"watched must name examples from 0 to 59, not -1"),
        ({"watched": [0.7]}, "watched must be numbers of examples in a row, not"),
        ({"watched": MEMBER}, "watched must be numbers of examples in a row, not"),
        ({"member": np.full(N, 2)}, "member must be truth values in a row, not"),
        ({"member": np.full(N, "no")}, "member must be truth values in a row, not"),
        ({"dirac": [0.5]}, "dirac must be truth values in a row, not"),
        ({"checkpoint": 3}, "checkpoint must be a path, not 3"),
        ({"norm": 0.0}, r"norm must lie in \(0, 1e\+09\], not 0"),
        ({"room": 61}, "room must be a whole number from 1 to 60, not 61"),
    ):
        with pytest.raises(InputError, match=message):
            run(**change)
    with pytest.raises(InputError, match="x must have examples"):
        train(FIRST, X[:0], Y[:0], SETTINGS)
    for x, y, weights, message in (
        (X[:, :3], Y, FIRST, r"x must hold numbers of the shape \(examples, 6\), not float32 of \(60, 3\)"),
        (X, Y + 1, FIRST, "y must hold classes, whole numbers from 0 to 2, not"),
        (X, Y - 1, FIRST, "y must hold classes, whole numbers from 0 to 2, not"),
        (X, Y + 0.5, FIRST, "y must hold classes, whole numbers from 0 to 2, not"),
        (X, Y, [tuple(layer) for layer in FIRST], "weights must be a tuple of Layer, not"),
    ):
        with pytest.raises(InputError, match=message):
            train(weights, x, y, SETTINGS)


def test_an_example_that_is_not_drawn_changes_nothing():
    """Not even one that is no number, and first of all: rows of a batch that are left over must not be it."""
    x = X.copy()
    x[0] = np.nan
    assert not MEMBER[0]
    found, other = (run(x=each, watched=()) for each in (x, X))
    np.testing.assert_array_equal(found.updates, other.updates)


def test_rare_sampling():
    assert (run(Settings(SIGMA, 1e-9, 20)).drawn == 0).all()


def test_a_run_of_other_settings_is_not_replayed(trained):
    def replayed(settings=SETTINGS, x=X, y=Y, known=MEMBER, of=trained, **more):
        return list(replay(of, x, y, settings, [0], known, every=20, **more))

    replayed()
    for change, message in (
        ({"settings": replace(SETTINGS, learning_rate=0.6)}, "its updates do not lead to its weights"),
        ({"settings": replace(SETTINGS, steps=19)}, "run must be of these settings, and its"),
        ({"known": MEMBER[:5]}, "y and known must have one value for each of the 60"),
        ({"of": trained._replace(updates=trained.updates[:, :5])}, "run must be of these settings, and its"),
    ):
        with pytest.raises(InputError, match=message):
            replayed(**change)
    with pytest.raises(InputError, match="every must be a whole number, at least 1, not 0"):
        next(replay(trained, X, Y, SETTINGS, [0], MEMBER, every=0))


def test_a_gradient_that_is_no_number_stops_the_training():
    """It would make all weights NaN, and so tell that its example is there."""
    x = X.copy()
    x[1] = np.inf
    with pytest.raises(InputError, match="x must have finite gradients, and by step 19 the weights are no numbers"):
        train(FIRST, x, Y, SETTINGS, member=MEMBER, dirac=COINS, watched=[3, 0], keep_updates=True, room=N)


def test_its_claim_is_the_accountants():
    claim = SETTINGS.claim(1e-5)
    assert claim.training == (SIGMA, Q, 20)
    assert claim.epsilon == bdp.Claim.dp_sgd(SIGMA, Q, 20).epsilon_at(1e-5)


def test_dp_accounting_agrees():
    event = pytest.importorskip("dp_accounting", reason="bayes-dp[accounting] is not installed")
    step = event.PoissonSampledDpEvent(Q, event.GaussianDpEvent(SIGMA))
    accountant = event.pld.PLDAccountant()
    accountant.compose(event.SelfComposedDpEvent(step, 20))
    assert SETTINGS.claim(1e-5).epsilon == pytest.approx(accountant.get_epsilon(1e-5), abs=0.01)


def test_it_learns():
    centres = 3 * np.random.default_rng(1).normal(size=(3, 6))
    x = (centres[Y] + np.random.default_rng(2).normal(size=(N, 6))).astype(np.float32)
    found = train(FIRST, x, Y, Settings(0.3, 0.5, 200, learning_rate=1.0))
    logits = np.maximum(x @ found.weights[0].weight + found.weights[0].bias, 0) @ found.weights[1].weight
    assert np.mean(np.argmax(logits + found.weights[1].bias, axis=1) == Y) > 0.9
    assert dense(found.weights, x, Y).squares().shape == (N,)

"""Gradients in factors are those of autodiff, one example at a time."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from models.gradients import Layer, dense, first_weights, losses, of_loss

N = 7
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(N, 6)).astype(np.float32), RNG.integers(0, 3, N)
WEIGHTS = tuple(
    Layer(layer.weight, RNG.normal(size=layer.bias.shape).astype(np.float32)) for layer in first_weights(0, 6, 5, 4, 3)
)


def loss(weights, x, y):
    """Of one example, written from the definition of the network."""
    for layer in weights[:-1]:
        x = jnp.maximum(x @ layer.weight + layer.bias, 0)
    logits = x @ weights[-1].weight + weights[-1].bias
    return -jnp.log(jnp.exp(logits)[y] / jnp.sum(jnp.exp(logits)))


@pytest.fixture(scope="module")
def each():
    """Of each example, (N, weights)."""
    one = jax.jit(jax.grad(loss))
    found = [one(WEIGHTS, X[i], Y[i]) for i in range(N)]
    return np.stack([np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(g)]) for g in found])


@pytest.mark.parametrize("gradients", [dense, of_loss(loss)], ids=["dense", "of a loss"])
def test_they_are_those_of_autodiff(gradients, each):
    found = gradients(WEIGHTS, X, Y)
    weight = np.linspace(-1, 2, N).astype(np.float32)
    direction = first_weights(1, 6, 5, 4, 3)
    flat = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(direction)])
    total = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(found.total(weight))])
    for values, wanted in (
        (found.squares(), np.sum(each**2, axis=1)),
        (total, weight @ each),
        (found.along(direction), each @ flat),
        (found.gram(), each @ each.T),
    ):
        np.testing.assert_allclose(values, wanted, rtol=2e-4, atol=2e-5)


def test_losses():
    wanted = [loss(WEIGHTS, x, y) for x, y in zip(X, Y, strict=True)]
    np.testing.assert_allclose(losses(WEIGHTS, X, Y), wanted, rtol=1e-5)
    huge = tuple(Layer(100 * layer.weight, layer.bias) for layer in WEIGHTS)
    assert np.isfinite(losses(huge, X, Y)).all()


def test_first_weights():
    first, second = first_weights(0, 400, 300, 10)
    assert [part.shape for part in (*first, *second)] == [(400, 300), (300,), (300, 10), (10,)]
    assert first.weight.var() == pytest.approx(2 / 400, rel=0.02)
    assert not first.bias.any()

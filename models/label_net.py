"""A small network in JAX that learns probabilities of classes: two hidden layers of 256 ReLU units, Adam.

    loss  −Σ_y t_y log softmax(f(x))_y,  t the targets of an example

A `Learner` of `models.label_training`. Batches are rows of one shuffled order an epoch; what is left over is left out
of that epoch.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayes_dp.support.arrays import Floats

__all__ = ["learner"]

_HIDDEN = 256
_RATE, _FIRST, _SECOND, _TINY = 1e-3, 0.9, 0.999, 1e-8  # of Adam

Weights = list[tuple[Any, Any]]


def learner(epochs: int = 40, batch: int = 128, seed: int = 0) -> Any:
    """One that trains a network for so many epochs."""

    def fit(x: Floats, targets: Floats) -> Any:
        rng = np.random.default_rng(seed)
        size = min(batch, len(x))
        steps = len(x) // size
        order = np.array([rng.permutation(len(x))[: steps * size].reshape(steps, size) for _ in range(epochs)])
        trained = _train(
            _first(rng, x.shape[1], targets.shape[1]),
            jnp.asarray(order.reshape(-1, size)),
            jnp.asarray(x, jnp.float32),
            jnp.asarray(targets, jnp.float32),
        )
        return lambda x: np.asarray(_predict(trained, jnp.asarray(x, jnp.float32)), dtype=np.float64)

    return fit


def _first(rng: np.random.Generator, inputs: int, classes: int) -> Weights:
    sizes = inputs, _HIDDEN, _HIDDEN, classes
    return [
        (rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in itertools.pairwise(sizes)
    ]


def _logits(weights: Weights, x: Any) -> Any:
    *hidden, last = weights
    for w, b in hidden:
        x = jax.nn.relu(x @ w + b)
    return x @ last[0] + last[1]


def _loss(weights: Weights, x: Any, targets: Any) -> Any:
    return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(_logits(weights, x)), axis=1))


@partial(jax.jit, compiler_options={"xla_cpu_multi_thread_eigen": False})
def _train(weights: Weights, order: Any, x: Any, targets: Any) -> Weights:
    def step(state: Any, rows: Any) -> tuple[Any, None]:
        now, first, second, t = state
        gradient = jax.grad(_loss)(now, x[rows], targets[rows])
        first = jax.tree.map(lambda m, g: _FIRST * m + (1 - _FIRST) * g, first, gradient)
        second = jax.tree.map(lambda v, g: _SECOND * v + (1 - _SECOND) * g**2, second, gradient)
        now = jax.tree.map(
            lambda w, m, v: w - _RATE * m / (1 - _FIRST**t) / (jnp.sqrt(v / (1 - _SECOND**t)) + _TINY),
            now, first, second,
        )  # fmt: skip
        return (now, first, second, t + 1), None

    at_rest = jax.tree.map(jnp.zeros_like, weights)
    (trained, *_), _ = jax.lax.scan(step, (weights, at_rest, at_rest, 1.0), order)
    return trained


@jax.jit
def _predict(weights: Weights, x: Any) -> Any:
    return jax.nn.softmax(_logits(weights, x))

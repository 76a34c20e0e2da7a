"""A JAX network with hidden layers, trained by Adam; more epochs learn more by heart.

    w ← w − a m̂/(√v̂ + 10⁻⁸),  m ← 0.9 m + 0.1 g,  v ← 0.999 v + 0.001 g²

with g the gradient of the mean cross-entropy of a batch, and m̂, v̂ without their bias (Kingma and Ba 2015).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayes_dp.support.arrays import Floats, Ints

__all__ = ["Net", "cross_entropy", "descents", "snapshots", "train"]

_RATE = 1e-3

Weights = list[tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Net:
    """A trained network: a function from examples (n, d) to logits (n, k)."""

    weights: Weights

    def __call__(self, x: Floats) -> Floats:
        *hidden, (last, bias) = self.weights
        for w, b in hidden:
            x = np.maximum(x @ w + b, 0.0)
        return np.asarray(x @ last + bias)


def train(x: Floats, y: Ints, seed: int = 0, *, epochs: int = 20, hidden: Sequence[int] = (256, 256)) -> Net:
    """A network after so many epochs."""
    return next(snapshots(x, y, (epochs,), seed, hidden=hidden))


def snapshots(
    x: Floats, y: Ints, epochs: Sequence[int], seed: int = 0, *, hidden: Sequence[int] = (256, 256)
) -> Iterator[Net]:
    """One training, as it is after each of these numbers of epochs, which grow."""
    rng = np.random.default_rng(seed)
    sizes = [x.shape[1], *hidden, int(y.max()) + 1]
    weights = [
        (rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in itertools.pairwise(sizes)
    ]
    data = np.asarray(x, np.float32), np.asarray(y, np.int32)
    for found in descents(_loss, weights, data, epochs, rng, batch=128):
        yield Net(found)


def descents(
    loss: Callable[..., Any], weights: Weights, data: tuple[Any, ...], epochs: Sequence[int],
    rng: np.random.Generator, batch: int,
) -> Iterator[Weights]:  # fmt: skip
    """Weights after each of these numbers of epochs; `loss(weights, *rows of the data)` is that of a batch."""
    zeros = jax.tree.map(np.zeros_like, weights)
    state: Any = (weights, zeros, zeros, np.float32(0))
    n = len(data[0])
    batch, done = min(batch, n), 0
    for wanted in epochs:
        for _ in range(done, wanted):
            order = rng.permutation(n)[: n // batch * batch].reshape(-1, batch)
            state = _epoch(loss, state, order, data)
        done = wanted
        yield [(np.array(w, np.float64), np.array(b, np.float64)) for w, b in state[0]]


def cross_entropy(logits: Any, y: Any) -> Any:
    """Of the softmax, the mean over the rows."""
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - jnp.take_along_axis(logits, y[:, None], axis=1)[:, 0])


def _loss(weights: Weights, x: Any, y: Any) -> Any:
    *hidden, (last, bias) = weights
    for w, b in hidden:
        x = jax.nn.relu(x @ w + b)
    return cross_entropy(x @ last + bias, y)


# On one thread, because the sums of a product depend on the number of threads that share it.
@partial(jax.jit, static_argnames="loss", compiler_options={"xla_cpu_multi_thread_eigen": False})
def _epoch(loss: Callable[..., Any], state: Any, order: Any, data: Any) -> Any:
    def step(state: Any, rows: Any) -> tuple[Any, None]:
        weights, m, v, t = state
        g = jax.grad(loss)(weights, *(each[rows] for each in data))
        t = t + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, v, g)
        rate = _RATE * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, m, v)
        return (weights, m, v, t), None

    return jax.lax.scan(step, state, order)[0]

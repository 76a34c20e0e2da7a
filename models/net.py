"""A JAX network with hidden layers, trained by Adam; more epochs learn more by heart.

    w ← w − a (m/√v) √(1 − 0.999ᵗ)/(1 − 0.9ᵗ),  m ← 0.9 m + 0.1 g,  v ← 0.999 v + 0.001 g²

with g the gradient of the mean cross-entropy of the t-th batch, and 10⁻⁸ added to √v (Kingma and Ba 2015, the order of
the end of their Section 2). Batches are rows of one shuffled order an epoch; what is left over is left out of it.

`train` and `snapshots` are given classes; a `learner`, of `models.label_training`, probabilities of classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from bayes_dp.support.arrays import Floats, Ints
from models.gradients import first_weights, logits_of

__all__ = ["Net", "cross_entropy", "descents", "learner", "snapshots", "train"]

_RATE = 1e-3

Weights = Sequence[tuple[Any, Any]]


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
    weights = first_weights(rng, x.shape[1], *hidden, int(y.max()) + 1)
    data = np.asarray(x, np.float32), np.asarray(y, np.int32)
    for found in descents(_loss, weights, data, epochs, rng, batch=128):
        yield Net(found)


def learner(epochs: int = 40, batch: int = 128, seed: int = 0) -> Any:
    """One that trains on features (n, d) and probabilities of classes (n, k), and returns what says such of others."""

    def fit(x: Floats, targets: Floats) -> Any:
        rng = np.random.default_rng(seed)
        weights = first_weights(rng, x.shape[1], 256, 256, targets.shape[1])
        data = np.asarray(x, np.float32), np.asarray(targets, np.float32)
        net = Net(next(descents(_loss, weights, data, (epochs,), rng, batch)))
        return lambda x: special.softmax(net(x), axis=1)

    return fit


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
    """Of the softmax, the mean over the rows; y has their classes, (n,), or probabilities of classes, (n, k)."""
    own = jnp.sum(y * logits, axis=1) if y.ndim == 2 else jnp.take_along_axis(logits, y[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - own)


def _loss(weights: Weights, x: Any, y: Any) -> Any:
    return cross_entropy(logits_of(weights, x), y)


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

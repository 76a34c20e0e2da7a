"""A network with one hidden layer, many of which are trained at once.

One hidden layer of 128 ReLU units, ten classes, cross-entropy of the softmax; stochastic gradient descent of rate 0.01
with momentum 0.9,

    v ← 0.9 v − 0.01 g,   w ← w + v,   g the gradient of the mean loss of a batch.

Nearly all of the work are the products with the first layer's weights. A few networks are trained abreast by `vmap`, so
that their weights stay in the cache, and these groups follow each other.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

__all__ = ["Weights", "first_weights", "loss_at", "noisy", "orders", "train"]

HIDDEN, CLASSES = 128, 10

_RATE, _MOMENTUM = 0.01, 0.9
_ABREAST = 5  # networks that vmap trains at once

Floats = NDArray[np.floating[Any]]


class Weights(NamedTuple):
    """Of one network; of several, with one more axis in front."""

    hidden: Any  # (P, 128)
    hidden_bias: Any  # (128,)
    output: Any  # (128, 10)
    output_bias: Any  # (10,)


def first_weights(rng: np.random.Generator, inputs: int) -> Weights:
    """Glorot uniform weights, within ±sqrt(6 / (inputs + outputs)) of each layer, and zero biases."""

    def glorot(*shape: int) -> Floats:
        limit = np.sqrt(6 / sum(shape))
        return rng.uniform(-limit, limit, shape).astype(np.float32)

    biases = np.zeros(HIDDEN, np.float32), np.zeros(CLASSES, np.float32)
    return Weights(glorot(inputs, HIDDEN), biases[0], glorot(HIDDEN, CLASSES), biases[1])


def orders(rng: np.random.Generator, size: int, rows: int, epochs: int) -> NDArray[np.int32]:
    """The rows below `size`, shuffled for each epoch, then the others, not trained on; (epochs, rows)."""
    beyond = np.arange(size, rows)
    return np.array([np.concatenate([rng.permutation(size), beyond]) for _ in range(epochs)], dtype=np.int32)


def noisy(rng: np.random.Generator, weights: Weights, sigma: float) -> Weights:
    """With N(0, sigma²) noise added to each weight and bias, in double precision."""
    return Weights(*(w + sigma * rng.standard_normal(np.shape(w)) for w in weights))


def loss_at(weights: Weights, image: Floats, label: int) -> float:
    """Cross-entropy of one network at one image, in double precision, of full relative precision near 0 too."""
    hidden, hidden_bias, output, output_bias = (np.asarray(w, dtype=np.float64) for w in weights)
    logits = np.maximum(image @ hidden + hidden_bias, 0) @ output + output_bias
    return float(np.logaddexp(0, logsumexp(np.delete(logits - logits[label], label))))


def _mean_loss(weights: Weights, images: Any, labels: Any, trained_on: Any) -> Any:
    """Mean cross-entropy of the rows of a batch that are trained on; `trained_on` is boolean."""
    hidden = jax.nn.relu(images @ weights.hidden + weights.hidden_bias)
    logits = hidden @ weights.output + weights.output_bias
    losses = jax.nn.logsumexp(logits, axis=1) - jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    return jnp.sum(losses * trained_on) / jnp.sum(trained_on)


# On one thread, because the sums of a product depend on the number of threads that share it.
@partial(jax.jit, static_argnames="batch", compiler_options={"xla_cpu_multi_thread_eigen": False})
def train(weights: Weights, order: Any, size: Any, images: Any, labels: Any, batch: int) -> Weights:
    """The trained weights of m networks, from their first ones.

    images : (rows, P); labels : (rows,)
    order : (m, epochs, rows), of each network the rows in the order of training, in batches of `batch` rows
    size : (m,), how many rows each network is trained on; in each epoch of `order` those not below it come last, so
        that the last batch is smaller. They have no influence.
    """

    def one(network: tuple[Weights, Any, Any]) -> Weights:
        first, its_order, its_size = network

        def step(state: tuple[Weights, Weights], rows: Any) -> tuple[tuple[Weights, Weights], None]:
            now, velocity = state
            gradient = jax.grad(_mean_loss)(now, images[rows], labels[rows], rows < its_size)
            velocity = jax.tree.map(lambda v, g: _MOMENTUM * v - _RATE * g, velocity, gradient)
            return (jax.tree.map(jnp.add, now, velocity), velocity), None

        at_rest = jax.tree.map(jnp.zeros_like, first)
        (trained, _), _ = jax.lax.scan(step, (first, at_rest), its_order.reshape(-1, batch))
        return trained

    return jax.lax.map(one, (weights, order, size), batch_size=_ABREAST)

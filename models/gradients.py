"""Gradients of n examples, and the four things that DP-SGD and its audit ask of them, without a gradient of each.

The gradient of an example in a dense layer z = aW + v is the outer product of its input a and its error δ = ∂ℓ/∂z, and
δ for the biases. So all that is asked follows from a and δ of each layer, (n, inputs) and (n, outputs):

    squared norms     |gᵢ|² = Σ (|aᵢ|² + 1) |δᵢ|²                          over layers
    weighted sum      Σᵢ wᵢ gᵢ: of a layer aᵀ(w δ) and wᵀδ, one product each
    along U           ⟨gᵢ, U⟩ = Σ (aᵢ U_W + U_v) · δᵢ
    inner products    ⟨gᵢ, gⱼ⟩ = Σ (aᵢ·aⱼ + 1)(δᵢ·δⱼ)

These are the ghost norms of Goodfellow (2015), "Efficient per-example gradient computations". `of_loss` makes the same
of any loss of one example, by `vmap` and with n whole gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["Factors", "Gradients", "Layer", "Whole", "dense", "first_weights", "logits_of", "losses", "of_loss"]


class Layer(NamedTuple):
    """Of a dense network: its weights are a tuple of layers, with ReLU between them."""

    weight: Any  # (inputs, outputs)
    bias: Any  # (outputs,)


class Gradients(Protocol):
    """Of n examples, in the shape of the weights."""

    def squares(self) -> Any:
        """|gᵢ|², (n,)."""

    def total(self, weight: Any) -> Any:
        """Σᵢ wᵢ gᵢ for w (n,)."""

    def along(self, direction: Any) -> Any:
        """⟨gᵢ, U⟩, (n,)."""

    def gram(self) -> Any:
        """⟨gᵢ, gⱼ⟩, (n, n)."""


class Factors(NamedTuple):
    """Of a dense network: the inputs a and errors δ of each of its layers."""

    inputs: tuple[Any, ...]
    errors: tuple[Any, ...]

    def _layers(self) -> zip[tuple[Any, Any]]:
        return zip(self.inputs, self.errors, strict=True)

    def squares(self) -> Any:
        return sum((jnp.sum(a**2, axis=1) + 1) * jnp.sum(e**2, axis=1) for a, e in self._layers())

    def total(self, weight: Any) -> Any:
        return tuple(Layer(a.T @ (weight[:, None] * e), weight @ e) for a, e in self._layers())

    def along(self, direction: Any) -> Any:
        pairs = zip(self._layers(), direction, strict=True)
        return sum(jnp.sum((a @ u.weight + u.bias) * e, axis=1) for (a, e), u in pairs)

    def gram(self) -> Any:
        return sum((a @ a.T + 1) * (e @ e.T) for a, e in self._layers())


class Whole(NamedTuple):
    """The gradients themselves: the weights' shape, with one more axis (n,) in front of each array."""

    each: Any

    def _flat(self) -> list[Any]:
        return [leaf.reshape(len(leaf), math.prod(leaf.shape[1:])) for leaf in jax.tree.leaves(self.each)]

    def squares(self) -> Any:
        return sum(jnp.sum(g**2, axis=1) for g in self._flat())

    def total(self, weight: Any) -> Any:
        return jax.tree.map(lambda g: jnp.tensordot(weight, g, axes=1), self.each)

    def along(self, direction: Any) -> Any:
        parts = zip(self._flat(), jax.tree.leaves(direction), strict=True)
        return sum(g @ u.ravel() for g, u in parts)

    def gram(self) -> Any:
        return sum(g @ g.T for g in self._flat())


def _forward(weights: Sequence[tuple[Any, Any]], x: Any) -> tuple[list[Any], Any]:
    """The inputs of each layer, and the logits."""
    *hidden, (last, shift) = weights
    inputs = [x]
    for weight, bias in hidden:
        inputs.append(jax.nn.relu(inputs[-1] @ weight + bias))
    return inputs, inputs[-1] @ last + shift


def logits_of(weights: Sequence[tuple[Any, Any]], x: Any) -> Any:
    """Of a dense network at inputs x (n, P), (n, classes)."""
    return _forward(weights, x)[1]


def dense(weights: tuple[Layer, ...], x: Any, y: Any) -> Factors:
    """Of the cross-entropy of the softmax, at inputs x (n, P) with the classes y (n,)."""
    inputs, logits = _forward(weights, x)
    errors = [jax.nn.softmax(logits) - jax.nn.one_hot(y, logits.shape[1])]
    for layer, a in zip(weights[:0:-1], inputs[:0:-1], strict=True):
        errors.append(jnp.where(a > 0, errors[-1] @ layer.weight.T, 0.0))
    return Factors(tuple(inputs), tuple(reversed(errors)))


def of_loss(loss: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Whole]:
    """The gradients of `loss(weights, x, y)` of one example, whose weights are any tree of arrays.

    Keep what it returns: another call makes another function, for which a training is compiled again.
    """
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))

    def gradients(weights: Any, x: Any, y: Any) -> Whole:
        return Whole(each(weights, x, y))

    return gradients


@jax.jit
def losses(weights: tuple[Layer, ...], x: Any, y: Any) -> Any:
    """Cross-entropy of a dense network at each example, (n,)."""
    logits = logits_of(weights, x)
    return jax.nn.logsumexp(logits, axis=1) - jnp.take_along_axis(logits, y[:, None], axis=1)[:, 0]


def first_weights(seed: int | np.random.Generator, *sizes: int) -> tuple[Layer, ...]:
    """Of a dense network with so many inputs, units of each hidden layer, and classes: N(0, 2/inputs), biases 0."""
    rng = np.random.default_rng(seed)
    shapes = pairwise(sizes)
    return tuple(
        Layer((rng.standard_normal(shape) * np.sqrt(2 / shape[0])).astype(np.float32), np.zeros(shape[1], np.float32))
        for shape in shapes
    )

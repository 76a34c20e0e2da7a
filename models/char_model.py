"""A small network that writes texts: each character given the `window` characters before, by one hidden layer.

    h = relu(b + Σ_k W_k[c_{t−k}]),  P(c_t | c_{t−window}, …, c_{t−1}) = softmax(V h + a)

W_k is a table of a row for each symbol, and one for "before the text". It is a generator for `bdp.games.Panoramia`, and
a language model that can be audited: more epochs learn more by heart. A text is a row of whole numbers from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.support.arrays import Floats, Ints
from models.net import cross_entropy, descents

__all__ = ["CharModel"]

_BATCH = 1024  # characters
_ROWS = 64  # texts that are asked about at once, so that what is in between stays in the cache


class CharModel:
    """`fit(x)`, `sample(n, seed)`, and the `loss(x)` of each text."""

    def __init__(self, symbols: int = 64, window: int = 8, hidden: int = 128, epochs: int = 3, seed: int = 0) -> None:
        self.symbols, self.window, self.hidden, self.epochs, self.seed = symbols, window, hidden, epochs, seed

    def fit(self, x: Ints) -> CharModel:
        self.weights = next(self.snapshots(x, (self.epochs,))).weights
        self.length = x.shape[1]
        return self

    def snapshots(self, x: Ints, epochs: Sequence[int]) -> Iterator[CharModel]:
        """One training on texts (n, length), as it is after each of these numbers of epochs, which grow."""
        rng = np.random.default_rng(self.seed)
        tables = rng.normal(0, 1 / np.sqrt(self.window), (self.window, self.symbols + 1, self.hidden))
        last = rng.normal(0, np.sqrt(2 / self.hidden), (self.hidden, self.symbols))
        weights = [
            (tables.astype(np.float32), np.zeros(self.hidden, np.float32)),
            (last.astype(np.float32), np.zeros(self.symbols, np.float32)),
        ]
        data = self._before(x).reshape(-1, self.window).astype(np.int32), x.ravel().astype(np.int32)
        for done, found in zip(epochs, descents(_loss, weights, data, epochs, rng, _BATCH), strict=True):
            model = CharModel(self.symbols, self.window, self.hidden, done, self.seed)
            model.length, model.weights = x.shape[1], found
            yield model

    def loss(self, x: Ints) -> Floats:
        """−log₂ P of each text, in bits for each character, (n,)."""
        found = np.empty(len(x))
        for start in range(0, len(x), _ROWS):
            rows = x[start : start + _ROWS]
            logits = self._logits(self._before(rows))
            own = np.take_along_axis(logits, rows[..., None], axis=2)[..., 0]
            found[start : start + _ROWS] = (special.logsumexp(logits, axis=2) - own).mean(axis=1) / np.log(2)
        return found

    def sample(self, n: int, seed: int) -> Ints:
        rng = np.random.default_rng(seed)
        found = np.full((n, self.window + self.length), self.symbols)
        for t in range(self.window, found.shape[1]):
            logits = self._logits(found[:, t - self.window : t])
            found[:, t] = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        return found[:, self.window :]

    def _before(self, x: Ints) -> Ints:
        """The characters before each, (n, length, window)."""
        padded = np.concatenate([np.full((len(x), self.window), self.symbols), x], axis=1)
        return np.lib.stride_tricks.sliding_window_view(padded, self.window, axis=1)[:, : x.shape[1]]

    def _logits(self, before: Ints) -> Floats:
        (tables, bias), (last, shift) = self.weights
        h = bias + sum(tables[k][before[..., k]] for k in range(self.window))
        return np.asarray(np.maximum(h, 0.0) @ last + shift)


def _loss(weights: Any, before: Any, symbol: Any) -> Any:
    import jax

    (tables, bias), (last, shift) = weights
    h = bias + sum(tables[k][before[:, k]] for k in range(tables.shape[0]))
    return cross_entropy(jax.nn.relu(h) @ last + shift, symbol)

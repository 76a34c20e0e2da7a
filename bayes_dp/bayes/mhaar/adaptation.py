"""Warm-up of a random-walk sampler: when to learn the covariance of its proposals of θ, and from what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayes_dp.support.arrays import Floats

__all__ = ["Block", "Covariance", "plan"]


# Ends of the windows, as shares of the warm-up; in the last one only the scales adapt.
_WINDOWS = np.array([0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0])
_WORTH = 10.0  # observations that the covariance known before a window counts for


class Block(NamedTuple):
    """Iterations run at once."""

    iterations: int
    gain: Floats  # (B,) of the scales' adaptation; zero when sampling
    warmup: bool
    learn: bool  # whether a window of the covariance's adaptation ends with this block


def plan(warmup: int, draws: int, size: int) -> Iterator[Block]:
    """The blocks, of at most `size` iterations each; the gains start again with every window."""
    ends = np.rint(_WINDOWS * warmup).astype(int).tolist()
    for k, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        for at in range(start, end, size):
            gain = (1.0 + np.arange(at - start, at - start + size)) ** -0.6
            yield Block(min(size, end - at), gain, True, end <= at + size and k < len(ends) - 1)
    for at in range(0, draws, size):
        yield Block(min(size, draws - at), np.zeros(size), False, False)


class Covariance:
    """The covariance of θ within the chains, learned window by window; `factor` is its square root, both (d, d).

    `variances` are those to begin with; a coordinate whose variance is zero does not move.
    """

    def __init__(self, *variances: float) -> None:
        self._matrix = np.diag(variances)
        self._moving = np.flatnonzero(variances)
        self._seen: list[Floats] = []
        self.best_scale = 2.38 / np.sqrt(len(self._moving))  # for Gaussian targets (Gelman, Roberts & Gilks 1996)

    @property
    def factor(self) -> Floats:
        root = np.zeros_like(self._matrix)
        part = np.ix_(self._moving, self._moving)
        root[part] = np.linalg.cholesky(self._matrix[part])
        return root

    def see(self, *theta: Floats) -> None:
        """Coordinates of the states, each (iterations, chains), in the current window."""
        self._seen.append(np.stack(theta, axis=-1))

    def learn(self, scale: float) -> None:
        """End the window: the covariance within its chains, and a little of the one before at its last scale."""
        theta = np.concatenate(self._seen)
        centred = theta - theta.mean(axis=0)
        moves = np.count_nonzero(np.diff(theta[..., 0], axis=0))
        found = np.einsum("tca,tcb->ab", centred, centred) / centred[..., 0].size
        before = self._matrix * (scale / self.best_scale) ** 2
        self._matrix = (moves * found + _WORTH * before) / (moves + _WORTH)
        self._seen = []

"""The random numbers of MHAAR, drawn ahead by threads.

NumPy draws Beta variates ten times as fast as JAX, and they take most of the running time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import numpy as np

from bayes_dp.bayes.likelihoods.candidates import BetaPair
from bayes_dp.support.arrays import Floats

__all__ = ["Noise", "noise_of_blocks"]

_PROPOSALS = 8  # T, of the averaged move
_LOCAL_SCALES = np.log(0.03), np.log(3.0)  # of the local moves, in standard errors of the counts; log-uniform between


class Noise(NamedTuple):
    """The random numbers of an iteration."""

    step: jax.Array  # (T+1, 2 + q) normal: of the T proposals of the averaged move and of the shift move
    log_chance: jax.Array  # (T+1,) logarithm of uniform: of the same
    alpha: jax.Array  # (n, K) auxiliary pairs; column 0 is not used
    beta: jax.Array  # (n, K)
    race: jax.Array  # (n, K) exponential
    walk: jax.Array  # (2, n) normal times the scale
    mirror: jax.Array  # (n,) uniform
    log_chance_local: jax.Array  # (n,) logarithm of uniform


@contextmanager
def noise_of_blocks(
    rngs: Sequence[np.random.Generator],
    proposal: BetaPair,
    dimension: int,
    n_auxiliaries: int,
    size: int,
    lengths: Sequence[int],
) -> Iterator[Iterator[Noise]]:
    """The noise (size, chains, ...) of blocks of the given lengths; threads draw that of the next block meanwhile."""
    pool = ThreadPoolExecutor(min(len(rngs), os.cpu_count() or 1))

    def begin(length: int) -> list[Future[tuple[Floats, ...]]]:
        return [pool.submit(_draw_noise, rng, proposal, dimension, length, n_auxiliaries) for rng in rngs]

    def join(*columns: Floats) -> Any:
        whole = np.zeros((size, len(columns), *columns[0].shape[1:]))
        for chain, column in enumerate(columns):
            whole[: len(column), chain] = column
        return whole

    def blocks() -> Iterator[Noise]:
        ahead = begin(lengths[0])
        for k in range(1, len(lengths) + 1):
            parts = [future.result() for future in ahead]
            ahead = begin(lengths[k]) if k < len(lengths) else []
            yield Noise(*map(join, *parts))

    try:
        yield blocks()
    finally:
        pool.shutdown(cancel_futures=True)


def _draw_noise(
    rng: np.random.Generator, proposal: BetaPair, dimension: int, length: int, n_auxiliaries: int
) -> tuple[Floats, ...]:
    """The fields of `Noise` for one chain, each (length, ...)."""
    n = len(proposal.a0)
    scales = np.exp(rng.uniform(*_LOCAL_SCALES, (length, 1, n)))
    return (
        rng.standard_normal((length, _PROPOSALS + 1, dimension)),
        -rng.standard_exponential((length, _PROPOSALS + 1)),
        *proposal.draw(rng, length, n_auxiliaries),
        rng.standard_exponential((length, n, n_auxiliaries)),
        rng.standard_normal((length, 2, n)) * scales,
        rng.random((length, n)),
        -rng.standard_exponential((length, n)),
    )

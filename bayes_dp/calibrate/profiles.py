"""The study of whole profiles, from the scores of Gaussian noise.

The bounds at seven δ hold together, so that what counts is whether any of them exceeds the truth: a row tells the
largest excess, whose truth is 0. Another one tells the bound at δ = 0.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from bayes_dp.audits.profile import profile
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.tradeoff import Gaussian

__all__ = ["profile_tasks"]

_SCORES = 1000
_DELTAS = np.array([0.0, 1e-5, 1e-3, 0.01, 0.05, 0.1, 0.3])


def _profile(mu: float, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    truth = Gaussian(mu).epsilon_at(_DELTAS)
    rows = []
    scores = rng.normal(size=(size, _SCORES)), rng.normal(mu, size=(size, _SCORES))
    for band in ("equal", "dkw"):
        found = np.stack(
            [profile(*pair, confidence=1 - p, band=band).epsilon_at(_DELTAS) for pair in zip(*scores, strict=True)]
        )
        mechanism = f"Gaussian mechanism, μ = {mu:g}"
        excess = np.maximum(found - truth, 0.0).max(axis=1)
        rows.append(row_of((f"{band}, excess at any δ", mechanism, 2 * _SCORES, "all scores"), 0.0, excess, p, True))
        at = int(np.flatnonzero(_DELTAS == 0.1)[0])
        rows.append(
            row_of((f"{band}, δ = 0.1", mechanism, 2 * _SCORES, "all scores"), float(truth[at]), found[:, at], p, True)
        )
    return rows


def profile_tasks() -> Iterator[Simulation]:
    for mu in (0.5, 1.0, 3.0):
        yield partial(_profile, mu)

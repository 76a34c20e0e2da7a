"""E-values of guesses on one model, whose products over models may be looked at after each of them.

With T_k = P[at least k of r right] of the exact one-run audit, T_0 = 1, and g ≥ 0 that increases,
E g(V) ≤ g(0) + Σ_k (g(k) − g(k−1)) T_k, so that g(v) over this is an e-value. Here g = min(L, cap), with the likelihood
ratio L of Binomial(r, σ(ε + d)) and Binomial(r, σ(ε)), d in .1, .2, .4, .8, 1.6, 3.2, cap in 10², 10⁴, 10⁸. The capital
of several models is the mean of the 18 products over models.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.audits.one_run import exact_p_value
from bayes_dp.support.arrays import Floats

__all__ = ["TERMS", "one_run_log_e"]

_STEPS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
_CAPS = (1e2, 1e4, 1e8)
TERMS = len(_STEPS) * len(_CAPS)
_UNDERFLOW = 1e-290  # more than all that is lost of E g where tails are too small for float64


def one_run_log_e(examples: int, made: int, correct: int, epsilon: Floats, delta: float) -> Floats:
    """log e-values of one model's guesses, (k, TERMS) for ε (k,), a column for each step and cap."""
    v = np.arange(made + 1)
    tails = np.ones((len(epsilon), made + 1))
    tails[:, 1:] = exact_p_value(examples, made, v[1:], epsilon[:, None], delta)
    found = np.empty((len(epsilon), TERMS))
    for i, (step, cap) in enumerate((step, cap) for step in _STEPS for cap in _CAPS):
        up, base = epsilon[:, None] + step, epsilon[:, None]
        log_ratio = v * (special.log_expit(up) - special.log_expit(base))
        log_ratio = log_ratio + (made - v) * (special.log_expit(-up) - special.log_expit(-base))
        log_g = np.minimum(log_ratio, math.log(cap))
        g = np.exp(log_g)
        most = g[:, 0] + (np.diff(g, axis=1) * tails[:, 1:]).sum(axis=1)
        found[:, i] = log_g[:, correct] - np.log(most + _UNDERFLOW)
    return found

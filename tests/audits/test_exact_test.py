"""The exact test of one base against the enumeration of all counts, and its bound on the tail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from bayes_dp.audits.exact_test import gap, p_values, tail_bound
from bayes_dp.region import contains
from tests.golden import golden

EPSILONS, DELTAS = (0.0, 0.1, 0.5, 1.0, 3.0, 9.0), (0.0, 1e-5, 0.01, 0.1, 0.5, 0.99)


def p_value(x, n0, y, n1, epsilon, delta) -> float:
    return float(p_values(x, n0, y, n1, [epsilon], delta)[0])


def scalar_gap(x: float, n0: int, y: float, n1: int, epsilon: float, delta: float) -> float:
    return float(gap(x, n0, y, n1, epsilon, delta))


def log_likelihood(k, n, rate):
    return special.xlogy(k, rate) + special.xlog1py(n - k, -rate)


def boundary(epsilon: float, delta: float, size: int):
    """Points of the lower boundary of R(ε, δ), denser near its ends and its corner."""
    corner = (1 - delta) / (1 + math.exp(epsilon))
    near = corner * np.sin(np.linspace(0, np.pi / 2, size)) ** 2
    far = 1 - delta - math.exp(epsilon) * near
    return np.concatenate([near, far]), np.concatenate([far, near])


def enumerated(x: int, n0: int, y: int, n1: int, epsilon: float, delta: float, size: int = 2001) -> float:
    """max over the boundary of P[G ≥ G(x, y)], from all counts."""
    xs, ys = np.arange(n0 + 1.0)[:, None], np.arange(n1 + 1.0)
    as_extreme = gap(xs, n0, ys, n1, epsilon, delta) >= scalar_gap(x, n0, y, n1, epsilon, delta) - 1e-9
    alpha, beta = boundary(epsilon, delta, size)
    first = stats.binom.pmf(np.arange(n0 + 1), n0, alpha[:, None])
    second = stats.binom.pmf(np.arange(n1 + 1), n1, beta[:, None])
    return float(np.einsum("pi,ij,pj->p", first, as_extreme.astype(float), second).max())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_gap_is_the_loss_of_log_likelihood(data):
    n0, n1 = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 300))
    x, y = data.draw(st.integers(0, n0)), data.draw(st.integers(0, n1))
    epsilon, delta = data.draw(st.sampled_from(EPSILONS)), data.draw(st.sampled_from(DELTAS))
    found = scalar_gap(x, n0, y, n1, epsilon, delta)
    if x / n0 + y / n1 >= 1 or contains(x / n0, y / n1, epsilon, delta):
        assert found == 0
        return
    free = log_likelihood(x, n0, x / n0) + log_likelihood(y, n1, y / n1)
    best = -math.inf
    for swapped in (False, True):
        corner = (1 - delta) / (1 + math.exp(epsilon))

        def loss(u, swapped=swapped):
            v = min(1.0, max(0.0, 1 - delta - math.exp(epsilon) * u))
            a, b = (v, u) if swapped else (u, v)
            return -float(log_likelihood(x, n0, a) + log_likelihood(y, n1, b))

        inside = optimize.minimize_scalar(loss, bounds=(0, corner), method="bounded", options={"xatol": 1e-14}).fun
        best = max(best, -inside, -loss(0.0), -loss(corner))
    assert found == pytest.approx(free - best, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_against_all_counts(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        n0, n1 = (int(n) for n in rng.integers(1, 21, 2))
        x, y = int(rng.integers(0, n0 // 2 + 1)), int(rng.integers(0, n1 // 2 + 1))
        epsilon, delta = float(rng.choice(EPSILONS)), float(rng.choice(DELTAS))
        found = p_value(x, n0, y, n1, epsilon, delta)
        if scalar_gap(x, n0, y, n1, epsilon, delta) == 0:
            assert found == 1
            continue
        assert found == pytest.approx(enumerated(x, n0, y, n1, epsilon, delta), rel=1e-5)
        assert found <= tail_bound(np.array(scalar_gap(x, n0, y, n1, epsilon, delta))) * (1 + 1e-12)


def test_no_rates_inside_are_worse_than_those_of_the_boundary():
    n, epsilon, delta = 15, 0.7, 0.05
    xs, ys = np.arange(n + 1.0)[:, None], np.arange(n + 1.0)
    as_extreme = (gap(xs, n, ys, n, epsilon, delta) >= scalar_gap(2, n, 3, n, epsilon, delta) - 1e-9).astype(float)
    rng = np.random.default_rng(0)
    alpha, beta = rng.random((2, 4000))
    inside = contains(alpha, beta, epsilon, delta)
    first = stats.binom.pmf(np.arange(n + 1), n, alpha[inside, None])
    second = stats.binom.pmf(np.arange(n + 1), n, beta[inside, None])
    assert np.einsum("pi,ij,pj->p", first, as_extreme, second).max() <= p_value(2, n, 3, n, epsilon, delta) + 1e-12


@pytest.mark.parametrize(("n", "epsilon"), [(10, 0.0), (40, 1.0), (200, 1.0), (200, 4.0)])
def test_the_size_is_near_the_level_and_not_above(n, epsilon):
    """The chance of p ≤ .05 at rates of the boundary, from all counts."""
    delta = 1e-3
    p = {}
    xs, ys = np.arange(n + 1.0)[:, None], np.arange(n + 1.0)
    gaps = gap(xs, n, ys, n, epsilon, delta)
    order = np.unique(gaps[gaps > 0].round(9))
    low, high = 0, len(order) - 1  # p falls in G: the least G that is rejected
    while low < high:
        middle = (low + high) // 2
        i, j = np.argwhere(np.abs(gaps - order[middle]) < 2e-9)[0]
        p[middle] = p_value(int(i), n, int(j), n, epsilon, delta)
        low, high = (low, middle) if p[middle] <= 0.05 else (middle + 1, high)
    rejected = (gaps >= order[low] - 2e-9).astype(float)
    alpha, beta = boundary(epsilon, delta, 400)
    first = stats.binom.pmf(np.arange(n + 1), n, alpha[:, None])
    second = stats.binom.pmf(np.arange(n + 1), n, beta[:, None])
    size = np.einsum("pi,ij,pj->p", first, rejected, second).max()
    assert 0.02 < size <= 0.05


def test_swapping_the_roles_changes_nothing():
    assert p_value(3, 40, 9, 25, 1.2, 1e-3) == pytest.approx(p_value(9, 25, 3, 40, 1.2, 1e-3), rel=1e-6)


@golden("sequential", "joint_p")
def test_golden(entry):
    given = entry["inputs"]
    found = p_value(given["x"], given["n0"], given["y"], given["n1"], given["eps"], given["delta"])
    assert found == pytest.approx(entry["expected"], rel=entry["tolerance"]["rel"])

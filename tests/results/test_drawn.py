"""Parameters of posteriors as values with arithmetic."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.checks import InputError

COUNTS = bdp.ErrorCounts([10, 5], 100, [20, 30], 100)


@cache
def posterior() -> bdp.Posterior:
    return bdp.estimate(COUNTS, 1e-3)


def test_arithmetic_goes_draw_by_draw():
    post = posterior()
    draws = post.draws()
    found = 2 * post.epsilon * post.strength - np.log(post.epsilon) / 3
    np.testing.assert_array_equal(found.values, 2 * draws["epsilon"] * draws["strength"] - np.log(draws["epsilon"]) / 3)
    assert found.name == "((2 * epsilon) * strength) - (log(epsilon) / 3)"
    np.testing.assert_array_equal((-(post.epsilon**2)).values, -(draws["epsilon"] ** 2))


def test_probabilities_are_those_of_the_posterior():
    post = posterior()
    excess = post.epsilon - 2.0
    error = 4 * 0.5 / np.sqrt(4000)
    assert excess.prob_above(0.0) == pytest.approx(post.prob_above(2.0), abs=error)
    assert (post.epsilon > 2.0).mean == excess.prob_above(0.0)
    assert excess.interval(0.9) == pytest.approx([end - 2.0 for end in post.interval(0.9)], rel=0.1)
    assert (excess.mean, excess.sd) == pytest.approx((post.mean - 2.0, post.sd), rel=0.05)
    assert excess.median == excess.quantile(0.5)
    # The strength and epsilon are far from independent: a product of two sets of draws would show another law.
    grid = post.grid
    exact = float(grid["weight"][grid["epsilon"] * grid["strength"] > 1.0].sum())
    assert (post.epsilon * post.strength > 1.0).mean == pytest.approx(exact, abs=error)


def test_every_parameter_has_its_name():
    assert bdp.estimate(COUNTS, 1e-3, family="gaussian").mu.mean > 0
    assert posterior().delta_at(2.0).delta.mean > 0
    with pytest.raises(AttributeError, match="has no attribute 'mu'; its parameters are epsilon, strength"):
        _ = posterior().mu
    with pytest.raises(AttributeError):
        _ = posterior()._nothing


def test_what_has_no_answer_is_refused():
    post = posterior()
    with pytest.raises(InputError, match=r"of two posteriors.*draws\(seed"):
        _ = post.epsilon - bdp.estimate(COUNTS, 1e-3).epsilon
    with pytest.raises(InputError, match="neither true nor false: it has the probability"):
        bool(post.epsilon > 1)
    for other in ("1", None, [1.0], np.ones(4000), 1j):
        with pytest.raises(TypeError):
            _ = post.epsilon - other
    with pytest.raises(TypeError):
        _ = post.epsilon - bdp.audits.katz(COUNTS, 1e-3)
    with pytest.raises(TypeError):
        np.add.reduce(post.epsilon)
    for call in (
        lambda: post.epsilon.interval(2),
        lambda: post.epsilon.quantile(-1),
        lambda: post.epsilon.prob_above("a"),
    ):
        with pytest.raises(InputError):
            call()


def test_what_is_shown():
    post = posterior()
    assert repr(post.epsilon - 2).startswith("<epsilon - 2: mean ")
    assert repr(post.epsilon > 2).startswith("<epsilon > 2: probability ")
    assert {"epsilon", "strength", "interval"} <= set(dir(post))
    assert not [name for name in (*dir(post), *dir(post.epsilon)) if name.startswith("_")]


def test_copies():
    post = posterior()
    for again in (copy.copy(post), copy.deepcopy(post)):
        assert again.interval() == post.interval()


def test_what_is_completed_can_be_typed():
    """A group of guesses has a parameter whose name is none of Python's."""
    labels = ["<b>", "a|b"] * 10
    post = bdp.estimate_shifted(bdp.GuessTable(np.arange(20.0), np.arange(20) > 9, 0.5, labels), strength=0.5)
    assert "e[a|b]" in post.marginals
    assert all(name.isidentifier() for name in dir(post))
    assert getattr(post, "e[a|b]").name == "e[a|b]"

"""The curve of a bound by the error of its proxy: it falls, holds together, and reads back."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks.label_scores import likelihood
from bayes_dp.audits.observational import lower_of
from bayes_dp.audits.sensitivity import TAUS
from bayes_dp.checks import InputError
from tests.audits.test_labels import drawn, learned, randomized, responses

CURVE = bdp.audits.sensitivity


def leak(n=3000, control=False, seed=0):
    y, q, chance = randomized(n, 2, 4.0, seed)
    blind = {"exact": True}
    if control:
        rng = np.random.default_rng([seed, 1])
        other = np.clip(q[:, 0] + rng.normal(0, 0.02, n), 0, 1)
        blind = {"control": np.column_stack([other, 1 - other])}
    return lambda tau, **more: bdp.audits.labels(y, q, learned(chance, q), 0, tau=tau, games=3, **blind, **more)


def test_it_is_the_audit_at_each_tau_and_falls():
    audit = leak()
    curve = CURVE(lambda tau: audit(tau, choice=1500))
    assert np.array_equal(curve.tau, TAUS)
    assert np.array_equal(curve.epsilon, [audit(tau, choice=1500).value for tau in TAUS])
    assert (np.diff(curve.epsilon) <= 0).all()
    assert curve.epsilon[0] > curve.epsilon[-1] > 0


def test_where_the_audit_rises_the_curve_does_not():
    """By default more is guessed where τ is above 0."""
    bounds = {tau: leak()(tau, choice=20 if tau < 0.01 else 1000) for tau in (0.0, 0.009, 0.01)}
    assert bounds[0.01].value > bounds[0.009].value
    curve = CURVE(bounds.get, [0.0, 0.009, 0.01])
    assert curve.epsilon[2] == bounds[0.009].value
    assert curve.bounds[1] is bounds[0.009]


def test_at_takes_the_next_tau():
    curve = CURVE(lambda tau: leak()(tau, choice=300), [0.0, 0.01, 0.1])
    assert curve.at(0.0) is curve.bounds[0]
    assert curve.at(0.005) is curve.at(0.01) is curve.bounds[1]
    with pytest.raises(InputError, match=r"tau must be at most 0.1, the last of the curve, not 0.2"):
        curve.at(0.2)


def test_the_control_and_what_is_left():
    curve = CURVE(lambda tau: leak(control=True)(tau, choice=300), [0.0, 0.05, 0.9])
    assert curve.gone == 0.9
    assert curve.blind is not None
    assert curve.blind <= 0.05
    assert np.isfinite(curve.control).all()
    assert "nothing is left from 0.9 on; the control is without a bound from" in str(curve)
    alone = CURVE(lambda tau: leak()(tau, choice=300), [0.0])
    assert (alone.gone, alone.blind) == (None, None)
    assert np.isnan(alone.control).all()
    assert "something is left at all of these" in str(alone)


def test_no_control_is_not_valid_in_any_row():
    y, q, chance = randomized(500, 2, 4.0, 0)
    curve = CURVE(lambda tau: bdp.audits.labels(y, q, learned(chance, q), 0, tau=tau, games=1), [0.0, 0.1])
    assert not any(bound.valid for bound in curve.bounds)
    assert str(curve).count("There is no control") == 1
    assert str(curve).count("no [1]") == 2


@pytest.mark.parametrize(
    ("audit", "tau", "message"),
    [
        (lambda tau: 1.0, [0.1], "must give a LowerBound, not float"),
        (lambda tau: leak(100)(0.2), [0.1], "must be the bound of an audit with the slack tau = 0.1"),
        (lambda tau: leak(100, seed=int(10 * tau))(tau), [0.1, 0.2], "must differ by tau only"),
        (lambda tau: leak(100)(tau, seed=int(10 * tau)), [0.1, 0.2], "must differ by tau only"),
        (leak(100), [0.2, 0.1], "tau must be rising numbers"),
        (leak(100), [], "tau must be rising numbers"),
        (leak(100), [[0.1]], "tau must be rising numbers"),
    ],
)
def test_what_is_no_curve_is_refused(audit, tau, message):
    with pytest.raises(InputError, match=message):
        CURVE(audit, tau)


def test_it_holds_at_every_tau_that_is_not_below_the_true_one_also_if_it_is_chosen_after_looking():
    """The law of a label is 0.1 off its proxy; of the rows from 0.1 on the largest counts. 400 trainings, at 5%."""
    n, epsilon, moved, taus = 400, 0.1, 0.1, (0.0, 0.05, 0.1, 0.15, 0.2)
    exceeded = np.zeros(len(taus), dtype=int)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        q = np.tile([0.9, 0.1], (n, 1))
        y = drawn(q + moved * np.array([-1, 1]), rng)
        game = bdp.games.LabelGame(y, q, likelihood(responses(y, 2, epsilon, rng)[1], q) + np.array([-5.0, 5.0]))
        table = game.play(seed)
        right = int(((table.score > 0) == table.member).sum())
        bounds = np.minimum.accumulate(
            [lower_of("approx", 0.0, tau)(*(np.array([float(x)]) for x in (n, n, right)), 0.05)[0] for tau in taus]
        )
        exceeded += np.maximum.accumulate(bounds[::-1])[::-1] > epsilon
    assert exceeded[2] <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05 * 0.95)
    assert exceeded[0] > 0.2 * 400  # the rows below the true τ do not hold

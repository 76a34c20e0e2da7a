"""Figures of PANORAMIA's games: what is drawn is what is counted."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.checks import InputError

MEMBER = np.random.default_rng(0).random((3, 400)) < 0.5


def played(strength, generated=True):
    rng = np.random.default_rng(1)
    blind, noise = rng.random((2, *MEMBER.shape))
    attack = (1 - strength) * noise + strength * MEMBER
    return bdp.games.Played(MEMBER, 0.9 * blind + 0.1 * MEMBER, attack, generated=generated)


def games():
    return {"over-fitted": played(0.5), "not": played(0.15)}


def test_precision_is_counted():
    given = games()
    ax = bdp.plots.precision(given, game=1)
    lines = {line.get_label(): line for line in ax.lines}
    assert {"over-fitted", "not", "baseline"} <= set(lines)
    table = given["over-fitted"].tables(1)[0]
    top = table.score > 400 - 10
    x, y = lines["over-fitted"].get_data()
    assert y[0] == table.member[top].mean()
    assert x[0] == table.member[top].sum() / table.member.sum()
    assert (x[-1], y[-1]) == (1.0, pytest.approx(table.member.mean()))
    plt.close("all")


def test_bounds_are_those_of_the_audit():
    given = played(0.5)
    ax = bdp.plots.closeness(given)
    expected = [bdp.audits.panoramia(given[k]).details for k in range(3)]
    dashed = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed[0] == pytest.approx(np.mean([each["c_plus_epsilon_lower_bound"] for each in expected]))
    assert dashed[1] == pytest.approx(np.mean([each["c_lower_bound"] for each in expected]))
    plt.close("all")


def test_real_non_members_have_no_baseline():
    given = played(0.5, generated=False)
    ax = bdp.plots.closeness(given)
    assert ax.get_ylabel() == "lower bound of ε"
    dashed = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == [pytest.approx(np.mean([bdp.audits.panoramia(given[k]).value for k in range(3)]))]
    assert "baseline" not in [line.get_label() for line in bdp.plots.precision(given).lines]
    plt.close("all")


def test_bad_input():
    with pytest.raises(InputError, match="game must be below 3, the number of games, not 3"):
        bdp.plots.precision(played(0.5), game=3)
    with pytest.raises(InputError, match=r"played\['a'\] must be Played, not int"):
        bdp.plots.closeness({"a": 3})

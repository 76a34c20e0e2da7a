"""The curve of a bound by the error of the proxy."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import bayes_dp as bdp
from bayes_dp.checks import InputError

TAUS = (0.0, 0.002, 0.05, 0.3)


@cache
def curve(share: float, taus: tuple[float, ...] = TAUS, delta: float = 0.0, off: float = 0.0) -> Any:
    """Of a model that remembers a share of each label; the proxy is `off`, which the control is not."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 1000)
    y = (rng.random(1000) < p).astype(int)
    other = np.clip(p + 0.02 * rng.normal(size=1000), 0, 1)
    wrong = p + off * np.where(rng.random(1000) < 0.5, 1, -1) * np.minimum(p, 1 - p)
    q, m, control = (np.column_stack([1 - one, one]) for one in (wrong, (1 - share) * p + share * y, other))
    how = {"control": control, "games": 3, "choice": 200}
    return bdp.audits.sensitivity(lambda tau: bdp.audits.labels(y, q, m, delta, tau=tau, **how), taus)


def test_what_is_drawn():
    given = curve(0.6)
    ax = bdp.plots.sensitivity(given)
    names = {line.get_label(): line for line in ax.lines}
    assert names["bound"].get_xdata().tolist() == list(TAUS)
    assert names["bound"].get_ydata().tolist() == given.epsilon.tolist()
    assert names["control"].get_ydata().tolist() == given.control.tolist()
    assert ax.get_ylabel() == "ε at least, δ = 0"
    assert ax.get_xlim()[0] < 0
    assert ax.get_xlim()[1] > 0.3
    plt.close(ax.figure)


def test_between_two_slacks_it_is_the_bound_of_the_larger_as_at_says():
    given = curve(0.6)
    ax = bdp.plots.sensitivity(given)
    line = next(line for line in ax.lines if line.get_label() == "bound")
    assert line.get_drawstyle() == "steps-pre"  # which goes back to the left from each point
    ax.figure.canvas.draw()
    steps = line.get_transform().inverted().transform(line._transformed_path.get_fully_transformed_path().vertices)
    for tau in (0.001, 0.03, 0.2):
        flat = [a[1] for a, b in pairwise(steps) if a[0] < tau < b[0]]
        assert flat == [pytest.approx(given.at(tau).value)]
    plt.close(ax.figure)


def test_what_is_not_valid_is_hollow():
    given = curve(0.6, off=0.6)
    assert {bound.valid for bound in given.bounds} == {True, False}
    ax = bdp.plots.sensitivity(given)
    marks = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert [to_hex(mark.get_markerfacecolor()) != "#ffffff" for mark in marks] == [b.valid for b in given.bounds]
    plt.close(ax.figure)


def test_one_slack_of_0_and_no_control():
    y = [0, 1] * 100
    game = bdp.games.LabelGame(y, [[0.5, 0.5]] * 200, [[1, -1], [-1, 1]] * 100)
    given = bdp.audits.sensitivity(lambda tau: bdp.audits.observational(game, 0, exact=True, tau=tau), 0.0)
    ax = bdp.plots.sensitivity(given)
    assert "control" not in [line.get_label() for line in ax.lines]
    plt.close(ax.figure)


def test_another_delta_needs_other_axes():
    ax = bdp.plots.sensitivity(curve(0.6))
    with pytest.raises(InputError, match=r"ax shows ε at least, δ = 0, so that ε at least, δ = 0.001 needs axes"):
        bdp.plots.sensitivity(curve(0.6, delta=1e-3), ax)
    plt.close(ax.figure)


def test_refused():
    with pytest.raises(InputError, match="curve must be one of ε by τ"):
        bdp.plots.sensitivity(curve(0.6).bounds[0])

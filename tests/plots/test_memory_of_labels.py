"""Bounds against the ε of mechanisms."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import bayes_dp as bdp
from bayes_dp.checks import InputError


def audited(share, n=1000):
    """Of a model that remembers a share of each label, with a control that never saw them."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, n)
    y = (rng.random(n) < p).astype(int)
    other = np.clip(p + 0.02 * rng.normal(size=n), 0, 1)
    q, control = (np.column_stack([1 - one, one]) for one in (p, other))
    return bdp.audits.labels(y, q, (1 - share) * q + share * np.eye(2)[y], 0, control=control, games=3)


def bounds():
    return {"responses": {np.inf: audited(0.9), 4.0: audited(0.6), 1.0: audited(0.1)}, "noise": {4.0: audited(0.5)}}


def test_what_is_drawn():
    given = bounds()
    ax = bdp.plots.remembered(given)
    names = {line.get_label(): line for line in ax.lines}
    assert names["responses"].get_xdata().tolist() == [0, 1, 2]
    assert names["responses"].get_ydata().tolist() == [given["responses"][e].value for e in (1.0, 4.0, np.inf)]
    assert names["ε of the mechanism"].get_ydata().tolist()[0] == 1.0
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "4", "∞"]
    plt.close(ax.figure)


def test_what_is_not_valid_is_hollow_and_the_control_is_crossed():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 2000)
    y = (rng.random(2000) < p).astype(int)
    half, told = np.full((2000, 2), 0.5), np.column_stack([1 - p, p])
    found = bdp.audits.labels(y, half, np.eye(2)[y], 0, control=told, games=3)
    assert not found.valid
    ax = bdp.plots.remembered({"none": {np.inf: found}})
    line, mark = (line for line in ax.lines if line.get_marker() == "o")
    assert line.get_markevery() == []  # its marks are in the legend only
    assert to_hex(mark.get_markerfacecolor()) == "#ffffff"  # the paper
    assert found.details["control"] > 0
    control = next(line for line in ax.lines if line.get_label() == "control")
    assert control.get_ydata().tolist() == [found.details["control"]]
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "a mapping from names"),
        ([1], "a mapping from names"),
        ({"a": 3}, r"bounds\['a'\] must be a mapping from ε"),
        ({"a": {1.0: 3}}, r"bounds\['a'\]\[1.0\] must be a LowerBound"),
    ],
)
def test_refused(given, message):
    with pytest.raises(InputError, match=message):
        bdp.plots.remembered(given)

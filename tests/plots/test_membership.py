"""The overlap of propensities: bars, shares and lines are those of the arrays."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_dp import plots
from bayes_dp.checks import InputError

RNG = np.random.default_rng(0)
PROPENSITY = RNG.beta(2, 2, 400)
MEMBER = RNG.random(400) < PROPENSITY


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_members_above_and_others_below(ax):
    assert plots.propensities(PROPENSITY, MEMBER, ax, bins=12) is ax
    members, others = ax.containers
    assert [bar.get_height() for bar in members] == list(np.histogram(PROPENSITY[MEMBER], 12, (0, 1))[0])
    assert [bar.get_height() for bar in others] == list(-np.histogram(PROPENSITY[~MEMBER], 12, (0, 1))[0])
    assert members[0].get_facecolor() != others[0].get_facecolor()
    assert set(words(ax)) == {f"members, {MEMBER.sum()}", f"non-members, {(~MEMBER).sum()}"}
    assert ax.get_xlim() == (0, 1)
    ax.figure.draw_without_rendering()
    assert not any(text.get_text().startswith(("-", "−")) for text in ax.get_yticklabels())


def test_the_overlap_that_is_assumed(ax):
    plots.propensities(PROPENSITY, MEMBER.astype(int), ax, overlap=0.2)
    spans = [p.get_extents().transformed(ax.transData.inverted()) for p in ax.patches if p.get_alpha() == 0.35]
    assert [(s.x0, s.x1) for s in spans] == [pytest.approx((0, 0.2)), pytest.approx((0.8, 1.0))]
    beyond = np.mean(np.abs(PROPENSITY - 0.5) > 0.3)
    assert f"beyond η = 0.2, {100 * beyond:.2g}%" in words(ax)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.2, 1.2], [1, 0]), r"propensity\[1\] must lie in \[0, 1\], not 1.2"),
        (([0.2, 0.3], [1, 0, 1]), "member must be truth values, or 0 and 1, one for each of the 2 propensities"),
        (([0.2, 0.3], [1, 2]), "member must be truth values"),
        (([], []), "propensity must be"),
        ((PROPENSITY, MEMBER, None, 0.6), "overlap must lie in"),
        ((PROPENSITY, MEMBER, None, 0.1, 1), "bins must be a whole number, at least 2, not 1"),
    ],
)
def test_bad_propensities(arguments, message):
    with pytest.raises(InputError, match=message):
        plots.propensities(*arguments)

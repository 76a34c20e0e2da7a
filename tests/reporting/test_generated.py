"""Reports and comparisons of a game of PANORAMIA: one table for the same guesses, bounds named as bounds."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bayes_dp as bdp

DELTA = 1e-5


def played(generated, games=1):
    rng = np.random.default_rng(0)
    member = rng.random((games, 1500)) < 0.5
    blind, noise, other = rng.random((3, *member.shape))
    baseline = np.clip(0.35 + 0.3 * blind + 0.1 * member, 0, 1) if generated else np.full(member.shape, 0.5)
    return bdp.games.Played(
        member, baseline, 0.5 * noise + 0.5 * member, 0.9 * other + 0.1 * member, generated=generated
    )


@pytest.mark.parametrize("generated", [True, False])
def test_one_table_says_which_are_bounds(generated):
    game = played(generated)
    table = bdp.compare(game, DELTA)
    row = table.select("panoramia")[0]
    found = bdp.audits.panoramia(game, delta=DELTA)
    assert row.kind == found.kind == ("estimate" if generated else "lower_bound")
    assert row.value == found.value
    assert row.valid != generated
    for name in ("one-run", "f-dp-gaussian"):  # on guesses by fair coins only
        kinds = [each.kind for each in table.select(name)]
        assert kinds == ["refused" if generated else "lower_bound"]
    assert table.select("zero-run")[0].valid != generated
    if generated:
        assert "bounds nothing" in row.reason
        assert "learned" in table.select("zero-run")[0].reason


def test_a_comparison_is_of_one_game():
    with pytest.raises(bdp.InputError, match=r"counts must be one game, such as counts\[0\], and not 2 of them"):
        bdp.compare(played(True, games=2), DELTA)
    with pytest.raises(bdp.InputError, match="counts must be one game"):
        bdp.report(played(True, games=2), DELTA)


@pytest.mark.parametrize("generated", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_report_begins_with_it(generated):
    report = bdp.report(played(generated), DELTA)
    found = bdp.audits.panoramia(played(generated), delta=DELTA)
    first = report.to_dict()["in_short"][0]
    assert f"{found.value:.4g}" in first
    assert ("not a lower bound" in first) == generated
    heading = "Generated non-members" if generated else "Real non-members"
    section = next(each for each in report.document.sections if each.heading == heading)
    assert [type(piece).__name__ for piece in section.pieces] == ["ReportTable", "Figure", "Items"]
    assert section.pieces[1].svg().startswith("<svg")
    content = json.loads(report.json)["panoramia"]
    assert content["value"] == found.value
    assert content["kind"] == found.kind
    assert "bdp.games.Played whose digest" in report.markdown
    assert heading in report.html

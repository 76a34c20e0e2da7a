"""The ROC curve: against plain counting, and how often its intervals hold."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayes_dp as bdp
from bayes_dp.data.roc import Rate, RocCurve

PROPERTY = settings(deadline=None, database=None, derandomize=True, max_examples=100)
SCORES = st.lists(
    st.tuples(st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf]), st.booleans()), min_size=2, max_size=12
).filter(lambda rows: {member for _, member in rows} == {True, False})


def split(rows):
    score, member = np.array([s for s, _ in rows]), np.array([m for _, m in rows])
    return score, member, score[member], score[~member]


@PROPERTY
@given(SCORES)
def test_points_and_area_by_counting(rows):
    score, member, inner, outer = split(rows)
    curve = RocCurve.of(score, member)
    assert curve.threshold[1:].tolist() == sorted(set(score.tolist()), reverse=True)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    for least, fpr, tpr in zip(curve.threshold[1:], curve.fpr[1:], curve.tpr[1:], strict=True):
        assert (fpr, tpr) == (np.mean(outer >= least), np.mean(inner >= least))
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in inner for b in outer]
    assert curve.area() == pytest.approx(np.mean(pairs))


@PROPERTY
@given(SCORES, st.sampled_from([0.0, 0.05, 0.2, 1 / 3, 0.5, 0.7, 1.0]))
def test_the_tpr_at_an_fpr_by_trying_every_threshold(rows, fpr):
    score, member, inner, outer = split(rows)
    found = RocCurve.of(score, member).tpr_at(fpr)
    shares = [(np.mean(outer > c), np.mean(inner > c)) for c in score] + [(1.0, 1.0)]
    best = max((tpr for share, tpr in shares if share <= fpr + 1e-12), default=0.0)
    assert found.value == best
    called = np.ones(len(score), bool) if found.above == -math.inf and fpr == 1 else score > found.above
    assert np.mean(called[member]) == found.value
    assert np.mean(called[~member]) == found.fpr.value <= fpr + 1e-12


def test_figures_by_hand():
    table = bdp.GuessTable([3.0, 2.0, 1.0, 0.0], [True, False, True, False])
    assert table.auc().value == float(table.auc()) == 0.75
    at = table.tpr_at(0.0)
    assert (at.value, at.above, at.fpr.value) == (0.5, 2.0, 0.0)
    assert at.interval() == (pytest.approx(1 - 0.975**0.5), pytest.approx(0.975**0.5))
    assert at.fpr.interval() == (0.0, pytest.approx(1 - 0.025**0.5))
    assert table.tpr_at(0.5).fpr.low == pytest.approx(1 - 0.975**0.5)  # 0 where the threshold is tied
    assert str(Rate(0.5, 0.25, 0.75, 0.9)) == "0.5 (90% interval 0.25 to 0.75)"
    assert table.tpr_at(0.5).value == table.tpr_at(1.0).value == 1.0
    assert table.tpr_at(0.29, 0.5).confidence == 0.5
    # 0.29 · 100 is 28.999…, and 29 of 100 non-members may be called.
    hundred = bdp.GuessTable(np.arange(200.0), np.arange(200) >= 100)
    assert hundred.tpr_at(0.29).fpr.value == 0.29
    low, high = table.roc().tpr_interval
    assert (low[0], high[-1]) == (0.0, 1.0)
    assert np.all(np.diff(low) >= 0)


def test_the_interval_of_the_area_by_its_equation():
    curve = RocCurve.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([False, True, False, True, True]), 0.9)
    rate = curve.auc()
    for end in rate.interval():
        kl = rate.value * math.log(rate.value / end) + (1 - rate.value) * math.log((1 - rate.value) / (1 - end))
        assert 2 * kl == pytest.approx(math.log(20))
    perfect = RocCurve.of(np.array([0.0, 1.0]), np.array([False, True])).auc()
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(0.025)


@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize(("n0", "n1"), [(20, 20), (200, 30)])
def test_how_often_the_intervals_hold(n0, n1, digits):
    """Normal scores, as they are and rounded to whole numbers, which are tied."""
    rng = np.random.default_rng(11)
    repetitions, fpr, confidence = 2000, 0.1, 0.9
    member = np.arange(n0 + n1) >= n0
    grid = np.arange(-8, 9)

    def above(cut, mean):
        if digits is None:
            return stats.norm.sf(cut - mean)
        return stats.norm.sf(np.floor(cut) + 0.5 - mean)

    if digits is None:
        area = stats.norm.cdf(1 / math.sqrt(2))
    else:
        p = [stats.norm.cdf(grid + 0.5 - mean) - stats.norm.cdf(grid - 0.5 - mean) for mean in (0, 1)]
        area = sum(p[1][i] * (p[0][:i].sum() + p[0][i] / 2) for i in range(len(grid)))
    missed = np.zeros(3)
    for _ in range(repetitions):
        score = rng.normal(size=n0 + n1) + member
        curve = RocCurve.of(score if digits is None else np.round(score), member, confidence)
        at, auc = curve.tpr_at(fpr), curve.auc()
        truths = above(at.above, 1.0), above(at.above, 0.0), area
        rates = at, at.fpr, auc
        missed += [not rate.low <= truth <= rate.high for rate, truth in zip(rates, truths, strict=True)]
    most = (1 - confidence) + 3 * math.sqrt(0.09 / repetitions)
    assert (missed / repetitions <= most).all()


@pytest.mark.parametrize("values", [2, 5, 1000])
@pytest.mark.parametrize("n", [10, 30, 300])
def test_members_that_score_the_same_are_seldom_said_to_score_lower(n, values):
    """At 0.01 instead of 0.001, so that a few thousand repetitions tell."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(3000):
        member = rng.random(n) < 0.5
        if member.any() and not member.all():
            found.append(RocCurve.of(rng.integers(values, size=n).astype(float), member).p_lower())
    assert np.mean(np.array(found) <= 0.01) <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / len(found))
    assert RocCurve.of(np.zeros(10), np.arange(10) < 5).p_lower() == 1.0


def test_the_test_is_that_of_scipy():
    rng = np.random.default_rng(2)
    member, score = rng.random(80) < 0.4, np.round(rng.normal(size=80), 1)
    want = stats.mannwhitneyu(score[member], score[~member], alternative="less", method="asymptotic").pvalue
    assert RocCurve.of(score, member).p_lower() == pytest.approx(want)


@pytest.mark.parametrize("member", [True, False])
def test_one_kind_has_no_curve(member):
    table = bdp.GuessTable([1.0, 2.0], [member] * 2)
    for ask in (table.roc, table.auc, lambda: table.tpr_at(0.1)):
        with pytest.raises(bdp.InputError, match=f"all 2 examples are {'' if member else 'non-'}members"):
            ask()
    assert str(table) == repr(table)
    assert table.cautions() == ()


@pytest.mark.parametrize("fpr", [-0.1, 1.1, math.nan, "0.1", None])
def test_what_is_no_rate_is_refused(fpr):
    with pytest.raises(bdp.InputError, match="fpr"):
        bdp.GuessTable([1.0, 2.0], [True, False]).tpr_at(fpr)
    for confidence in (0, 1, math.nan):
        with pytest.raises(bdp.InputError, match="confidence"):
            bdp.GuessTable([1.0, 2.0], [True, False]).auc(confidence)


# The approximate interval of the area ---------------------------------------------------------------------------------


def test_the_interval_of_delong_by_its_equations():
    rng = np.random.default_rng(1)
    inner, outer = np.round(rng.normal(1, 3, 15), 1), np.round(rng.normal(0, 1, 25), 1)
    curve = RocCurve.of(np.append(inner, outer), np.arange(40) < 15, 0.9)
    rate = curve.auc("delong")
    wins = np.sign(inner[:, None] - outer) / 2 + 0.5
    area = wins.mean()
    s1, s0 = wins.mean(axis=1).var(ddof=1) / 15, wins.mean(axis=0).var(ddof=1) / 25
    t = stats.t.ppf(0.95, (s1 + s0) ** 2 / (s1**2 / 14 + s0**2 / 24))

    def v(a):
        return a * (1 - a) * (1 + 19 * ((1 - a) / (2 - a) + a / (1 + a))) / (15 * 25)

    scale = max(1.0, (s1 + s0) / v(area))
    assert scale > 1  # members are spread wider
    assert rate.value == pytest.approx(area)
    for end in rate.interval():
        assert abs(end - area) == pytest.approx(t * math.sqrt(scale * v(end)), rel=1e-9)


@pytest.mark.parametrize("rows", [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0], [1, 0, 0, 0, 0, 0, 0]])
def test_an_area_of_one_or_nothing_has_an_interval_that_is_no_point(rows):
    rate = RocCurve.of(-np.arange(len(rows), dtype=float), np.array(rows) == 1).auc("delong")
    assert rate.value in (0.0, 1.0)
    assert rate.value in rate.interval()
    assert 0.1 < rate.high - rate.low < 0.9


def test_scores_that_are_all_the_same():
    rate = RocCurve.of(np.zeros(20), np.arange(20) % 2 == 0).auc("delong")
    assert rate.value == 0.5
    assert rate.low == pytest.approx(1 - rate.high)
    assert 0.2 < rate.low < 0.4


HARD = {
    "near 1": (lambda rng, n: rng.normal(3.3, 1, n), lambda rng, n: rng.normal(0, 1, n)),
    "two values": (lambda rng, n: (rng.random(n) < 0.6) * 1.0, lambda rng, n: (rng.random(n) < 0.4) * 1.0),
    "few exposed": (
        lambda rng, n: np.where(rng.random(n) < 0.02, 8, 0) + rng.normal(size=n),
        lambda rng, n: rng.normal(size=n),
    ),
    "members at two ends": (lambda rng, n: rng.normal(1, 30, n), lambda rng, n: rng.normal(size=n)),
}


@pytest.mark.parametrize("case", HARD)
def test_how_often_the_interval_of_delong_holds(case):
    inside, outside = HARD[case]
    rng = np.random.default_rng(7)
    few = np.sort(outside(rng, 200_000))
    many = inside(rng, 200_000)
    truth = (np.searchsorted(few, many, "left") + np.searchsorted(few, many, "right")).mean() / (2 * len(few))
    missed, repetitions = 0, 250
    for n1, n0 in ((10, 10), (20, 200)):
        for _ in range(repetitions):
            score = np.append(inside(rng, n1), outside(rng, n0))
            rate = RocCurve.of(score, np.arange(n1 + n0) < n1).auc("delong")
            missed += not rate.low - 2e-3 <= truth <= rate.high + 2e-3
    assert missed / (2 * repetitions) <= 0.08


@pytest.mark.parametrize("method", ["wald", None, 3, True])
def test_other_intervals_are_refused(method):
    with pytest.raises(bdp.InputError, match='method must be "exact" or "delong"'):
        bdp.GuessTable([1.0, 2.0], [True, False]).auc(method=method)

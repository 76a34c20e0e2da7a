"""PrivacyGuard's figure from the same table: its formula against loops, and a leak that is not there."""

from __future__ import annotations

import numpy as np

from models.label_side_by_side import at_thresholds, main, privacyguard


def plainly(training, others, delta):
    """The largest ε of the thresholds that the two rules choose, by counting."""
    thresholds = sorted({*training, *others}, reverse=True)
    points = [(0.0, 0.0), *(((others >= t).mean(), (training >= t).mean()) for t in thresholds)]
    corners = [
        p
        for i, p in enumerate(points)
        if i in (0, len(points) - 1)
        or (p[0] - points[i - 1][0], p[1] - points[i - 1][1]) != (points[i + 1][0] - p[0], points[i + 1][1] - p[1])
    ]

    def epsilon(point):
        fpr, tpr = point
        if tpr <= delta:
            return -np.inf if tpr == delta and fpr else np.nan
        return min(np.log(tpr - delta) - np.log(fpr) if fpr else np.inf, np.log(len(training)))

    found = []
    for rate in np.linspace(0.01, 1, 100):
        last = max((p for p in corners if p[0] <= rate), key=lambda p: p)
        first = min((p for p in corners if p[1] >= rate), key=lambda p: p)
        found.append(np.nanmax([epsilon(last), epsilon(first)]))
    return np.array(found)


def test_the_formula():
    rng = np.random.default_rng(0)
    for _ in range(5):
        training, others = rng.normal(0.7, 1, 64), rng.normal(0, 1, 64)
        assert np.allclose(at_thresholds(training, others, 1e-5), plainly(training, others, 1e-5))


def test_it_sees_a_leak_where_there_is_none():
    """That is not ours to mend, but it is what the side by side shows."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0.2, 0.8, 1000)
    y = (rng.random(1000) < p).astype(int)
    blind = np.clip(p + rng.normal(0, 0.02, 1000), 0, 1)
    eps, least = privacyguard(y, np.column_stack([1 - p, p]), np.column_stack([1 - blind, blind]), 1e-5, 5, 4)
    assert eps > 0.3
    assert least < eps


def test_the_table(capsys):
    assert main(["--n", "400", "--games", "2", "--epsilon", "0", "3"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    ours = [float(row.split("|")[2]) for row in rows]
    assert ours[0] == 0
    assert 0.5 < ours[1] <= 3

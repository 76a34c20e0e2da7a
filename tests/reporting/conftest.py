"""Reports that several tests look at, made once: an exact one of hostile names, and one by sampling."""

from __future__ import annotations

import pytest

import bayes_dp as bdp

# What users' files may hold: markup, ends of markup, Markdown, and marks that turn the direction of text.
LABELS = (
    "<script>alert(1)</script>",
    "\"' onmouseover='alert(1)",
    "</svg></td></table><img src=x onerror=alert(1)>",
    "[click](javascript:alert(1)) | `code` | **bold** $x$",
    "turn \u202e around https://example.org @name",
)
SOURCE = "a|b <i>\n& 'c' ```.csv"
TITLE = "# Is <b>it</b> | *safe*? ]]> {{x}}"


@pytest.fixture(scope="session")
def counts() -> bdp.ErrorCounts:
    return bdp.ErrorCounts(
        [40, 12, 7, 30, 5], [100, 90, 100, 100, 100], [30, 60, 80, 45, 90], 100, base=LABELS, group=LABELS[::-1]
    )


@pytest.fixture(scope="session")
def hostile(counts: bdp.ErrorCounts) -> bdp.Report:
    return bdp.report(counts, 1e-3, title=TITLE, source=SOURCE)


@pytest.fixture(scope="session")
def sampled() -> bdp.Report:
    """By chains that are too short."""
    given = bdp.ErrorCounts([40, 12, 7], 100, [30, 60, 80], 100, design="cross_fed")
    settings = {"chains": 2, "draws": 150, "warmup": 300, "progress": False, "seed": 3}
    with pytest.warns(UserWarning, match="run more draws"):
        return bdp.report(given, 1e-3, method="mhaar", **settings)

"""A fixture of pytest: a test of the privacy of a training among the other tests of a project.

pytest finds it by itself where this package is installed. It does nothing but in tests that ask for it by name:

    def test_private(privacy_gate):
        privacy_gate(counts, epsilon=4, delta=1e-5)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from bayes_dp.comparison.verdict import Verdict
    from bayes_dp.data.counts import ErrorCounts

__all__ = ["privacy_gate"]


@pytest.fixture
def privacy_gate() -> Callable[..., Verdict]:
    """`bdp.gate`, which fails the test unless the verdict is "passed", with all reasons."""

    def judge(counts: ErrorCounts, *, epsilon: float, delta: float, **options: Any) -> Verdict:
        __tracebackhide__ = True
        from bayes_dp.comparison.gate import gate

        verdict = gate(counts, delta, epsilon, **options)
        if not verdict.passed:
            pytest.fail(str(verdict), pytrace=False)
        return verdict

    return judge

"""The audits by name, a line each: the comparison, the command line, the studies and the documentation read them here.

An audit is an `Audit` object (`audits/base.py`) in the tuple `AUDITS` at the end of its module. Names, and what is said
of an audit, are known before any module is imported.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from bayes_dp.audits.base import Audit

__all__ = ["INDEX", "Entry", "audit", "audits"]


class Entry(NamedTuple):
    """Where an audit is, and under which names."""

    module: str  # of bayes_dp.audits
    what: str  # a few words for a list
    family: str = ""  # the verb `bayes-dp audit FAMILY` and the page docs/methods/audits/FAMILY.md; by default the name
    study: str = ""  # of `bayes-dp calibrate`; by default the family


_LINES: dict[str, Entry] = {
    "joint-beta": Entry("intervals", "the credible interval of one attack's ε", "intervals"),
    "clopper-pearson": Entry("intervals", "exact intervals of both error rates", "intervals"),
    "jeffreys": Entry("intervals", "Jeffreys' intervals of both error rates", "intervals"),
    "katz": Entry("intervals", "the normal approximation of log ratios of rates", "intervals"),
    "accuracy": Entry("intervals", "the number of correct decisions", "intervals"),
    "joint-exact": Entry("combine", "the exact test of both error counts together", "combine", "joint-exact"),
    "one-run": Entry("one_run", "the better of two bounds for (ε, δ)-DP"),
    "one-run-exact": Entry("one_run", "the exact worst case for (ε, δ)-DP", "one-run"),
    "f-dp-gaussian": Entry("f_dp", "Gaussian DP", "f-dp"),
    "f-dp-laplace": Entry("f_dp", "the Laplace mechanism", "f-dp"),
    "zero-run-compositional": Entry(
        "compositional", "one worst propensity for all examples", "zero-run", "zero-run-compositional"
    ),
    "zero-run": Entry("zero_run", "(ε, δ)-DP, each guess by its propensity"),
    "zero-run-gaussian": Entry("zero_run", "Gaussian DP, each guess by its propensity", "zero-run"),
    "panoramia": Entry("panoramia", "how much better an attack is than a blind baseline"),
}
INDEX = {
    name: entry._replace(family=entry.family or name, study=entry.study or entry.family or name)
    for name, entry in _LINES.items()
}


def audit(name: str) -> Audit:
    """The audit of this name in `INDEX`."""
    found: tuple[Audit, ...] = importlib.import_module(f"bayes_dp.audits.{INDEX[name].module}").AUDITS
    return next(each for each in found if each.name == name)


def audits() -> dict[str, Audit]:
    """All audits by name, in the order of `INDEX`."""
    return {name: audit(name) for name in INDEX}

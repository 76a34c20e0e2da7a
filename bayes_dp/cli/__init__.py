"""The command line `bayes-dp`: one module for each group of verbs, and the program that they are part of."""

from bayes_dp.cli import (
    audit,
    compare,
    estimate,
    gate,
    labels,
    leakage,
    measure,
    plan,
    propensity,
    registered,
    report,
    sequential,
    zero_run,
)
from bayes_dp.cli import calibrate as validity
from bayes_dp.cli.program import main

__all__ = [
    "audit",
    "compare",
    "estimate",
    "gate",
    "labels",
    "leakage",
    "main",
    "measure",
    "plan",
    "propensity",
    "registered",
    "report",
    "sequential",
    "validity",
    "zero_run",
]

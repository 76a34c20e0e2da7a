"""The command line `bayes-dp`: one module for each group of verbs, and the program that they are part of."""

from bayes_dp.cli import (
    audit,
    claim,
    compare,
    estimate,
    gate,
    labels,
    leakage,
    measure,
    panoramia,
    plan,
    propensity,
    registered,
    repeated,
    report,
    sequential,
    zero_run,
)
from bayes_dp.cli import calibrate as validity
from bayes_dp.cli.program import main

__all__ = [
    "audit",
    "claim",
    "compare",
    "estimate",
    "gate",
    "labels",
    "leakage",
    "main",
    "measure",
    "panoramia",
    "plan",
    "propensity",
    "registered",
    "repeated",
    "report",
    "sequential",
    "validity",
    "zero_run",
]

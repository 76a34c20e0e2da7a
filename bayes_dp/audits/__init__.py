"""Audits: from what attacks achieved to lower bounds on a privacy parameter.

Some of the functions here bear the name of their module. That name is the module, which is called as the function:
`bayes_dp.audits.one_run(guesses, delta)` audits, `bayes_dp.audits.one_run.p_value` reaches into it. All of them are
loaded when they are first used.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

# Public name -> the module that holds it.
_HOMES = {
    "accuracy": "intervals",
    "clopper_pearson": "intervals",
    "combine": "combine",
    "compositional": "compositional",
    "f_dp": "f_dp",
    "jeffreys": "intervals",
    "joint_beta": "intervals",
    "joint_exact": "combine",
    "katz": "intervals",
    "labels": "labels",
    "observational": "observational",
    "one_run": "one_run",
    "panoramia": "panoramia",
    "profile": "profile",
    "proxy_error": "proxy_error",
    "sensitivity": "sensitivity",
    "sequential": "sequential",
    "zero_run": "zero_run",
}

__all__ = [
    "accuracy",
    "clopper_pearson",
    "combine",
    "compositional",
    "f_dp",
    "jeffreys",
    "joint_beta",
    "joint_exact",
    "katz",
    "labels",
    "observational",
    "one_run",
    "panoramia",
    "profile",
    "proxy_error",
    "sensitivity",
    "sequential",
    "zero_run",
]

if TYPE_CHECKING:  # the functions, for type checkers
    from bayes_dp.audits.combine import combine as combine
    from bayes_dp.audits.combine import joint_exact as joint_exact
    from bayes_dp.audits.compositional import compositional as compositional
    from bayes_dp.audits.f_dp import f_dp as f_dp
    from bayes_dp.audits.intervals import accuracy as accuracy
    from bayes_dp.audits.intervals import clopper_pearson as clopper_pearson
    from bayes_dp.audits.intervals import jeffreys as jeffreys
    from bayes_dp.audits.intervals import joint_beta as joint_beta
    from bayes_dp.audits.intervals import katz as katz
    from bayes_dp.audits.labels import labels as labels
    from bayes_dp.audits.observational import observational as observational
    from bayes_dp.audits.one_run import one_run as one_run
    from bayes_dp.audits.panoramia import panoramia as panoramia
    from bayes_dp.audits.profile import profile as profile
    from bayes_dp.audits.proxy_error import proxy_error as proxy_error
    from bayes_dp.audits.sensitivity import sensitivity as sensitivity
    from bayes_dp.audits.sequential import sequential as sequential
    from bayes_dp.audits.zero_run import zero_run as zero_run


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name, name)  # the modules are attributes too
    if name.startswith("_") or importlib.util.find_spec(f"bayes_dp.audits.{home}") is None:
        raise AttributeError(f"module 'bayes_dp.audits' has no attribute {name!r}; it has {', '.join(__all__)}")
    module = importlib.import_module(f"bayes_dp.audits.{home}")
    value = module if name == home else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

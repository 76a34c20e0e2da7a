"""Audits: from what attacks achieved to lower bounds on a privacy parameter.

The functions here bear the names of their modules, which are imported by their full names: `bayes_dp.audits.one_run` is
the function, `from bayes_dp.audits.one_run import p_value` reaches into the module.
"""

from bayes_dp.audits.compositional import compositional
from bayes_dp.audits.f_dp import f_dp
from bayes_dp.audits.intervals import accuracy, clopper_pearson, jeffreys, joint_beta, katz
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.panoramia import panoramia
from bayes_dp.audits.zero_run import zero_run

__all__ = [
    "accuracy",
    "clopper_pearson",
    "compositional",
    "f_dp",
    "jeffreys",
    "joint_beta",
    "katz",
    "one_run",
    "panoramia",
    "zero_run",
]

"""Rejection rates of the audits on mechanisms whose leakage is known: how often a lower bound exceeds the truth.

A bound with confidence 1 − p may exceed the truth in a share p of all audits. `study` simulates audits, counts how
often it does, and puts the mean bound beside the truth. A row passes if its rate is at most p + 3 standard errors; the
rows of methods that promise nothing (an uncorrected choice, approximate intervals) are shown, and marked so.

    result        the rows of a study
    mechanisms    what is audited, and its true leakage
    counts        the law of the numbers of correct guesses, drawn without sorting scores
    extreme       the mechanism that comes closest to p: it spends δ at once
    bounds        from these numbers to the bounds of many audits
    guesses       the studies of audits of guesses: one-run, f-dp, panoramia, zero-run-compositional
    rates         the study of intervals for the error rates of repeated attacks
    shifted       the study of all forms of the zero-run audit, under known laws of propensities
    wrong_pairs   the study of methods on counts that arose otherwise than they assume, which is why these are refused
    looked_at     the study of sequential audits, and of what looking again does to other bounds
    profiles      the study of whole profiles
    registered    the studies of audits that have none of their own
    studies       all of them by name, and the loop over their tasks
"""

from bayes_dp.calibrate.result import Row, Study
from bayes_dp.calibrate.studies import AUDITS, study

__all__ = ["AUDITS", "Row", "Study", "study"]


def __dir__() -> list[str]:
    return __all__

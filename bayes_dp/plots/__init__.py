"""The figures. Each function draws into the `ax` it is given (or a new one) and returns it; nothing global is changed.

    style           colours, names and axes, which all share
    densities       posterior, prior_posterior, joint
    plane           roc_plane, tradeoff
    profile         epsilon_delta
    comparisons     forest
    attack_curves   error_curves
    chains          trace, rank, autocorrelation, ess
    calibration     sbc_ranks
    membership      propensities
    planned         widths

Without an `ax` a new figure is made, 3.4 inches wide, which is a column of a paper. `error_curves` needs two axes, and
takes and returns an array of them.
"""

from bayes_dp.plots.attack_curves import error_curves
from bayes_dp.plots.calibration import sbc_ranks
from bayes_dp.plots.chains import autocorrelation, ess, rank, trace
from bayes_dp.plots.comparisons import forest
from bayes_dp.plots.densities import joint, posterior, prior_posterior
from bayes_dp.plots.membership import propensities
from bayes_dp.plots.plane import roc_plane, tradeoff
from bayes_dp.plots.planned import widths
from bayes_dp.plots.profile import epsilon_delta

__all__ = [
    "autocorrelation",
    "epsilon_delta",
    "error_curves",
    "ess",
    "forest",
    "joint",
    "posterior",
    "prior_posterior",
    "propensities",
    "rank",
    "roc_plane",
    "sbc_ranks",
    "trace",
    "tradeoff",
    "widths",
]

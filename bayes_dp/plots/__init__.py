"""The figures. Each function draws into the `ax` it is given (or a new one) and returns it; nothing global is changed.

What all of them share, colours, names and axes, is in `style`. Without an `ax` a new figure is made, 3.4 inches wide,
which is a column of a paper. `error_curves` and `running` need two axes, and take and return
an array of them.
"""

import inspect

from bayes_dp.plots.attack_curves import error_curves as error_curves
from bayes_dp.plots.attained import levels as levels
from bayes_dp.plots.calibration import sbc_ranks as sbc_ranks
from bayes_dp.plots.chains import autocorrelation as autocorrelation
from bayes_dp.plots.chains import ess as ess
from bayes_dp.plots.chains import rank as rank
from bayes_dp.plots.chains import trace as trace
from bayes_dp.plots.comparisons import forest as forest
from bayes_dp.plots.densities import joint as joint
from bayes_dp.plots.densities import posterior as posterior
from bayes_dp.plots.densities import prior_posterior as prior_posterior
from bayes_dp.plots.evidences import families as families
from bayes_dp.plots.exposed import records as records
from bayes_dp.plots.generated import closeness as closeness
from bayes_dp.plots.generated import precision as precision
from bayes_dp.plots.leaking import at_risk as at_risk
from bayes_dp.plots.leaking import leakage as leakage
from bayes_dp.plots.membership import propensities as propensities
from bayes_dp.plots.memory_of_labels import remembered as remembered
from bayes_dp.plots.of_bases import bases as bases
from bayes_dp.plots.of_slack import sensitivity as sensitivity
from bayes_dp.plots.plane import roc_plane as roc_plane
from bayes_dp.plots.plane import tradeoff as tradeoff
from bayes_dp.plots.planned import widths as widths
from bayes_dp.plots.predictions import predictive as predictive
from bayes_dp.plots.profile import epsilon_delta as epsilon_delta
from bayes_dp.plots.scored import roc as roc
from bayes_dp.plots.scored import scores as scores
from bayes_dp.plots.under_way import running as running

__all__ = sorted(name for name, value in globals().items() if inspect.isfunction(value))


def __dir__() -> list[str]:
    return __all__

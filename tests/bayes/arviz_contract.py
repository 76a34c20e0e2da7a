"""What ArviZ can do with the export of a posterior, under 0.23 and 1.x: `works` is for the tests of each method."""

from __future__ import annotations

import warnings
from typing import Any

import arviz as az
import matplotlib.pyplot as plt
import numpy as np

import bayes_dp as bdp

GROUPS = ("posterior", "sample_stats", "log_likelihood", "log_prior", "prior", "posterior_predictive", "observed_data")
_OLD = az.__version__.startswith("0.")


def works(post: bdp.Posterior, size: int = 400) -> Any:
    """Leave-one-out scores, sensitivity to the prior and to the likelihood, and predicted counts."""
    data = post.to_arviz(size=size)
    n = len(post.counts)
    for group in GROUPS:
        for name, values in data[group].data_vars.items():
            if group not in ("posterior", "sample_stats"):
                assert np.isfinite(values.values).all(), (group, name)
    draws = data["posterior"]["epsilon"].shape
    assert data["log_likelihood"]["counts"].shape == (*draws, n)
    assert np.isfinite(data["sample_stats"]["lp"].values).all()
    for name in ("false_positives", "false_negatives"):
        assert data["posterior_predictive"][name].shape == (*draws, n)
        np.testing.assert_array_equal(data["observed_data"][name].values, getattr(post.counts, name))
    scalars = {name for name, values in data["posterior"].data_vars.items() if values.ndim == 2}
    assert set(data["prior"].data_vars) == scalars
    functions_work(data)
    return data


def functions_work(data: Any) -> None:
    """Those of ArviZ that ask for likelihoods, priors and predicted data."""
    assert set(data["observed_data"].data_vars) == set(data["posterior_predictive"].data_vars)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws make Pareto k large
        score = az.loo(data)
        assert np.isfinite(score.elpd_loo if _OLD else score.elpd)
        for component in ("prior", "likelihood"):
            if _OLD:
                found = az.psens(data, component=component)["epsilon"]
            else:
                found = az.psense(data, group="prior" if component == "prior" else "likelihood")["epsilon"]
            assert float(found) >= 0, component
        if _OLD:
            az.plot_ppc(data, num_pp_samples=5)
        else:
            az.plot_ppc_dist(data, num_samples=5)
    plt.close("all")

"""All golden values of the zero-run audits."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from bayes_dp.audits.compositional import gaussian_lower_bounds, shift_epsilon, shift_mu
from bayes_dp.audits.compositional import lower_bounds as compositional_bounds
from bayes_dp.audits.f_dp import GAUSSIAN
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.one_run import p_value as one_run_p_value
from bayes_dp.audits.poisson_binomial import tail
from bayes_dp.audits.propensity_bounds import bounds_for_propensities, untampered_p_value
from bayes_dp.audits.tampering import (
    expected_p_value,
    keep_for_epsilon,
    keep_for_f,
    lean,
    p_value,
    slack,
)


def untampered_bound(pi_guessed, v, p):
    called = np.array(pi_guessed) >= 0.5  # all guesses with their propensities
    right = np.arange(len(called)) < v
    uniform = np.zeros(len(called))
    found = bounds_for_propensities(pi_guessed, called, right, uniform, examples=len(called), p=p, directional=False)
    return found[0]


def kept_law(pi_correct, eps):
    leans = lean(pi_correct, True, directional=False)
    keep = keep_for_f(leans) if eps is None else keep_for_epsilon(leans, eps)
    tails = tail(keep, np.arange(len(keep) + 2))
    return tails[:-1] - tails[1:]


def total_p_value(m, r, v, eps, delta, eta, delta_ds):
    return one_run_p_value(m, r, v, eps + shift_epsilon(eta), 1 - (1 - delta) * (1 - delta_ds))


FUNCTIONS = {
    "zr_keep_eps": lambda pi, eps: keep_for_epsilon(lean(pi, True, directional=False), eps),
    "zr_keep_f": lambda pi: keep_for_f(lean(pi, True, directional=False)),
    "zr_keep_eps_directional": lambda pi, t, eps: keep_for_epsilon(lean(pi, t == 1), eps),
    "zr_pvalue": lambda m, r, v, eps, delta: p_value(m, r, v, eps, delta),
    "zr_alpha_sum": lambda r, v, eps: slack(r, v, eps),
    "zr_keep_f_directional": lambda pi, t: keep_for_f(lean(pi, t == 1)),
    "eps_ds_bar": lambda eta: shift_epsilon(eta),
    "mu_ds_bar": lambda eta: shift_mu(eta),
    "zr_comp_pvalue": total_p_value,
    "zr_comp_eps_lb": lambda m, r, v, p, delta, eta, delta_ds: compositional_bounds(
        m, r, v, p, delta=delta, overlap=eta, shift_delta=delta_ds
    ),
    "zr_comp_mu_lb": lambda m, cp, c, p, eta, delta_ds: gaussian_lower_bounds(
        m, cp, c, p, overlap=eta, shift_delta=delta_ds
    ),
    "zr_untampered_pvalue": lambda pi_guessed, v, eps: untampered_p_value(
        lean(pi_guessed, True, directional=False), v, eps
    ),
    "zr_untampered_eps_lb": untampered_bound,
    "zr_tampered_count_pmf": kept_law,
    "zr_expected_pvalue": lambda pi_correct, m, r, eps: expected_p_value(
        m, r, keep_for_epsilon(lean(pi_correct, True, directional=False), eps), eps
    ),
    "fdp_mu_lb": lambda m, cp, c, gamma: f_dp_bounds(GAUSSIAN, m, cp, c, gamma),
}

FOLDER = os.environ.get("BAYES_DP_GOLDEN")
CASES = [] if FOLDER is None else json.loads((Path(FOLDER) / "audits_zero_run.json").read_text())


@pytest.mark.skipif(FOLDER is None, reason="BAYES_DP_GOLDEN is not set")
def test_there_are_all_of_them():
    assert len(CASES) > 35


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_golden(case):
    inputs = dict(case["inputs"])
    found = FUNCTIONS[inputs.pop("function")](**inputs)
    np.testing.assert_allclose(found, case["expected"], rtol=case["tolerance"]["rel"], atol=case["tolerance"]["abs"])

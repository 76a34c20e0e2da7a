"""The choice of a method: which it does not have, it says in a sentence that leads on."""

import pytest

import bayes_dp as bdp
from bayes_dp.bayes.mhaar.posterior import mhaar

COUNTS = bdp.ErrorCounts([3], [20], [4], [25])
OWN = bdp.Likelihood("mine", lambda counts, alpha, beta: alpha * beta)


@pytest.mark.parametrize("method", [None, "exact", "mhaar", "nuts"])
@pytest.mark.parametrize(
    ("likelihood", "name"),
    [("bivariate_normal",) * 2, ("beta_binomial",) * 2, ("kupper_haseman",) * 2, (OWN, "mine")],
)
def test_the_tight_limit_is_for_the_binomial_likelihood(likelihood, name, method):
    with pytest.raises(bdp.InputError) as error:
        bdp.estimate(COUNTS, 0.01, strength="tight", likelihood=likelihood, method=method)
    assert str(error.value) == (
        f"strength='tight', the limit s → 1, exists for the binomial likelihood only, not for {name!r}"
    )


def test_the_tight_limit_is_for_quadrature():
    for likelihood in ("binomial", "beta_binomial"):
        with pytest.raises(bdp.InputError, match=r"MHAAR is not defined for strength='tight'.* method='exact'"):
            mhaar(COUNTS, 0.01, strength="tight", likelihood=likelihood)
    with pytest.raises(bdp.InputError, match=r"MHAAR is not defined for strength='tight'.* method='exact'"):
        bdp.estimate(COUNTS, 0.01, strength="tight", method="mhaar")
    assert bdp.estimate(COUNTS, 0.01, strength="tight", method="exact").median > 0

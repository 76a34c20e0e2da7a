"""Families of trade-off functions: areas, densities, slopes and conversions against what defines them."""

import numpy as np
import pytest
from scipy import integrate, special

import bayes_dp as bdp
from bayes_dp import tradeoff
from bayes_dp.bayes.families.choice import family_of
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.families.laplace import LAPLACE
from bayes_dp.bayes.families.pure import PURE
from bayes_dp.bayes.families.registry import FAMILIES
from bayes_dp.bayes.families.subsampled import SubsampledGaussian


def gaussian(alpha, mu):
    return special.ndtr(-special.ndtri(alpha) - mu)


def laplace(alpha, mu):
    middle = np.exp(-mu) / (4 * np.clip(alpha, np.exp(-mu) / 2, 0.5))
    return np.select(
        [alpha < np.exp(-mu) / 2, alpha < 0.5], [1 - np.exp(mu) * alpha, middle], np.exp(-mu) * (1 - alpha)
    )


def pure(alpha, epsilon):
    return np.maximum(0.0, np.maximum(1 - np.exp(epsilon) * alpha, np.exp(-epsilon) * (1 - alpha)))


LOGISTIC = bdp.Family("logistic", lambda a, theta: (1 - a) / (1 - a + a * np.exp(theta)))
OWN_GAUSSIAN = bdp.Family("like gaussian", gaussian)
ALL = [GAUSSIAN, LAPLACE, PURE, LOGISTIC, OWN_GAUSSIAN, SubsampledGaussian(0.3)]
by_name = pytest.mark.parametrize("family", ALL, ids=[family.name for family in ALL])
FUNCTIONS = {"gaussian": tradeoff.Gaussian, "laplace": tradeoff.Laplace, "pure": tradeoff.ApproxDP}


def area(family, t):
    """G(t) = 1 − 2 ∫ f_t, in the logit of α."""
    kinks = special.logit(family.kinks(np.array(t)))
    total = 0.0
    for low, high in zip([-40.0, *kinks], [*kinks, 40.0], strict=True):
        f = lambda x: float(family(special.expit(x), np.array(t))) * special.expit(x) * special.expit(-x)  # noqa: E731
        total += integrate.quad(f, low, high, epsabs=1e-14, epsrel=1e-12, limit=300)[0]
    return 1.0 - 2.0 * total


@by_name
@pytest.mark.parametrize(("inner", "outer"), [(0.0, 0.3), (0.5, 1.5), (1.0, 4.0), (0.0, 6.0)])
def test_the_area_of_a_layer(family, inner, outer):
    found = np.exp(family.log_layer(np.array(inner), np.array(outer - inner)))
    assert found == pytest.approx(area(family, outer) - area(family, inner), rel=1e-9, abs=1e-11)


@by_name
@pytest.mark.parametrize("t", [0.01, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("gap", [1e-13, 1e-8, 1e-4, 1e-2, 0.03, 0.05, 0.1])
def test_a_thin_layer_keeps_its_digits(family, t, gap):
    nodes, weights = np.polynomial.legendre.leggauss(12)
    at = t + gap * (0.5 + 0.5 * nodes)
    mean = np.log(np.exp(family.log_density(at)) @ weights / 2)
    assert float(family.log_layer(np.array(t), np.array(gap))) - np.log(gap) == pytest.approx(float(mean), abs=1e-8)


@pytest.mark.parametrize("family", ALL[:3], ids=[family.name for family in ALL[:3]])
def test_far_layers(family):
    """Where the region is the whole square but for e^-600 of it."""
    t = 50.0 if family is GAUSSIAN else 600.0
    thick, thin = (float(family.log_layer(np.array(t), np.array(gap))) for gap in (100.0, 1e-9))
    assert thin == pytest.approx(float(family.log_density(np.array(t))) + np.log(1e-9), abs=1e-6)
    assert np.isfinite(thick)
    assert thick < -500


@by_name
@pytest.mark.parametrize("t", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 0.2, 0.49, 0.51, 0.9])
def test_the_curve_and_its_slopes(family, t, alpha):
    one = np.array(t)
    log_beta, log_rest, rate = (float(v) for v in family.curve(np.log(alpha), np.log1p(-alpha), one))
    beta = float(family(alpha, one))
    assert np.exp(log_beta) == pytest.approx(beta, rel=1e-12)
    assert np.exp(log_rest) == pytest.approx(1 - beta, rel=1e-9, abs=1e-15)
    step = 1e-4 * t
    across = (float(family(alpha, one - step)) - float(family(alpha, one + step))) / (2 * step)
    assert np.exp(rate) == pytest.approx(across, rel=1e-5, abs=1e-9)
    along = (float(family(alpha * (1 - 1e-3), one)) - float(family(alpha * (1 + 1e-3), one))) / (2e-3 * alpha)
    z = -special.ndtri(alpha)
    assert np.exp(float(family.log_ratio(np.array(z), one))) == pytest.approx(along, rel=1e-4)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_members_are_the_trade_off_functions(name):
    family, alpha = family_of(name), np.linspace(1e-6, 1 - 1e-6, 301)
    for t in (0.2, 1.0, 3.0):
        f = FUNCTIONS[name](t)
        np.testing.assert_allclose(family(alpha, np.array(t)), f(alpha), rtol=1e-12, atol=1e-15)
        for delta in (1e-9, 1e-3, 0.2, 0.9):
            assert float(family.epsilon_at(np.array(t), np.array(delta))) == pytest.approx(
                float(f.epsilon_at(delta)), rel=1e-12, abs=1e-12
            )
        for epsilon in (0.0, 0.5, 2.0):
            assert float(family.delta_at(np.array(t), np.array(epsilon))) == pytest.approx(
                float(f.delta_at(epsilon)), rel=1e-12, abs=1e-14
            )


@pytest.mark.parametrize("family", ALL[:5], ids=[family.name for family in ALL[:5]])
def test_the_best_attack_has_the_advantage_of_epsilon(family):
    for epsilon in (1e-3, 0.5, 2.0, 8.0):
        t = family.by_epsilon(np.array(epsilon))
        alpha = special.expit(-epsilon)  # where a symmetric curve of this advantage meets the diagonal
        assert float(family(alpha, t)) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [gaussian, laplace, pure], ids=lambda f: f.__name__)
def test_the_epsilon_of_own_families_is_that_of_the_closed_ones(f):
    family, t = bdp.Family("own", f), np.array([0.0, 1e-3, 0.1, 0.5, 1, 2, 5, 15, 30])
    for delta in (1e-9, 1e-5, 1e-3, 0.1, 0.9, 1.0, *((0.0,) if f is not gaussian else ())):
        np.testing.assert_allclose(
            family.epsilon_at(t, delta), FAMILIES[f.__name__].epsilon_at(t, delta), rtol=1e-7, atol=1e-9
        )
    assert family.epsilon_at(1.0, 0.01) == family.epsilon_at([[1.0]], [0.01])


def test_a_slow_function_is_asked_few_times():
    asked = []

    def slow(alpha, theta):
        asked.append(1)
        return gaussian(alpha, theta)

    family = bdp.Family("slow", slow)
    asked.clear()
    family.epsilon_at(np.linspace(0, 5, 100), 1e-3)
    assert len(asked) < 300


def test_own_families_are_as_the_closed_ones():
    t, epsilon = np.array([0.01, 0.5, 2.0, 5.0]), np.array([0.0, 1.0])
    np.testing.assert_allclose(OWN_GAUSSIAN.log_density(t), GAUSSIAN.log_density(t), atol=1e-9)
    for e in epsilon:
        np.testing.assert_allclose(OWN_GAUSSIAN.delta_at(t, e), GAUSSIAN.delta_at(t, e), atol=1e-12)
    np.testing.assert_allclose(OWN_GAUSSIAN.epsilon_at(t, 0.01), GAUSSIAN.epsilon_at(t, 0.01), atol=1e-9)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a, t: (1 - a) * np.exp(-t) + 0.1, r"f\(alpha, 0\) must be 1 - alpha, but f\(.*, 0\) = "),
        (lambda a, t: np.where(t == 0, 1 - a, (1 - a) * t / (1 + t)), "f must not grow with theta"),
        (lambda a, t: (1 - a) * np.exp(-t), "symmetric"),
        (lambda a, t: 1 - a + 0 * t if np.ndim(a) == 0 else np.zeros(3), "must be vectorised"),
        (lambda a, t: 1 / 0, "ZeroDivisionError"),
        (lambda a, t: np.where(t > 0, np.nan, 1 - a), "is not a number"),
        (lambda a, t: np.where(t > 3, np.inf, gaussian(a, t)), r", 4\) is inf"),
        (lambda a, t: gaussian(a, t) + 0j, "real numbers of double precision, float64, not complex128"),
        (lambda a, t: gaussian(a, t).astype(np.float32), "real numbers of double precision, float64, not float32"),
        (lambda a, t: 0.5, r"must be vectorised: given shape \(1,\), it returned shape \(\)"),
        (lambda a, t: None, "must be vectorised"),
        (lambda a: 1 - a, "TypeError"),
        (lambda a, t: gaussian(a, 1 / (1 + t)), r"f\(alpha, 0\) must be 1 - alpha"),
        (lambda a, t: (1 - a) * np.exp(-t * np.sin(3 * a) ** 2), "must be convex"),
        (lambda a, t: np.where(a < 0.3, 1 - a, (1 - a) * np.exp(-t)), "must be convex"),
        (lambda a, t: np.where((a == 0) | (a == 1), np.nan, gaussian(a, t)), "is not a number"),
        (lambda a, t: gaussian(a, np.where(t < 1, t, t + 0.5)), "does not change smoothly with theta"),
        (3, "f must be a function of alpha and theta, not 3"),
        (lambda a, t: 1 - a + 0 * t, "is the same for all theta between 0"),
        (lambda a, t: gaussian(a, np.minimum(t, 1.0)), "is the same for all theta between 1"),
        (lambda a, t: gaussian(a, np.maximum(t - 1.0, 0.0)), "is the same for all theta between 0"),
        (lambda a, t: gaussian(a, np.floor(4 * t) / 4), "is the same for all theta"),
        (lambda a, t: np.where(t > 1, 0.0, gaussian(a, t)), "does not change smoothly with theta between 0.8"),
        (lambda a, t: np.where(t > 0, 0.0, 1 - a), "is 0 from theta = 9.5"),
        (lambda a, t: np.subtract(1, a, out=a), "read-only"),
        (
            lambda a, t: np.maximum(0, 1 - a - t / (1 + t)),
            "not the digits to tell members with theta around 4.19e",
        ),
    ],
)
def test_what_is_no_family_is_refused(f, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.Family("own", f)


def test_a_formula_that_loses_digits_at_small_rates():
    """Φ(Φ⁻¹(1 − α) − μ) as textbooks have it is 1 for every α below 1e-16: ε came out as 0 for the larger μ."""
    textbook = bdp.Family("textbook", lambda a, mu: special.ndtr(special.ndtri(1 - a) - mu))
    mu = np.array([0.1, 1.0, 4.0, 6.0, 8.0, 16.0])
    for delta in (1e-12, 1e-5, 1e-2, 0.3):
        np.testing.assert_allclose(textbook.epsilon_at(mu, delta), GAUSSIAN.epsilon_at(mu, delta), rtol=2e-6)


def test_members_that_end_at_zero_before_one():
    """f = max(0, 1 − α − θ) has a kink where it ends: G = 1 − (1 − θ)²."""
    far = bdp.Family("total variation", lambda a, t: np.maximum(0, 1 - a - t), most=1)
    t = np.linspace(0.05, 0.9, 30)
    np.testing.assert_allclose(far.log_density(t), np.log(2 * (1 - t)), atol=2e-3)
    inner, gap = np.array([0.1, 0.3, 0.6]), np.array([0.01, 0.2, 0.3])
    areas = (1 - inner) ** 2 - (1 - inner - gap) ** 2
    np.testing.assert_allclose(far.log_layer(inner, gap), np.log(areas), atol=1e-3)
    np.testing.assert_array_equal(far.epsilon_at([0.1, 0.3, 0.5, 0.9], 0.3), [0, 0, np.inf, np.inf])


@pytest.mark.parametrize("name", ["", "two\nlines", 3])
def test_names(name):
    with pytest.raises(bdp.InputError, match="name must be a text of one line"):
        bdp.Family(name, lambda a, t: (1 - a) / (1 - a + a * np.exp(t)))


def test_families_by_name():
    assert all(family_of(name) is family for name, family in FAMILIES.items())
    for wrong in ("normal", None, 3):
        with pytest.raises(bdp.InputError, match=r"family must be 'approx', 'gaussian'.* not"):
            family_of(wrong)


@pytest.mark.parametrize(
    ("wrong", "end"),
    [
        ("gausian", "not 'gausian'; is 'gaussian' meant?"),
        (" Laplace", "not ' Laplace'; is 'laplace' meant?"),
        ("avrage", "not 'avrage'; is 'average' meant?"),
        ("subsampled gaussian", "not 'subsampled gaussian'; is bdp.subsampled_gaussian(q) meant?"),
        (bdp.Family, "give an object of it, such as Family(name, f)"),
        ("poisson", "not 'poisson'"),
    ],
)
def test_a_name_that_is_nearly_one(wrong, end):
    with pytest.raises(bdp.InputError) as error:
        family_of(wrong)
    assert str(error.value).endswith(end)


def test_the_average_is_no_family():
    with pytest.raises(bdp.InputError, match="'average' is made of several families, and is none itself"):
        bdp.compare_families(bdp.ErrorCounts(1, 10, 2, 10), 0.1, ["approx", "average"])


@pytest.mark.parametrize(("q", "mu"), [(0.3, 3.0), (0.05, 1.0), (1.0, 1.0)])
def test_subsampled_gaussian_against_its_definition(q, mu):
    """δ(ε) in both orders by quadrature of (p − e^ε q)_+ over the densities."""
    family = bdp.subsampled_gaussian(q)
    x = np.linspace(-40, 40, 800_001)
    base = np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)
    mixed = (1 - q) * base + q * np.exp(-0.5 * (x - mu) ** 2) / np.sqrt(2 * np.pi)
    for epsilon in (0.0, 0.2, 1.0, 3.0):
        slow = max(np.maximum(p - np.exp(epsilon) * r, 0).sum() for p, r in ((mixed, base), (base, mixed))) * (
            x[1] - x[0]
        )
        assert float(family.delta_at(np.array(mu), np.array(epsilon))) == pytest.approx(slow, abs=1e-9)
    delta = family.delta_at(np.array(mu), np.array(0.5))
    if delta > 0:
        assert float(family.epsilon_at(np.array(mu), delta)) == pytest.approx(0.5, abs=1e-9)

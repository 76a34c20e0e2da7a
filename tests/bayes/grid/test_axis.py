"""Axes: their coordinates, the mass of priors on them, and posteriors under priors with narrow modes."""

import math

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.exact.posterior import exact
from bayes_dp.bayes.grid.axis import Coordinate, Focus, axis_of

THREE = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100)
SINGLE = bdp.ErrorCounts([1], 1, [0], 1)
AROUND = np.linspace(-9, 9, 25)
EPSILON = np.concatenate([[0.0], np.geomspace(1e-5, 0.1, 8), np.linspace(0.1, 6, 48)[1:], np.geomspace(6, 60, 10)[1:]])
STRENGTH = np.linspace(0.0, 1.0, 40)


def mixture(support, *parts):
    weights = dist.Categorical(probs=np.array([weight for weight, _ in parts]))
    return dist.MixtureGeneral(weights, [law for _, law in parts], support=support)


def on_epsilon(*modes):
    """Half of HalfNormal(1) and, in equal shares, normal modes (place, sd), as a prior and as its density."""
    share = 0.5 / len(modes)
    parts = [(share, dist.Normal(place, sd)) for place, sd in modes]

    def density(x):
        return 0.5 * stats.halfnorm.pdf(x) + sum(share * stats.norm(place, sd).pdf(x) for place, sd in modes)

    return mixture(dist.constraints.positive, (0.5, dist.HalfNormal(1.0)), *parts), density


def panels(edges, order=10):
    """Gauss-Legendre nodes and weights on the panels between the edges."""
    x, w = np.polynomial.legendre.leggauss(order)
    edges = np.unique(edges)
    length = np.diff(edges)[:, None]
    return edges, (edges[:-1, None] + length * (x + 1) / 2).ravel(), (length * w / 2).ravel()


def twin(counts, delta, density, modes, strength, density_s=None, modes_s=()):
    """log evidence, and the distribution functions of ε and s at the panels' edges, with panels placed by hand."""
    names = ("false_positives", "negatives", "false_negatives", "positives")
    model = MarginalLikelihood(*(getattr(counts, name) for name in names))
    edges, x, w = panels(np.concatenate([EPSILON, *(place + sd * AROUND for place, sd in modes if sd < 0.2)]))
    known = np.full(len(x), delta)
    edges_s, s, w_s = panels(np.clip(np.concatenate([STRENGTH, *(c + sd * AROUND for c, sd in modes_s)]), 0, 1))
    if strength == "free":
        log_likelihood = model.total(x, known, np.tile(s, (len(x), 1)))
        w_s = w_s * (1.0 if density_s is None else density_s(s))
    else:
        w_s = np.ones(1)
        tight = strength == "tight"
        log_likelihood = (
            model.total_tight(x, known)[:, None] if tight else model.total(x, known, np.full((len(x), 1), strength))
        )
    top = log_likelihood.max()
    weight = np.exp(log_likelihood - top) * (w * density(x))[:, None] * w_s
    total = weight.sum()

    def cdf(mass):
        return np.append(0.0, np.cumsum(mass.reshape(-1, 10).sum(axis=1))) / total

    below_s = cdf(weight.sum(axis=0)) if strength == "free" else None
    return top + math.log(total), (edges, cdf(weight.sum(axis=1))), (edges_s, below_s)


def agrees(post, twin_of_it, error=3e-5):
    log_evidence, (edges, below), (edges_s, below_s) = twin_of_it
    assert abs(post.log_evidence - log_evidence) < max(3 * post.diagnostics["relative_error"], 2e-6)
    assert post.diagnostics["relative_error"] < 1e-4
    np.testing.assert_allclose(post.marginals["epsilon"].cdf(edges), below, atol=error)
    if below_s is not None:
        np.testing.assert_allclose(post.marginals["strength"].cdf(edges_s), below_s, atol=error)


# Coordinates ---------------------------------------------------------------------------------------------------------

COORDINATES = [
    Coordinate(0.0, math.inf),
    Coordinate(0.0, 1.0),
    Coordinate(0.0, math.inf, foci=(Focus(2.5, 1e-6, 1.0),)),
    Coordinate(1.0, 4.0, foci=(Focus(0.5, 1e-3, 1.0), Focus(3.0, 1e-4, 0.5))),
    Coordinate(0.0, math.inf, 1e30, (Focus(0.0, 1.0, 1e30),)),
    Coordinate(0.0, math.inf, 2.0, (Focus(0.0, 1e-200, 2.0),)),
]


@pytest.mark.parametrize("coordinate", COORDINATES)
def test_a_coordinate_and_its_inverse(coordinate):
    u = np.linspace(1e-6, 1 - 1e-6, 301)
    x = coordinate.value(u)
    assert (np.diff(x) > 0).all()
    assert coordinate.low <= x[0] < x[-1] <= coordinate.high
    np.testing.assert_allclose(coordinate.inverse(x), u, atol=1e-9)


@pytest.mark.parametrize("coordinate", COORDINATES)
def test_the_rate_is_the_derivative(coordinate):
    u, h = np.linspace(0.01, 0.99, 51), 1e-6
    rise = coordinate.value(u + h) - coordinate.value(u - h)
    np.testing.assert_allclose(np.exp(coordinate.log_rate(u)), rise / (2 * h), rtol=1e-3)


# The mass of the prior -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sd", [1e-1, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("weight", [0.5, 3e-3])
def test_a_mode_is_found_however_narrow(sd, weight):
    prior = mixture(dist.constraints.positive, (1 - weight, dist.HalfNormal(1.0)), (weight, dist.Normal(2.5, sd)))
    axis = axis_of("epsilon", prior)
    assert axis.error < 1e-6
    u = axis.coordinate.inverse(2.5 + sd * np.array([-3.0, 3.0]))
    assert u[1] - u[0] > 0.005


@pytest.mark.parametrize("name", ["epsilon", "strength"])
def test_the_defaults_keep_the_plain_coordinate(name):
    from bayes_dp.bayes import priors

    axis = axis_of(name, priors.prior_of(name))
    assert not axis.coordinate.foci
    assert not axis.modes.places
    assert axis.error < 1e-7


def unnormalised():
    """A normal law cut off at 0 without a new norm."""
    return mixture(dist.constraints.positive, (0.5, dist.HalfNormal(1.0)), (0.5, dist.Normal(0.5, 0.5)))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (on_epsilon((2.5, 1e-14))[0], "integrates to .* and not to 1: a mode is too narrow"),
        (unnormalised(), "integrates to 0.9206.*it is no density"),
        (dist.ImproperUniform(dist.constraints.positive, (), ()), "must live within"),
        (dist.Pareto(1.0, 0.01), "integrates to"),
    ],
)
def test_what_cannot_be_integrated_is_refused(prior, message):
    with pytest.raises(bdp.InputError, match=message) as caught:
        exact(THREE, 0.01, prior_epsilon=prior, strength=0.5)
    assert "\n" not in str(caught.value)


def test_more_narrow_modes_than_can_be_followed_are_refused():
    """They would be passed over, and the posterior be that of the wide part alone."""
    prior, _ = on_epsilon(*((place, 1e-4) for place in np.linspace(0.3, 4.0, 40)))
    with pytest.raises(bdp.InputError, match="more than 32 narrow modes or jumps"):
        axis_of("epsilon", prior)


# Posteriors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sd", [0.1, 0.01, 1e-4, 1e-9])
@pytest.mark.parametrize("counts", [THREE, SINGLE], ids=["three", "single"])
def test_a_narrow_mode_of_epsilon(sd, counts):
    prior, density = on_epsilon((2.5, sd))
    post = exact(counts, 0.01, prior_epsilon=prior, strength=0.5)
    agrees(post, twin(counts, 0.01, density, [(2.5, sd)], 0.5))


@pytest.mark.parametrize("width", [1e-3, 1e-6])
@pytest.mark.parametrize("strength", [0.5, "free"])
def test_a_narrow_uniform_part(width, strength):
    """Its ends are jumps, which a panel can be halved at for ever: the mode is as wide as the part."""
    prior = mixture(dist.constraints.positive, (0.5, dist.HalfNormal(1.0)), (0.5, dist.Uniform(2.0, 2.0 + width)))
    post = exact(SINGLE, 0.01, prior_epsilon=prior, strength=strength)
    wide = exact(SINGLE, 0.01, prior_epsilon=dist.HalfNormal(1.0), strength=strength)
    x = np.linspace(0.0, 10.0, 20_001)
    likelihood = wide.pdf(x) / stats.halfnorm.pdf(x)  # up to a factor
    inside = likelihood[4000] / (likelihood[4000] + np.trapezoid(wide.pdf(x), x))
    below = post.marginals["epsilon"].cdf(np.array([2.0, 2.0 + width / 2, 2.0 + width]))
    np.testing.assert_allclose(np.diff(below), [inside / 2, inside / 2], atol=1e-3)


def test_a_narrow_mode_with_a_free_strength():
    prior, density = on_epsilon((2.5, 0.01))
    agrees(exact(SINGLE, 0.01, prior_epsilon=prior), twin(SINGLE, 0.01, density, [(2.5, 0.01)], "free"))


def test_a_narrow_mode_of_strength():
    prior = mixture(
        dist.constraints.unit_interval, (0.5, dist.Uniform(0.0, 1.0)), (0.5, dist.TruncatedNormal(0.3, 1e-4, low=0.0))
    )
    post = exact(SINGLE, 0.01, prior_strength=prior)
    mode = stats.norm(0.3, 1e-4)
    found = twin(
        SINGLE,
        0.01,
        stats.halfnorm(scale=math.sqrt(10)).pdf,
        [],
        "free",
        lambda s: 0.5 + 0.5 * mode.pdf(s),
        [(0.3, 1e-4)],
    )
    agrees(post, found)


def test_a_mode_far_out_in_the_likelihood_hardly_matters():
    prior, density = on_epsilon((40.0, 1e-3))
    counts = bdp.ErrorCounts([500, 480], 1000, [450, 470], 1000)
    post = exact(counts, 0.0, prior_epsilon=prior, strength=0.9)
    assert post.quantile(0.999) < 1
    agrees(post, twin(counts, 0.0, density, [(40.0, 1e-3)], 0.9))


@pytest.mark.parametrize("a", [0.3, 0.01])
def test_a_strength_that_is_almost_surely_none_or_all(a):
    """Beta(a, a) has most of its mass within 1e-12 of the ends: the twin integrates over its distribution function."""
    post = exact(SINGLE, 0.01, prior_strength=dist.Beta(a, a))
    model = MarginalLikelihood(np.array([1]), np.array([1]), np.array([0]), np.array([1]))
    edges, x, w = panels(EPSILON)
    ends = np.geomspace(1e-9, 0.5, 9)
    _, q, w_q = panels(np.concatenate([[0.0, 1.0], special.betainc(a, a, ends), special.betainc(a, a, 1 - ends)]))
    s = special.betaincinv(a, a, q)
    weight = np.exp(model.total(x, np.full(len(x), 0.01), np.tile(s, (len(x), 1))))
    weight *= (w * stats.halfnorm(scale=math.sqrt(10)).pdf(x))[:, None] * w_q
    below = np.append(0.0, np.cumsum(weight.sum(axis=1).reshape(-1, 10).sum(axis=1))) / weight.sum()
    np.testing.assert_allclose(post.marginals["epsilon"].cdf(edges), below, atol=1e-5)
    assert post.log_evidence == pytest.approx(math.log(weight.sum()), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("sd", [1.0, 0.1, 1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("strength", ["free", 0.5, "tight"])
@pytest.mark.parametrize("trials", [1, 100, 1000])
def test_mixtures_of_three_on_epsilon(sd, strength, trials):
    counts = bdp.ErrorCounts([0, trials // 5], trials, [trials // 2, trials // 3], trials)
    modes = [(1.4, min(sd, 0.1)), (9.0, sd)]
    prior, density = on_epsilon(*modes)
    post = exact(counts, 1e-3, prior_epsilon=prior, strength=strength)
    agrees(post, twin(counts, 1e-3, density, modes, strength))

"""What every registered likelihood answers, the one that CONTRIBUTING.md adds as an example, and a user's own."""

from __future__ import annotations

import html
import itertools
import json
import math
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes import likelihoods
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.gamma_ratios import log_binomial
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS, NAMES
from bayes_dp.bayes.question import ask
from tests.bayes.arviz_contract import works

ROOT = Path(__file__).parents[2]
BUILT_IN, EXAMPLE, OWN = tuple(LIKELIHOODS), "lapses", "mine"
COUNTS = bdp.ErrorCounts([2, 5], [12, 15], [3, 5], [14, 15])
# Of two bases each, so that a model is compiled once for all.
DEGENERATE = {
    "no errors": bdp.ErrorCounts([0, 0], [12, 15], [0, 0], [14, 15]),
    "all errors": bdp.ErrorCounts([12, 15], [12, 15], [14, 15], [14, 15]),
    "always no": bdp.ErrorCounts([0, 0], [12, 15], [14, 15], [14, 15]),
    "one run": bdp.ErrorCounts([0, 1], 1, [1, 0], 1),
    "coins": bdp.ErrorCounts([6, 8], [12, 16], [7, 8], [14, 16]),
    "many runs": bdp.ErrorCounts([0, 40_000], [100_000, 100_000], [1, 60_000], [90_000, 100_000]),
    "one side": bdp.ErrorCounts([0, 3], [1, 100_000], [5, 0], [100_000, 1]),
}
QUICK = {"chains": 2, "draws": 40, "warmup": 20, "progress": False}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # such short chains have not converged


def recipe(heading: str) -> str:
    """The first block of Python under a heading of CONTRIBUTING.md."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.search(r"^( *)```python\n(.*?)^ *```$", section, re.DOTALL | re.MULTILINE)
    assert found is not None
    return textwrap.dedent(found[2])


def _lapses(counts, alpha, beta, lapse):
    """The example as a user would give it."""
    found = 0.0
    for k, n, rate in ((counts.x, counts.n0, alpha), (counts.y, counts.n1, beta)):
        found += log_binomial(k, n, (1 - lapse) * rate + lapse / 2)
    return found


def _draw_lapses(rng, counts, alpha, beta, lapse):
    rates = ((1 - lapse) * rate + lapse / 2 for rate in (alpha, beta))
    return tuple(rng.binomial(n.astype(int), rate) for n, rate in zip((counts.n0, counts.n1), rates, strict=True))


@pytest.fixture(scope="module", params=[*BUILT_IN, EXAMPLE, OWN])
def name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its name; that of the example while there is its file, and its line in the registry."""
    if request.param != EXAMPLE:
        yield request.param
        return
    folder = tmp_path_factory.mktemp("likelihoods")
    (folder / f"{EXAMPLE}.py").write_text(recipe("How to add a likelihood"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likelihoods, "__path__", [*likelihoods.__path__, str(folder)])
        NAMES.append(EXAMPLE)
        try:
            yield EXAMPLE
        finally:
            NAMES.remove(EXAMPLE)
            sys.modules.pop(f"{likelihoods.__name__}.{EXAMPLE}", None)


@pytest.fixture(scope="module")
def law(name: str) -> BaseLikelihood:
    if name == OWN:
        return bdp.Likelihood(OWN, _lapses, {"lapse": "Beta(1, 20)"}, sampler=_draw_lapses, correlated=True)
    return LIKELIHOODS[name]


@pytest.fixture(scope="module")
def given(name: str, law: BaseLikelihood) -> str | BaseLikelihood:
    """What a user gives: the name, if it is registered."""
    return law if name == OWN else name


@pytest.fixture(scope="module")
def by_mhaar(given: str | BaseLikelihood) -> bdp.Posterior:
    return bdp.estimate(COUNTS, 0.01, likelihood=given, method="mhaar", **QUICK)


def test_it_says_who_it_is(name: str, law: BaseLikelihood):
    assert law.name == name
    assert law.assumption.endswith(".")
    if name != OWN:  # two objects of one law are compiled once
        assert law == type(law)()
        assert hash(law) == hash(type(law)())
    with pytest.raises(AttributeError):
        law.name = "other"
    assert set(law.priors) <= set(law.shared)
    assert not set(law.shared) & {"epsilon", "delta", "strength", "alpha", "beta", "places", "errors"}


def test_its_density_sums_to_one(law: BaseLikelihood):
    if law.closed_form:  # whose norm is in the closed form
        return
    numbers = np.arange(41.0)
    x, y = (part.ravel() for part in np.meshgrid(numbers, numbers))
    counts = Counts(x, np.full(x.size, 40.0), y, np.full(x.size, 40.0))
    with jax.enable_x64(True):
        shared = law.start(np.random.default_rng(0), counts)
        assert shared.shape == (len(law.shared),)
        log_g = law.log_density(counts, np.full((x.size, 1), 0.4), np.full((x.size, 1), 0.5), *shared)
    assert np.exp(log_g).sum() == pytest.approx(1, abs=1e-4)


def test_its_draws_have_the_mean_of_its_density(law: BaseLikelihood):
    """Of X, where Y is as many as its rate says."""
    rng, size, n0 = np.random.default_rng(1), 2000, 30
    x = np.arange(n0 + 1.0)
    counts = Counts(x, np.full(x.size, float(n0)), np.full(x.size, 24.0), np.full(x.size, 40.0))
    with jax.enable_x64(True):
        shared = law.start(rng, counts)
        log_g = np.asarray(law.log_density(counts, np.full((x.size, 1), 0.3), np.full((x.size, 1), 0.6), *shared))[:, 0]
        rates = np.full((size, x.size), 0.3), np.full((size, x.size), 0.6)
        new_x, new_y = law.draw(rng, counts, *rates, *(np.full(size, value) for value in shared))
    assert new_x.shape == new_y.shape == (size, x.size)
    if law.closed_form:  # which leaves the binomial coefficients out
        log_g = log_g + np.log([math.comb(n0, int(k)) for k in x])
    assert new_x.mean() == pytest.approx(np.average(x, weights=np.exp(log_g - log_g.max())), abs=0.05)


def test_its_prior_has_a_range(law: BaseLikelihood):
    counts = Counts.of(COUNTS)
    with jax.enable_x64(True):
        assert np.isfinite(law.log_prior(counts, *law.start(np.random.default_rng(0), counts)))
        if law.shared:
            assert law.log_prior(counts, *(2.0 for _ in law.shared)) == -np.inf


def test_draws_of_its_prior_have_the_density_of_it(law: BaseLikelihood):
    """The last parameter given those before it: its distribution function, by sums of the density, is uniform."""
    counts, size = Counts.of(COUNTS), 400
    drawn = law.draw_shared(np.random.default_rng(3), counts, size)
    assert tuple(drawn) == law.shared
    if not law.shared:
        return
    ends = {"tau": (-0.08, 0.08), "rho": (-1.0, 1.0), "lapse": (0.0, 1.0)}[law.shared[-1]]
    grid = np.linspace(*ends, 4001)[1:-1]
    others = list(drawn.values())[:-1]
    with jax.enable_x64(True):
        density = jax.jit(jax.vmap(lambda *values: jax.vmap(lambda last: law.log_prior(counts, *values, last))(grid)))
        mass = (
            np.exp(density(*others)) if others else np.exp([jax.vmap(lambda v: law.log_prior(counts, v))(grid)] * size)
        )
    below = np.where(grid < drawn[law.shared[-1]][:, None], mass, 0).sum(axis=1) / mass.sum(axis=1)
    assert stats.kstest(below, "uniform").pvalue > 1e-3


def test_by_the_exact_method(name: str, given: str | BaseLikelihood, law: BaseLikelihood):
    if not law.closed_form:
        with pytest.raises(bdp.InputError, match=f"not '{name}'"):
            bdp.estimate(COUNTS, 0.01, likelihood=given, method="exact")
        with pytest.raises(bdp.InputError, match=f"strength='tight'.* not for '{name}'"):
            bdp.estimate(COUNTS, 0.01, likelihood=given, strength="tight")
        return
    for strength in ("free", "tight"):
        post = bdp.estimate(COUNTS, 0.01, likelihood=given, strength=strength)
        assert post.provenance.method == "exact"
        assert law.assumption in post.assumptions


def complete(post: bdp.Posterior, law: BaseLikelihood) -> None:
    """The posterior tells of all parameters, of the law, and of both in JSON."""
    assert set(post.marginals) == {"epsilon", "strength", *law.shared}
    assert law.assumption in post.assumptions
    for parameter in law.shared:
        low, high = post.interval(0.9, parameter=parameter)
        assert np.isfinite([low, high]).all()
    found = json.loads(json.dumps(post.to_dict()))
    assert found["provenance"]["settings"]["likelihood"] == law.name
    assert set(law.priors) <= set(found["provenance"]["priors"])


def possible(post: bdp.Posterior) -> None:
    """Draws are numbers of their ranges, and rates are where the draws say."""
    draws, (alpha, beta) = post.draws(50), post.rates(50)
    assert all(np.isfinite(values).all() for values in draws.values())
    assert (draws["epsilon"] >= 0).all()
    epsilon, strength = draws["epsilon"][:, None], draws["strength"][:, None]
    assert bdp.region.contains(alpha, beta, epsilon * (1 + 1e-9) + 1e-12, 0.01).all()
    assert ((strength >= 0) & (strength < 1)).all()


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_counts(law: BaseLikelihood, given: str | BaseLikelihood, case: str):
    if law.closed_form:
        possible(bdp.estimate(DEGENERATE[case], 0.01, likelihood=given))
    possible(bdp.estimate(DEGENERATE[case], 0.01, likelihood=given, method="mhaar", **QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_counts_by_nuts(given: str | BaseLikelihood, case: str):
    possible(bdp.estimate(DEGENERATE[case], 0.01, likelihood=given, method="nuts", **QUICK))


def test_by_mhaar(by_mhaar: bdp.Posterior, law: BaseLikelihood):
    complete(by_mhaar, law)


def test_arviz(by_mhaar: bdp.Posterior, law: BaseLikelihood):
    data = works(by_mhaar, size=100)
    assert set(law.shared) <= set(data.posterior.data_vars)
    assert np.isfinite(data.sample_stats["lp"].values).all()


@pytest.mark.parametrize(
    "name",
    [EXAMPLE, *(pytest.param(one, marks=pytest.mark.slow) for one in (*BUILT_IN, OWN))],  # compiling takes long
    indirect=True,
    scope="module",
)
def test_by_nuts(given: str | BaseLikelihood, law: BaseLikelihood):
    post = bdp.estimate(COUNTS, 0.01, likelihood=given, method="nuts", **QUICK)
    complete(post, law)
    assert post.provenance.settings["target_accept"] == law.target_accept


def test_the_check(by_mhaar: bdp.Posterior, law: BaseLikelihood):
    found = bdp.check(by_mhaar, size=20)
    assert found.likelihood == law.name
    assert np.isfinite(found.elpd_by_base).all()


def test_the_comparison_of_likelihoods(name: str, given: str | BaseLikelihood):
    found = bdp.compare_likelihoods(COUNTS, 0.01, [given], size=20, method="mhaar", **QUICK)
    assert [row["likelihood"] for row in found.rows()] == [name]


def test_the_comparison_of_methods(by_mhaar: bdp.Posterior):
    found = bdp.compare(COUNTS, 0.01, posteriors={"mine": by_mhaar}, names=["katz"])
    row = next(row for row in found.rows if row.method == "mine")
    assert row.lower == pytest.approx(float(by_mhaar.quantile(0.05)))


def test_the_report(name: str, given: str | BaseLikelihood, law: BaseLikelihood):
    found = bdp.report(COUNTS, 0.01, likelihood=given, method="mhaar", **QUICK)
    assert law.assumption in html.unescape(found.html)
    assert json.loads(found.json)["posterior"]["provenance"]["settings"]["likelihood"] == name


def test_of_cross_fed_runs_it_says_whether_it_allows_for_them(law: BaseLikelihood):
    spoilt = bdp.ErrorCounts([2, 5], [12, 15], [3, 5], [14, 15], design="cross_fed")
    assert ("cross-fed" in ask(spoilt, "epsilon", 0.01, likelihood=law).caution()) is not law.correlated


def test_the_command_line_takes_a_name_that_is_registered():
    program = (
        "from bayes_dp.bayes.likelihoods.registry import NAMES; NAMES.append('lapses');"
        " from bayes_dp.cli import main; main(['estimate', '--help'])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "|".join((*BUILT_IN, EXAMPLE)) in re.sub(r"\s+", "", shown)


def test_the_table_of_the_documentation_has_them_all():
    lines = (ROOT / "docs" / "methods" / "method.md").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| `likelihood=` |"))
    rows = [line.split("|") for line in itertools.takewhile(lambda line: line.startswith("|"), lines[start + 2 :])]
    assert [row[1].strip().strip('`"') for row in rows] == list(BUILT_IN)
    letters = {"tau": "τ", "rho": "ρ"}
    for row, law in zip(rows, (LIKELIHOODS[name] for name in BUILT_IN), strict=True):
        assert [letters[parameter] for parameter in law.shared] == re.findall("[τρ]", row[3])

"""What every registered family of trade-off functions answers, and the example of docs/methods/extending.md."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, special

import bayes_dp as bdp
from bayes_dp.bayes import families
from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.registry import FAMILIES, NAMES
from bayes_dp.tradeoff import TradeOff, require_symmetric
from tests.contract.test_recipes import python

ROOT = Path(__file__).parents[2]
BUILT_IN, EXAMPLE = tuple(FAMILIES), "logistic"
COUNTS = bdp.ErrorCounts([2, 5, 3], [12, 15, 20], [3, 5, 10], [14, 15, 20])


def recipe() -> tuple[str, str]:
    """The file and the line."""
    page = (ROOT / "docs" / "methods" / "extending.md").read_text(encoding="utf-8")
    text = page.split("\n### How to add a family\n")[1]
    module, line = re.findall(
        r"^    ```(?:python|text)\n(.*?)^    ```$", text.split("\n## ")[0], re.DOTALL | re.MULTILINE
    )
    return textwrap.dedent(module), textwrap.dedent(line).strip()


@pytest.fixture(scope="module", params=[*BUILT_IN, EXAMPLE])
def name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its name; that of the example while there is its file, and its line in the registry."""
    if request.param != EXAMPLE:
        yield request.param
        return
    module, line = recipe()
    assert line == f'"{EXAMPLE}",'
    folder = tmp_path_factory.mktemp("families")
    (folder / f"{EXAMPLE}.py").write_text(module, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "__path__", [*families.__path__, str(folder)])
        NAMES.append(EXAMPLE)
        try:
            yield EXAMPLE
        finally:
            NAMES.remove(EXAMPLE)
            sys.modules.pop(f"{families.__name__}.{EXAMPLE}", None)


@pytest.fixture(scope="module")
def family(name: str) -> TradeOffFamily:
    return FAMILIES[name]


def test_it_is_called_as_it_is_registered(name: str, family: TradeOffFamily):
    assert family.name == name
    assert family.parameter in bdp.estimate(COUNTS, family=name).marginals


@pytest.mark.parametrize("t", [0.3, 2.0, 6.0])
def test_its_members_are_symmetric_trade_off_functions(family: TradeOffFamily, t: float):
    require_symmetric(TradeOff(lambda alpha: family(alpha, t)))
    alpha = np.linspace(0, 1, 101)
    np.testing.assert_allclose(family(alpha, 0.0), 1 - alpha, atol=1e-12)
    assert np.all(family(alpha, 1.1 * t) <= family(alpha, t) + 1e-12)


def test_its_slopes_and_areas_are_those_of_its_members(family: TradeOffFamily):
    t, logit = np.array([0.3, 2.0, 6.0]), np.linspace(-5, 5, 23)[:, None] + 0.0123
    log_alpha, log_rest = special.log_expit(logit), special.log_expit(-logit)
    step = 1e-5
    slope = (family(special.expit(logit), t - step) - family(special.expit(logit), t + step)) / (2 * step)
    log_beta, log_other, log_slope = family.curve(log_alpha, log_rest, t)
    np.testing.assert_allclose(np.exp(log_slope), slope, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(np.exp(log_beta) + np.exp(log_other), 1.0, rtol=1e-12)

    def area(t: float) -> float:
        places = [float(place) for place in np.ravel(family.kinks(np.array(t)))]
        return 1 - 2 * integrate.quad(lambda a: float(family(a, t)), 0, 1, points=places or None, limit=400)[0]

    for low, high in ((0.0, 0.3), (0.3, 2.0), (2.0, 6.0)):
        grown = area(high) - area(low)
        np.testing.assert_allclose(np.exp(family.log_layer(np.array(low), np.array(high - low))), grown, rtol=1e-6)
        density = integrate.quad(lambda t: float(np.exp(family.log_density(np.array(t)))), low, high)[0]
        np.testing.assert_allclose(density, grown, rtol=1e-6)


def test_its_density_of_scores_is_the_slope_of_a_member(family: TradeOffFamily):
    z = np.linspace(-3, 3, 20) + 0.0123
    for t in (0.5, 3.0):
        step = 1e-6
        slope = (family(special.ndtr(-z) - step, t) - family(special.ndtr(-z) + step, t)) / (2 * step)
        np.testing.assert_allclose(np.exp(family.log_ratio(z, np.array(t))), slope, rtol=1e-4)


def test_its_best_attack_has_the_advantage_of_the_prior(family: TradeOffFamily):
    for epsilon in (0.1, 1.0, 5.0):
        t, alpha = family.by_epsilon(np.array(epsilon)), special.expit(-epsilon)
        assert float(family(alpha, t)) == pytest.approx(alpha, rel=1e-6)


def test_its_privacy_is_that_of_its_members(family: TradeOffFamily):
    for t in (0.5, 3.0):
        member = TradeOff(lambda alpha, t=t: family(alpha, t))
        for delta in (1e-3, 0.1):
            epsilon = float(family.epsilon_at(t, delta))
            assert epsilon == pytest.approx(float(member.epsilon_at(delta)), rel=1e-5, abs=1e-5)
            if epsilon > 0:
                assert float(family.delta_at(t, epsilon)) == pytest.approx(delta, rel=1e-4)


def test_everything_that_takes_a_family_takes_it(name: str):
    post = bdp.estimate(COUNTS, 0.01, family=name)
    assert 0 <= post.interval()[0] < post.interval()[1]
    assert post.draws(10).keys() == post.marginals.keys()
    alpha, beta = post.rates(10)
    assert alpha.shape == beta.shape == (10, 3)
    assert len(bdp.records(post, 1.0)) == 3
    found = bdp.compare_families(COUNTS, 0.01, ["approx", name])
    assert found.posteriors[name].interval() == post.interval()
    assert bdp.plots.epsilon_delta(post) is not None
    assert bdp.plots.families(found) is not None


@pytest.mark.parametrize("method", ["mhaar", "nuts"])
def test_the_samplers_refuse_it_and_say_why(name: str, method: str):
    message = (
        f"family='{name}' is computed by method='exact', not by '{method}': the samplers draw rates from the layer"
    )
    with pytest.raises(bdp.InputError, match=message):
        bdp.estimate(COUNTS, 0.01, family=name, method=method)


def test_the_page_lists_the_families():
    page = (ROOT / "docs" / "methods" / "families.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page.split("| family | θ |")[1].split("\n\n")[0], re.MULTILINE)
    assert listed == list(BUILT_IN)


COMMAND = """
import sys
from bayes_dp import cli
import bayes_dp
assert bayes_dp.__file__.startswith(sys.argv[1])
sys.exit(cli.main(sys.argv[2:]))
"""


def test_the_command_line_lists_it_and_takes_it(tmp_path: Path):
    """In a copy, with its file and its line."""
    shutil.copytree(ROOT / "bayes_dp", tmp_path / "bayes_dp", ignore=shutil.ignore_patterns("__pycache__"))
    module, line = recipe()
    room = tmp_path / "bayes_dp" / "bayes" / "families"
    (room / f"{EXAMPLE}.py").write_text(module, encoding="utf-8")
    registry = room / "registry.py"
    last = f'    "{BUILT_IN[-1]}",\n'
    text = registry.read_text(encoding="utf-8")
    assert text.count(last) == 1
    registry.write_text(text.replace(last, f"{last}    {line}\n"), encoding="utf-8")
    COUNTS.to_csv(tmp_path / "counts.csv")
    asked = ("estimate", str(tmp_path / "counts.csv"), "--family", EXAMPLE)
    said = python(tmp_path, "-c", COMMAND, str(tmp_path), *asked)
    post = bdp.estimate(COUNTS, family=bdp.Family(EXAMPLE, lambda a, t: (1 - a) / (1 - a + a * np.exp(t))))
    assert said.strip() == str(post.summary()).strip()
    refused = python(tmp_path, "-c", COMMAND.replace("sys.exit(", "print("), str(tmp_path), *asked, "--method", "nuts")
    assert refused.strip() == "2"

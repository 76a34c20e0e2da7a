"""Posteriors that are read back from files."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpyro.distributions as dist
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.exact.posterior import exact_delta
from bayes_dp.bayes.families.registry import FAMILIES
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.priors import exact_words, numpyro_law, parse, prior_of
from bayes_dp.bayes.question import ask
from bayes_dp.bayes.sampled import saved_run
from bayes_dp.checks import InputError
from bayes_dp.data.propensity_source import PropensitySource
from tests.cli.conftest import running

COUNTS = bdp.ErrorCounts([10, 3], [100, 50], [20, 7], [100, 50], base=["a", "b"], design="cross_fed")
ASKED: list[dict[str, Any]] = [
    {},
    {"strength": "tight"},
    {"prior_epsilon": "HalfNormal(0.7)", "prior_strength": "Beta(2, 3.1)"},
    {"family": "laplace", "prior_epsilon": "HalfNormal(2)", "strength": 0.1},
    {"family": "gaussian", "prior": "HalfNormal(2)"},
    {"family": "average", "prior_epsilon": "HalfNormal(2)", "strength": 0.5},
]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_was_saved_comes_back(asked: dict[str, Any], tmp_path: Path):
    post = bdp.estimate(COUNTS, 1e-3, **asked)
    post.to_json(tmp_path / "posterior.json")
    for again in (bdp.Posterior.from_json(tmp_path / "posterior.json"), bdp.Posterior.from_dict(post.to_dict(0.5))):
        assert type(again) is type(post)
        assert again.to_dict() == post.to_dict()
        assert str(again) == str(post)
        assert again.counts == COUNTS
        for name, values in post.draws(50, seed=3).items():
            np.testing.assert_array_equal(again.draws(50, seed=3)[name], values)
        assert again.epsilon_at(0.1).interval() == post.epsilon_at(0.1).interval()


@pytest.mark.parametrize(
    "post",
    [
        exact_delta(COUNTS, 1.0, prior_delta="Beta(1, 4)"),
        bdp.estimate(COUNTS, family="gaussian"),
        bdp.estimate(COUNTS, 1e-3, family="gaussian").delta_at(2.0),
    ],
    ids=["delta", "mu", "delta of mu"],
)
def test_other_unknowns_come_back(post: bdp.Posterior):
    again = bdp.Posterior.from_dict(json.loads(json.dumps(post.to_dict())))
    assert again.to_dict() == post.to_dict()


def test_the_file_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    COUNTS.to_csv(tmp_path / "counts.csv")
    arguments = str(tmp_path / "counts.csv"), "--delta", "1e-3", "--json", "--check"
    code, printed, _ = running("estimate")(capsys, *arguments)
    assert code == 0
    (tmp_path / "posterior.json").write_text(printed)
    assert bdp.Posterior.from_json(tmp_path / "posterior.json").interval() == bdp.estimate(COUNTS, 1e-3).interval()


def test_words_of_priors_have_all_digits():
    for prior in (dist.HalfNormal(10**0.5), dist.Gamma(1 / 3, 2 / 3), dist.Uniform(0.1, 1.7), "Beta(1, 4)"):
        made = prior_of("epsilon", prior)
        words = exact_words(made)
        assert words is not None
        assert float(parse(words).log_prob(0.37)) == float(numpyro_law(made).log_prob(0.37))


class HalfNormal(dist.HalfNormal):  # another law by the same name
    pass


@pytest.mark.parametrize("prior", [dist.TruncatedNormal(1.0, 2.0, low=0.0), HalfNormal(2.0)])
def test_what_no_text_says_is_not_saved(prior: Any):
    assert ask(COUNTS, "epsilon", 1e-3, prior=prior).saved() is None
    assert ask(COUNTS, "epsilon", 1e-3).saved() is not None


RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(3, 30)), RNG.normal(1.0, 1.0, (3, 30))
TIED = np.round(SCORES[0]), np.round(SCORES[1])
LABELS = [" =1+1;|", "ä😀"] * 20
MEMBER = np.arange(40) % 2 == 0
SCORE = np.append([np.inf, -np.inf], RNG.normal(size=38) + 2 * MEMBER[2:])
TABLE = bdp.GuessTable(SCORE, MEMBER, RNG.uniform(0.3, 0.7, 40))
OF_CURVES: dict[str, Callable[[], bdp.Posterior]] = {
    "epsilon": lambda: bdp.estimate_curves(SCORES, 0.1, "gaussian", prior="HalfNormal(2)", strength=0.3),
    "mu of ties": lambda: bdp.estimate_curves(TIED, family="gaussian", seed=4),
    "delta": lambda: bdp.estimate_curves(SCORES, 0.1, "laplace", strength=0.5).delta_at(0.5),
    "tight": lambda: bdp.estimate_curves(
        SCORES, 0.1, bdp.subsampled_gaussian(1 / 3), prior="Gamma(2, 1)", strength="tight"
    ),
    "average": lambda: bdp.estimate_curves(SCORES, prior={"laplace": "Gamma(2, 1)"}, strength=0.5),
    "accepted": lambda: bdp.estimate_curves(SCORES, 1e-9, ["laplace", "gaussian"], accept_misfit=True, strength=0.5),
    "one base": lambda: bdp.estimate_curves((SCORES[0][0], SCORES[1][0]), 0.1, "pure", strength=0.5),
}
OF_GUESSES: dict[str, Callable[[], bdp.Posterior]] = {
    "groups": lambda: bdp.estimate_shifted(
        bdp.attacks.call_members(bdp.GuessTable(SCORE, MEMBER, TABLE.propensity, LABELS), 20), strength=0.5
    ),
    "table": lambda: bdp.estimate_shifted(TABLE, 0.01, known=False, prior_epsilon="HalfNormal(2)", seed=3),
    "draws": lambda: bdp.estimate_shifted(
        bdp.attacks.call_members(TABLE, 20, aware=False), draws=RNG.uniform(0.3, 0.7, (20, 40)), strength="tight"
    ),
    "learned": lambda: bdp.estimate_shifted(
        bdp.GuessTable(SCORE, MEMBER, TABLE.propensity, propensity_source="learned"), strength=0.5
    ),
    "other words": lambda: bdp.estimate_shifted(
        bdp.GuessTable(
            SCORE,
            MEMBER,
            TABLE.propensity,
            propensity_source=PropensitySource("rejected", ("a.",), ("w|<b>.",), "No.", {"p": 0.1, "q": math.nan}),
        ),
        strength=0.5,
    ),
}


def test_posteriors_of_curves_and_guesses_come_back():
    for name, made in {**OF_CURVES, **OF_GUESSES}.items():
        post = made()
        text = json.dumps(post.to_dict(), allow_nan=False)
        again = bdp.Posterior.from_dict(json.loads(text))
        assert type(again) is type(post), name
        assert json.dumps(again.to_dict()) == text, name
        assert str(again) == str(post)
        assert (again.warnings, again.provenance) == (post.warnings, post.provenance)
        for parameter, values in post.draws(50, seed=3).items():
            np.testing.assert_array_equal(again.draws(50, seed=3)[parameter], values)
        if name in ("mu of ties", "average", "draws"):
            assert again.epsilon_at(0.2).interval() == post.epsilon_at(0.2).interval()


def test_files_of_curves_and_guesses(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    post = bdp.estimate_shifted(TABLE, strength=0.5)
    post.to_json(tmp_path / "shifted.json", prob=0.5)
    assert bdp.Posterior.from_json(tmp_path / "shifted.json").interval() == post.interval()
    TABLE.to_csv(tmp_path / "scores.csv")
    arguments = str(tmp_path / "scores.csv"), "--delta", "0.01", "--json", "--guesses", "20", "--strength", "0.5"
    code, printed, _ = running("estimate")(capsys, *arguments)
    assert code == 0
    assert json.loads(printed)["asked"] is None  # logs keep what is printed, and it would have all memberships


FEW: dict[str, Any] = {"chains": 2, "draws": 30, "warmup": 30, "seed": 3, "progress": False}
GROUPED = bdp.ErrorCounts([10, 3, 8], [100] * 3, [20, 7, 9], [100] * 3, group=["a", "a", ""])


@pytest.mark.filterwarnings("ignore::bayes_dp.ConvergenceWarning")
@pytest.mark.parametrize(
    "asked",
    [
        {"method": "mhaar", "prior_epsilon": "HalfNormal(2)"},
        {"likelihood": "beta_binomial", "strength": 0.5},
        {"method": "nuts"},
        {"groups": "aggregate", "spread": "HalfNormal(0.2)"},
        {"groups": "aggregate", "spread": 0.1},
    ],
    ids=str,
)
def test_draws_come_back_by_the_same_run(asked: dict[str, Any]):
    post = bdp.estimate(GROUPED, 1e-3, **asked, **FEW)
    content = json.loads(json.dumps(post.to_dict()))
    again = bdp.Posterior.from_dict(content)
    assert type(again) is type(post)
    assert again.to_dict() == post.to_dict()
    for name, values in post.samples.items():
        np.testing.assert_array_equal(again.samples[name], values)
    np.testing.assert_array_equal(again.rates(5), post.rates(5))
    content["asked"]["run"]["settings"]["seed"] = 4
    with pytest.raises(InputError, match=r"of epsilon is .* draws come out the same by the same version on the same"):
        bdp.Posterior.from_dict(content)


@pytest.mark.parametrize("name", ["chains", "draws", "warmup"])
def test_a_file_does_not_ask_for_endless_runs(name: str):
    content = bdp.estimate(GROUPED, 1e-3, method="mhaar", strength=0.5, **FEW | {"draws": 400}).to_dict()
    settings = content["asked"]["run"]["settings"]
    for value, message in ((10**8, "more than 50000000 rates"), (0.5, f"{name} must be a whole number")):
        content["asked"]["run"]["settings"] = settings | {name: value}
        with pytest.raises(InputError, match=message):
            bdp.Posterior.from_dict(content)


class OwnGaussian(type(FAMILIES["gaussian"])):
    pass


@pytest.mark.filterwarnings("ignore::bayes_dp.ConvergenceWarning")
def test_what_is_the_users_own_is_not_read_back():
    table = bdp.attacks.call_members(TABLE, bdp.attacks.Split([10]))
    own = copy.copy(LIKELIHOODS["beta_binomial"])
    for post in (
        bdp.estimate(COUNTS, 1e-3, family=OwnGaussian(), prior="HalfNormal(3)"),
        bdp.estimate(COUNTS, 1e-3, prior_epsilon=dist.TruncatedNormal(1.0, 2.0, low=0.0)),
        bdp.estimate(COUNTS, 1e-3, likelihood=own, **FEW),
        bdp.estimate_curves(SCORES, 0.1, OwnGaussian(), prior="HalfNormal(3)", strength=0.5),
        bdp.estimate_curves(SCORES, 0.1, [OwnGaussian()], prior={"gaussian": "HalfNormal(3)"}, strength=0.5),
        bdp.estimate_shifted(table, strength=0.5),
    ):
        content = post.to_dict()
        assert content["asked"] is None
        for each in (content, {name: value for name, value in content.items() if name != "asked"}):
            with pytest.raises(InputError, match="holds intervals and not what it takes to ask again") as error:
                bdp.Posterior.from_dict(each)
            assert len(str(error.value).splitlines()) == 1


def test_an_interrupted_run_is_not_read_back():
    settings = SimpleNamespace(draws=10)
    assert saved_run("mhaar", settings, 9, likelihood=LIKELIHOODS["binomial"]) is None


def changed(content: Any, *keys: str, to: Any) -> Any:
    return content | {keys[0]: changed(content.get(keys[0]), *keys[1:], to=to)} if keys else to


CONTENT = bdp.estimate(COUNTS, 1e-3).to_dict()


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("format",), "bayes-dp/posterior/2", "is of the format"),
        (("kind",), "estimate", "kind must be one of posterior"),
        (("more",), 1, "'more', which is not known"),
        (("asked", "counts", "positives"), [100, 60], r"the (low|median|high) of epsilon is .* but for the data"),
        (("asked", "counts", "positives"), [100, -1], "positives.1. must be"),
        (("asked", "counts"), {}, "counts|columns|headings|needs"),
        (("asked", "known"), 0.2, r"the (low|median|high) of epsilon is"),
        (("asked", "known"), -1, "known must be"),
        (("asked", "known"), None, "delta must be"),
        (("asked", "priors", "epsilon"), "HalfNormal(scale=9)", r"of epsilon is .* it is"),
        (("asked", "priors", "epsilon"), "__import__('os')", "prior"),
        (("asked", "priors", "epsilon"), 3, "priors must be texts"),
        (("asked", "strength"), "loose", "strength must be"),
        (("asked", "strength"), True, "strength must be"),
        (("asked", "family"), "gauss", "family must be"),
        (("asked", "families"), ["gauss"], "family must be"),
        (("asked", "families"), [], "families must be names"),
        (("asked", "families"), ["approx", "gaussian"], r"of epsilon is .* it is"),
        (("asked", "more"), 3, "'more', which is not known"),
        (("estimates", "epsilon", "high"), 3.0, "the high of epsilon is 3.0, but"),
        (("estimates", "epsilon"), None, "the low of epsilon is None, but"),
        (("estimates", "mu"), {}, "estimates has 'mu', which is not known; it has epsilon, strength"),
        (("provenance", "method"), 3, "method must be"),
    ],
)
def test_what_was_never_written_is_refused(keys: tuple[str, ...], value: Any, message: str):
    with pytest.raises(InputError, match=message) as error:
        bdp.Posterior.from_dict(changed(CONTENT, *keys, to=value))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("content", [None, 3, [], "text", {}])
def test_what_is_no_posterior_is_refused(content: Any):
    with pytest.raises(InputError, match="this is not a posterior"):
        bdp.Posterior.from_dict(content)


CURVES = OF_CURVES["average"]().to_dict()
GUESSES = OF_GUESSES["draws"]().to_dict()
DRAWS = bdp.estimate(COUNTS, 1e-3).to_dict()
DRAWS["asked"] |= {
    "run": {"method": "mhaar", "likelihood": "binomial", "groups": None, "spread": None, "settings": {"draws": 5}}
}
MISSING = object()


@pytest.mark.parametrize(
    ("content", "keys", "value", "message"),
    [
        (CURVES, ("asked", "orders"), MISSING, "has no 'counts'|'members', which is not known"),
        (CURVES, ("asked", "orders", "labels"), ["01"], "base must hold as many values as labels, 1, not 3"),
        (CURVES, ("asked", "orders", "labels"), ["01", "01", "0"], "labels must be texts of at most 5000 letters"),
        (CURVES, ("asked", "orders", "labels"), ["01", "01", "01" * 5000], "labels must be texts of at most 5000"),
        (CURVES, ("asked", "orders", "labels"), ["01", "01", "02"], "labels must be texts"),
        (CURVES, ("asked", "orders", "labels"), ["01"] * 3, "of delta is .* but for the data and priors of the file"),
        (CURVES, ("asked", "orders", "tied"), [0.0, 0.0, math.nan], "tied must be a list of numbers from 0 to 1"),
        (CURVES, ("asked", "orders", "left_out"), 4, "left_out must be at most the number of bases, 3, not 4"),
        (CURVES, ("asked", "orders", "base"), [1, 2, 3], "base must be a list of labels"),
        (CURVES, ("asked", "members"), [], "members must be a list of families"),
        (CURVES, ("asked", "members"), [{"family": "gaussian"}], "a member has no 'priors'"),
        (CURVES, ("asked", "members"), [{"family": "gauss", "priors": {}}], "family must be .* is 'gaussian' meant"),
        (CURVES, ("asked", "members"), [{"family": "subsampled_gaussian(2)", "priors": {}}], "q must lie in"),
        (CURVES, ("asked", "members"), [{"family": "subsampled_gaussian(--)", "priors": {}}], "family must be"),
        (CURVES, ("asked", "members"), CURVES["asked"]["members"][:1] * 2, "members has two of one family"),
        (CURVES, ("asked", "averaged"), False, "averaged must be true for 3 families"),
        (CURVES, ("asked", "known"), None, "asked: known must be"),
        (CURVES, ("asked", "seed"), -1, "seed must be a whole number"),
        (CURVES, ("asked", "seed"), 2**63, "seed must be a whole number"),
        (CURVES, ("parameter",), "strength", "parameter must be epsilon, delta or"),
        (CURVES, ("provenance", "digest"), "0", "digest is '0', which is not that of the data"),
        (CURVES, ("format",), "bayes-dp/shifted/1", "has no 'zero_run'|which is not known"),
        (GUESSES, ("format",), "bayes-dp/shifted/2", "is of the format 'bayes-dp/shifted/2'"),
        (GUESSES, ("asked", "guesses"), [], "guesses must be an object"),
        (GUESSES, ("asked", "guesses", "table"), "score,member\n1,1\n0,0\n", "propensity must be given"),
        (GUESSES, ("asked", "guesses", "table"), "score,member,propensity\n1,1,2\n", "line 2.* not '2'"),
        (GUESSES, ("asked", "guesses", "table"), 3, "table must be a CSV table in one text, not 3"),
        (GUESSES, ("asked", "guesses", "order"), "0 1 40", "order must hold rows from 0 to 39, not '40'"),
        (GUESSES, ("asked", "guesses", "order"), "0 1 -1", "order must hold rows from 0 to 39, not '-1'"),
        (GUESSES, ("asked", "guesses", "order"), "0 1 nan", "order must hold rows from 0 to 39, not 'nan'"),
        (GUESSES, ("asked", "guesses", "order"), "", "order must hold rows"),
        (GUESSES, ("asked", "guesses", "order"), "0 1 1", "order must hold a row at most once"),
        (GUESSES, ("asked", "guesses", "made"), 41, "made at most the 40 rows in order, not .* and 41"),
        (GUESSES, ("asked", "guesses", "lowest"), 21, "lowest must be at most made"),
        (GUESSES, ("asked", "guesses", "made"), 0, "lowest must be at most made|at least one guess"),
        (GUESSES, ("asked", "guesses", "source", "name"), "told", "name must be one of given"),
        (GUESSES, ("asked", "guesses", "source", "more"), 1, "'more', which is not known"),
        (GUESSES, ("asked", "draws"), ["0.5", "0.5 0.5"], "draws must be texts of as many numbers each"),
        (GUESSES, ("asked", "draws"), ["0.5 x"], "draws must be texts of numbers"),
        (GUESSES, ("asked", "draws"), ["0.5 0.5"], r"draws must be of shape \(K, 40\)"),
        (GUESSES, ("asked", "draws"), [" ".join(["nan"] * 40)], "draws"),
        (GUESSES, ("asked", "known"), 1.0, "delta must lie in"),
        (GUESSES, ("parameter",), "e", "parameter must be epsilon"),
        (GUESSES, ("zero_run",), 3, "zero_run must be an object, or null"),
        (DRAWS, ("asked", "run", "method"), "exact", "method must be one of mhaar, nuts"),
        (DRAWS, ("asked", "run", "settings", "draws"), 0, "draws must be a whole number, at least 1"),
        (DRAWS, ("asked", "run", "settings", "counts"), 0, "settings has 'counts', which is not known"),
        (DRAWS, ("asked", "run", "settings", "tau"), 0, "no setting tau"),
        (DRAWS, ("asked", "run", "likelihood"), "normal", "likelihood must be one of"),
        (DRAWS, ("asked", "run", "groups"), "both", "groups must be hierarchical, aggregate or null"),
    ],
)
def test_what_was_never_written_of_other_data_is_refused(
    content: dict[str, Any], keys: tuple[str, ...], value: Any, message: str
):
    if value is MISSING:
        content = content | {keys[0]: {name: each for name, each in content[keys[0]].items() if name != keys[1]}}
    else:
        content = changed(content, *keys, to=value)
    with pytest.raises(InputError, match=message) as error:
        bdp.Posterior.from_dict(content)
    assert len(str(error.value).splitlines()) == 1

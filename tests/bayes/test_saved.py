"""Posteriors that are read back from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpyro.distributions as dist
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.exact.posterior import exact_delta
from bayes_dp.bayes.priors import exact_words, numpyro_law, parse, prior_of
from bayes_dp.bayes.question import ask
from bayes_dp.checks import InputError
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


def test_draws_are_not_read_back():
    content = bdp.estimate(COUNTS, 1e-3, family=bdp.subsampled_gaussian(0.1), prior="HalfNormal(3)").to_dict()
    with pytest.raises(InputError, match="holds intervals and not what it takes to ask again"):
        bdp.Posterior.from_dict(content)
    del content["asked"]  # as files were written before
    with pytest.raises(InputError, match="holds intervals and not what it takes to ask again"):
        bdp.Posterior.from_dict(content)


def test_other_data_are_in_no_file():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, 20)), rng.normal(1.0, 1.0, (2, 20))
    table = bdp.GuessTable(np.arange(40.0), np.arange(40) % 2 == 0, 0.5)
    for post, words in (
        (
            bdp.estimate_curves(scores, 0.1, family="gaussian"),
            "the scores are in no file; give bayes_dp.estimate_curves the scores",
        ),
        (bdp.estimate_curves(scores, 0.1), "the scores are in no file"),
        (bdp.estimate_shifted(table), "the guesses are in no file; give bayes_dp.estimate_shifted"),
    ):
        with pytest.raises(InputError, match=words):
            bdp.Posterior.from_dict(post.to_dict())


def changed(content: Any, *keys: str, to: Any) -> Any:
    return content | {keys[0]: changed(content.get(keys[0]), *keys[1:], to=to)} if keys else to


CONTENT = bdp.estimate(COUNTS, 1e-3).to_dict()


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("format",), "bayes-dp/posterior/2", "is of the format"),
        (("kind",), "estimate", "kind must be one of posterior"),
        (("more",), 1, "'more', which is not known"),
        (("asked", "counts", "positives"), [100, 60], r"the (low|median|high) of epsilon is .* but for the counts"),
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

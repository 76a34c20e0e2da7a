"""The numbers of a report are those of the functions that it calls, and its statements fit the counts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.convergence import ConvergenceWarning
from bayes_dp.bayes.estimate import Estimates
from bayes_dp.bayes.exact.posterior import ExactPosterior
from bayes_dp.bayes.priors import describe, parse
from bayes_dp.checks import InputError
from bayes_dp.reporting.document import Figure, Items, Paragraph, ReportTable
from bayes_dp.reporting.repetition import repetition
from bayes_dp.reporting.sensitivity import reweighted, weighted_quantiles
from bayes_dp.tradeoff import approx_dp


def tables(report: bdp.Report) -> dict[str, ReportTable]:
    pieces = (piece for section in report.document.sections for piece in section.pieces)
    return {piece.name: piece for piece in pieces if isinstance(piece, ReportTable)}


def lead(report: bdp.Report) -> str:
    return next(p.text for p in report.document.sections[0].pieces if isinstance(p, Paragraph) and p.tone == "lead")


def points(report: bdp.Report) -> str:
    return " ".join(e for p in report.document.sections[0].pieces if isinstance(p, Items) for e in p.entries)


def test_the_numbers_are_those_of_the_functions(hostile, counts):
    found = hostile.to_dict()
    post = bdp.estimate(counts, 1e-3)
    assert found["posterior"] == post.to_dict(0.9)
    assert found["comparison"] == bdp.compare(counts, 1e-3, 0.95).to_dict()
    assert found["model_check"] == bdp.check(post, seed=0).to_dict()
    assert found["data"] == counts.to_dict() | {"digest": counts.digest()}
    assert found["question"] == {"delta": 1e-3, "prob": 0.9, "seed": 0}
    changes = {
        "prior of ε: HalfNormal(1)": {"prior_epsilon": "HalfNormal(1)"},
        "prior of ε: HalfNormal(5)": {"prior_epsilon": "HalfNormal(5)"},
        "prior of ε: HalfNormal(10)": {"prior_epsilon": "HalfNormal(10)"},
        "prior of s: Beta(1, 4)": {"prior_strength": "Beta(1, 4)"},
        "prior of s: Beta(4, 1)": {"prior_strength": "Beta(4, 1)"},
        "strength: 0": {"strength": 0},
        "strength: 0.5": {"strength": 0.5},
        "strength: tight": {"strength": "tight"},
    }
    assert [row["change"] for row in found["sensitivity"]] == list(changes)
    for row, options in zip(found["sensitivity"], changes.values(), strict=True):
        other = bdp.estimate(counts, 1e-3, **options)
        assert (row["low"], row["median"], row["high"]) == (*other.interval(0.9)[:1], other.median, other.interval()[1])


@pytest.mark.parametrize(
    ("options", "distinct"),
    [
        ({}, 9),
        ({"seed": 3, "method": "exact", "limit": 2.0}, 9),
        ({"strength": "tight", "prior_epsilon": "Gamma(2, 1)"}, 8),
    ],
)
def test_every_posterior_is_computed_once(monkeypatch, options, distinct):
    asked, digests = [], []
    make, sha256 = ExactPosterior.__init__, hashlib.sha256
    monkeypatch.setattr(ExactPosterior, "__init__", lambda self, *a: asked.append(a[0]) or make(self, *a))
    monkeypatch.setattr(hashlib, "sha256", lambda content=b"", **k: digests.append(content) or sha256(content, **k))
    found = bdp.report(bdp.ErrorCounts(2, 40, 9, 40), 1e-3, **options)
    assert all([found.html, found.markdown, found.json])
    questions = {(a.strength, *(describe(prior) for prior in a.priors.values())) for a in asked}
    assert len(asked) == len(questions) == distinct
    assert len([content for content in digests if content == b"repeated None\n"]) == 1


def test_what_was_asked_before_is_not_computed_again(counts):
    ask = Estimates()
    first = ask(counts, 1e-3, strength=0.5)
    assert ask(counts, 1e-3, strength=0.5, likelihood="binomial", method="exact", seed=4) is first
    others = [
        ask(counts[:2], 1e-3, strength=0.5),
        ask(counts, 1e-2, strength=0.5),
        ask(counts, 1e-3, strength=0.25),
        ask(counts, 1e-3, strength=0.5, prior_epsilon="HalfNormal(1)"),
    ]
    assert len({id(post) for post in (first, *others)}) == 5
    for wrong in ({"strength": 0.5, "chains": 2}, {"strength": False}):
        with pytest.raises(InputError):
            ask(counts, 1e-3, **wrong)


def test_the_text_says_these_numbers(hostile, counts):
    low, high = hostile.posterior.interval(0.9)
    first, last = hostile.posterior.gaussian(0.9)
    assert lead(hostile).startswith(
        f"With 90% probability, ε is between {low:.3g} and {high:.3g}, at δ = 0.001; were the noise Gaussian, between"
        f" {first:.3g} and {last:.3g}."
    )
    bound = bdp.audits.clopper_pearson(counts, 1e-3, confidence=0.95).value
    assert f"rule out an ε below {bound:.3g} with confidence 95% (clopper-pearson)" in points(hostile)
    assert f"That an ε between {bound:.3g} and {low:.3g} is improbable holds only under" in points(hostile)
    found = tables(hostile)
    for cells, epsilon in zip(found["meaning"].rows, (low, hostile.posterior.median, high, bound), strict=True):
        expected = [f"{100 * (1 - float(approx_dp(rate, epsilon, 1e-3))):.3g}%" for rate in (0.001, 0.01, 0.1)]
        assert list(cells[1:4]) == expected
    assert [row[1:] for row in found["bases"].rows] == [
        ("40 of 100", "30 of 100"), ("12 of 90", "60 of 100"), ("7 of 100", "80 of 100"), ("30 of 100", "45 of 100"),
        ("5 of 100", "90 of 100"),
    ]  # fmt: skip
    assert [row[0] for row in found["comparison"].rows] == [
        row.method for row in hostile.findings.comparison.rows if row.kind != "refused"
    ]
    text = hostile.markdown
    for row in hostile.findings.comparison.rows:
        assert row.method in text
    assert "94 of these" not in text
    assert "Of 490 runs without the example in question, 94 were wrongly taken for runs with it (19.2%," in text


def test_the_two_readings_of_the_counts_stand_once_in_the_summary(hostile):
    pieces = hostile.document.sections[0].pieces
    said = " ".join([*(p.text for p in pieces if isinstance(p, Paragraph)), points(hostile)])
    first, last = hostile.posterior.gaussian(0.9)
    for sentence in (
        f"were the noise Gaussian, between {first:.3g} and {last:.3g}.",
        "Gaussian noise allows no such attack.",
        hostile.posterior.told,
    ):
        assert said.count(sentence) == 1
    assert f"{last:.4g}" == f"{last:.3g}" or f"{last:.4g}" not in said  # as the summary of the posterior says it
    assert [p.tone for p in pieces if isinstance(p, Paragraph) and "no such attack" in p.text] == ["warning"]


def test_every_assumption_is_told(hostile, sampled):
    for report in (hostile, sampled):
        entries = [e for s in report.document.sections for p in s.pieces if isinstance(p, Items) for e in p.entries]
        assert set(report.posterior.assumptions) <= set(entries)
        assert {s for row in report.findings.comparison.rows for s in row.assumptions} <= set(entries)
        assert set(report.findings.check.advice) <= set(entries)


def test_cross_fed_counts_are_not_told_as_if_they_were_independent():
    counts = bdp.datasets.mnist_a4()[:4]
    made = bdp.report(counts, 1e-3, prob=0.8)
    assert lead(made).startswith("Under a model that should not be taken as it stands (see the warnings), ε is between")
    warned = [p.text for p in made.document.sections[0].pieces if isinstance(p, Paragraph) and p.tone == "warning"]
    assert made.posterior.caution in warned
    assert "No lower bound in this report is valid for the way these counts arose" in points(made)
    assert "confidence" not in points(made)


def test_guesses_on_one_model():
    counts = bdp.ErrorCounts(40, 100, 30, 100, design="one_run", examples=300)
    made = bdp.report(counts, 1e-5)
    bound = made.findings.comparison.select("one-run")[0].lower
    assert f"rule out an ε below {bound:.3g} with confidence 95% (one-run)" in points(made)
    assert "by its own fair coin" in points(made)
    assert "There were 300 examples, guessed or not." in made.markdown


def test_a_bound_of_zero_and_one_above_the_interval():
    nothing = bdp.report(bdp.ErrorCounts([48, 50], 100, [51, 52], 100), 1e-3)
    assert "is 0: by themselves the counts rule out no ε at all" in points(nothing)
    # Of one attack that shows much and nine that show nothing, said to be the strongest possible.
    mixed = bdp.ErrorCounts([1, *[50] * 9], 100, [1, *[50] * 9], 100)
    made = bdp.report(mixed, 1e-3, strength="tight")
    low, high = made.posterior.interval(0.9)
    assert made.findings.quoted.lower > high
    assert f"All of the interval from {low:.3g} to {high:.3g} is below that bound." in points(made)
    assert made.findings.check.doubtful
    assert set(made.findings.check.advice) <= set(made.findings.cautions)


def test_other_options(counts):
    made = bdp.report(counts[0], 1e-3, prob=0.8, prior_epsilon="Gamma(2, 1)", strength=0.5)
    post = bdp.estimate(counts[0], 1e-3, prior_epsilon="Gamma(2, 1)", strength=0.5)
    assert made.to_dict()["posterior"] == post.to_dict(0.8)
    changes = [variation.change for variation in made.findings.variations]
    assert "prior of ε: the usual one" in changes
    assert not [change for change in changes if "prior of s" in change or change == "strength: 0.5"]
    usual = bdp.estimate(counts[0], 1e-3, strength=0.5).interval(0.8)
    free = bdp.estimate(counts[0], 1e-3, prior_epsilon="Gamma(2, 1)").interval(0.8)
    by_change = {v.change: (v.low, v.high) for v in made.findings.variations}
    assert by_change["prior of ε: the usual one"] == usual
    assert by_change["strength: free"] == free
    assert made.findings.comparison.confidence == pytest.approx(0.9)
    assert "its strength 0.5" in made.markdown
    (row,) = made.findings.comparison.select("posterior, as above")  # the other posteriors are for other strengths
    assert (row.lower, row.upper) == pytest.approx(post.interval(0.8), rel=1e-12)


def test_many_bases_are_counted_and_the_first_are_listed():
    made = bdp.report(bdp.ErrorCounts([10] * 70, 100, [50] * 70, 100), 1e-3, strength=0.0)
    table = tables(made)["bases"]
    assert len(table.rows) == 60
    assert "The first 60 of 70 are here" in table.caption
    assert len(made.to_dict()["data"]["false_positives"]) == 70


def test_a_sampled_report(sampled):
    rows = {row[0]: row for row in tables(sampled)["chains"].rows}
    assert set(rows) == {"ε", "s"}
    assert rows["ε"][1] == f"{sampled.posterior.diagnostics['rhat']['epsilon']:.4f}"
    for sentence in sampled.posterior.warnings:
        assert sentence in sampled.findings.cautions
    assert sampled.posterior.provenance.settings["seed"] == 3
    names = [getattr(piece, "name", "") for section in sampled.document.sections for piece in section.pieces]
    assert {"trace", "rank", "density", "rates", "forest"} <= set(names)
    assert "strength: free, with independent binomial counts" in [v.change for v in sampled.findings.variations]


def test_reweighted_draws_are_near_the_exact_answer(counts):
    """Draws of an exact posterior, so that the only error is that of reweighting."""
    post = bdp.estimate(counts, 1e-3)
    for parameter, prior in (("epsilon", "HalfNormal(1)"), ("epsilon", "HalfNormal(5)"), ("strength", "Beta(4, 1)")):
        found = reweighted(post, parameter, parse(prior), 0.9, "", "")
        other = bdp.estimate(counts, 1e-3, **{f"prior_{parameter}": prior})
        width = np.diff(other.interval(0.9))[0]
        np.testing.assert_allclose((found.low, found.high), other.interval(0.9), atol=0.05 * width)
        assert found.median == pytest.approx(other.median, abs=0.05 * width)


def test_draws_that_do_not_tell_are_not_asked(counts):
    post = bdp.estimate(counts, 1e-3, prior_epsilon="Uniform(0, 2)")
    assert reweighted(post, "epsilon", parse("HalfNormal(10)"), 0.9, "", "wide").low is None
    weak = bdp.estimate(bdp.ErrorCounts(40, 100, 50, 100), 1e-3)  # its upper tail is that of the prior
    found = reweighted(weak, "epsilon", parse("HalfNormal(10)"), 0.9, "", "wide")
    assert found.low is None
    assert "too few of the draws" in found.meaning


def test_weighted_quantiles_are_those_of_repeated_values():
    rng = np.random.default_rng(1)
    values, times = rng.normal(size=50), rng.integers(0, 6, 50)
    repeated = np.repeat(values, times)
    for p in (0.05, 0.31, 0.5, 0.95):
        expected = np.quantile(repeated, p, method="inverted_cdf")
        assert weighted_quantiles(values, times / times.sum(), (p,)) == [expected]


def test_a_likelihood_that_cannot_be_checked_is_said_so(counts):
    own = bdp.Likelihood("square", lambda c, a, b: -(((c.x / c.n0 - a) ** 2 + (c.y / c.n1 - b) ** 2) * 500))
    settings = {"chains": 2, "draws": 60, "warmup": 100, "progress": False}
    with pytest.warns(ConvergenceWarning):
        made = bdp.report(counts[:2], 1e-3, likelihood=own, source="counts.csv", **settings)
    assert made.findings.check is None
    assert made.findings.unchecked.startswith("The model was not checked: the likelihood square has no sampler")
    assert made.to_dict()["model_check"] is None
    assert "The model was not checked" in made.markdown
    assert "its likelihood is square" in made.markdown
    assert "bayes-dp report counts.csv" not in made.markdown  # no command line has this likelihood


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 1.5}, "delta must lie in"),
        ({"prob": 1.0}, "prob must lie in"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"likelihood": "poisson"}, "likelihood must be one of|method='exact' is for|poisson"),
        ({"title": 3}, "title must be text, not 3"),
        ({"source": 3}, "source must be text, not 3"),
        ({"speed": 3}, "speed"),
    ],
)
def test_bad_input(counts, arguments, message):
    with pytest.raises(InputError, match=message):
        bdp.report(counts, **{"delta": 1e-3} | arguments)


def test_json_is_finite(hostile, sampled):
    for report in (hostile, sampled):
        found = json.loads(report.json, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
        assert found["posterior"]["kind"] == "posterior"
        assert found["data"]["digest"] == report.findings.counts.digest()
    assert "\u202e" not in hostile.to_dict()["title"]


# Guesses on one model with propensities ------------------------------------------------------------------------------


def of_one_model(source="given", base=None, m=400):
    rng = np.random.default_rng(0)
    log_odds = rng.normal(size=m)
    propensity = 1 / (1 + np.exp(-log_odds))
    member = rng.random(m) < propensity
    score = np.where(member, 1.0, -1.0) + 1.5 * rng.normal(size=m) + log_odds
    return bdp.GuessTable(score, member, propensity, base=base, propensity_source=source)


ONE_MODEL = bdp.ErrorCounts(5, 48, 7, 52, design="one_run", examples=400)


def test_the_first_sentence_is_of_the_guesses_with_the_shift_taken_off():
    scores = of_one_model()
    report = bdp.report(ONE_MODEL, 1e-3, scores=scores)
    post = bdp.estimate_shifted(bdp.attacks.call_members(scores, 100), 1e-3)
    (low, high), ends, bound = post.interval(parameter="e"), post.interval(), post.zero_run()
    said = lead(report)
    assert f"e between {low:.3g} and {high:.3g} with 90% probability, at δ = 0.001" in said
    assert f"ε, is believed to be between {ends[0]:.3g} and {ends[1]:.3g}" in said
    assert f"by {bound.value:.3g} from below, with confidence 95%." in said
    assert "should not be taken" not in said
    assert report.to_dict()["shifted"] == json.loads(json.dumps(post.to_dict(0.9))) | {"asked": None}
    assert report.findings.comparison == bdp.compare(ONE_MODEL, 1e-3, scores=scores)
    (row,) = report.findings.comparison.select("zero-run")
    assert report.findings.quoted == row
    assert "by its own propensity" in points(bdp.report(ONE_MODEL, 0.0, scores=scores))
    cells = {row[0]: row[4] for row in tables(report)["shifted"].rows}
    assert cells["e"] == f"{low:.3g} to {high:.3g}"
    names = [
        piece.name for section in report.document.sections for piece in section.pieces if isinstance(piece, Figure)
    ]
    assert "leak" in names
    assert "<svg" in report.html
    assert "scores=scores).save" in report.markdown
    assert scores.digest() in report.markdown


def test_groups_of_guesses_and_learned_propensities_are_in_the_first_sentence():
    labels = np.array(["north", "south"])[np.arange(400) % 2]
    report = bdp.report(ONE_MODEL, 0.0, prob=0.8, scores=of_one_model("learned", labels))
    said = lead(report)
    assert said.startswith("Under propensities that should not be taken as they stand (see the warning)")
    for name in ("e[north]", "e[south]"):
        low, high = report.findings.shifted.interval(0.8, parameter=name)
        assert f"{name} between {low:.3g} and {high:.3g}" in said
    assert "with confidence 90%, which is NOT VALID." in said
    warned = [p.text for p in report.document.sections[0].pieces if isinstance(p, Paragraph) and p.tone == "warning"]
    assert any("were learned" in sentence for sentence in warned)
    rows = tables(report)["comparison"].rows
    assert {"posterior-shifted [north]", "posterior-shifted [south]", "posterior-shifted"} <= {row[0] for row in rows}


@pytest.mark.parametrize(
    ("counts", "scores", "message"),
    [
        (bdp.ErrorCounts(5, 48, 7, 52), of_one_model(), 'scores are of guesses on one model, .* the design "repeated"'),
        (ONE_MODEL, 3, "scores must be a GuessTable with propensities"),
        (ONE_MODEL, bdp.GuessTable([1.0, 0.0], [True, False]), "scores must be a GuessTable with propensities"),
    ],
)
def test_scores_that_no_report_can_be_of(counts, scores, message):
    with pytest.raises(InputError, match=message):
        bdp.report(counts, 1e-3, scores=scores)


def test_scores_of_fewer_examples_than_guesses_leave_the_counts():
    report = bdp.report(ONE_MODEL, 1e-3, scores=of_one_model(m=60))
    assert report.findings.shifted is None
    assert "There are 100 guesses, and scores of only 60 examples." in report.markdown


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (bdp.datasets.strong_attacks(), "Of the two the counts favour Gaussian noise"),
        (bdp.ErrorCounts(10, 100, 20, 100), "The counts do not tell which of the two is right"),
    ],
)
def test_the_first_sentences_say_whether_the_counts_tell_the_family(counts, said):
    report = bdp.report(counts, 1e-3)
    assert said in lead(report)
    cells = {row[0]: row[4] for row in tables(report)["parameters"].rows}
    low, high = report.posterior.gaussian(0.9)
    assert cells["ε, if Gaussian"] == f"{low:.3g} to {high:.3g}"


def test_without_a_finite_gaussian_epsilon_there_is_no_row_of_it():
    report = bdp.report(bdp.ErrorCounts(10, 100, 20, 100), 0.0)
    assert "no finite ε would hold" in lead(report)
    assert "ε, if Gaussian" not in {row[0] for row in tables(report)["parameters"].rows}


# Scores in the place of counts ---------------------------------------------------------------------------------------


def scored(m=500, share=0.5, seed=1):
    rng = np.random.default_rng(seed)
    member = rng.random(m) < share
    return bdp.GuessTable(1.5 * member + rng.normal(size=m), member)


@pytest.fixture(scope="module")
def of_scores():
    return bdp.report(scored(), 1e-3, claim=bdp.Claim(0.2, 1e-3), source="scores.csv")


def test_a_report_of_scores(of_scores):
    table, found = scored(), of_scores.findings
    assert found.comparison == bdp.compare(table, 1e-3, claim=bdp.Claim(0.2, 1e-3))
    assert found.posterior.interval() == bdp.estimate(table, 1e-3).interval()
    assert found.quoted.method == "one-run"
    assert "by its own fair coin" in points(of_scores)
    said = [p.text for p in of_scores.document.sections[0].pieces if isinstance(p, Paragraph) and p.tone == "lead"]
    assert said[0].startswith("The claim ((ε, δ)-DP with ε = 0.2 at δ = 0.001) is")
    low, high = bdp.compare(table, 1e-3, names=["posterior-shifted"]).rows[0].lower, found.shifted.interval()[1]
    assert f"what this attack got out of the model is e between {low:.3g}" in said[1]
    assert f"{high:.3g}" in said[1]
    assert "features" not in said[1]
    curve = table.roc(0.9)
    rows = tables(of_scores)["rates_of_scores"].rows
    for row, fpr in zip(rows[2:], (0.001, 0.01, 0.1), strict=True):
        at = curve.tpr_at(fpr)
        assert row[1] == f"{100 * at.value:.3g}% ({100 * at.low:.3g}% to {100 * at.high:.3g}%)"
    for row, method in zip(rows, ("exact", "delong"), strict=False):
        area = curve.auc(method)
        assert row[1] == f"{area.value:.3g} ({area.low:.3g} to {area.high:.3g})"
    assert "is more" in rows[2][2]  # 0.1% of 250 non-members is less than one
    assert "is more" not in rows[3][2]
    tried = tables(of_scores)["pilot"].rows
    assert [row[0].split(" ")[0] for row in tried] == [str(one.made) for one in found.judged.tried]
    assert sum("taken" in row[0] for row in tried) == 1
    assert "members are as many as a fair coin may give" in of_scores.markdown
    figures = [p.name for s in of_scores.document.sections for p in s.pieces if isinstance(p, Figure)]
    assert {"roc", "score_distribution", "leak", "rates", "forest"} <= set(figures)
    assert "<svg" in of_scores.html
    data = of_scores.to_dict()["scores"]
    assert (data["examples"], data["members"]) == (500, int(table.member.sum()))
    assert data["tpr_at_fpr"]["0.01"]["value"] == curve.tpr_at(0.01).value
    assert "GuessTable.read('scores.csv')" in of_scores.markdown
    assert "bayes-dp report scores.csv --delta 0.001 --prob 0.9" in of_scores.markdown


def test_memberships_that_were_no_fair_coins_are_said_to_be_none():
    report = bdp.report(scored(share=0.2), 1e-3, choice=40)
    text = report.markdown
    assert "The memberships contradict fair coins" in text
    assert "Without fair coins there is the zero-run audit" in text
    assert "No lower bound in this report is valid" in text
    assert report.findings.quoted is None
    assert "How many guesses are made was decided before looking: 40." in text
    assert "pilot" not in tables(report)


@pytest.mark.parametrize(
    ("evidence", "choice", "words", "lines"),
    [
        (scored(), 40, "--guesses 40", "choice=40"),
        (
            scored(),
            bdp.attacks.Split([40, 80]),
            "--guesses 40,80 --choice split",
            "choice=bdp.attacks.Split(numbers=(40",
        ),
        (
            scored(),
            bdp.attacks.Split([40], seed=3),
            None,
            "choice=bdp.attacks.Split(numbers=(40,), fraction=0.5, seed=3",
        ),
        (bdp.attacks.guess(scored(), 40), None, None, "bdp.report(guesses, 0.001"),
    ],
)
def test_how_a_report_of_scores_is_repeated(of_scores, evidence, choice, words, lines):
    found = replace(of_scores.findings, given=evidence, choice=choice)
    codes = repetition(found, None, "s.csv")
    assert lines in codes["python"].text
    assert ("command" in codes) == (words is not None)
    assert words is None or words in codes["command"].text


def test_scores_with_propensities():
    report = bdp.report(of_one_model(), 1e-3, choice=100)
    assert report.findings.quoted.method == "zero-run"
    assert "with what the features tell taken off, is e between" in lead(report)
    assert "members are as many as its propensity may give" in report.markdown
    low, high = bdp.estimate(of_one_model(), 1e-3, choice=100).interval(parameter="e")
    assert f"e between {low:.3g} and {high:.3g}" in lead(report)


def test_what_values_of_epsilon_mean(of_scores):
    found = of_scores.findings
    low, high = found.interval
    rows = {row[0].rpartition(", ")[0]: row for row in tables(of_scores)["meaning"].rows}
    values = {
        "lower end": low, "median": found.posterior.median, "upper end": high,
        "the bound by one-run": found.quoted.lower, "the claim": 0.2,
    }  # fmt: skip
    assert list(rows) == list(values)
    for name, value in values.items():
        odds = np.exp(value)
        most = [min(1e-3 + odds * a, 1 - (1 - 1e-3 - a) / odds) for a in (0.001, 0.01, 0.1)]  # the nearer of two lines
        advantage = (odds - 1 + 2e-3) / (odds + 1)
        assert rows[name][4] == f"{100 * advantage:.3g}%"
        assert rows[name][5] == f"{50 * (1 - advantage):.3g}%"
        assert rows[name][1:4] == tuple(f"{100 * share:.3g}%" for share in most)


def test_scores_of_a_game_after_the_training():
    """Nobody was put into the training by a coin, so that it is not said, and zero-run is no way out."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.1, 0.9, 400)
    labels = (rng.random(400) < p).astype(int)
    proxy = np.column_stack([1 - p, p])
    model = np.where(np.eye(2)[labels] == 1, 0.8, 0.2) * proxy
    game = bdp.games.LabelGame(labels, proxy, model / model.sum(axis=1, keepdims=True))
    made = bdp.report(game.play(seed=1), 1e-3)
    assert "was shown a draw in its place" in made.markdown
    for wrong in ("example was in the training data. ", "the zero-run audit, which needs"):
        assert wrong not in made.markdown
    assert "| attacks | 1 base, " in made.model_card

"""The table of all methods, and the contract that every registered method keeps."""

import functools
import html.parser
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.audits.registry import INDEX, audits
from bayes_dp.comparison import compare as comparison
from bayes_dp.comparison.compare import Comparison, ComparisonRow, Method, compare, methods, register

REPEATED = bdp.ErrorCounts([10, 40, 25], 100, [20, 45, 30], 100, base=["a", "b", "c"])
CROSSED = bdp.ErrorCounts([10, 40, 25], 100, [20, 45, 30], 100, design="cross_fed")
ONE_RUN = bdp.ErrorCounts([20], 100, [30], 100, design="one_run", examples=1000)
DATA = {"repeated": REPEATED, "cross_fed": CROSSED, "one_run": ONE_RUN}
BASELINE = bdp.ErrorCounts([45], 100, [50], 100, design="one_run", examples=1000)


def scores(shift=1.0):
    rng = np.random.default_rng(0)
    logit = shift * rng.normal(size=1000)
    member = rng.random(1000) < 1 / (1 + np.exp(-logit))
    return bdp.GuessTable(member + 0.3 * rng.normal(size=1000), member, 1 / (1 + np.exp(-logit)))


SCORES = scores()
WAYS = {
    "alone": {},
    "with overlap": {"overlap": 0.4},
    "with baseline": {"baseline": BASELINE},
    "with scores": {"scores": SCORES},
}


def table(design, delta=1e-3, confidence=0.95, **others):
    return compare(DATA[design], delta, confidence, **{"per_base": True} | others)


# The contract of every method ----------------------------------------------------------------------------------------


def needs(name):
    needed = audits()[name].needs if name in INDEX else ("scores",) if name == "posterior-shifted" else ()
    return {key: value for key, value in {"overlap": 0.4, "scores": SCORES}.items() if key in needed}


def answered(design, name, delta=1e-3, confidence=0.95):
    rows = compare(DATA[design], delta, confidence, names=[name], per_base=True, **needs(name)).rows
    return {(row.base, row.parameter): row for row in rows if row.kind != "refused"}


cases = [(design, name) for design in DATA for name in methods()]


@pytest.mark.parametrize(("design", "name"), cases)
def test_types(design, name):
    for row in table(design, names=[name], **needs(name)).rows:
        assert row.method == name
        assert isinstance(row.valid, bool)
        assert row.kind in ("posterior", "lower_bound", "estimate", "refused")
        for value in (row.value, row.lower, row.upper, row.level):
            assert value is None or (type(value) is float and math.isfinite(value))
        if row.kind == "refused":
            assert row.reason
            assert (row.value, row.lower, row.upper, row.valid) == (None, None, None, False)
        else:
            assert row.assumptions
            assert all(sentence.endswith(".") for sentence in row.assumptions)
            assert row.valid or row.reason
            assert row.value >= 0
            assert row.lower is None or 0 <= row.lower <= row.value
            assert row.upper is None or row.upper >= row.value


@pytest.mark.parametrize(("design", "name"), cases)
def test_row_order_does_not_matter(design, name):
    counts = DATA[design]
    order = np.arange(len(counts))[::-1]
    one, other = (compare(c, 1e-3, names=[name], per_base=True, **needs(name)) for c in (counts, counts[order]))
    labels = {str(i): str(j) for i, j in enumerate(order)} if counts.base is None else {}
    by_base = {(row.base, row.parameter): row for row in other.rows}
    for row in one.rows:
        again = by_base[labels.get(row.base, row.base), row.parameter]
        assert (again.kind, again.valid, again.assumptions) == (row.kind, row.valid, row.assumptions)
        for end in ("value", "lower", "upper"):
            value = getattr(row, end)
            assert getattr(again, end) == (None if value is None else pytest.approx(value, rel=1e-6))


@pytest.mark.parametrize(("design", "name"), cases)
def test_monotone_in_delta_and_confidence(design, name):
    """A posterior need not be monotone in δ: near chance the layer's shape changes with δ, by very little."""
    slack = 5e-3 if name.startswith("posterior") else 1e-9
    for changes in (
        [{"delta": d} for d in (1e-6, 1e-3, 0.05, 0.3)],
        [{"confidence": c} for c in (0.8, 0.95, 0.999)],
    ):
        found = [answered(design, name, **change) for change in changes]
        for base in found[0]:
            ends = [rows[base].lower for rows in found]
            if None not in ends:
                assert (np.diff(ends) <= slack).all(), (base, ends)


@pytest.mark.parametrize("design", DATA)
@pytest.mark.parametrize("way", WAYS)
def test_json_round_trip(design, way, tmp_path):
    if way != "alone" and design != "one_run":
        pytest.skip("is for guesses on one model")
    found = table(design, **WAYS[way])
    found.to_json(tmp_path / "found.json")
    assert Comparison.from_json(tmp_path / "found.json") == found
    assert Comparison.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


# Which methods apply -------------------------------------------------------------------------------------------------


COINS = {name for name, audit in audits().items() if "coins" in audit.needs}


def test_designs():
    intervals = {name for name, audit in audits().items() if "counts" in audit.needs}
    guesses = set(INDEX) - intervals
    assert {"joint-beta", "clopper-pearson", "jeffreys", "katz", "accuracy"} <= intervals
    assert {"one-run", "one-run-exact", "f-dp-gaussian", "f-dp-laplace", "panoramia"} <= COINS
    assert guesses - COINS >= {"zero-run-compositional", "zero-run", "zero-run-gaussian"}
    shifted = {"posterior-shifted"}
    for design, refused in (
        ("repeated", guesses | shifted),
        ("cross_fed", guesses | shifted),
        ("one_run", intervals),
    ):
        found = table(design, overlap=0.5, scores=scores(0.0))
        assert {row.method for row in found.rows if row.kind == "refused"} == refused
        for name in refused:
            (row,) = found.select(name)
            assert f'not for the design "{design}"' in row.reason
    found = table("one_run", scores=SCORES)  # with propensities that are no fair coins
    for name in ("posterior", "posterior-tight", "posterior-gaussian"):
        assert "posterior-shifted in its place" in found.select(name)[0].reason
    rows = [row for row in table("repeated").rows if "below a valid lower bound" not in row.reason]
    assert all(row.valid == (row.method not in ("jeffreys", "katz")) for row in rows if row.kind != "refused")
    crossed = [row for row in table("cross_fed").rows if row.kind != "refused"]
    assert crossed
    assert not any(row.valid for row in crossed)
    assert all("correlated" in row.reason for row in crossed)


def test_what_else_a_method_needs():
    (row,) = table("one_run").select("zero-run-compositional")
    assert row.reason == "No overlap of the propensities was given."
    for name in ("zero-run", "zero-run-gaussian", "posterior-shifted"):
        (row,) = table("one_run").select(name)
        assert row.reason == "No scores with propensities were given."
    for name in ("f-dp-gaussian", "zero-run-gaussian"):
        (row,) = table("one_run", delta=0.0, scores=SCORES).select(name)
        assert "no finite" in row.reason
    unequal = bdp.ErrorCounts([1, 2], [10, 20], [1, 2], [10, 30])
    rows = compare(unequal, 0.0, names=["accuracy"], per_base=True).rows
    assert [row.kind for row in rows] == ["lower_bound", "refused", "refused"]
    (row,) = table("one_run", baseline=BASELINE).select("panoramia")
    assert row.kind == "estimate"
    assert (row.lower, row.level, row.valid) == (None, None, False)
    assert "bounds nothing" in row.reason
    for given in ({"overlap": 0.4}, {"scores": SCORES}):
        for row in table("one_run", **given).rows:
            assert ("no fair coins" in row.reason) == (row.method in COINS)
    assert table("one_run", scores=scores(0.0)).select("one-run")[0].valid
    assert table("one_run").select("panoramia")[0].kind == "lower_bound"


def test_the_numbers_are_those_of_the_methods():
    found = table("repeated")
    assert {row.base for row in found.rows} == {"a", "b", "c", "all"}
    post = bdp.estimate(REPEATED, 1e-3)
    (row,) = found.select("posterior", "all")
    assert (row.lower, row.upper) == post.interval(0.9)
    assert row.level == pytest.approx(0.9)
    for name, bound in (("clopper-pearson", bdp.audits.clopper_pearson), ("accuracy", bdp.audits.accuracy)):
        assert found.select(name, "all")[0].value == bound(REPEATED, 1e-3).value
        assert found.select(name, "b")[0].value == bound(REPEATED[1], 1e-3).value
    joint = bdp.audits.joint_beta(REPEATED[2], 1e-3, confidence=0.9)
    assert found.select("joint-beta", "c")[0].lower == pytest.approx(joint.value)
    guesses = bdp.Guesses.from_counts(ONE_RUN)
    one = table("one_run")
    assert one.select("one-run")[0].value == bdp.audits.one_run(guesses, 1e-3).value
    assert one.select("f-dp-gaussian")[0].value == bdp.audits.f_dp(guesses, delta=1e-3).value
    assert one.select("panoramia")[0].value == bdp.audits.panoramia(ONE_RUN, delta=1e-3).value
    shifted = table("one_run", overlap=0.4).select("zero-run-compositional")[0]
    assert shifted.value == bdp.audits.compositional(guesses, 1e-3, overlap=0.4).value
    found = table("one_run", scores=SCORES)
    assert found.select("zero-run")[0].value == bdp.audits.zero_run(SCORES, 1e-3).value > 0
    gaussian = bdp.audits.zero_run(SCORES, 1e-3, family="gaussian").value
    assert found.select("zero-run-gaussian")[0].value == gaussian > 0


def test_priors_reach_the_posteriors():
    """Both the free and the Gaussian one; attacks that are all the strongest have no prior of their strength."""
    priors = {"prior_epsilon": "HalfNormal(0.5)", "prior_strength": "Beta(8, 2)"}
    found = table("repeated", per_base=False, names=["posterior", "posterior-tight", "posterior-gaussian"], **priors)
    for name, options in {
        "posterior": priors,
        "posterior-tight": {"prior_epsilon": "HalfNormal(0.5)", "strength": "tight"},
        "posterior-gaussian": priors | {"family": "gaussian"},
    }.items():
        row = found.select(name)[0]
        assert (row.lower, row.upper) == bdp.estimate(REPEATED, 1e-3, **options).interval(0.9), name


def test_what_a_posterior_says_against_itself_is_its_reason_and_said_once():
    post = bdp.estimate(CROSSED, 1e-3)
    post.warnings = ("The chains disagree on epsilon.",)
    row = table("cross_fed", names=["katz"], posteriors={"mine": post}).select("mine")[0]
    assert not row.valid
    assert row.reason == f"{post.caution} The chains disagree on epsilon."
    assert not any("disagree" in note for note in row.notes)


def test_the_first_posterior_is_judged_with_the_probability_of_the_table():
    narrow, wide = bdp.estimate(REPEATED, 1e-3, prior_epsilon="HalfNormal(0.5)"), bdp.estimate(REPEATED, 1e-3)
    given = {"narrow": narrow, "wide": wide}
    found = compare(REPEATED, 1e-3, 0.99, names=["katz"], posteriors=given, limit=0.01).gate
    assert found.prob == pytest.approx(0.98)
    assert found.upper == narrow.interval(found.prob)[1] < wide.interval(found.prob)[1]


def test_without_the_bases():
    found = table("repeated", per_base=False)
    assert {row.base for row in found.rows} == {"all"}
    assert "single bases" in found.select("joint-beta")[0].reason
    alone = compare(REPEATED[0], 1e-3)
    assert {row.base for row in alone.rows} == {"all"}
    assert alone.select("joint-beta")[0].kind == "posterior"


def test_further_posteriors():
    laid = {"mine": bdp.estimate(CROSSED, 1e-3, likelihood="bivariate_normal", progress=False)}
    found = table("cross_fed", posteriors=laid)
    (row,) = found.select("mine")
    assert found.rows[-1] is row
    assert (row.base, row.kind) == ("all", "posterior")
    assert (row.lower, row.upper) == pytest.approx(laid["mine"].interval(0.9), rel=1e-12)
    assert row.assumptions == laid["mine"].assumptions
    exact = bdp.estimate(CROSSED, 1e-3)
    for name, post, message in (
        (1, exact, "the names of posteriors must be text, not 1"),
        ("mine", 3, r"posteriors\['mine'\] must be a posterior, not int"),
        ("katz", exact, r"posteriors\['katz'\] has the name of a method"),
        ("mine", exact.epsilon_at(1e-2), "is of epsilon at delta = 0.01, not of epsilon at 0.001"),
        ("mine", exact.delta_at(1.0), "is of delta at epsilon = 1, not"),
        ("mine", bdp.estimate(CROSSED[0], 1e-3), "is that of other counts"),
    ):
        with pytest.raises(bdp.InputError, match=message):
            table("cross_fed", posteriors={name: post})


# Guesses with propensities -------------------------------------------------------------------------------------------


def shifted_rows(found):
    return {row.parameter: row for row in found.select("posterior-shifted")}


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_posterior_under_shift_takes_the_place_of_those_of_counts(delta):
    """Of as many guesses as the counts hold: 200."""
    alone, beside = table("one_run", delta), table("one_run", delta, scores=SCORES)
    assert not alone.select("posterior")[0].valid
    for name in ("posterior", "posterior-tight", "posterior-gaussian"):
        assert beside.select(name)[0].kind == "refused"
    rows = shifted_rows(beside)
    post = bdp.estimate_shifted(bdp.attacks.call_members(SCORES, 200), delta)
    assert list(rows) == ["e", "epsilon"]  # what the attack got out comes first
    for name, row in rows.items():
        assert (row.lower, row.upper) == post.interval(0.9, parameter=name)
        assert (row.base, row.kind, row.valid, row.level) == ("all", "posterior", True, pytest.approx(0.9))
        assert row.assumptions == post.assumptions
        assert any(f"{post.question.right.sum()} are right" in note for note in row.notes)
        assert any(post.zero_run().statement() in note for note in row.notes)
    assert any("no interval with equal tails" in note.lower() for note in rows["e"].notes)
    assert post.high_end() in rows["epsilon"].notes
    assert "e: " in str(beside)
    assert "e: " in beside.to_html()
    again = Comparison.from_dict(json.loads(json.dumps(beside.to_dict(), allow_nan=False)))
    assert again == beside
    assert set(beside.to_frame()["parameter"]) == {"e", "epsilon"}


def test_the_other_confidence_is_that_of_both_sentences():
    (e, _) = table("one_run", confidence=0.8, names=["posterior-shifted"], scores=SCORES).rows
    post = bdp.estimate_shifted(bdp.attacks.call_members(SCORES, 200), 1e-3)
    assert (e.lower, e.upper) == post.interval(0.6, parameter="e")
    assert any("with confidence 80%" in note for note in e.notes)


def test_groups_of_guesses_have_rows_of_their_own():
    labels = np.array(["north", "south"])[np.arange(1000) % 2]
    split = bdp.GuessTable(SCORES.score, SCORES.member, SCORES.propensity, base=labels)
    rows = table("one_run", scores=split).select("posterior-shifted")
    assert sorted((row.base, row.parameter) for row in rows) == [("all", "epsilon"), ("north", "e"), ("south", "e")]


def test_what_the_posterior_under_shift_cannot_take_is_told_in_its_row():
    few = SCORES[np.arange(150)]
    (row,) = table("one_run", scores=few).select("posterior-shifted")
    assert (row.kind, row.reason) == ("refused", "There are 200 guesses, and scores of only 150 examples.")
    counts = bdp.ErrorCounts(100, 300, 100, 300, design="one_run", examples=1000)
    each = bdp.GuessTable(SCORES.score, SCORES.member, SCORES.propensity, base=[str(i) for i in range(1000)])
    (row,) = compare(counts, 1e-3, scores=each, names=["posterior-shifted"]).rows
    assert row.reason.startswith("guesses must be in at most 200 groups")


def test_learned_propensities_make_it_invalid_as_the_bound():
    learned = bdp.GuessTable(SCORES.score, SCORES.member, SCORES.propensity, propensity_source="learned")
    found = table("one_run", scores=learned)
    assert not found.select("zero-run")[0].valid
    for row in found.select("posterior-shifted"):
        assert not row.valid
        assert "were learned" in row.reason
        assert row.reason not in row.notes
    cautious = bdp.estimate_shifted(bdp.attacks.call_members(learned, 200), 1e-3, known=False)
    found = table("one_run", scores=learned, posteriors={"cautious": cautious})
    assert [row.valid for row in found.select("cautious")] == [True, True]


def test_further_posteriors_of_guesses():
    guesses = bdp.attacks.call_members(SCORES, 300)
    averaged = bdp.estimate_shifted(guesses, 1e-3, draws=[SCORES.propensity] * 20)
    found = table("one_run", scores=SCORES, posteriors={"averaged": averaged}, limit=1.0)
    assert [row.parameter for row in found.select("averaged")] == ["e", "epsilon"]
    assert found.gate.upper == bdp.estimate(ONE_RUN, 1e-3).interval(0.9)[1]  # no gate on guesses under shift
    for others in ({}, {"scores": scores(0.5)}):
        with pytest.raises(bdp.InputError, match="is of guesses of other examples than those of scores"):
            table("one_run", posteriors={"averaged": averaged}, **others)


# Its forms -----------------------------------------------------------------------------------------------------------


def test_text():
    text = str(table("one_run"))
    lines = text.splitlines()
    assert lines[0] == 'Comparison at delta = 0.001, confidence 95%, design "one_run"'
    assert lines[2].split() == ["method", "base", "kind", "epsilon", "level", "valid", "notes"]
    assert any(line.startswith("one-run ") and ">= " in line and "95%" in line for line in lines)
    for row in table("one_run").rows:
        for sentence in (*row.assumptions, row.reason):
            assert sentence in text
    notes = lines[lines.index("Notes") + 1 :]
    assert len(set(notes)) == len(notes)


def test_html_escapes_labels_and_is_well_formed():
    evil = bdp.ErrorCounts([1, 2], 10, [3, 4], 10, base=["<script>x</script>", "a&b"])
    found = compare(evil, 0.0, names=["clopper-pearson"], per_base=True)
    text = found.to_html()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert found._repr_html_() == text
    open_tags = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Parser().feed(text)
    assert open_tags == []


def test_latex_escapes_labels():
    evil = bdp.ErrorCounts([1], 10, [3], 10, base=["a_b & 50% \\x $y$ {z} #"]).concat(
        bdp.ErrorCounts([1], 10, [3], 10, base=["~^<>"])
    )
    text = compare(evil, 0.0, names=["katz"], per_base=True).to_latex()
    assert r"a\_b \& 50\% \textbackslash{}x \$y\$ \{z\} \#" in text
    assert r"\textasciitilde{}\textasciicircum{}$<$$>$" in text
    for design in DATA:
        latex = table(design, overlap=0.4).to_latex()
        assert latex.isascii(), {letter for letter in latex if not letter.isascii()}
        assert latex.count(r"\begin") == latex.count(r"\end") == 2


def test_frame():
    frame = table("repeated").to_frame()
    assert list(frame.columns) == list(ComparisonRow.__dataclass_fields__)
    assert frame["lower"].dtype == float
    assert np.isnan(frame.loc[frame["kind"] == "refused", "value"]).all()


# Faults --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare([1], 0.0), "counts must be ErrorCounts, a GuessTable or Guesses, not list"),
        (lambda: compare(REPEATED, 1.0), r"delta must lie in \[0, 1\)"),
        (lambda: compare(REPEATED, 0.0, 0.5), r"confidence must lie in \(0.5, 1\)"),
        (lambda: compare(REPEATED, 0.0, overlap=0.7), "overlap must lie"),
        (lambda: compare(REPEATED, 0.0, baseline=3), "baseline must be ErrorCounts"),
        (lambda: compare(REPEATED, 0.0, scores=3), "scores must be a GuessTable with propensities"),
        (lambda: compare(REPEATED, 0.0, scores=bdp.GuessTable([1.0], [True])), "scores must be a GuessTable with prop"),
        (
            lambda: compare(REPEATED, 0.0, posteriors=[3]),
            "posteriors must be a mapping from names to posteriors, not list",
        ),
        (lambda: compare(REPEATED, 0.0, names=["katz", "magic"]), "no method 'magic'; the methods are posterior,"),
        (lambda: Comparison.from_dict({"rows": []}), "not a comparison"),
        (lambda: Comparison.from_dict({}), "not a comparison"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(bdp.InputError, match=message):
        call()


@functools.cache
def saved_text():
    return json.dumps(compare(ONE_RUN, 1e-3, names=["posterior", "one-run", "katz"]).to_dict())


def saved(**changes):
    """The dictionary of a comparison with rows of three kinds, with a change of its fields."""
    return json.loads(saved_text()) | changes


def with_row(kind, /, **changes):
    """The same with a change of its first row of a kind."""
    content = saved()
    next(row for row in content["rows"] if row["kind"] == kind).update(changes)
    return content


HUGE = 10**400
CHANGED = [
    3, [], {}, {"rows": []}, saved(schema="bayes-dp comparison 2"), saved(schema=None), saved(more=1), saved(rows={}),
    saved(rows=[1]), saved(delta=True), saved(delta=-1e-9), saved(delta=1.0), saved(delta=HUGE), saved(delta="0"),
    saved(delta=math.nan), saved(confidence=0.5), saved(confidence=1), saved(confidence=None), saved(design="odd"),
    saved(design=["one_run"]), saved(digest="ab"), saved(digest=1), saved(version=1), saved(version="1\n2"),
    with_row("lower_bound", value=-1), with_row("lower_bound", value=True), with_row("lower_bound", lower=HUGE),
    with_row("lower_bound", value=math.inf), with_row("lower_bound", value="1"), with_row("lower_bound", value=[1.0]),
    with_row("lower_bound", level=1.5), with_row("lower_bound", level=math.nan), with_row("lower_bound", upper=-1),
    with_row("lower_bound", kind="bound"), with_row("lower_bound", kind=["posterior"]), with_row("lower_bound", base=1),
    with_row("lower_bound", valid=1), with_row("lower_bound", valid=None), with_row("lower_bound", extra=1),
    with_row("lower_bound", method="a\x1b[2J"), with_row("lower_bound", assumptions="yes"),
    with_row("lower_bound", assumptions=[1]), with_row("lower_bound", valid=False, reason=""),
    with_row("lower_bound", kind="estimate", valid=True), with_row("posterior", lower=7.0, upper=6.0),
    with_row("posterior", value=1e300), with_row("refused", value=1.0), with_row("refused", valid=True),
    with_row("refused", level=0.9), with_row("refused", reason=""),
]  # fmt: skip


@pytest.mark.parametrize("content", CHANGED)
def test_what_is_no_comparison_is_refused_in_a_sentence(tmp_path, content):
    with pytest.raises(bdp.InputError, match="not a comparison") as error:
        Comparison.from_dict(content)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(bdp.InputError, match=r"x\.json.*not a comparison"):
        Comparison.from_json(path)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("missing", [name for name in saved() if name != "format"])  # files of old have none
def test_each_field_is_needed(missing):
    content = saved()
    del content[missing]
    with pytest.raises(bdp.InputError, match=f"has no '{missing}'"):
        Comparison.from_dict(content)


@pytest.mark.parametrize("missing", saved()["rows"][0])
def test_each_field_of_a_row_is_needed(missing):
    content = saved()
    del content["rows"][1][missing]
    with pytest.raises(bdp.InputError, match=rf"rows\[1\] has no '{missing}'"):
        Comparison.from_dict(content)


@pytest.mark.parametrize("text", ["{", "", "[" * 100_000, '{"delta": 0, "delta": 0}', "\0", '{"rows": [' + "9" * 5000])
def test_what_is_no_json_is_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(bdp.InputError, match=r"x\.json"):
        Comparison.from_json(path)


def test_registering_a_method(monkeypatch):
    monkeypatch.setattr(comparison, "_REGISTRY", dict(comparison._REGISTRY))
    register(Method("mine", lambda counts, given: bdp.audits.katz(counts, given.delta), ("repeated",), "why not."))
    assert compare(REPEATED, 0.0).select("mine", "all")[0].value == bdp.audits.katz(REPEATED, 0.0).value
    assert "why not." in compare(ONE_RUN, 0.0).select("mine")[0].reason
    with pytest.raises(bdp.InputError, match="registered already"):
        register(Method("mine", lambda counts, given: None, ("repeated",)))
    with pytest.raises(bdp.InputError, match="designs must be among"):
        register(Method("other", lambda counts, given: None, ("odd",)))


@pytest.mark.parametrize(("counts", "told"), [(REPEATED, False), (bdp.datasets.strong_attacks(), True)])
def test_both_families_say_whether_the_counts_tell_them_apart(counts, told):
    rows = compare(counts, 1e-3, names=["posterior", "posterior-gaussian"]).rows
    post = bdp.estimate(counts, 1e-3)
    assert (abs(post.gaussian_evidence) < 3) != told
    said = "the counts favour Gaussian noise" if told else "The counts do not tell which of the two is right"
    assert [row.method for row in rows if any(said in note for note in row.notes)] == [
        "posterior",
        "posterior-gaussian",
    ]


def test_a_claim_beside_the_methods(tmp_path: Path):
    claim = bdp.Claim(1.0, 1e-3)
    counts = bdp.ErrorCounts(10, 100, 20, 100)
    table = bdp.compare(counts, 1e-3, names=["clopper-pearson"], claim=claim)
    assert table.claim is not None
    assert table.claim.p_value == claim.test(counts).p_value
    assert table.claim.answer in str(table)
    assert "REFUTED" in table.to_latex()
    table.to_json(tmp_path / "table.json")
    assert bdp.Comparison.from_json(tmp_path / "table.json").claim == table.claim
    assert "claim" not in bdp.compare(counts, 1e-3, names=["katz"]).to_dict()  # as in files from before there were any
    assert table.claim.epsilon == 1.0
    smaller = bdp.compare(counts, 1e-2, names=["katz"], claim=claim).claim
    assert smaller is not None
    assert smaller.epsilon == claim.epsilon_at(1e-2)
    with pytest.raises(bdp.InputError, match="claim must be a Claim"):
        bdp.compare(counts, 1e-3, claim=1.0)


def test_a_claim_on_guesses_without_fair_coins():
    counts = bdp.ErrorCounts(10, 100, 10, 100, design="one_run", examples=200)
    coins = bdp.compare(counts, 1e-3, names=["one-run"], claim=bdp.Claim(0.1, 1e-3))
    overlap = bdp.compare(counts, 1e-3, overlap=0.3, names=["one-run"], claim=bdp.Claim(0.1, 1e-3))
    assert coins.claim.method == "one-run-exact"
    assert overlap.claim.rows[0].kind == "bound"
    assert overlap.claim.rows[0].value == overlap_bound(counts, 0.3)


def overlap_bound(counts: bdp.ErrorCounts, overlap: float) -> float:
    return bdp.compare(counts, 1e-3, overlap=overlap, names=["zero-run-compositional"]).bounds()[
        "zero-run-compositional"
    ]


def test_what_does_not_apply_is_one_line():
    found = table("cross_fed")
    lines = str(found).splitlines()
    (folded,) = (line for line in lines if line.startswith("Do not apply: "))
    notes = {int(line.split()[0]): line.split(maxsplit=1)[1] for line in lines if re.match(r" *\d+  ", line)}
    shown = [line.split()[0] for line in lines[4 : lines.index(folded) - 1]]
    assert shown == [row.method for row in found.rows if row.kind != "refused"]
    for row in found.rows:
        if row.kind == "refused":
            part = next(part for part in folded.split("; ") if re.search(rf"(^|[ ,]){row.method}(,| \[)", part))
            assert notes[int(re.findall(r"\[(\d+)\]", part)[0])] == row.reason
    for shape in (found.to_html(), found.to_latex()):
        assert shape.count("Do not apply: ") == 1
    brief = found.brief()
    assert folded in brief
    assert brief.splitlines()[-1] == f"Notes: {len(notes)}, not shown in brief"
    assert "Do not apply" not in str(bdp.compare(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, names=["katz"]))

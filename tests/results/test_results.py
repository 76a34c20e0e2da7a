"""Every kind of result keeps to the contract of results."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import audits, calibrate, leakage, propensity
from bayes_dp.bayes.question import ask
from bayes_dp.bayes.sampled import SampledPosterior
from bayes_dp.data import formats
from bayes_dp.planning.result import PlanRow
from bayes_dp.propensity.checkpoint import Checkpoint
from bayes_dp.results.base import Result, Saved
from bayes_dp.results.posterior import Provenance
from tests.results.contract import HOSTILE, ResultContract, SavedContract

COUNTS = bdp.ErrorCounts([3, 5], [20, 30], [4, 6], [20, 30])
EVIL = bdp.ErrorCounts([3, 5], [20, 30], [4, 6], [20, 30], base=[HOSTILE, "a&b"])
MEMBER = np.arange(60) % 2 == 0
FEATURES = np.random.default_rng(0).normal(size=(60, 2)) + 0.3 * MEMBER[:, None]


@cache
def posterior() -> Any:
    return bdp.estimate(COUNTS, 1e-2)


@cache
def checked() -> Any:
    return bdp.check(posterior(), size=50)


@cache
def learned() -> Any:
    return propensity.fit(FEATURES, MEMBER)


class TestPosterior(ResultContract):
    def made(self):
        return posterior()

    def hostile(self):
        found = bdp.estimate(EVIL, 1e-2, strength=0.5)
        found.assumptions = found.warnings = (HOSTILE,)
        return found


class TestFamilyPosterior(TestPosterior):
    def made(self):
        return bdp.estimate(COUNTS, 1e-2, family="gaussian")

    def hostile(self):
        found = bdp.estimate(EVIL, 1e-2, family="gaussian", strength=0.5)
        found.assumptions = found.warnings = (HOSTILE,)
        return found


class Drawn(SampledPosterior):
    """A posterior by the same draws whatever is asked."""

    diagnostics: Any = {"rhat": {"epsilon": math.nan}}  # noqa: RUF012 - one for all, as it is never changed
    assumptions = warnings = ()

    def __init__(self, question: Any) -> None:
        draws = np.linspace(0.1, 2.0, 40).reshape(2, 20)
        super().__init__(question, {"epsilon": draws}, draws, draws, {})
        self.provenance = question.provenance("drawn", {})

    def _answer(self, question):
        return type(self)(question)


class TestSampledPosterior(TestPosterior):
    def made(self):
        return Drawn(ask(COUNTS, "epsilon", 1e-2))


@cache
def shifted(label: str) -> Any:
    table = bdp.GuessTable(np.arange(60), MEMBER, 0.5, base=[label, "b"] * 30)
    return bdp.estimate_shifted(bdp.attacks.call_members(table, 40))


class TestAveragePosterior(TestPosterior):
    def made(self):
        return bdp.estimate(COUNTS, 1e-2, family="average")


@cache
def curves(label: str, family: str) -> Any:
    rng = np.random.default_rng(0)
    losses = bdp.LossTable(rng.normal(1.0, 1.0, (2, 9)), rng.normal(size=(2, 9)), base=[label, "b"])
    return bdp.estimate_curves(losses, 0.2, family=family)


class TestCurvePosterior(ResultContract):
    family = "pure"

    def made(self):
        return curves("a", self.family)

    def hostile(self):
        found = curves(HOSTILE, self.family)
        found.assumptions = found.warnings = (HOSTILE,)
        return found


class TestCurvesAverage(TestCurvePosterior):
    family = "average"


class TestFamilyComparison(ResultContract):
    def made(self):
        return bdp.compare_families(COUNTS, 1e-2)

    def hostile(self):
        family = bdp.Family(HOSTILE.replace("\n", " "), lambda a, theta: (1 - a) / (1 - a + a * np.exp(theta)))
        return bdp.compare_families(COUNTS, 1e-2, ["gaussian", family])


class TestShiftedPosterior(ResultContract):
    def made(self):
        return shifted("a")

    def hostile(self):
        return shifted(HOSTILE)


class TestLowerBound(SavedContract):
    def made(self):
        return audits.clopper_pearson(COUNTS, 1e-2)

    def hostile(self):
        return replace(self.made(), assumptions=(HOSTILE,), warnings=(HOSTILE,), invalid=HOSTILE)


class TestTwoSided(TestLowerBound):
    def made(self):
        return audits.katz(COUNTS, 1e-2, two_sided=True)


class TestInfinite(TestLowerBound):
    def made(self):
        return replace(super().made(), value=math.inf, details={"rate": math.nan, "rows": [math.inf, 1.5]})


class TestCredibleInterval(TestLowerBound):
    def made(self):
        return audits.joint_beta(COUNTS[0], 1e-2)


class TestEstimate(TestLowerBound):
    def made(self):
        scores = (bdp.GuessTable(values, MEMBER) for values in FEATURES.T)
        return audits.panoramia(*scores)


@cache
def compared() -> Any:
    return bdp.compare(COUNTS, 1e-2, names=["katz", "posterior", "one-run"], limit=50.0, control=False)


class TestComparison(SavedContract):
    def made(self):
        return compared()

    def hostile(self):
        return bdp.compare(EVIL, 1e-2, names=["katz"], per_base=True)


class TestVerdict(SavedContract):
    def made(self):
        return compared().gate

    def hostile(self):
        return replace(self.made(), notes=(HOSTILE,))


class TestModelCheck(SavedContract):
    def made(self):
        return checked()

    def hostile(self):
        return replace(checked(), bases=(HOSTILE, "b"), likelihood=HOSTILE, advice=(HOSTILE,), batches_p=0.5)


class TestLikelihoodComparison(ResultContract):
    def made(self):
        return bdp.LikelihoodComparison({"binomial": posterior()}, {"binomial": checked()})

    def hostile(self):
        return bdp.LikelihoodComparison({HOSTILE: posterior()}, {HOSTILE: checked()})


class TestPropensity(ResultContract):
    def made(self):
        return learned()

    def hostile(self):
        return replace(learned(), assumptions=(HOSTILE,), warnings=(HOSTILE,))


class TestFalsification(SavedContract):
    def made(self):
        return learned().falsification

    def hostile(self):
        found = learned().falsification
        return replace(found, trials=(replace(found.trials[0], guesser=HOSTILE),))


class TestPlan(SavedContract):
    def made(self):
        widths = np.linspace(1, 2, 9)
        rows = tuple(PlanRow("challenges", t, 2, 20 * t, 20.5 * t, widths / t) for t in (1.0, 2.0))
        limit = PlanRow("challenges", math.inf, 2, math.inf, math.inf, widths / 9)
        about = Provenance("plan", "", {"delta": 1e-3}, {"epsilon": "HalfNormal(1)"}, {"seed": 0})
        return bdp.Plan(0.9, 0.9, 0.8, None, "repeated", rows, limit, ("It rests on this.",), (), about)

    def hostile(self):
        return replace(self.made(), assumptions=(HOSTILE,), warnings=(HOSTILE,), limit=None, present=1.5)


class TestMeaning(SavedContract):
    def made(self):
        return bdp.Claim(1.0, 1e-3).meaning()

    def hostile(self):
        (row,) = self.made().rows.values()
        return replace(self.made(), rows={HOSTILE: row})


class TestClaimPlan(SavedContract):
    def made(self):
        return bdp.plan_claim(1.0, 1e-5, 2.0, method="betting")

    def hostile(self):
        return replace(self.made(), runs=None, mean=None, reason=HOSTILE, method=HOSTILE, assumptions=(HOSTILE,))


class TestStudy(SavedContract):
    def made(self):
        row = calibrate.Row("one-run", "coin", 1.0, 100, "Fixed(10)", 0.02, 0.01, 0.8, True, True)
        rows = (row, replace(row, mean_bound=math.inf), replace(row, valid_claim=False, passed=False))
        return calibrate.Study("one-run", 100, 0.05, 3, rows)

    def hostile(self):
        return replace(self.made(), audit=HOSTILE, complete=False)


class TestSensitivity(SavedContract):
    def made(self):
        game = bdp.games.LabelGame([0, 1] * 400, [[0.5, 0.5]] * 800, [[1, -1], [-1, 1]] * 400)
        return audits.sensitivity(lambda tau: audits.observational(game, 0, tau=tau, choice=80, games=3), [0, 0.01])

    def hostile(self):
        bounds = self.made().bounds
        return type(self.made())(tuple(replace(b, assumptions=(HOSTILE,), invalid=HOSTILE) for b in bounds))


class TestProfile(SavedContract):
    def made(self):
        return audits.profile([-math.inf, 0.0, 0.5], [0.2, 1.0, math.inf])

    def hostile(self):
        return replace(self.made(), assumptions=(HOSTILE,), warnings=(HOSTILE,))


class TestClaimTest(SavedContract):
    made_once = staticmethod(cache(lambda: bdp.Claim.dp_sgd(1.1, 0.1, 10, 1e-5).test(COUNTS)))

    def made(self):
        return self.made_once()

    def hostile(self):
        found = bdp.Claim(1.0).test(posterior())
        row = replace(found.rows[0], method=HOSTILE, valid=False, reason=HOSTILE, value=math.inf)
        return replace(found, claim=HOSTILE, rows=(row,), assumptions=(HOSTILE,), outcome="not tested", prob_above=None)


class TestRecords(SavedContract):
    def made(self):
        return bdp.records(bdp.estimate(COUNTS, 1e-2, family="laplace"), 1.0)

    def hostile(self):
        found = bdp.records(bdp.estimate(EVIL, 1e-2, family="laplace"), 1.0)
        return replace(found, family=HOSTILE, assumptions=(HOSTILE,), warnings=(HOSTILE,))


class TestLeakageTable(ResultContract):
    def made(self):
        return leakage.scores(FEATURES)

    def hostile(self):
        return replace(leakage.scores(FEATURES, labels=[HOSTILE] * 60), assumptions=(HOSTILE,), warnings=(HOSTILE,))


@cache
def stepped() -> Any:
    inner = np.random.default_rng(0).normal(size=(5, 60)) + MEMBER
    return bdp.estimate_steps(inner, MEMBER, bdp.Claim.dp_sgd(1.0, 1.0, 5, 1e-5))


class TestStepsPosterior(ResultContract):
    def made(self):
        return stepped()

    def hostile(self):
        return replace(stepped(), assumptions=(HOSTILE,), warnings=(HOSTILE,))


class TestReport(ResultContract):
    made_once = staticmethod(cache(lambda title: bdp.report(COUNTS[0], 1e-2, strength=0.5, title=title)))

    def made(self):
        return self.made_once(None)

    def hostile(self):
        return self.made_once(HOSTILE)


def kinds(cls: type) -> set[type]:
    """The classes below this one that results are made of."""
    below = {each for other in cls.__subclasses__() for each in kinds(other)}
    concrete = not inspect.isabstract(cls) and cls.__module__.startswith("bayes_dp.")
    return below | ({cls} if concrete else set())


def test_every_kind_of_result_has_its_contract():
    classes = [value for value in globals().values() if inspect.isclass(value) and issubclass(value, ResultContract)]
    tested = {type(contract().made()) for contract in classes if not inspect.isabstract(contract)}
    sampled = {cls for cls in kinds(Result) if issubclass(cls, SampledPosterior)}  # which say what `Drawn` says
    assert kinds(Result) - sampled <= tested


def test_the_contract_and_the_documentation_name_every_format():
    pages = Path(__file__).parents[2] / "docs" / "reference"
    contract, page = formats.__doc__ or "", (pages / "saved.md").read_text("utf-8")
    for cls in kinds(Result):
        kind, version = cls.format.split("/")[1:]
        assert version == "1"
        assert kind in contract
        (row,) = (line for line in page.splitlines() if f"| `{cls.format}` |" in line)
        assert (cls.__name__ in row) == issubclass(cls, Saved)


# One kind for another -------------------------------------------------------------------------------------------------


def test_a_bound_is_read_as_what_it_is(tmp_path: Path):
    audits.joint_beta(COUNTS[0], 1e-2).to_json(tmp_path / "bound.json")
    with pytest.raises(bdp.InputError, match=r"bound.json holds a credible interval, and not a lower bound"):
        bdp.LowerBound.from_json(tmp_path / "bound.json")
    assert bdp.CredibleInterval.from_json(tmp_path / "bound.json").kind == "posterior"
    with pytest.raises(bdp.InputError, match="'bayes-dp/bound/1', and what is read here is 'bayes-dp/comparison/1'"):
        bdp.Comparison.from_json(tmp_path / "bound.json")


def test_a_bound_that_was_read_has_no_data_to_ask():
    bound = bdp.LowerBound.from_dict(audits.one_run(bdp.Guesses(100, 50, 40), 1e-5).to_dict())
    with pytest.raises(bdp.InputError, match="a bound that was read from a file has no data"):
        bound.epsilon_at(1e-6)


def test_whole_numbers_in_a_file_are_floats():
    bound = bdp.LowerBound.from_dict(audits.katz(COUNTS, 1e-2).to_dict() | {"value": 1, "upper": 2, "confidence": 0})
    assert type(float(bound)) is float
    assert [type(number) for number in (bound.value, bound.upper, bound.confidence)] == [float] * 3


def test_a_bound_that_the_command_line_wrote():
    bound = audits.katz(COUNTS, 1e-2)
    again = bdp.LowerBound.from_dict({"base": "all", **bound.to_dict()})
    assert again == replace(bound, details=again.details)
    assert again.to_dict() == bound.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"valid": False}, "what is valid has no reason"),
        ({"invalid": "It does not hold."}, "what is valid has no reason"),
        ({"upper": 0.0}, "the value must not lie above the upper end"),
        ({"value": None, "upper": 1.0}, "the value must not lie above the upper end"),
        ({"value": -1.0}, "value must be a finite number, at least 0, or null, not -1.0"),
        ({"confidence": 1.5}, "confidence must be a number from 0 to 1"),
        ({"assumptions": ["two\nlines"]}, "assumptions must be a list of sentences"),
        ({"provenance": {}}, "provenance has no 'method'"),
    ],
)
def test_bounds_that_cannot_have_been_written(change, message):
    content = audits.clopper_pearson(COUNTS, 1e-2, two_sided=True).to_dict()
    assert content["value"] > 0
    assert content["valid"]
    with pytest.raises(bdp.InputError, match=rf"{message}.*this is not a bound"):
        bdp.LowerBound.from_dict(content | change)


def test_plans_that_cannot_have_been_written():
    content = TestPlan().made().to_dict()
    first, *others = content["rows"]
    old = [{key: value for key, value in row.items() if key != "widths"} for row in content["rows"]]
    for rows, message in (
        ([], "the rows must be sizes"),
        (content["rows"][::-1], "the rows must be sizes"),
        ([first | {"negatives": None}, *others], r"rows\[0\] has no negatives or positives"),
        ([first | {"widths": []}, *others], r"rows\[0\]: widths must be a list of finite numbers"),
        ([first | {"widths": [1.0, None]}, *others], r"rows\[0\]: widths must be a list of finite numbers"),
        (old, r"rows\[0\] has no widths, without which it cannot be read back"),
    ):
        with pytest.raises(bdp.InputError, match=rf"{message}.*this is not a plan"):
            bdp.Plan.from_dict(content | {"rows": rows})


def test_a_study_whose_rows_say_otherwise():
    content = TestStudy().made().to_dict()
    with pytest.raises(bdp.InputError, match="passed is False, which is not what the rows say"):
        calibrate.Study.from_dict(content | {"passed": False})


def test_meanings_and_plans_of_claims_that_cannot_have_been_written():
    meaning, plan = TestMeaning().made(), TestClaimPlan().made().to_dict()
    ((what, row),) = meaning.to_dict()["rows"].items()
    for changed, message in (
        ({what: row | {"advantage": 1.5}}, "advantage must be a number from 0 to 1"),
        ({what: row | {"tpr": row["tpr"] | {"0.5": 1}}}, "which is not known"),
        ({what: row | {"tpr": {"0.001": 0.1}}}, "has no '0.01'"),
        ({what: 3}, "must be an object"),
        ({"a\nb": row}, "one line"),
    ):
        with pytest.raises(bdp.InputError, match=message):
            type(meaning).from_dict(meaning.to_dict() | {"rows": changed})
    for changed, message in (
        ({"runs": 0}, "runs must be"),
        ({"runs": 2.0}, "runs must be"),
        ({"rates": [0.1]}, "rates must be two numbers"),
        ({"rates": [0.1, math.nan]}, "rates must be two numbers"),
        ({"mean": -1}, "mean must be"),
        ({"provenance": {}}, "provenance has no"),
    ):
        with pytest.raises(bdp.InputError, match=message):
            bdp.ClaimPlan.from_dict(plan | changed)


def test_checks_and_falsifications_that_cannot_have_been_written():
    check, test = checked().to_dict(), learned().falsification.to_dict()
    for cls, content, message in (
        (bdp.ModelCheck, check | {"doubtful": not check["doubtful"]}, "which is not what the p-values say"),
        (bdp.ModelCheck, check | {"bases": []}, "there must be a base"),
        (bdp.ModelCheck, check | {"bases": [check["bases"][0] | {"rank": None}]}, r"bases\[0\]: rank must be"),
        (propensity.Falsification, test | {"rejected": not test["rejected"]}, "not what p_value and level say"),
        (propensity.Falsification, test | {"trials": []}, "there must be a trial"),
        (
            propensity.Falsification,
            test | {"trials": [test["trials"][0] | {"made": 2.5}]},
            r"trials\[0\]: made must be",
        ),
    ):
        with pytest.raises(bdp.InputError, match=message):
            cls.from_dict(content)
    before = {key: value for key, value in check.items() if key not in ("shape", "shape_p")}
    assert bdp.ModelCheck.from_dict(before | {"doubtful": False}).shape_p is None
    unknown = replace(checked(), dispersion=math.nan, elpd_se=math.inf, pareto_k=np.array([math.inf, 0.5]))
    again = bdp.ModelCheck.from_dict(unknown.to_dict())
    assert again.to_dict() == unknown.to_dict()
    assert math.isnan(again.elpd_se)


# Checkpoints ----------------------------------------------------------------------------------------------------------


def test_the_format_of_a_checkpoint(tmp_path: Path):
    path = tmp_path / "draws.json"
    Checkpoint(path, "abc").save({0: 1.25, 3: 0.5})
    text = path.read_text(encoding="utf-8")
    assert text.startswith('{"format": "bayes-dp/checkpoint/1", ')
    path.write_text(text.replace('"format": "bayes-dp/checkpoint/1", ', ""), encoding="utf-8")
    assert Checkpoint(path, "abc").done == {0: 1.25, 3: 0.5}
    path.write_text(text.replace("checkpoint/1", "checkpoint/2"), encoding="utf-8")
    with pytest.raises(bdp.InputError, match=r"draws.json is of the format 'bayes-dp/checkpoint/2'"):
        Checkpoint(path, "abc")

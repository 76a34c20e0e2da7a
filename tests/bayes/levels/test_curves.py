"""The posterior of a whole trade-off curve from the order of scores, in one family and averaged over several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.levels.placements import placement_check
from bayes_dp.checks import InputError
from tests.bayes.levels.ordered import CURVES, scores

GOLDEN = [
    "00000011001000000101110100011100011100110111111111",
    "00000000000000001111011001111000111111101010111111",
    "00000110000000110110000000101011110100111111111111",
    "01111001111010110110111110011011010000100100000000",
]


def golden() -> tuple[list[np.ndarray], list[np.ndarray]]:
    places = [np.array([int(c) for c in text]) for text in GOLDEN]
    without, with_ = ([np.flatnonzero(labels == kind).astype(float) for labels in places] for kind in (0, 1))
    return without, with_


def drawn(mu: float, bases: int = 3, runs: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(bases, runs)), rng.normal(mu, 1.0, (bases, runs))


@pytest.fixture(scope="module")
def average() -> bdp.Posterior:
    return bdp.estimate_curves(drawn(1.0))


def rejected(post: bdp.Posterior, name: str) -> bdp.Posterior:
    """The same average if the check had rejected one of its families."""
    parts = dict(post.posteriors)
    old = parts[name]
    parts[name] = type(old)(old.question, old._fit, old._law, 0.01)
    return type(post)(parts)


def test_it_has_the_golden_posterior() -> None:
    post = bdp.estimate_curves(golden(), family="gaussian")
    assert post.log_evidence == pytest.approx(-105.887, abs=0.002)
    assert post.quantile([0.05, 0.5, 0.95]) == pytest.approx([1.0757, 1.5189, 3.7529], abs=0.004)


@pytest.mark.parametrize("family", CURVES)
def test_a_score_of_each_kind_tells_nothing(family: str) -> None:
    """One direction has the probability (1 + G)/2 and the other (1 − G)/2: the posterior is the prior."""
    post = bdp.estimate_curves(([0.0], [1.0]), family=family)
    assert post.log_evidence == pytest.approx(np.log(0.5), abs=1e-6)
    epsilon = np.sqrt(10) * special.ndtri([0.55, 0.75, 0.95])
    assert post.delta_at(0.0).quantile([0.1, 0.5, 0.9]) == pytest.approx(np.tanh(epsilon / 2), abs=2e-3)


def test_a_monotone_map_changes_nothing_and_losses_are_scores_upside_down() -> None:
    without, with_ = drawn(1.0)
    plain = bdp.estimate_curves((without, with_), 0.01, family="pure")
    mapped = bdp.estimate_curves((np.exp(without), np.exp(with_)), 0.01, family="pure")
    losses = bdp.estimate_curves(bdp.LossTable(-without, -with_), 0.01, family="pure")
    swapped = bdp.estimate_curves((with_, without), 0.01, family="pure")
    assert plain.interval() == mapped.interval() == losses.interval()
    assert swapped.interval() == pytest.approx(plain.interval(), rel=1e-9)


def test_all_ways_to_give_scores_are_one() -> None:
    without, with_ = drawn(1.0, bases=2, runs=20)
    arrays = bdp.estimate_curves((without, with_), 0.01, family="pure").interval()
    lists = bdp.estimate_curves((without.tolist(), [*with_]), 0.01, family="pure").interval()
    named = bdp.LossTable(-without, -with_, base=["Ann", "Bea"])
    assert bdp.estimate_curves(named, 0.01, family="pure").interval() == arrays == lists
    assert bdp.estimate_curves(named, 0.01, family="pure").bases == ("Ann", "Bea")
    one = bdp.estimate_curves((without[0], with_[0]), 0.01, family="pure").interval()
    assert one == bdp.estimate_curves((without[:1], with_[:1]), 0.01, family="pure").interval()
    member = np.repeat([0, 1], 20)[:, None] * np.ones((1, 2))
    member[3, 0] = -1  # not measured
    matrix = bdp.ScoreMatrix(member, scores=np.concatenate([without.T, with_.T]), example=["Ann", "Bea"])
    of_matrix = bdp.estimate_curves(matrix, 0.01, family="pure").question.orders
    assert [labels.tolist() for labels in of_matrix.labels] == [
        bdp.estimate_curves((np.delete(without[0], 3), with_[0]), family="pure").question.orders.labels[0].tolist(),
        bdp.estimate_curves((without[1], with_[1]), family="pure").question.orders.labels[0].tolist(),
    ]
    unequal = bdp.estimate_curves(([without[0][:5], without[1]], [with_[0], with_[1][:3]]), 0.01, family="pure")
    assert [len(labels) for labels in unequal.question.orders.labels] == [25, 23]


def test_the_average_weighs_by_evidence_and_has_a_band(average: bdp.Posterior) -> None:
    evidence = np.array([each.log_evidence for each in average.posteriors.values()])
    weight = np.exp(evidence - evidence.max())
    assert list(average.weights.values()) == pytest.approx(weight / weight.sum())
    alpha = np.array([0.0, 0.1, 0.5, 1.0])
    low, high = average.band(alpha)
    assert (low < high)[1:3].all()
    assert (np.diff(low) <= 0).all()
    assert high[0] == pytest.approx(1.0)
    # As draws of the members say.
    draws = np.concatenate(
        [
            post.family(alpha[1:3], post.draws(20_000, 1)[post.family.parameter][: int(20_000 * share)][:, None])
            for share, post in zip(average.weights.values(), average.posteriors.values(), strict=True)
        ]
    )
    assert low[1:3] == pytest.approx(np.quantile(draws, 0.05, axis=0), abs=0.01)
    assert high[1:3] == pytest.approx(np.quantile(draws, 0.95, axis=0), abs=0.01)
    assert average.band(0.1)[0] == pytest.approx(low[1])
    assert average.epsilon_at(0.05).interval()[1] > average.epsilon_at(0.1).interval()[1]
    assert average.levels(5).shape == (5, 3)


def test_delta_and_epsilon_of_the_average_are_of_the_same_curves(average: bdp.Posterior) -> None:
    known = average.delta_at(1.0)
    assert known.parameter == "delta"
    assert known.provenance.known == {"epsilon": 1.0}
    delta = 0.2
    assert known.prob_above(delta) == pytest.approx(average.epsilon_at(delta).prob_above(1.0), abs=1e-3)
    assert average.delta_at(0.0).interval() == average.interval()
    one, other = average.epsilon_at([0.1, 0.2])
    assert (one.provenance.known["delta"], other.provenance.known["delta"]) == (0.1, 0.2)
    assert average.epsilon_at([]) == []


def test_families_of_ones_own_can_be_averaged() -> None:
    logistic = bdp.Family("logistic", lambda a, theta: (1 - a) / (1 - a + a * np.exp(theta)))
    made = drawn(1.0, bases=1, runs=6)
    post = bdp.estimate_curves(made, 0.1, family=["gaussian", logistic])
    assert list(post.weights) == ["gaussian", "logistic"]
    assert sum(post.weights.values()) == pytest.approx(1.0)
    subsampled = bdp.subsampled_gaussian(0.3)
    post = bdp.estimate_curves(made, 0.1, family=["pure", subsampled], prior={subsampled.name: "HalfNormal(3)"})
    alone = bdp.estimate_curves(made, 0.1, family=subsampled, prior="HalfNormal(3)")
    assert post.posteriors[subsampled.name].log_evidence == alone.log_evidence
    with pytest.raises(InputError, match="prior"):
        bdp.estimate_curves(made, 0.1, family=["pure", subsampled])


@pytest.mark.parametrize(
    "asked",
    [
        {"family": []},
        {"family": ["gaussian", "gaussian"]},
        {"family": "approx"},
        {"family": ["gaussian", 3]},
        {"prior": "HalfNormal(1)"},
        {"prior": {"normal": "HalfNormal(1)"}},
        {"family": "gaussian", "prior": {"gaussian": "HalfNormal(1)"}},
        {"family": "gaussian", "prior": "HalfNormal(1)", "prior_epsilon": "HalfNormal(1)"},
        {"delta": 0.0},
        {"delta": 1.0},
        {"accept_misfit": 1},
        {"seed": -1},
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_work(asked: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_dp.bayes.levels.curves.CurvePosterior", None)
    with pytest.raises(InputError):
        bdp.estimate_curves(drawn(1.0), **asked)


def test_a_rejected_family_needs_to_be_accepted_for_a_small_delta(
    average: bdp.Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = rejected(average, "gaussian")
    with pytest.raises(InputError, match=r"rejects the gaussian family.* 1/N0 = 0\.025.*accept_misfit=True"):
        post.epsilon_at(0.001)
    with pytest.raises(InputError, match="accept_misfit=True"):
        post.epsilon_at([0.1, 0.001])
    taken = post.epsilon_at(0.001, accept_misfit=True)
    assert taken.interval()[0] > 0
    assert taken.epsilon_at(0.002).interval() == post.epsilon_at(0.002, accept_misfit=True).interval()
    assert post.epsilon_at(0.025).interval()[0] > 0
    # One that has little weight does not forbid anything.
    assert rejected(average, "pure").epsilon_at(0.001).interval()[0] > 0
    # It is refused at once where the average is made, too.
    monkeypatch.setattr("bayes_dp.bayes.levels.curve_posterior.placement_check", lambda *_: 0.05)
    made = drawn(1.0, bases=1, runs=10)
    with pytest.raises(InputError, match="accept_misfit=True"):
        bdp.estimate_curves(made, 0.09)
    bdp.estimate_curves(made, 0.09, accept_misfit=True)
    bdp.estimate_curves(made, 0.1)


def test_cautions_are_shown_where_they_belong(average: bdp.Posterior) -> None:
    said = "do not look like those of any member of the gaussian family"
    assert said not in average.summary()
    post = rejected(average, "gaussian")
    assert said in post.summary()
    assert any(said in sentence for sentence in post.to_dict()["cautions"])
    assert "The check of the placements rejected the gaussian family, p = 0.01." in post.assumptions
    one = post.posteriors["gaussian"]
    assert said in one.summary()
    assert any(said in sentence for sentence in one.to_dict()["cautions"])
    # Of a family that has no weight it is of no interest; and each says what δ the scores tell nothing of.
    assert "any member of the pure family" not in rejected(average, "pure").summary()
    for each in (average, average.posteriors["gaussian"]):
        assert "The scores tell nothing of rates below about 0.03: at a smaller δ, ε is what the" in each.summary()


def test_a_curve_has_no_counts_rates_gate_or_check_of_counts(average: bdp.Posterior) -> None:
    for post in (average, average.posteriors["laplace"]):
        with pytest.raises(InputError, match="order of scores"):
            post.rates()
        with pytest.raises(InputError, match="order of scores"):
            _ = post.counts
        with pytest.raises(InputError, match="check"):
            bdp.check(post)
        with pytest.raises(InputError, match="counts must be ErrorCounts"):
            bdp.gate(post, 0.1, 1.0)
    counts = bdp.ErrorCounts(10, 100, 20, 100)
    with pytest.raises(InputError, match="of other counts"):
        bdp.compare(counts, 0.1, names=[], posteriors={"mine": average.epsilon_at(0.1)}, limit=1.0)


@pytest.mark.parametrize(("truth", "rejected"), [("gaussian", False), ("mixed", True)])
def test_the_check_tells_scores_of_another_shape(truth: str, rejected: bool) -> None:
    rng = np.random.default_rng(0)
    labels = []
    for _ in range(10):
        shift = 2.0 if truth == "gaussian" else np.where(rng.random(150) < 0.3, 4.0, 0.0)
        scores = np.concatenate([rng.normal(size=150), rng.normal(size=150) + shift])
        labels.append(np.repeat([0, 1], 150)[np.argsort(scores)])
    levels = np.full((100, 10), 2.0 if truth == "gaussian" else 1.0)
    p = placement_check(labels, GAUSSIAN, levels, np.zeros((100, 10), bool), rng)
    assert (p <= 0.05) is rejected


def test_ties_and_many_scores_are_told_once() -> None:
    tied = bdp.estimate_curves((np.zeros((1, 5)), np.zeros((1, 5))), 0.3)
    assert [sentence for sentence in tied.warnings if "100% of the scores of base 0 are tied" in sentence]
    assert sum("tied" in sentence for sentence in tied.warnings) == 1
    assert not any("tied" in sentence for sentence in tied.unreliable)
    many = bdp.estimate_curves(drawn(1.0, bases=1, runs=2600), 0.1, family="pure")
    assert any("only 5000 scores" in sentence for sentence in many.warnings)
    assert len(many.question.orders.labels[0]) == 5000
    all_of_them = bdp.estimate_curves(drawn(1.0, bases=1, runs=2500), 0.1, family="pure")
    assert not any("scores" in sentence for sentence in all_of_them.warnings)


@pytest.mark.parametrize("family", CURVES)
def test_scores_of_a_member_find_it_again(family: str) -> None:
    """Six attacks near the boundary: the interval holds the truth, also where some have it upside down."""
    made = scores(family, np.full(6, 1.5), 100, 100, np.random.default_rng(3))
    post = bdp.estimate_curves(made, family=family)
    low, high = post.interval(0.99, parameter=post.family.parameter)
    assert low < 1.5 < high
    assert low > 1.0
    assert not post.rejected


@pytest.mark.parametrize(
    "made",
    [
        ([[0.0]], [[1.0]]),
        (np.zeros((2, 30)), np.zeros((2, 30))),
        (np.arange(20.0)[None], 100 + np.arange(20.0)[None]),
        (100 + np.arange(20.0)[None], np.arange(20.0)[None]),
        ([[-np.inf, 0.0, 1.0, np.inf]], [[np.inf, 1.0, 2.0, 1e308]]),
        ([[0.0]], [np.arange(50.0) - 20]),
    ],
    ids=["two scores", "all tied", "separated", "separated the other way", "infinite", "one without"],
)
def test_the_ends_of_what_scores_may_be(made: tuple) -> None:
    post = bdp.estimate_curves(made, 0.5, accept_misfit=True)
    low, high = post.interval()
    assert 0 <= low < high < np.inf
    assert np.isfinite(post.log_evidence)
    assert 0 <= post.check["gaussian"] <= 1


def test_more_runs_tell_more() -> None:
    few, many = (bdp.estimate_curves(drawn(1.5, 3, runs), family="gaussian", strength="tight") for runs in (10, 160))
    assert np.subtract(*few.interval()[::-1]) > 2 * np.subtract(*many.interval()[::-1])


@pytest.mark.parametrize(
    "scores",
    [
        3, None, "a", ([[1.0]],), (3, 4), ([[1.0]], [[np.nan]]), ([[1.0], [2.0]], [[1.0]]), ([], []),
        ([[]], [[1.0]]), ([["a"]], [["b"]]), ([[True]], [[False]]), ([[1j]], [[1.0]]), (np.zeros((1, 2, 3)),) * 2,
        [[[1.0]], [[2.0]]], bdp.GuessTable([0.1, 0.2], [True, False]), ([[[1.0], [2.0, 3.0]]], [[1.0]]),
    ],
)  # fmt: skip
def test_what_is_no_score_is_refused(scores: object) -> None:
    with pytest.raises(InputError, match="score"):
        bdp.estimate_curves(scores)  # type: ignore[arg-type]


def test_records_of_curves(average: bdp.Posterior) -> None:
    rng = np.random.default_rng(2)
    losses = bdp.LossTable(
        rng.normal(size=(3, 60)) + [[0.1], [2.5], [1.0]], rng.normal(size=(3, 60)), base=["Ann", "Bea", "Cay"]
    )
    post = bdp.estimate_curves(losses, family="gaussian")
    found = bdp.records(post, epsilon=3.0, delta=0.05)
    assert [record.base for record in found.records] == ["Bea", "Cay", "Ann"]
    drawn = GAUSSIAN.epsilon_at(post.levels(8000), np.array(0.05))
    for record in found.records:
        own = drawn[:, post.bases.index(record.base)]
        assert record.low < np.median(own) < record.high  # the levels of the posterior have another law
        assert record.above == pytest.approx(np.mean(own > 3.0), abs=0.15)
    assert found.chosen[0] == "Bea"
    assert not any("do not look like" in sentence for sentence in found.warnings)
    misfit = type(post)(post.question, post._fit, post._law, 0.01)
    assert any("do not look like" in sentence for sentence in bdp.records(misfit, 3.0, 0.05).warnings)
    with pytest.raises(InputError, match="of a family"):
        bdp.records(average, 1.0, 0.05)

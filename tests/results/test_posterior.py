"""What every posterior can do, on one given by draws and one by quadrature."""

import json

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.question import ask
from bayes_dp.bayes.sampled import SampledPosterior
from bayes_dp.results.posterior import SampleMarginal


@pytest.fixture(scope="module")
def post():
    return bdp.estimate(bdp.datasets.strong_attacks(), 0.01)


def test_sample_marginal_agrees_with_numpy():
    draws = np.random.default_rng(0).gamma(2.0, size=(4, 1000))
    marginal = SampleMarginal.of(draws)
    assert marginal.mean == pytest.approx(draws.mean())
    assert marginal.sd == pytest.approx(draws.std(ddof=1))
    np.testing.assert_allclose(marginal.quantile([0.1, 0.5]), np.quantile(draws, [0.1, 0.5]))
    assert float(marginal.cdf(1.0)) == pytest.approx((draws <= 1).mean())
    low, high = marginal.hdi(0.8)
    inside = (draws >= low) & (draws <= high)
    assert inside.mean() == pytest.approx(0.8, abs=1e-3)
    widths = [np.diff(np.quantile(draws, [tail, tail + 0.8]))[0] for tail in np.linspace(0, 0.2, 50)]
    assert high - low <= min(widths) + 1e-2


def test_summary_names_what_it_rests_on(post):
    text = post.summary(0.975)
    assert "97.5% interval" in text
    for sentence in post.assumptions:
        assert sentence in text
    assert str(post) == post.summary()
    assert "90% interval" in repr(post)
    assert "<table>" in post._repr_html_()


def test_dictionary_is_json_with_everything_to_repeat_the_result(post, tmp_path):
    post.to_json(tmp_path / "posterior.json", prob=0.8)
    found = json.loads((tmp_path / "posterior.json").read_text(encoding="utf-8"))
    low, high = post.interval(0.8)
    assert (found["estimates"]["epsilon"]["low"], found["estimates"]["epsilon"]["high"]) == (low, high)
    assert found["provenance"]["digest"] == bdp.datasets.strong_attacks().digest()
    assert found["provenance"]["version"] == bdp.__version__
    assert found["provenance"]["known"] == {"delta": 0.01}
    assert found["kind"] == "posterior"
    assert found["assumptions"]


def test_numbers_json_does_not_know_become_null(post, monkeypatch):
    monkeypatch.setattr(post, "diagnostics", {"rhat": {"epsilon": float("nan")}, "list": [float("inf"), 1.0]})
    assert json.loads(json.dumps(post.to_dict(), allow_nan=False))["diagnostics"] == {
        "rhat": {"epsilon": None},
        "list": [None, 1.0],
    }


def test_frames_and_arviz(post):
    frame = post.to_frame(size=100, seed=3)
    np.testing.assert_array_equal(frame["epsilon"], post.draws(100, seed=3)["epsilon"])
    data = post.to_arviz(size=50)
    assert data["posterior"]["alpha"].shape == (1, 50, 10)
    assert data["observed_data"]["false_positives"].shape == (10,)


class Repeated(SampledPosterior):
    """The same draws whatever is asked."""

    def __init__(self, question):
        draws = np.linspace(0.1, 2.0, 40).reshape(2, 20)
        rates = np.full((2, 20, len(question.counts)), 0.5)
        super().__init__(question, {"epsilon": draws}, rates, rates, {})
        self.assumptions, self.diagnostics, self.warnings = (), {}, ()
        self.provenance = question.provenance("repeated", {})

    def _answer(self, question):
        return type(self)(question)


def test_every_posterior_owns_its_question(post):
    sampled = Repeated(ask(bdp.datasets.strong_attacks(), "epsilon", 0.01, strength=0.5))
    for each in (post, sampled):
        assert each.counts is each.question.counts
        assert each.parameter == each.question.parameter == "epsilon"
        one, (first, second) = each.epsilon_at(0.1), each.epsilon_at([0.1, 0.0])
        assert type(one) is type(each)
        assert [found.question.known for found in (one, first, second)] == [0.1, 0.1, 0.0]
        assert second.provenance.known == {"delta": 0.0}
        with pytest.raises(bdp.InputError, match=r"delta\[1\] must lie in \[0, 1\), not 1.0"):
            each.epsilon_at([0.1, 1.0])
    inverse = post.delta_at(1.0)
    assert (inverse.parameter, inverse.question.known) == ("delta", 1.0)
    assert inverse.epsilon_at(0.01).interval() == pytest.approx(post.interval())
    assert not post.samples
    assert list(sampled.samples) == ["epsilon"]


def test_what_a_method_does_not_have_is_refused_with_the_name_of_one_that_has_it():
    sampled = Repeated(ask(bdp.datasets.strong_attacks(), "epsilon", 0.01))
    for ask_it in (lambda: sampled.delta_at(1.0), lambda: sampled.pdf(1.0)):
        with pytest.raises(bdp.InputError, match=r"the posterior of method 'repeated' .* method='exact' has") as error:
            ask_it()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.interval(1.0), r"prob must lie in \(0, 1\), not 1.0"),
        (lambda p: p.interval(0.9, "widest"), "'equal-tailed' or 'hdi'"),
        (lambda p: p.quantile(1.2), r"probability must lie in \[0, 1\]"),
        (lambda p: p.interval(0.9, parameter="tau"), "no parameter 'tau'; it has epsilon, strength"),
        (lambda p: p.draws(0), "size must be a whole number"),
        (lambda p: p.draws(10, seed=-1), "seed must be a whole number"),
    ],
)
def test_bad_questions_are_named(post, call, message):
    with pytest.raises(bdp.InputError, match=message):
        call(post)

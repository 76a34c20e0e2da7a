"""A table remembers where its propensities come from, and a bound from it says so."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayes_dp as bdp
from bayes_dp.attacks.adversary import call_members
from bayes_dp.audits import zero_run
from bayes_dp.audits.zero_run import NOT_BOOTSTRAPPED
from bayes_dp.data.propensity_source import GIVEN, named, worst
from bayes_dp.propensity import bootstrap, fit, known

RNG = np.random.default_rng(0)
N = 1000
X = RNG.normal(size=(N, 2))
MEMBER = RNG.random(N) < expit(X[:, 0])
SCORE = np.round(MEMBER + RNG.normal(size=N), 3)
LEARNED = fit(X, MEMBER)
BENT = RNG.random(N) < expit(3 * X[:, 0] * X[:, 1])
REJECTED = fit(X, BENT)


def named_table(name, n=4):
    return bdp.GuessTable(np.arange(float(n)), np.arange(n) % 2, np.full(n, 0.4), list("aabb"), name)


@pytest.mark.parametrize("name", ["given", "simulated", "learned", "rejected"])
def test_it_survives_what_is_done_to_the_table(name, tmp_path):
    table = named_table(name)
    table.to_csv(tmp_path / "t.csv")
    (tmp_path / "t.json").write_text(json.dumps({**table.to_frame().to_dict("list"), "propensity_source": name}))
    frame = table.to_frame()
    frame.to_json(tmp_path / "rows.json", orient="records")
    kept = [
        table[1:], table[[True, False, True, True]], *table.split(), *table.by_base().values(),
        table.rescored([1, 2, 3, 4]),
        pickle.loads(pickle.dumps(table)), bdp.GuessTable.read(tmp_path / "t.csv"), bdp.GuessTable.from_frame(frame),
        bdp.GuessTable.read(tmp_path / "t.json"), bdp.GuessTable.read(tmp_path / "rows.json"),
        call_members(table, 2).table, call_members(table, 2, aware=False).table,
    ]  # fmt: skip
    assert [each.source.name for each in kept] == [name] * len(kept)
    assert bdp.GuessTable.read(tmp_path / "t.csv") == table
    assert ("propensity_source" in frame.columns) == (name != "given")


def test_parquet_keeps_it(tmp_path):
    named_table("rejected").to_frame().to_parquet(tmp_path / "t.parquet")
    assert bdp.GuessTable.from_frame(pd.read_parquet(tmp_path / "t.parquet")).source.name == "rejected"


def test_learned_ones_survive_too():
    table = LEARNED.table(SCORE)
    for each in (table, table[::2], *table.split(), pickle.loads(pickle.dumps(table)), call_members(table, 10).table):
        assert each.source == LEARNED.source()
        assert each.source.name == "learned"
    assert REJECTED.table(SCORE).to_frame()["propensity_source"].unique().tolist() == ["rejected"]
    assert known(0.4, MEMBER).table(SCORE).source == GIVEN


def test_equal_tables_have_propensities_of_one_kind():
    given, learned = named_table("given"), named_table("learned")
    assert given != learned
    assert given.digest() != learned.digest()
    assert given.digest() == bdp.GuessTable(given.score, given.member, given.propensity, given.base).digest()
    assert "with learned propensities" in repr(learned)


def test_a_table_of_several_kinds_is_as_good_as_the_worst(tmp_path):
    assert worst([named(name, "x") for name in ("learned", "given")]).name == "learned"
    rows = "score,member,propensity,Propensity Source\n1,1,.5,given\n2,0,.5,{}\n3,0,.5,learned\n"
    for name, found in (("given", "learned"), ("rejected", "rejected")):
        (tmp_path / "t.csv").write_text(rows.format(name))
        assert bdp.GuessTable.read(tmp_path / "t.csv").source.name == found
    (tmp_path / "t.csv").write_text(rows.format("guessed"))
    with pytest.raises(
        bdp.InputError, match=r"t.csv, line 3: Propensity Source must be given, simulated, learned or rejected, not"
    ):
        bdp.GuessTable.read(tmp_path / "t.csv")
    with pytest.raises(bdp.InputError, match="propensity_source must be given, simulated, learned or rejected, not 3"):
        bdp.GuessTable([1.0, 2.0], [1, 0], 0.5, propensity_source=3)


def test_the_same_number_from_all():
    """Python and the comparison, and the bootstrap takes propensities alike; the command line has a test of its own."""
    table = LEARNED.table(SCORE)
    value = zero_run(table).value
    assert value == zero_run(bdp.GuessTable(SCORE, MEMBER, LEARNED.values)).value > 0
    counts = table.counts(0.5)
    row = bdp.compare(counts, 0.0, scores=table, names=["zero-run"]).rows[0]
    assert row.value == value
    assert not row.valid
    resampled = bootstrap(LEARNED, SCORE, choice=50, replicates=39)
    assert (
        resampled.provenance.settings["propensity"] == zero_run(table).provenance.settings["propensity"] == "cautious"
    )


def test_a_bound_from_learned_propensities_says_so():
    found = zero_run(LEARNED.table(SCORE))
    assert found.invalid == NOT_BOOTSTRAPPED
    assert LEARNED.falsification.statement() in found.assumptions
    assert any(text.startswith("Propensities were learned by logistic regression") for text in found.assumptions)
    assert found.details["propensities"]["p_value"] == LEARNED.falsification.p_value
    assert json.loads(json.dumps(found.to_dict()))["details"]["propensities"]["source"] == "learned"
    given = zero_run(bdp.GuessTable(SCORE, MEMBER, LEARNED.values))
    assert "propensities" not in given.details
    assert given.valid
    bare = zero_run(bdp.GuessTable(SCORE, MEMBER, LEARNED.values, propensity_source="learned"))
    assert bare.invalid == NOT_BOOTSTRAPPED
    assert "Propensities were learned, the table does not say how." in bare.assumptions


@pytest.mark.parametrize("question", [{}, {"delta": 1e-5}, {"directional": False}, {"family": "gaussian"}])
@pytest.mark.parametrize("trust", ["cautious", "exact"])
def test_learned_propensities_need_a_bootstrap(question, trust):
    assert zero_run(LEARNED.table(SCORE), propensity=trust, **question).invalid == NOT_BOOTSTRAPPED
    assert zero_run(known(LEARNED.values, MEMBER).table(SCORE), propensity=trust, **question).valid
    assert bootstrap(LEARNED, SCORE, replicates=39, choice=50, propensity=trust, **question).valid


def test_whoever_guesses_where_learned_propensities_err_shows_a_leak_that_is_none():
    """The score is the true log-odds; nothing leaks."""
    above = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(1000, 20))
        member = rng.random(1000) < expit(x[:, 0])
        found = zero_run(fit(x, member, seed=seed).table(x[:, 0]), choice=100, seed=seed)
        above += found.value > 0
        assert not found.valid
    assert above >= 3


@pytest.mark.parametrize("question", [{}, {"delta": 1e-5}, {"family": "gaussian"}, {"form": "compositional"}])
def test_rejected_propensities_make_a_bound_invalid(question):
    score = np.round(BENT + RNG.normal(size=N), 3)
    table = REJECTED.table(score)
    found = zero_run(table, **question)
    assert found.invalid == REJECTED.falsification.statement()
    assert "REJECTED" in found.invalid
    assert not zero_run(bdp.GuessTable(score, BENT, REJECTED.values, propensity_source="rejected"), **question).valid
    at = found.epsilon_at(1e-3)
    assert not at.valid


def test_rejected_propensities_are_invalid_everywhere():
    score = np.round(BENT + RNG.normal(size=N), 3)
    assert "REJECTED" in bootstrap(REJECTED, score, replicates=39, choice=50).invalid
    table = REJECTED.table(score)
    found = bdp.compare(table.counts(0.5), 1e-3, scores=table, names=["zero-run", "zero-run-gaussian"])
    for row in found.rows:
        assert not row.valid
        assert "REJECTED" in row.reason
    split = zero_run(table, choice=bdp.attacks.Uncorrected([10, 20]))
    assert "REJECTED" in split.invalid
    assert len(split.invalid) > len(REJECTED.falsification.statement())
    assert zero_run(table, form="compositional", overlap=0.2).valid  # which does without the propensities

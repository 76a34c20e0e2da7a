"""`bayes-dp panoramia run`: what it reads, and that it says what the functions say."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import bayes_dp as bdp
from bayes_dp.cli import main

N = 300
RNG = np.random.default_rng(0)


def frame(low):
    return pd.DataFrame(
        {
            "site": np.where(RNG.random(N) < 0.5, "a", "b"),
            "age": RNG.normal(size=N).round(3),
            "loss": low * RNG.random(N).round(3),
            "loss_control": RNG.random(N).round(3),
        }
    )


IN, OUT = frame(0.3), frame(1.0)


@pytest.fixture
def files(tmp_path):
    paths = [str(tmp_path / name) for name in ("in.csv", "out.csv")]
    for path, table in zip(paths, (IN, OUT), strict=True):
        table.to_csv(path, index=False)
    return paths


def of_frames(control=True, **settings):
    features = [np.column_stack([each["age"], each["site"] == "b"]) for each in (IN, OUT)]
    said = {"target": "loss", **({"control": "loss_control"} if control else {})}
    pairs = {name: (IN[column].to_numpy(), OUT[column].to_numpy()) for name, column in said.items()}
    return bdp.games.coin_pairs(tuple(features), **pairs, **settings)


def test_it_says_what_the_functions_say(files, capsys, tmp_path):
    given = ["panoramia", "run", "--members", files[0], "--generated", files[1], "--target-loss", "loss"]
    table = str(tmp_path / "table.csv")
    code = main([*given, "--control-loss", "loss_control", "--json", "--out", table])
    found = bdp.audits.panoramia(of_frames())
    assert code == 0
    assert json.loads(capsys.readouterr().out) == {"base": "all"} | json.loads(json.dumps(found.to_dict()))
    assert (found.kind, found.valid) == ("estimate", True)
    assert bdp.GuessTable.from_csv(table) == of_frames().table()
    assert main([*given, "--baseline-features", "age,site"]) == 0
    assert "NOT VALID: There is no control" in capsys.readouterr().out


def test_real_non_members_and_a_check(files, capsys):
    given = ["panoramia", "run", "--members", files[0], "--non-members", files[1], "--target-loss", "loss"]
    given += ["--baseline-features", "age,site", "--seeds", "3", "--seed", "5"]
    found = bdp.audits.panoramia(of_frames(control=False, real=True, seeds=3, seed=5))
    assert main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == found.value > 0.2
    assert main([*given, "--fail-above", "0.2"]) == 1
    assert main([*given, "--fail-above", "9"]) == 0


def test_numbers_of_rows_tell_nobody_who_is_a_member(tmp_path, capsys):
    """A column of the name id is no feature by default; where it is made one, or one by another name is, it is told."""
    rng, paths = np.random.default_rng(1), []
    for name, first in (("in.csv", 0), ("out.csv", N)):
        made = {"id": first + np.arange(N), "age": rng.normal(size=N), "loss": rng.random(N)}
        pd.DataFrame(made).to_csv(tmp_path / name, index=False)
        paths += ["--members" if first == 0 else "--non-members", str(tmp_path / name)]
    given = ["panoramia", "run", *paths, "--target-loss", "loss"]
    assert main([*given, "--fail-above", "1"]) == 0
    assert "NOT VALID" not in capsys.readouterr().out
    assert main([*given, "--baseline-features", "id,age", "--fail-above", "9"]) == 3
    assert "a classifier that does not see the model tells them apart" in capsys.readouterr().out


def test_missing_features(tmp_path, capsys):
    """Empty cells of numbers and of texts, and a column without any number."""
    tables = [IN.assign(empty=np.nan), OUT.assign(empty=np.nan)]
    for name, table in zip(("in.csv", "out.csv"), tables, strict=True):
        table.loc[3, "age"] = np.nan
        table.loc[5, "site"] = None
        table.to_csv(tmp_path / name, index=False)
    given = ["panoramia", "run", "--members", str(tmp_path / "in.csv"), "--generated", str(tmp_path / "out.csv")]
    given += ["--target-loss", " loss", "--control-loss", "loss_control"]
    assert main([*given, "--json"]) == 0
    features = [
        np.column_stack([each["age"], np.zeros(N), each["site"].isna(), each["site"] == "a", each["site"] == "b"])
        for each in tables
    ]
    said = {"target": "loss", "control": "loss_control"}
    pairs = {name: (tables[0][column].to_numpy(), tables[1][column].to_numpy()) for name, column in said.items()}
    found = bdp.audits.panoramia(bdp.games.coin_pairs(tuple(features), **pairs))
    assert json.loads(capsys.readouterr().out)["value"] == found.value


def test_files_whose_columns_differ(files, capsys, tmp_path):
    other = str(tmp_path / "other.csv")
    given = ["panoramia", "run", "--target-loss", "loss"]
    for table, message in (
        (OUT.drop(columns="age"), "other.csv has no column 'age', which"),
        (OUT.assign(source="web"), "in.csv has no column 'source', which"),
        (OUT.drop(columns="loss"), "other.csv has no column 'loss', only"),
        (OUT.assign(site=RNG.random(N)), "the column 'site' holds numbers on one side, and texts on the other"),
    ):
        table.to_csv(other, index=False)
        assert main([*given, "--members", files[0], "--generated", other]) == 2
        shown = capsys.readouterr().err
        assert message in shown
        assert shown.count("\n") == 1
    OUT.assign(source="web", id=1)[::-1].to_csv(other, index=False)
    assert main([*given, "--members", files[0], "--generated", other, "--baseline-features", "age, site"]) == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "give --generated or --non-members, and not both"),
        (["--generated", "OUT", "--non-members", "OUT"], "and not both"),
        (["--generated", "OUT", "--fail-above", "1"], "--fail-above is for bounds"),
        (["--non-members", "OUT", "--gamma", "0.1"], "--gamma is for --generated"),
        (["--generated", "OUT", "--out", "table.txt"], "--out must end in .csv"),
        (["--generated", "OUT", "--control-loss", "none"], "has no column 'none'"),
        (["--generated", "OUT", "--control-loss", "site"], "the column 'site' must hold numbers"),
        (["--generated", "OUT", "--baseline-features", "age,loss"], "must not have what a model says, and 'loss' is"),
        (["--generated", "OUT", "--training", "1"], "--training must lie in (0, 1)"),
        (["--generated", "OUT", "--seeds", "0"], "--seeds must be a whole number"),
        (["--generated", "nowhere.csv"], "nowhere.csv cannot be read"),
    ],
)
def test_bad_input(files, capsys, more, message):
    given = ["panoramia", "run", "--members", files[0], "--target-loss", "loss"]
    assert main([*given, *(files[1] if each == "OUT" else each for each in more)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_what_the_verb_is_for(capsys):
    assert main(["panoramia"]) == 0
    assert "Train attack and baseline" in capsys.readouterr().out

"""Figures 2 to 4 in small: bounds stay below ε, the likelihood is the better score, and slack costs."""

from __future__ import annotations

import numpy as np
import pytest

from models.label_response import bounds, main, mixture


def test_the_posterior_is_bayes_rule():
    rng = np.random.default_rng(0)
    x, law = mixture(4, 3, rng)
    means = np.eye(3, 10)
    plain = np.exp(-((x[:, None] - means) ** 2).sum(axis=2) / 2)
    assert np.allclose(law, plain / plain.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("k", [2, 10])
def test_bounds(k):
    _, law = mixture(20_000, k, np.random.default_rng(1))
    found = bounds(k, 4.0, 1000, law, law, games=3)
    assert found["likelihood"][0] > found["paper"][0] + 0.1
    assert 2.5 < found["likelihood"][0] < 4.0


def test_slack():
    _, law = mixture(20_000, 2, np.random.default_rng(2))
    values = {
        (tau, counted): bounds(2, 3.0, 2000, law, law, games=1, tau=tau, counted=counted)["likelihood"][0]
        for tau in (0.0, 0.005)
        for counted in (False, True)
    }
    assert values[0.0, True] > values[0.005, True] > 1.5
    assert values[0.0, False] > 2
    assert values[0.005, False] < 0.1


@pytest.mark.parametrize(
    ("more", "heads", "cells"),
    [
        ([], "| classes | ε | guessed | law: paper's score |", 4),
        (["--shifts", "0.01", "0.001"], "| ε | τ | guessed | paper's score and slack |", 3),
    ],
)
def test_the_tables(more, heads, cells, capsys, tmp_path):
    figure = str(tmp_path / "one.png")
    small = ["--n", "2000", "--games", "1", "--epsilon", "1", "2", "--share", "0.05", "0.1", "--figure", figure]
    assert main([*small, "--classes", "2", *more]) == 0
    first, _, *rows = capsys.readouterr().out.splitlines()
    assert first.startswith(heads)
    assert [row.count("±") for row in rows] == [cells] * (8 if more else 4)
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_written(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--figure", str(tmp_path / "no" / "one.png")])
    assert "one.png" in capsys.readouterr().err

"""What `growth.py` makes of times and sizes, and that its calls run; it measures by `make bench-report`."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.benchmarks import growth


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_exponent(power):
    sizes = (10, 30, 100, 300)
    assert growth.exponent(sizes, [3.0 * n**power for n in sizes]) == pytest.approx(power)


def test_memory_is_that_of_arrays():
    assert growth.megabytes(lambda: np.zeros(10**6).sum()) == pytest.approx(8.0, rel=0.05)


@pytest.mark.parametrize(("value", "shown"), [(0.012345, "0.012"), (156.2, "160"), (1000.0, "1000"), (2.0, "2")])
def test_two_digits(value, shown):
    assert growth.two(value) == shown


@pytest.mark.parametrize("what", growth.GROWTH, ids=" ".join)
def test_the_smallest_of_each(what):
    make, sizes = growth.GROWTH[what]
    assert list(sizes) == sorted(set(sizes))
    assert make(min(sizes[0], 100))() is not None


def test_a_table_of_starts(monkeypatch):
    monkeypatch.setattr(growth, "STARTS", {"the help": ("--help",)})
    head, _, row = growth.starts().splitlines()
    assert head.count("|") == row.count("|") == 4
    first, later = (float(cell) for cell in row.split("|")[2:4])
    assert first > 0
    assert later > 0


def test_a_table_of_samplers(monkeypatch):
    found = {"binomial": (16_000, 8000.0, 2.0), "bivariate_normal": (80_000, 1000.0, 2.0)}
    monkeypatch.setattr(growth, "sampled", lambda name: found.get(name, (10, 1.0, 1.0)))
    _, _, *rows = growth.samplers().splitlines()
    assert rows[0] == "| `binomial` | 16000 | 8000 | 2 | 4000 | 8 |"
    assert rows[1] == "| `bivariate_normal` | 80000 | 1000 | 2 | 500 | 1 |"
    assert len(rows) == 4


def test_what_is_sampled(monkeypatch):
    def estimate(counts, delta, *, likelihood, seed=0, **settings):
        sizes = {"epsilon": 400.0, "tau": 100.0 + seed}
        return SimpleNamespace(diagnostics={"ess_bulk": sizes}, samples={"epsilon": np.zeros((4, 50))})

    monkeypatch.setattr(growth.bdp, "estimate", estimate)
    draws, least, spent = growth.sampled("beta_binomial")
    assert (draws, least) == (200, 101.0)
    assert spent >= 0


def test_a_table_of_growth(monkeypatch):
    monkeypatch.setattr(
        growth, "GROWTH", {("sums", "terms *n*"): (lambda n: lambda: np.zeros(n).sum(), (10**3, 10**5))}
    )
    head, _, row = growth.growth().splitlines()
    assert head.count("|") == row.count("|") == 8
    assert row.startswith("| sums | terms *n*, 1000 to 100000 |")

"""Checks of numbers and seeds: what is refused, and how it is said."""

import numpy as np
import pandas as pd
import pytest

from bayes_dp.checks import InputError, numbers, one_number, seed_of, whole_number


def test_numbers_pass_through_as_float64():
    for value in (1, 1.5, np.int8(3), [1, 2], np.array([[0.5, 1.0]]), np.float32(0.25)):
        found = numbers("x", value, 0, 10)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0.5, 2.0], r"^x\[1\] must lie in \[0, 1\), not 2.0$"),
        ([[0.5], [-1.0]], r"^x\[1, 0\] must lie in \[0, 1\), not -1.0$"),
        (float("nan"), r"^x must lie in \[0, 1\), not nan$"),
        (1.0, r"^x must lie in \[0, 1\), not 1.0$"),
        ("0.5", r"^x must be numeric, not '0.5'$"),
        (True, "^x must be numeric, not True$"),
        (None, "^x must be numeric, not None$"),
        ([[1], [1, 2]], "^x must be numeric"),
        (1j, "^x must be numeric"),
    ],
)
def test_bad_numbers_are_named(value, message):
    with pytest.raises(InputError, match=message):
        numbers("x", value, 0, 1, high_open=True)


def test_one_number_is_one():
    assert one_number("x", 0.5) == 0.5
    with pytest.raises(InputError, match=r"single number, not an array of shape \(2,\)"):
        one_number("x", [1.0, 2.0])


def test_seeds():
    assert seed_of(np.int64(7)) == 7
    odd = (np.timedelta64(5, "s"), pd.Series([1, 2]), [[1], [2, 3]], 10**5000, np.array([[1], [2]]))
    for bad in (-1, 1.5, True, "3", None, 2**63, *odd):
        with pytest.raises(InputError, match="seed must be a whole number from 0 to") as caught:
            seed_of(bad)
        assert "\n" not in str(caught.value)


def test_whole_numbers():
    assert whole_number("n", np.uint8(3), 3) == 3
    for bad in (2, 3.0, True, np.timedelta64(5, "s"), "3", None, -(10**5000), pd.DataFrame({"a": [1]}), [[3], [3, 3]]):
        with pytest.raises(InputError, match=r"^n must be a whole number, at least 3, not ") as caught:
            whole_number("n", bad, 3)
        assert "\n" not in str(caught.value)


class Rude:
    def __array__(self, *_, **__):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value", [lambda: 10**5000, lambda: [10**5000, 1], lambda: np.full((3, 1), None), lambda: pd.Series(["a"]), Rude]
)
def test_odd_values_are_refused_in_one_line(value):
    with pytest.raises(InputError, match=r"^x must be numeric, not ") as caught:
        numbers("x", value())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200

"""The largest rejected parameter."""

import numpy as np

from bayes_dp.audits.rejected import largest_rejected


def test_the_largest_rejected():
    roots = np.array([1e-9, 0.3, 0.5, 2.0, 7.5, 700.0])
    shapes = (
        lambda x, root: root - x,
        lambda x, root: np.where(x < root, 1.0, -1.0),
        lambda x, root: np.cbrt(root - x),
        lambda x, root: np.expm1(30 * (root - x)),
        lambda x, root: np.where(x < root / 2, np.inf, root - x),
    )
    for shape in shapes:
        with np.errstate(over="ignore"):
            found = largest_rejected(lambda x, i, shape=shape: shape(x, roots[i]), np.full(6, 750.0))
        np.testing.assert_allclose(found, roots, rtol=2e-15, atol=1e-18)
        assert (found <= roots).all()
    none = largest_rejected(lambda x, i: -1 - x, np.array([0.0, 5.0]))
    assert none.tolist() == [0.0, 0.0]
    assert largest_rejected(lambda x, i: 1 + x, np.array([0.0, 5.0])).tolist() == [0.0, 5.0]

"""The largest rejected parameter."""

import numpy as np

from bayes_dp.audits.rejected import largest_rejected, largest_rejected_one


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
        for root in roots.tolist():
            for tries in ((), (root * (1 + 1e-9), root * (1 - 1e-9))):
                with np.errstate(over="ignore"):
                    one = largest_rejected_one(
                        lambda x, root=root, shape=shape: float(shape(x, root)), 750.0, 4e-16, 0.0, tries
                    )
                assert root * (1 - 2e-15) - 1e-18 <= one <= root
    none = largest_rejected(lambda x, i: -1 - x, np.array([0.0, 5.0]))
    assert none.tolist() == [0.0, 0.0]
    assert largest_rejected(lambda x, i: 1 + x, np.array([0.0, 5.0])).tolist() == [0.0, 5.0]
    assert largest_rejected_one(lambda x: -1 - x, 5.0, 1e-13) == 0.0
    assert largest_rejected_one(lambda x: 1 + x, 5.0, 1e-13) == 5.0
    assert largest_rejected_one(lambda x: 1 + x, 0.0, 1e-13) == 0.0


def test_a_known_bound_costs_one_test():
    asked = []

    def margin(x):
        asked.append(x)
        return 1.0 - x

    assert largest_rejected_one(margin, 9.0, 1e-13, 3.0, (8.0, 5.0)) == 3.0
    assert asked == [3.0]
    assert largest_rejected_one(margin, 1 + 5e-14, 1e-13, 0.0, (1 - 4e-14, 0.5)) == 1 - 4e-14
    assert asked == [3.0, 1 - 4e-14]

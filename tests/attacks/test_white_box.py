"""White-box scores: the law of a step, the scores of a brute-force twin, and which score is the better one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.attacks import choose_canaries, dirac_scores, glir_step_scores, printed_step_scores, step_scores
from bayes_dp.checks import InputError

M, R, D = 6, 9, 12
RNG = np.random.default_rng(0)
G = RNG.normal(size=(M + R, D)) / 4
U = RNG.normal(size=D)


def law(without: int | None, q: float, each: float, variance: float, g=G, m=M):
    """b and V of a step without a canary, as sums over all others."""
    b, v = np.zeros(g.shape[1]), variance * np.eye(g.shape[1])
    for j in range(len(g)):
        if j != without:
            mean, weight = (q / 2, q / 2 * (1 - q / 2)) if j < m else (each * q, each * q * (1 - q))
            b += mean * g[j]
            v += weight * np.outer(g[j], g[j])
    return b, v


@pytest.mark.parametrize(
    ("sigma", "q", "c", "members"), [(0.7, 0.3, 1.2, 18), (2.0, 1.0, 0.5, None), (0.0, 0.05, 1, 9)]
)
def test_all_at_once_is_one_by_one(sigma, q, c, members):
    g = G * np.minimum(1.0, c / np.linalg.norm(G, axis=1))[:, None]
    found = step_scores(g @ g.T, g @ U, M, noise_multiplier=sigma, sampling_rate=q, clip=c, members=members)
    for i in range(M):
        b, v = law(i, q, (members or R) / R, (sigma**2 or 1e-3) * c**2, g=g)
        linear, leakage = g[i] @ np.linalg.solve(v, U - b), g[i] @ np.linalg.solve(v, g[i])
        ratio = np.log(1 - q + q * np.exp(linear - leakage / 2))
        wanted = (g[i] @ U, g[i] @ (U - b), linear, ratio, leakage)
        np.testing.assert_allclose([each[i] for each in found], wanted, rtol=1e-8, atol=1e-10)


def test_the_sum_of_all_members_makes_the_mean_exact():
    """Five of nine members are given for V; b is of all nine."""
    q, sigma, some = 0.3, 0.7, G[: M + 5]
    total = G[M:].sum(axis=0)
    found = step_scores(some @ some.T, some @ U, M, noise_multiplier=sigma, sampling_rate=q, members=R,
                        member_sum=some @ total)  # fmt: skip
    for i in range(M):
        b = law(i, q, 1.0, sigma**2)[0]
        v = law(i, q, R / 5, sigma**2, g=some)[1]
        linear, leakage = G[i] @ np.linalg.solve(v, U - b), G[i] @ np.linalg.solve(v, G[i])
        wanted = np.log(1 - q + q * np.exp(linear - leakage / 2))
        np.testing.assert_allclose(
            [found.centred[i], found.linear[i], found.ratio[i]], [G[i] @ (U - b), linear, wanted], rtol=1e-8
        )
    whole = {"noise_multiplier": sigma, "sampling_rate": q}
    exact = step_scores(G @ G.T, G @ U, M, member_sum=G @ total, **whole)
    np.testing.assert_allclose(exact.ratio, step_scores(G @ G.T, G @ U, M, **whole).ratio, rtol=1e-10)


def test_the_law_of_a_step():
    """Mean and covariance of simulated steps; a canary that is not a member, and one that is."""
    rng, q, sigma = np.random.default_rng(1), 0.3, 0.5
    coins = rng.random((40_000, M)) < 0.5
    coins[:, 0] = False
    drawn = rng.random((40_000, M + R)) < q
    drawn[:, :M] &= coins
    steps = drawn @ G + sigma * rng.normal(size=(40_000, D))
    b, v = law(0, q, 1.0, sigma**2)
    np.testing.assert_allclose(steps.mean(axis=0), b, atol=0.02)
    np.testing.assert_allclose(np.cov(steps.T), v, atol=0.02)
    both = steps + (rng.random(40_000) < q)[:, None] * G[0]
    np.testing.assert_allclose(both.mean(axis=0), b + q * G[0], atol=0.02)


def test_the_ratio_is_that_of_the_densities_of_a_step():
    q, sigma = 0.2, 0.6
    found = step_scores(G @ G.T, G @ U, M, noise_multiplier=sigma, sampling_rate=q)
    for i in range(M):
        b, v = law(i, q, 1.0, sigma**2)
        without, drawn = (stats.multivariate_normal(b + move, v).pdf(U) for move in (0 * b, G[i]))
        assert found.ratio[i] == pytest.approx(np.log(((1 - q) * without + q * drawn) / without), rel=1e-8)


def test_gradients_of_nothing_and_alike():
    g = np.vstack([np.zeros(D), G[1], G[1], G[2:]])
    found = step_scores(g @ g.T, g @ U, 3, noise_multiplier=1.0, sampling_rate=0.1)
    np.testing.assert_allclose([found.ratio[0], found.leakage[0], found.plain[0]], 0, atol=1e-14)
    assert found.ratio[1] == pytest.approx(found.ratio[2])


def test_many_gradients_of_many_parameters():
    rng = np.random.default_rng(2)
    gradients = rng.normal(size=(150, 3000)) / 60
    found = step_scores(gradients @ gradients.T, gradients @ gradients[0], 100, noise_multiplier=1, sampling_rate=0.1)
    assert np.argmax(found.ratio) == 0


def transcript(seed: int, steps: int = 60, m: int = 200, r: int = 60, d: int = 60, q: float = 0.2, sigma: float = 1.0):
    """A synthetic training: gradients that change from step to step, with a common mean and few directions that
    matter. Coins, and the scores of all steps."""
    rng = np.random.default_rng(seed)
    member = rng.random(m) < 0.5
    scale = np.geomspace(3.0, 0.1, d)
    total: dict[str, np.ndarray] = {}
    for _ in range(steps):
        g = (rng.normal(size=(m + r, d)) + rng.normal(size=d)) * scale
        g /= np.maximum(1.0, np.linalg.norm(g, axis=1))[:, None]
        drawn = (rng.random(m + r) < q) & np.append(member, np.ones(r, bool))
        u = drawn @ g + sigma * rng.normal(size=d)
        found = step_scores(g @ g.T, g @ u, m, noise_multiplier=sigma, sampling_rate=q)._asdict()
        found["printed"] = printed_step_scores(
            g @ g.T, g @ u, m, sampling_rate=q, learning_rate=0.1, batch=q * (m / 2 + r)
        )
        for name, values in found.items():
            join = np.maximum if name == "printed" else np.add
            total[name] = values if name not in total else join(total[name], values)
    return member, total


def test_plain_is_less_than_centred_less_than_the_ratio():
    areas: dict[str, list[float]] = {}
    for seed in range(2):
        member, total = transcript(seed)
        for name, score in total.items():
            areas.setdefault(name, []).append(bdp.GuessTable(score, member).auc().value)
    mean = {name: float(np.mean(values)) for name, values in areas.items()}
    assert mean["plain"] < mean["centred"] < mean["linear"] + 0.02 < mean["ratio"] + 0.04
    assert mean["ratio"] > mean["plain"] + 0.05
    assert mean["ratio"] > mean["printed"] + 0.05
    assert abs(mean["printed"] - 0.5) < 0.06  # its penalty swamps what the step says


def test_some_members_are_enough_for_the_covariance_and_not_for_the_mean():
    """15 of 150 members, with the sum of all and without; gradients stay as they are, so that errors add up."""
    rng, q, sigma, m, n = np.random.default_rng(0), 0.2, 0.5, 200, 350
    member, scores = rng.random(m) < 0.5, np.zeros((2, m))
    g = (rng.normal(size=(n, 60)) + rng.normal(size=60)) * np.geomspace(3.0, 0.1, 60)
    g /= np.linalg.norm(g, axis=1)[:, None]
    some = g[: m + 15]
    for _ in range(30):
        u = ((rng.random(n) < q) & np.append(member, np.ones(n - m, bool))) @ g + sigma * rng.normal(size=60)
        for i, total in enumerate((some @ g[m:].sum(axis=0), None)):
            scores[i] += step_scores(some @ some.T, some @ u, m, noise_multiplier=sigma, sampling_rate=q,
                                     members=n - m, member_sum=total).ratio  # fmt: skip
    exact, estimated = (bdp.GuessTable(score, member).auc().value for score in scores)
    assert exact > estimated + 0.05


def test_the_printed_algorithm_by_matrices():
    q, eta, batch, ridge = 0.3, 0.1, 4.0, 1e-3
    found = printed_step_scores(G @ G.T, G @ U, M, sampling_rate=q, learning_rate=eta, batch=batch)
    references = G[M:]
    mean = references.mean(axis=0)
    inverse = np.linalg.inv(references.T @ references / R + ridge * np.eye(D))
    for i in range(M):
        away = G[i] - mean
        wanted = away @ inverse @ (U / batch - mean) - away @ inverse @ away / (2 * q * eta)
        assert found[i] == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("sigma", [0.8, 0.0])
def test_glir_by_matrices(sigma):
    """The statistic exactly, and its law near that of χ² with many degrees of freedom."""
    batch, clip = 4.0, 1.3
    references = G[M:]
    away = references - references.mean(axis=0)
    inverse = np.linalg.inv(away.T @ away / R + (sigma**2 or 1e-3) * clip**2 / batch * np.eye(D))
    of = {"square": U @ U, "noise_multiplier": sigma, "batch": batch, "clip": clip}
    found = glir_step_scores(G @ G.T, G @ U, M, parameters=D, **of)
    for i in range(M):
        v, k = U / batch - G[i], G[i] - references.mean(axis=0)
        s, centre = (batch - 1) * v @ inverse @ v, batch * k @ inverse @ k
        wanted = -stats.norm.logcdf((s - D - centre) / np.sqrt(2 * (D + 2 * centre)))
        assert found[i] == pytest.approx(wanted, rel=1e-6)
    s, d, centre = 5100.0, 4000, 1000.0
    wanted = -stats.ncx2.logcdf(s, d, centre)
    assert -stats.norm.logcdf((s - d - centre) / np.sqrt(2 * (d + 2 * centre))) == pytest.approx(wanted, rel=0.05)


def test_dirac_canaries_are_those_of_a_step_with_nobody_else():
    rng, q, sigma = np.random.default_rng(3), 0.1, 0.8
    inner = rng.normal(size=(5, 4))
    wanted = sum(step_scores([[1.0]], [u], 1, noise_multiplier=sigma, sampling_rate=q).ratio for u in inner[:, 0])
    found = dirac_scores(inner, noise_multiplier=sigma, sampling_rate=q)
    assert found[0] == pytest.approx(float(wanted[0]))
    assert dirac_scores(inner, noise_multiplier=sigma, sampling_rate=1.0)[1] == pytest.approx(
        np.sum((inner[:, 1] - 0.5) / sigma**2)
    )


def test_canaries_by_what_is_to_be_expected():
    leakage = np.array([[1.0, 5.0, 2.0, 0.0], [1.0, 0.0, 2.0, 0.5], [1.0, 0.0, 2.0, 0.5]])
    assert choose_canaries(leakage, 4).tolist() == [2, 1, 0, 3]
    assert choose_canaries(leakage, 2, by="ranks").tolist() == [2, 0]
    _, total = transcript(5, steps=10)
    best = choose_canaries(total["leakage"][None], 100)
    assert len(set(best.tolist())) == 100
    assert total["leakage"][best].min() >= np.delete(total["leakage"], best).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gram": np.eye(3)}, r"gram must be of the shape \(2, 2\), as inner is, not \(3, 3\)"),
        ({"gram": [[1.0, 2.0], [2.0, 1.0]]}, r"gram must hold inner products, and 2 at \[0, 1\] cannot be one"),
        ({"gram": [[1.0, 0.1], [0.2, 1.0]]}, r"gram must hold inner products, and 0.1 at \[0, 1\]"),
        ({"gram": [[-1.0, 0.0], [0.0, 1.0]]}, r"gram\[0, 0\] must be at least 0"),
        ({"canaries": 3}, "canaries must be a whole number from 1 to 2, not 3"),
        ({"canaries": 2, "members": 4}, "members must be 0 where no member's gradient is given"),
        ({"member_sum": [1.0]}, r"member_sum must be of the shape \(2,\), as inner is, not \(1,\)"),
        ({"members": 0}, "members must be a whole number, at least 1"),
        ({"sampling_rate": 0}, "sampling_rate must lie in"),
        ({"noise_multiplier": 1e200}, r"noise_multiplier must lie in \[0, 1e\+09\], not 1e\+200"),
        ({"inner": [[1.0]]}, r"inner must be of the shape \(gradients,\)"),
    ],
)
def test_what_cannot_be(change, message):
    given = {"gram": np.eye(2), "inner": [1.0, 0.0], "canaries": 1, "noise_multiplier": 1.0, "sampling_rate": 0.5}
    step_scores(**given)
    with pytest.raises(InputError, match=message):
        step_scores(**given | change)


def test_products_that_no_gradients_have():
    """Each pair could be, and the three cannot."""
    gram = [[1.0, 0.99, -0.99], [0.99, 1.0, 0.99], [-0.99, 0.99, 1.0]]
    with pytest.raises(InputError, match="gram must hold inner products, and such have no negative eigenvalue"):
        step_scores(gram, np.zeros(3), 2, noise_multiplier=0.1, sampling_rate=0.5)


@pytest.mark.parametrize("sigma", [0.0, 1e-200, 1e-4, 1e-2])
def test_little_noise_and_rounded_products(sigma):
    """More gradients than parameters, in 32 bits, and twice the same one."""
    g = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    g /= np.linalg.norm(g, axis=1)[:, None]
    g[1] = g[0]
    found = step_scores(g @ g.T, g @ (g[0] + g[5]), 100, noise_multiplier=sigma, sampling_rate=0.2)
    assert all(np.isfinite(each).all() for each in found)
    assert found.ratio[0] == pytest.approx(found.ratio[1], rel=1e-3, abs=1e-3)


def test_gradients_that_are_not_clipped_are_refused():
    """In other units than the clipping norm scores are large, and say nothing."""
    g = np.random.default_rng(0).normal(size=(6, 50)) / 50**0.5
    g /= np.linalg.norm(g, axis=1)[:, None]
    how = {"noise_multiplier": 1.0, "sampling_rate": 0.2}
    step_scores((g @ g.T).astype(np.float32), g @ g[0], 3, clip=1.0, **how)
    g[1] *= 3
    with pytest.raises(
        InputError, match=r"gram must be of clipped gradients, and that at \[1, 1\] has the norm 3, above"
    ):
        step_scores(g @ g.T, g @ g[0], 3, clip=1.0, **how)
    step_scores(g @ g.T, g @ g[0], 3, clip=3.0, **how)


def test_dirac_canaries_need_noise():
    with pytest.raises(InputError, match="noise_multiplier must be above 0"):
        dirac_scores([[1.0]], noise_multiplier=0.0, sampling_rate=0.5)
    with pytest.raises(InputError, match="gram must have the gradients of references too"):
        printed_step_scores(np.eye(2), [1.0, 0.0], 2, sampling_rate=0.5, learning_rate=0.1, batch=2.0)
    of = {"square": 1.0, "parameters": 5, "noise_multiplier": 1.0, "batch": 2.0}
    with pytest.raises(InputError, match="gram must have the gradients of references too"):
        glir_step_scores(np.eye(2), [1.0, 0.0], 2, **of)
    with pytest.raises(InputError, match=r"batch must lie in \(1, inf\), not 1"):
        glir_step_scores(np.eye(2), [1.0, 0.0], 1, **of | {"batch": 1.0})


@pytest.mark.parametrize("unit", [1e-100, 1e-20, 1e20, 1e40])
def test_any_unit(unit: float):
    g = np.random.default_rng(8).normal(size=(6, 20)) / 10
    gram, inner, how = g @ g.T, g @ g[0], {"noise_multiplier": 1.0, "sampling_rate": 0.2}
    plain, found = (
        step_scores(gram, inner, 4, **how),
        step_scores(unit * gram * unit, unit * inner * unit, 4, clip=unit, **how),
    )
    assert found.leakage == pytest.approx(plain.leakage)
    assert found.ratio == pytest.approx(plain.ratio)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: step_scores([[1.0]], [1e200], 1, noise_multiplier=1.0, sampling_rate=0.5), r"inner\[0\] must lie in"),
        (lambda: dirac_scores([[1e308]], noise_multiplier=0.1, sampling_rate=0.5), r"inner\[0, 0\] must lie in"),
        (lambda: dirac_scores([[1.0]], noise_multiplier=1e-160, sampling_rate=0.5), "noise_multiplier must be above 0"),
        (lambda: dirac_scores([[1.0]], noise_multiplier=1.0, sampling_rate=5e-324), "sampling_rate must lie in"),
        (lambda: step_scores([[1.0]], [0.0], 1, noise_multiplier=1.0, sampling_rate=0.5, clip=1e160), "clip must lie"),
        (lambda: choose_canaries([[1e308, 1.0]] * 2, 1), r"leakage\[0, 0\] must lie in"),
    ],
)
def test_numbers_whose_squares_are_none(call, message):
    with pytest.raises(InputError, match=message):
        call()

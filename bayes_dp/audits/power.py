"""How likely tests refute (ε, δ)-DP, by the true error rates (α, β): to plan with, and to tell what a test could see.

    joint_exact       the exact test of `exact_test.py`: G ≥ g for the least g at which p ≤ 1 − confidence
    clopper_pearson   both rates bounded at half the error probability
    accuracy          v or more of 2N decisions right, for the least v ≥ 2N q + 1 with P[Binomial(2N, q) ≥ v] ≤ p,
                      q = (δ + e^ε)/(1 + e^ε)
    one_run           v or more of r guesses on one model right, for the least v above the mode whose exact tail is ≤ p
    betting           stops on average after about (log(1/p) + 2)/growth pairs, and in 90% of all cases by 1.9 times
                      as many; growth = min over R(ε, δ) of kl(α, ·) + kl(β, ·)

The first two refute (x, y) for all y ≤ y(x), so that the power is Σ_x P[X = x] P[Y ≤ y(x)]. Beyond 2000 runs of a kind
both are planned by Clopper and Pearson's y(x), which is nearly as large, of x within 9 standard deviations; of more
than 400 such x, at the middles of stretches of them.

No test of level p has the power w with fewer than kl(w, p)/growth runs, as what is done with data makes no divergence
larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from scipy import special

from bayes_dp.audits.exact_test import Questions, gap, p_of_gap
from bayes_dp.audits.one_run import exact_p_value
from bayes_dp.beta import clopper_pearson_upper
from bayes_dp.support.arrays import Ints

__all__ = [
    "POWERS",
    "growth",
    "least_detectable",
    "least_detectable_guesses",
    "least_runs",
    "one_run_power",
    "pairs_needed",
]

_TOLERANCE = 1e-3  # of the least G that is refuted
_HIGHEST = 50.0  # ε
_NOTHING = 1e-8  # of G; the exact test takes what is within 1e-9 for the same
_EXACT = 2000  # runs of a kind up to which regions are computed
_STRETCHES = 400  # of false positives, beyond


def _corner(epsilon: float, delta: float) -> float:
    """(1 − δ)/(1 + e^ε)."""
    return float((1 - delta) * special.expit(-epsilon))


def joint_region(n0: int, n1: int, epsilon: float, delta: float, p: float) -> Ints:
    """The largest y that is refuted by the exact test for x = 0, 1, …, as long as there is one."""
    runs, other_runs, value = (np.array([float(each)]) for each in (n0, n1, epsilon))
    asked = Questions(runs, other_runs, value, delta)
    if (n0 + n1) * _corner(epsilon, delta) <= _NOTHING:  # G is at most about that: errors are too rare to tell of
        return np.zeros(0, int)
    low, high, near = 0.0, float(gap(0, n0, 0, n1, epsilon, delta)), -math.log(p)
    if p_of_gap(high, asked)[0] > p:
        return np.zeros(0, int)
    for middle in (near, near + 1, near + 2):  # where the least one mostly is
        if low < middle < high:
            low, high = (low, middle) if p_of_gap(middle, asked)[0] <= p else (middle, high)
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (low, middle) if p_of_gap(middle, asked)[0] <= p else (middle, high)
    return p_of_gap(high, asked)[1]


def clopper_pearson_region(n0: int, n1: int, epsilon: float, delta: float, p: float) -> Ints:
    """The same of Clopper-Pearson bounds."""
    alpha, beta = (clopper_pearson_upper(np.arange(n + 1.0), n, p / 2) for n in (n0, n1))
    with np.errstate(over="ignore"):
        most = np.maximum(1 - delta - np.exp(epsilon) * alpha, (1 - delta - alpha) * np.exp(-epsilon))
    last = np.searchsorted(beta, most, side="left") - 1  # β̄ < most
    return last[: int(np.argmax(last < 0)) if (last < 0).any() else len(last)]


def clopper_pearson_power(n0: int, n1: int, alpha: float, beta: float, epsilon: float, delta: float, p: float) -> float:
    """Σ_x P[X = x] P[Y ≤ y(x)] where x are likely, for any numbers of runs.

    The upper bound of y errors is below t where P[Binomial(n1, t) ≤ y] < p/2, so that y(x) is found by halving.
    """
    mean, far = n0 * alpha, 9 * math.sqrt(n0 * alpha * (1 - alpha)) + 30
    first, end = max(0, math.floor(mean - far)), min(n0, math.ceil(mean + far)) + 1
    size = 2 * ((end - first) // (2 * _STRETCHES)) + 1  # odd, so that there is a middle
    ends = np.append(np.arange(first, end, size), end)
    x = (ends[:-1] + ends[1:] - 1) // 2
    fewer = special.betaincc(np.maximum(ends, 1.0), np.maximum(n0 - ends + 1.0, 1.0), alpha)  # P[X < ends]
    weight = np.diff(np.where(ends == 0, 0.0, np.where(ends > n0, 1.0, fewer)))
    high = clopper_pearson_upper(x, n0, p / 2)
    with np.errstate(over="ignore"):
        limit = np.maximum(1 - delta - np.exp(epsilon) * high, (1 - delta - high) * np.exp(-epsilon))
    below, above = np.full(len(x), -1), np.full(len(x), n1)
    while np.any(above - below > 1):
        y = np.maximum((below + above) // 2, 0)
        enough = special.betaincc(y + 1.0, n1 - y, np.maximum(limit, 0.0)) < p / 2
        below, above = np.where(enough, y, below), np.where(enough, above, y)
    y = np.maximum(below, 0)
    chance = np.where(below < 0, 0.0, special.betaincc(y + 1.0, n1 - y, beta))
    return float(min(1.0, (weight * chance).sum()))


def _in_region(last: Ints, n0: int, n1: int, alpha: float, beta: float) -> float:
    """P[Y ≤ last(X)]."""
    if not len(last):
        return 0.0
    reach = 50 + math.ceil(15 * math.sqrt(n0 * alpha * (1 - alpha)))  # what lies beyond is nothing beside the rest
    centre = int(n0 * alpha)
    x = np.arange(max(0, centre - reach), min(len(last), centre + reach + 1))
    y = np.minimum(last[x], n1)
    log_choose = special.gammaln(n0 + 1) - special.gammaln(x + 1) - special.gammaln(n0 - x + 1)
    pmf = np.exp(log_choose + special.xlogy(x, alpha) + special.xlog1py(n0 - x, -alpha))
    cdf = np.where(y >= n1, 1.0, special.betaincc(y + 1, np.maximum(n1 - y, 1), beta))
    return float(min(1.0, (pmf * cdf).sum()))


def accuracy_power(n: int, alpha: float, beta: float, epsilon: float, delta: float, p: float) -> float:
    """P[n − X + n − Y ≥ v], of n runs of either kind."""
    q = 1 - _corner(epsilon, delta)
    v = np.arange(math.ceil(2 * n * q + 1), 2 * n + 1)
    enough = v[special.betainc(v, 2 * n - v + 1, q) <= p] if len(v) else v
    if not len(enough):
        return 0.0
    right = np.arange(n + 1)
    log_choose = special.gammaln(n + 1) - special.gammaln(right + 1) - special.gammaln(n - right + 1)
    one, other = (np.exp(log_choose + special.xlogy(n - right, r) + special.xlog1py(right, -r)) for r in (alpha, beta))
    tail = np.append(np.cumsum(other[::-1])[::-1], 0.0)  # P[at least k right of the one kind]
    return float(min(1.0, (one * tail[np.clip(enough[0] - right, 0, n + 1)]).sum()))


def one_run_power(examples: int, made: int, right: float, epsilon: float, delta: float, p: float) -> tuple[int, float]:
    """The number v of guesses that have to be right, and P[Binomial(made, right) ≥ v]; made + 1 and 0 for none."""
    mode = int((made + 1) * special.expit(epsilon))
    v = np.arange(min(mode + 1, made), made + 1)
    enough = v[exact_p_value(examples, made, v, epsilon, delta) <= p]
    if not len(enough) or enough[0] <= mode:
        return made + 1, 0.0
    least = int(enough[0])
    return least, float(special.betainc(least, made - least + 1, right))


def growth(alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """The least kl(α, ·) + kl(β, ·) over R(ε, δ): how fast the logarithm of a bettor's capital can grow in a pair."""
    if alpha + beta > 1:
        alpha, beta = 1 - alpha, 1 - beta
    return float(gap(alpha, 1, beta, 1, epsilon, delta))


def pairs_needed(alpha: float, beta: float, epsilon: float, delta: float, p: float) -> float:
    """About how many pairs betting takes on average to refute; infinite where the claim allows the rates."""
    speed = growth(alpha, beta, epsilon, delta)
    return (-math.log(p) + 2) / speed if speed > 0 else math.inf


def least_runs(growth: float, power: float, p: float) -> float:
    """kl(power, p)/growth: with fewer runs no test of level p has this power; infinite without growth."""
    divergence = special.rel_entr(power, p) + special.rel_entr(1 - power, 1 - p)
    return 0.0 if power <= p else math.inf if growth <= 0 else float(divergence / growth)


Power = Callable[[int, int, float, float, float, float, float], float]
Region = Callable[[int, int, float, float, float], Ints]


def _by(region: Region) -> Power:
    def power(n0: int, n1: int, alpha: float, beta: float, epsilon: float, delta: float, p: float) -> float:
        if max(n0, n1) > _EXACT:
            return clopper_pearson_power(n0, n1, alpha, beta, epsilon, delta, p)
        return _in_region(region(n0, n1, epsilon, delta, p), n0, n1, alpha, beta)

    return power


_REGIONS = {"joint_exact": joint_region, "clopper_pearson": clopper_pearson_region}

POWERS: Mapping[str, Power] = {
    "joint_exact": _by(joint_region),
    "clopper_pearson": _by(clopper_pearson_region),
    "accuracy": lambda n0, n1, alpha, beta, epsilon, delta, p: accuracy_power(n0, alpha, beta, epsilon, delta, p),
}


@lru_cache(maxsize=32)
def least_detectable(
    n0: int, n1: int, epsilon: float, delta: float, p: float, power: float, method: str = "joint_exact"
) -> float:
    """The least ε of a training whose strongest attack makes the test refute `epsilon` with this power.

    The rates of the attack are those of the corner, (1 − δ)/(1 + e^ε) both: no attack is kinder to a test. Infinite
    where so few runs never refute, as none of numbers that are counted do from an ε of 50 on.
    """
    if epsilon >= _HIGHEST:
        return math.inf
    few = max(n0, n1) <= _EXACT
    last = _REGIONS[method](n0, n1, epsilon, delta, p) if few and method in _REGIONS else None

    def enough(e: float) -> bool:
        corner = _corner(e, delta)
        if last is None:
            return POWERS[method](n0, n1, corner, corner, epsilon, delta, p) >= power
        return _in_region(last, n0, n1, corner, corner) >= power

    low, high = epsilon, 2 * _HIGHEST
    if not enough(high):
        return math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def least_detectable_guesses(examples: int, made: int, epsilon: float, delta: float, p: float, power: float) -> float:
    """The same of guesses on one model, which are right with probability e^ε/(1 + e^ε) each; infinite for too few."""
    v, _ = one_run_power(examples, made, 0.5, epsilon, delta, p)
    if v > made:
        return math.inf
    return float(special.logit(special.betaincinv(v, made - v + 1, power)))

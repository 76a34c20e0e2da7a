"""Guesses on one model, made by hand or drawn from the model of the posterior."""

import numpy as np
from scipy import special

import bayes_dp as bdp
from bayes_dp.data.guesses import guesses_from_ranking


def guesses_of(propensity, called, right, base=None, others=0, **options):
    """Guesses (r,) of examples with these propensities, among as many `others` as are said, of propensity ½."""
    called, right = np.asarray(called, bool), np.asarray(right, bool)
    member = np.concatenate([called == right, np.arange(others) % 2 == 0])
    labels = None if base is None else [*base, *["others"] * others]
    score = np.concatenate([np.where(called, 1.0, -1.0), np.zeros(others)])
    table = bdp.GuessTable(score, member, np.concatenate([propensity, np.full(others, 0.5)]), labels, **options)
    order = np.concatenate([np.flatnonzero(~called), len(called) + np.arange(others), np.flatnonzero(called)])
    return guesses_from_ranking(table, order, np.array([len(called)]), np.array([int((~called).sum())]), "fixed")


def plain(wrong, right):
    """Guesses of examples with the propensity ½, half of them called members."""
    ok = np.arange(wrong + right) >= wrong
    return guesses_of(np.full(len(ok), 0.5), np.arange(len(ok)) % 2 == 0, ok)


def levels_of(epsilon, strength, delta, share):
    """t at a share of the area between s and 1, all (m,): q(t) = q(s) + share (q(1) − q(s)), by bisection."""

    def left(t):  # 1 − q
        return (1 - t * delta) * special.expit(-t * epsilon)

    goal = left(strength) + share * (left(1.0) - left(strength))
    low, high = np.broadcast_arrays(strength, 1.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = np.where(left(middle) > goal, middle, low), np.where(left(middle) > goal, high, middle)
    return 0.5 * (low + high)


def draw(rng, size, delta=0.0, groups=1, draws=0, others=0):
    """ε, s, e (groups,), guesses and draws of the propensities (or None) from the model with its default priors.

    The features tell much (a shift), and the guesses make use of them. If the propensities are draws, the true ones are
    one of them.
    """
    epsilon, strength = abs(rng.normal(0, np.sqrt(10))), rng.random()
    level = levels_of(epsilon, strength, delta, rng.random(groups))
    logit = 1.2 * rng.standard_normal(size)
    called = rng.random(size) < special.expit(logit)
    all_logits = logit + (0.7 * rng.standard_normal((draws, 1)) + 0.3 * rng.standard_normal((draws, size)))
    true = all_logits[0] if draws else logit
    of_group = np.arange(size) % groups
    revealed = np.minimum(1.0, level * delta * (size + others) / size)[of_group]
    chance = revealed + (1 - revealed) * special.expit(level[of_group] * epsilon + np.where(called, true, -true))
    right = rng.random(size) < chance
    base = None if groups == 1 else of_group.astype(str)
    guesses = guesses_of(special.expit(logit), called, right, base, others)
    if not draws:
        return epsilon, strength, level * epsilon, guesses, None
    propensity = np.concatenate([special.expit(all_logits), np.full((draws, others), 0.5)], axis=1)
    return epsilon, strength, level * epsilon, guesses, propensity

"""Figures 2 to 4 of "Observational Auditing of Privacy": the audit of randomized response, whose ε is known.

Labels are uniform over k classes, and the features of the class y are N(e_y, I) in ten dimensions (the paper's five do
not hold ten classes). The proxy is the true posterior, or a logistic regression of 20 000 other examples. Each game is
judged at 95% and δ = 0: by the score of the paper, where M(x) is one where the response is, and by the likelihood. With
a shift, as in Figure 4, the proxy gives the second of two classes τ more than the law does; the paper's slack lowers
the inverse of the trade-off function by τ, and ours counts the labels that can differ.

    python -m models.label_response
    python -m models.label_response --shifts 1e-4 1e-3 1e-2 1e-1 --classes 2 --epsilon 0.5 2 4
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from bayes_dp.attacks.label_scores import difference, likelihood
from bayes_dp.audits.f_dp import approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.observational import lower_of, played
from bayes_dp.data.class_probabilities import drawn
from bayes_dp.games import LabelGame
from bayes_dp.support.arrays import Floats
from models.label_dp import randomized_response

__all__ = ["bounds", "main", "mixture"]

_DIMENSIONS, _TRAINING = 10, 20_000


def mixture(n: int, k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Features (n, 10) and the posterior of the classes, (n, k)."""
    labels = rng.integers(0, k, n)
    x = rng.normal(size=(n, _DIMENSIONS))
    x[np.arange(n), labels] += 1
    return x, softmax(x[:, :k], axis=1)  # |x − e_y|² differs by 2 x_y


def _logistic(x: Floats, k: int, rng: np.random.Generator) -> Floats:
    from sklearn.linear_model import LogisticRegression

    others, law = mixture(_TRAINING, k, rng)
    return np.asarray(LogisticRegression().fit(others, drawn(law, rng)).predict_proba(x))


def bounds(
    k: int,
    epsilon: float,
    made: int,
    proxy: Floats,
    law: Floats,
    *,
    games: int,
    seed: int = 0,
    tau: float = 0.0,
    counted: bool = True,
) -> dict[str, tuple[float, float]]:
    """Mean and sd of the bounds of games with so many guesses, by the score of the paper and by the likelihood.

    `law` and `proxy` are probabilities of the classes, (n, k). The slack `tau` is ours, or the paper's where it is not
    `counted`.
    """
    rng = np.random.default_rng([seed, k])
    y = drawn(law, rng)
    out, chance = randomized_response(y, np.full_like(law, 1 / k), epsilon, seed)
    slack = lower_of("approx", 0.0, tau)
    if not counted:
        slack = lambda m, n, c, p: f_dp_lower_bounds(approx(0.0), m, n, c, p, tau)  # noqa: E731
    found = {}
    for name, score in (
        ("paper", difference(np.eye(k)[out], proxy)),
        ("likelihood", likelihood(chance, proxy)),
    ):
        p = 0.05 if games == 1 else 0.1  # of which each of several games gets half
        each = played({name: LabelGame(y, proxy, score)}, made, slack, p, games, seed)
        found[name] = each["mean"], each["sd"]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.label_response", description=__doc__.split("\n\n")[0])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.5, 1, 2, 4, 8])
    parser.add_argument("--n", type=int, default=200_000, help="examples (default 200000; the paper has 1000000)")
    parser.add_argument("--games", type=int, default=20, help="(default 20; the paper has 100)")
    parser.add_argument("--shifts", type=float, nargs="+", help="τ of Figure 4, in place of Figures 2 and 3")
    parser.add_argument(
        "--share", type=float, nargs="+", default=[0.001, 0.01], help="of the examples that are guessed"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.shifts:
        print("| ε | τ | guessed | paper's score and slack | likelihood, paper's slack | likelihood, counted |")
    else:
        print("| classes | ε | guessed | law: paper's score | likelihood | logistic: paper's score | likelihood |")
    print("|---:|---:|---:|" + "---:|" * (3 if given.shifts else 4))
    for k in given.classes:
        x, law = mixture(given.n, k, np.random.default_rng([given.seed, 0, k]))
        for epsilon in given.epsilon:
            for share in given.share:
                how = {"games": given.games, "seed": given.seed}
                made = round(share * given.n)
                if given.shifts:
                    for tau in given.shifts:
                        second = np.minimum(law[:, 1] + tau, 1.0)
                        proxy = np.column_stack([1 - second, second])
                        plain, ours = (
                            bounds(k, epsilon, made, proxy, law, tau=tau, counted=counted, **how)
                            for counted in (False, True)
                        )
                        _print([epsilon, tau, f"{share:.1%}"], [*plain.values(), ours["likelihood"]])
                else:
                    fitted = _logistic(x, k, np.random.default_rng([given.seed, 1, k]))
                    pairs = [pair for q in (law, fitted) for pair in bounds(k, epsilon, made, q, law, **how).values()]
                    _print([k, epsilon, f"{share:.1%}"], pairs)
    return 0


def _print(cells: Sequence[object], pairs: Sequence[tuple[float, float]]) -> None:
    values = [f"{mean:.2f} ± {sd:.2f}" for mean, sd in pairs]
    first = [f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells]
    print(f"| {' | '.join([*first, *values])} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())

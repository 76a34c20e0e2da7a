"""How long things take beside plain versions of them, and how time and memory grow: `make bench-report`.

    python -m tests.benchmarks.growth speed growth starts samplers

prints Markdown tables, of processor seconds of one core in one run, so that neither other work on the machine nor
another day comes between the two sides of a ratio. The sizes are such that all takes minutes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import optimize, special, stats

import bayes_dp as bdp
from bayes_dp import datasets, region
from bayes_dp.audits.f_dp import GAUSSIAN, lower_bounds
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.propensity_bounds import bounds_for_propensities
from bayes_dp.audits.rate_posterior import JointBeta
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.support.arrays import Ints
from bayes_dp.support.workers import one_thread
from bayes_dp.tradeoff import epsilon_from_mu
from tests.bayes.exact.test_posterior import brute_force, half_normal
from tests.benchmarks.test_audit_speed import plain_gaussian_bound
from tests.benchmarks.test_exact_speed import model_counts
from tests.benchmarks.test_interval_speed import plain_quantile

ROUNDS = 3
PLAIN = "bivariate_normal"  # the likelihood of the published data, that others are held against

Call = Callable[[], object]


def seconds(call: Call, rounds: int = ROUNDS) -> float:
    """The least of several processor times."""
    found = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return max(min(found), 1e-6)


def megabytes(call: Call) -> float:
    """The most memory that Python and NumPy hold at a time beyond what they held before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def posterior(n: int, trials: int) -> Call:
    counts = model_counts(n, trials)
    return lambda: bdp.estimate(counts, 1e-3)


def bound(made: int) -> Call:
    return lambda: lower_bounds(GAUSSIAN, made, made, round(0.7 * made), 0.05)


def bootstrapped(replicates: int, examples: int) -> Call:
    """Bounds for so many draws of learned propensities, one number of guesses."""
    rng = np.random.default_rng(0)
    logit = rng.normal(size=examples)
    member = rng.random(examples) < special.expit(logit)
    called = member ^ (rng.random(examples) > special.expit(2.0))
    propensity = special.expit(logit + 0.1 * rng.normal(size=(replicates, examples)))
    given = (propensity, called, called == member, rng.random(examples))
    return lambda: bounds_for_propensities(*given, examples=examples, p=0.025)


def on_a_grid(counts: bdp.ErrorCounts) -> object:
    """The posterior on 200 × 150 points."""
    epsilon, strength = ((np.arange(200) + 0.5) / 200) ** 2 * 24, (np.arange(150) + 0.5) / 150
    return brute_force(counts, 1e-3, epsilon, strength, half_normal)


def data_sets(many: int) -> list[bdp.ErrorCounts]:
    rng = np.random.default_rng(1)
    rates = [region.sample(2.0, 1e-3, 0.6, 6, rng).T for _ in range(many)]
    return [bdp.ErrorCounts(rng.binomial(200, alpha), 200, rng.binomial(200, beta), 200) for alpha, beta in rates]


def one_by_one(sets: list[bdp.ErrorCounts]) -> object:
    return [bdp.estimate(counts, 1e-3) for counts in sets]


def bound_on_epsilon(made: int) -> Call:
    return lambda: epsilon_from_mu(lower_bounds(GAUSSIAN, made, made, round(0.7 * made), 0.05), 1e-5)


def by_scipy_stats(made: int, correct: int, p: float, delta: float) -> float:
    """ε to 1e-6 the way of jax_privacy: of each ε that Brent's method tries, μ and then the recursion until h is at
    rest, with the normal law of scipy.stats at each step."""
    law = stats.norm

    def excess(epsilon: float) -> float:
        def more(mu: float) -> float:
            low, high = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
            return float(special.ndtr(low) - np.exp(epsilon + special.log_ndtr(high)) - delta)

        mu, r, h = optimize.brentq(more, 1e-9, 50.0, xtol=1e-12), p * correct / made, p * (made - correct) / made
        for k in range(correct - 1, -1, -1):
            grown = max(h, float(law.cdf(law.ppf(r) - mu)))
            if grown == h:
                break
            r, h = min(r + k / (made - k) * (grown - h), 1.0), grown
        return r + h - 1

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(optimize.brentq(excess, 1e-9, high, xtol=1e-6))


def some_bounds(correct: Ints) -> object:
    return [lower_bounds(GAUSSIAN, 2000, 2000, v, 0.05) for v in correct]


def compared() -> Iterator[tuple[str, Call, str, Call]]:
    """What, our call, what it is held against, and that call."""
    for trials in (100, 1000, 10_000):
        counts = model_counts(20, trials)
        what = f"exact posterior, 20 bases of {trials} + {trials}"
        yield what, posterior(20, trials), "a grid of 200 × 150", partial(on_a_grid, counts)
    sets = data_sets(60)
    yield "60 data sets of 6 bases", partial(bdp.estimate_many, sets, 1e-3), "one by one", partial(one_by_one, sets)
    deltas = np.geomspace(1e-6, 0.1, 20)
    for family in ("gaussian", "average", "approx"):
        post = bdp.estimate(model_counts(6, 200), 1e-3, family=family)
        what = f"ε at 20 values of δ, family {family}"
        yield what, partial(post.epsilon_at, deltas), "at one", partial(post.epsilon_at, 1e-4)
    for made in (1000, 10_000, 100_000):
        plain = partial(plain_gaussian_bound, made, made, round(0.7 * made), 0.05)
        yield f"f-DP bound, {made} guesses", bound(made), "the recursion, and halving", plain
    for made in (1000, 10_000, 100_000):
        peer = partial(by_scipy_stats, made, round(0.7 * made), 0.05, 1e-5)
        yield f"f-DP bound on ε, {made} guesses", bound_on_epsilon(made), "the way of jax_privacy, to 1e-6", peer
    correct = 1000 + np.arange(1000)
    at_once, some = partial(lower_bounds, GAUSSIAN, 2000, 2000, correct, 0.05), partial(some_bounds, correct[::10])
    yield "1000 f-DP bounds of 2000 guesses", at_once, "100 of them, one by one", some
    base = (10, 100, 20, 100, 1e-5)
    plain = partial(plain_quantile, *base, 0.05)
    yield "quantile of joint beta", lambda: JointBeta(*base).quantile(0.05), "a fine grid, and halving", plain


GROWTH: dict[tuple[str, str], tuple[Callable[[int], Call], tuple[int, ...]]] = {
    ("exact posterior, 1000 + 1000", "bases *n*"): (lambda n: posterior(n, 1000), (10, 30, 100, 300)),
    ("exact posterior, 20 bases", "challenges *N*"): (lambda n: posterior(20, n), (100, 1000, 10_000, 100_000)),
    ("f-DP bound", "guesses *r*"): (bound, (1000, 10_000, 100_000, 1_000_000)),
    ("one-run bound", "guesses *r*"): (
        lambda r: lambda: one_run(bdp.Guesses(r, r, round(0.7 * r)), 1e-6),
        (1000, 10_000, 100_000, 1_000_000),
    ),
    ("bootstrap, 1000 examples", "draws *K*"): (lambda k: bootstrapped(k, 1000), (50, 100, 200, 400)),
    ("bootstrap, 100 draws", "examples *m*"): (lambda m: bootstrapped(100, m), (500, 1000, 2000, 4000)),
}


def exponent(sizes: tuple[int, ...], values: list[float]) -> float:
    """Of the power of the size that fits the values, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def two(value: float) -> str:
    """With two digits that count."""
    return f"{float(f'{value:.2g}'):g}"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def speed() -> str:
    rows = []
    for what, ours, beside, theirs in compared():
        ours()  # what is imported or made at first use
        mine, other = seconds(ours), seconds(theirs, 1)
        rows.append((what, two(mine), beside, two(other), two(other / mine)))
    return table(("What", "seconds", "Held against", "seconds", "ratio"), rows)


def growth() -> str:
    rows = []
    for (what, size), (made, sizes) in GROWTH.items():
        calls = [made(n) for n in sizes]
        calls[0]()
        times = [seconds(call) for call in calls]
        memory = [megabytes(calls[i]) for i in (0, -1)]
        powers = exponent(sizes, times), exponent((sizes[0], sizes[-1]), memory)
        span = f"{sizes[0]} to {sizes[-1]}"
        numbers = (two(times[0]), two(times[-1]), f"{powers[0]:.2f}", two(memory[-1]), f"{powers[1]:.2f}")
        rows.append((what, f"{size}, {span}", *numbers))
    heads = ("What", "Size", "seconds, smallest", "largest", "exponent", "MB, largest", "exponent of memory")
    return table(heads, rows)


STARTS: dict[str, tuple[str, ...]] = {
    "the help": ("--help",),
    "`estimate`": ("estimate", "FILE", "--delta", "1e-3"),
    "`compare`": ("compare", "FILE", "--delta", "1e-3"),
    "`report`, of 11 posteriors": ("report", "FILE", "--delta", "1e-3"),
    "`estimate`, `bivariate_normal` by MHAAR": (
        *("estimate", "FILE", "--delta", "1e-3"),
        *("--likelihood", "bivariate_normal"),
    ),
}


def start(arguments: tuple[str, ...], folder: str) -> float:
    """Processor seconds of a command line in a new process, whose caches are in the folder."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "PYTHONDONTWRITE"))}
    code = "import sys; from bayes_dp.cli import main; sys.exit(main())"
    words = [str(datasets.demo_csv()) if each == "FILE" else each for each in arguments]
    caches = {"XDG_CACHE_HOME": folder, "PYTHONPYCACHEPREFIX": folder, "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *words], env=own | caches, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def starts() -> str:
    """The first start of a command, which fills the caches, and the least of those after it."""
    rows = []
    for what, arguments in STARTS.items():
        with tempfile.TemporaryDirectory() as folder:
            first, *others = (start(arguments, folder) for _ in range(1 + ROUNDS))
        rows.append((what, two(first), two(min(others))))
    return table(("Command, 20 bases", "seconds, first start", "later"), rows)


def sampled(name: str) -> tuple[float, float, float]:
    """Draws, the least effective size among the parameters, and seconds, of MHAAR: means over several seeds."""
    counts = bdp.datasets.mnist_a4()
    sample = partial(bdp.estimate, counts, 1e-3, likelihood=name, method="mhaar", progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bdp.ConvergenceWarning)
        sample(draws=250)  # compiles
        begun = time.process_time()
        posts = [sample(seed=seed) for seed in range(ROUNDS)]
        spent = (time.process_time() - begun) / ROUNDS
    least = float(np.mean([min(post.diagnostics["ess_bulk"].values()) for post in posts]))
    return posts[0].samples["epsilon"].size, least, spent


def samplers() -> str:
    """What a second of MHAAR brings for each likelihood, with its usual settings."""
    found = {name: sampled(name) for name in LIKELIHOODS}
    rates = {name: least / spent for name, (_, least, spent) in found.items()}
    rows = [
        (f"`{name}`", f"{draws:.0f}", two(least), two(spent), two(rates[name]), two(rates[name] / rates[PLAIN]))
        for name, (draws, least, spent) in found.items()
    ]
    heads = ("Likelihood", "draws", "effective, least", "seconds", "effective per second", f"over `{PLAIN}`")
    return table(heads, rows)


if __name__ == "__main__":
    with one_thread():
        for name in sys.argv[1:]:
            made = {"speed": speed, "growth": growth, "starts": starts, "samplers": samplers}[name]
            print(made(), end="\n\n")

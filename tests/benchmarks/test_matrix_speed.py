"""How long attacks on a matrix of scores take, and how much memory: `make bench`."""

import time
import tracemalloc

import numpy as np
import pytest

from bayes_dp.attacks.references.registry import INDEX
from bayes_dp.attacks.score_matrix import ScoreMatrix


def matrix(models, examples, population, features=50, missing=0.0):
    rng = np.random.default_rng(0)
    member = (rng.random((models, examples)) < 0.5).astype(np.int8)
    member[rng.random((models, examples)) < missing] = -1
    phi = rng.standard_normal((models, examples))
    phi += rng.normal(0, 2, examples) + member
    return ScoreMatrix(
        member,
        log_odds=phi,
        population=rng.normal(0, 2, population) + rng.standard_normal((models, population)),
        gradient_norm=np.exp(-phi),
        features=rng.standard_normal((examples, features)),
        population_features=rng.standard_normal((population, features)),
    )


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("name", INDEX)
def test_an_attack_on_a_target(benchmark, name):
    """32 references and 8000 examples: at most 50 ms."""
    given = matrix(33, 8000, 4000)
    given.attack(name)  # what is computed once for all targets
    benchmark.pedantic(given.attack, args=(name,), rounds=5)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < 0.05


@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_all_attacks_on_a_large_matrix(benchmark, missing):
    """64 models and 100 000 examples by all attacks: at most 60 s of one processor, and twice its memory beside it,
    also where some of the memberships are not known."""
    size = (64, 100_000, 10_000) if benchmark.enabled else (8, 2000, 200)
    given = matrix(*size, features=5, missing=missing)

    def all_attacks():
        for name in INDEX:
            given.attack(name)

    begun = time.process_time()
    tracemalloc.start()
    all_attacks()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    taken = time.process_time() - begun
    benchmark.pedantic(all_attacks, rounds=1)
    assert most < 2 * given.statistic.nbytes + 2**20
    assert taken < 60
    if benchmark.enabled:
        print(f"{taken:.1f} s, {most / given.statistic.nbytes:.2f} times the matrix beside it")


def test_the_memory_of_a_matrix_from_losses(benchmark):
    """What is given counts as the matrix: at most four times that is there at once, with it."""
    models, examples = 64, 100_000 if benchmark.enabled else 5000
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(models, examples))
    member = np.where(rng.random(losses.shape) < 0.05, np.nan, rng.random(losses.shape) < 0.5)

    def made_and_attacked():
        return ScoreMatrix(member, losses=losses).attack("bavaria")

    tracemalloc.start()
    made_and_attacked()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    benchmark.pedantic(made_and_attacked, rounds=1)
    assert most < 3 * losses.nbytes + 2**20

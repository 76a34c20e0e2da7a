"""How long a network of the digits experiment takes to train: `make bench`."""

import jax
import numpy as np

from models.mlp import first_weights, orders, train
from models.mnist_mlp import Settings, bases

NETWORKS, EPOCHS = 5, 20


def test_networks_abreast(benchmark):
    base = bases(Settings(bases=1, runs=1, epochs=1))[0]
    rng = np.random.default_rng(0)
    first = [first_weights(rng, len(base.kept)) for _ in range(NETWORKS)]
    order = np.stack([orders(rng, 999, 1000, EPOCHS) for _ in range(NETWORKS)])
    images = base.images / np.float32(255)
    arguments = jax.tree.map(lambda *w: np.stack(w), *first), order, np.full(NETWORKS, 999), images, base.labels

    def run():
        jax.block_until_ready(train(*arguments, batch=100))

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    if benchmark.enabled:
        seconds = benchmark.stats.stats.min / NETWORKS * 200 / EPOCHS
        benchmark.extra_info["seconds per network of 200 epochs"] = seconds
        print(f"{seconds:.2f} s for a network of 200 epochs, on one core")
        assert seconds < 8

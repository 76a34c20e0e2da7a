"""How long a whole report takes, figures and all: `make bench`."""

import time

import bayes_dp as bdp


def test_twenty_bases(benchmark):
    counts = bdp.datasets.mnist_a4()[: None if benchmark.enabled else 2]
    before = time.process_time()  # of the processor, since the machine may be shared
    page = benchmark.pedantic(lambda: bdp.report(counts, 1e-3).html, rounds=1)
    assert page.endswith("</html>\n")
    if benchmark.enabled:
        assert time.process_time() - before < 15.0

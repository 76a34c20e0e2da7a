"""How long commands take from their start: `make bench`."""

import resource
import subprocess
import sys

import pytest

from bayes_dp import datasets

MAIN = "import sys; from bayes_dp.cli import main; sys.exit(main())"


def seconds(*arguments):
    """The processor time of a command line."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", MAIN, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


@pytest.mark.parametrize(("verb", "most"), [("--help", 0.3), ("estimate", 1.6), ("compare", 2.2), ("report", 5.0)])
def test_a_command(benchmark, verb, most):
    """The best of three, where Python may not keep what it compiles; less elsewhere."""
    if not benchmark.enabled:
        pytest.skip("measures time: run by `make bench`")
    given = [verb] if verb == "--help" else [verb, str(datasets.demo_csv()), "--delta", "1e-3"]
    took = [benchmark.pedantic(seconds, args=given, rounds=1)] + [seconds(*given) for _ in range(2)]
    assert min(took) < most

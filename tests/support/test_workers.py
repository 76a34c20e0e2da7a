"""Processes that work for this one end with it, however it ends; and JAX is refused where a fork has broken it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import joblib
import pytest

from bayes_dp.support.workers import pool

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and forks")

# The second task never comes, so that one of the two workers waits for one.
WORKING = """
import os, time
from joblib import delayed, parallel_config
from bayes_dp.support.workers import pool

def task(seconds):
    print(os.getpid(), flush=True)
    time.sleep(seconds)

if __name__ == "__main__":
    with parallel_config({backend!r}, n_jobs=2), pool(None) as parallel:
        parallel(delayed(task)(seconds) for seconds in {tasks})
        time.sleep(1000)
"""


@posix
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
@pytest.mark.parametrize("tasks", [(1000, 1000), (0,)], ids=["busy", "idle"])
def test_workers_end_soon_after_their_parent_is_killed(tmp_path, backend, tasks):
    script = tmp_path / "script.py"
    script.write_text(WORKING.format(backend=backend, tasks=tasks))
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    try:
        assert int(parent.stdout.readline())
    finally:
        parent.send_signal(signal.SIGKILL)
    began = time.monotonic()
    parent.communicate(timeout=30)  # waits until nobody has the pipe open
    assert time.monotonic() - began < 15


def double(x: int) -> int:
    return 2 * x


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
@pytest.mark.parametrize("return_as", ["list", "generator"])
@pytest.mark.filterwarnings("ignore:os.fork")  # of JAX, which the tasks do not need
def test_results_are_those_of_joblib(backend, return_as):
    with joblib.parallel_config(backend, n_jobs=2):
        found = pool(None, return_as)(joblib.delayed(double)(x) for x in range(5))
        assert list(found) == [0, 2, 4, 6, 8]


def mark(path: str) -> None:
    with open(path, "w"):
        pass


def test_an_initializer_of_the_user_is_kept(tmp_path):
    path = tmp_path / "begun"
    with joblib.parallel_config("loky", n_jobs=2, initializer=mark, initargs=(str(path),)):
        assert pool(None)(joblib.delayed(double)(x) for x in range(5)) == [0, 2, 4, 6, 8]
    assert path.exists()


FORKING = """
import os, sys, warnings
warnings.simplefilter("ignore")
import bayes_dp as bdp
{before}
counts = bdp.ErrorCounts([4, 5], 20, [12, 11], 20)
child = os.fork()
if child == 0:
    try:
        print(type({work}).__name__, flush=True)
    except bdp.InputError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
JAX = "import jax; jax.numpy.ones(3).sum().block_until_ready()"
EXACT = "bdp.estimate(counts, 1e-2)"
SAMPLED = 'bdp.estimate(counts, 1e-2, method="mhaar", chains=2, draws=30, warmup=50, progress=False)'


@posix
@pytest.mark.parametrize(
    ("before", "work", "answer"),
    [
        (JAX, EXACT, "ExactPosterior"),
        (
            JAX,
            'bdp.estimate(counts, 1e-2, prior_epsilon="LogNormal(0, 1)")',
            "this process was forked when JAX had run",
        ),
        (JAX, SAMPLED, "this process was forked when JAX had run"),
        ("bdp.estimate(bdp.ErrorCounts([1], 5, [3], 5), 0.1)", SAMPLED, "MhaarPosterior"),
        (JAX, "bdp.audits.katz(counts, 1e-2)", "LowerBound"),
        ("import jax, bayes_dp.bayes.mhaar.posterior", EXACT, "ExactPosterior"),
        ("", EXACT, "ExactPosterior"),
    ],
)
def test_jax_in_a_forked_process(before, work, answer):
    code = FORKING.format(before=before, work=work)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith(answer)


PLAN = """
import sys, warnings
warnings.simplefilter("ignore")
import joblib
import bayes_dp as bdp

if __name__ == "__main__":
    with joblib.parallel_config(sys.argv[1], n_jobs=2):
        try:
            counts, prior = bdp.ErrorCounts([4], 20, [12], 20), sys.argv[2]
            bdp.estimate(counts, 0.1, prior_epsilon=prior)  # for an unusual prior JAX runs
            options = {"vary": "bases", "largest": 2, "repetitions": 4, "prior_epsilon": prior}
            print(bdp.plan(counts, 0.1, 0.2, **options).complete)
        except bdp.InputError as error:
            print(error)
"""


@posix
@pytest.mark.parametrize(
    ("backend", "prior", "answer"),
    [
        ("multiprocessing", "LogNormal(0, 1)", "this process was forked when JAX had run"),
        ("multiprocessing", "HalfNormal(3)", "True"),
        ("sequential", "HalfNormal(3)", "True"),
    ],
)
def test_a_plan_on_any_backend(tmp_path, backend, prior, answer):
    script = tmp_path / "script.py"
    script.write_text(PLAN)
    command = [sys.executable, str(script), backend, prior]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith(answer)

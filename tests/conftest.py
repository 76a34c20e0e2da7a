"""What is compiled is kept on disk, and the memory of a long run of tests is bounded.

A model takes seconds to compile, and command lines run in processes of their own. What JAX compiled for one test, or in
an earlier run, serves the next, in a folder of each worker, as two must not write one file at once.

JAX keeps what it compiled in memory too, and the C library keeps what compilers gave back, so that a process of the
whole suite would grow to several gigabytes. One that is larger than a gigabyte after a test lets go of both, unless it
has just done so: libraries alone take 800 MB, and tests after it compile again.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import pytest

_MOST = 1000  # MB
_MORE = 200  # MB by which a process has to grow before it lets go again
_left = 0  # MB after the last time

_KEPT = Path(__file__).parents[1] / ".jax_cache" / os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_KEPT))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    global _left
    if resident() > max(_MOST, _left + _MORE):
        let_go()
        _left = resident()


def resident() -> int:
    """The memory of this process in MB; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 // 2**20 if status.exists() else 0


def let_go() -> None:
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    if "bayes_dp.bayes.nuts.sampler" in sys.modules:
        sys.modules["bayes_dp.bayes.nuts.sampler"].compiled.cache_clear()
    gc.collect()
    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)

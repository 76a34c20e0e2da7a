"""What is compiled is kept on disk, and the memory of a long run of tests is bounded.

A model takes seconds to compile, and command lines run in processes of their own. What JAX compiled for one test, or in
an earlier run, serves the next, in a folder of each worker, as two must not write one file at once.

JAX keeps what it compiled in memory too, and the C library keeps what compilers gave back, so that a process of the
whole suite would grow to several gigabytes. One that is larger than 700 MB after a test lets go of both, as the
compilation of a large model takes as much for a while.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import pytest

_MOST = 700  # MB

_KEPT = Path(__file__).parents[1] / ".jax_cache" / os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_KEPT))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    if resident() > _MOST:
        let_go()


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

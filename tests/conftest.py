"""The memory of a long run of tests is bounded.

JAX keeps what it compiled, and the C library keeps what compilers gave back, so that a process of the whole suite would
grow to several gigabytes. One that is larger than a gigabyte after a test is made to let go of both.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from pathlib import Path

import pytest

_MOST = 1000  # MB


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
    if "bayes_dp.bayes.hamiltonian" in sys.modules:
        sys.modules["bayes_dp.bayes.hamiltonian"]._program.cache_clear()
    gc.collect()
    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)

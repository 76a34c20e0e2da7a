"""What is compiled is kept on disk, and the memory of a long run of tests is bounded.

A model takes seconds to compile, and command lines run in processes of their own. What JAX compiled for one test, in
one worker or in an earlier run, serves the next. All use one folder: with a bound on its size JAX locks it, so that
nobody reads what another has half written.

Compilers take up to 600 MB, which the C library keeps when they give it back, so that a process of the whole suite
would grow to several gigabytes. After a test that took more, a process returns that to the system. Where it is still
large, it lets go of the programs that JAX keeps too, which tests after it compile or read again.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import pytest

_GROWTH = 50  # MB since the last look after which a process returns what it does not use
_MOST = 800  # MB in use above which it lets go of compiled programs ...
_MORE = 150  # ... once it has grown by so much since it last did, as libraries alone may take as much
_seen = _left = 0  # MB at the last look, and when programs were let go of

# The workers share the processors: threads of products of small matrices would wait for each other in busy loops.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Each of the many commands that run in processes of their own would compile the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(Path(__file__).parents[1] / ".jax_cache")
os.environ["JAX_COMPILATION_CACHE_MAX_SIZE"] = str(2**31)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.2")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    global _seen, _left
    if "matplotlib.pyplot" in sys.modules:  # figures that are left open would be those of the next test
        sys.modules["matplotlib.pyplot"].close("all")
    if resident() > _seen + _GROWTH:
        trim()
        if resident() > max(_MOST, _left + _MORE):
            let_go()
            _left = resident()
        _seen = resident()


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
    trim()


def trim() -> None:
    """Return memory that is not in use to the system."""
    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)

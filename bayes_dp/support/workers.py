"""Loops over many processes, as joblib runs them, and what a process must not do.

Workers end when the process that started them does. One that is not told to end waits for work for minutes, and keeps
open what it inherited, such as a pipe that somebody reads to its end. A process that is killed can tell nobody. So each
worker looks once a second whether the process that started it is still there. That is for joblib's own processes; a
cluster such as Dask sees to its workers.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from contextlib import suppress
from typing import Any

from bayes_dp.checks import InputError, is_whole, show
from bayes_dp.support.forks import forked_after_jax

__all__ = ["check_jobs", "end_with", "jax_must_run", "one_thread", "pool"]

_SECONDS = 1.0


def check_jobs(n_jobs: Any) -> None:
    """Refuse what joblib does not take for a number of processes."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0 or abs(n_jobs) >= 2**31):
        raise InputError(f"n_jobs must be a whole number other than 0, or None, not {show(n_jobs)}")


def pool(n_jobs: int | None, return_as: str = "list", **options: Any) -> Any:
    """A `joblib.Parallel` on `n_jobs` processes, or on the active backend; where that gives lists only, lists."""
    from joblib import Parallel
    from joblib.parallel import BACKENDS, get_active_backend

    backend, _ = get_active_backend()
    if not backend.supports_return_generator:
        return_as = "list"
    own = [BACKENDS[name] for name in ("loky", "multiprocessing") if name in BACKENDS]
    if type(backend) in own and "initializer" not in backend.backend_kwargs:
        options |= {"initializer": end_with, "initargs": (os.getpid(),)}
    return Parallel(n_jobs=n_jobs, return_as=return_as, **options)


def one_thread() -> Any:
    """Sums in one order, whatever the number of cores; and jobs that do not fight for them."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    return threadpool_limits(limits=1)


def end_with(parent: int) -> None:
    """Have this process end when `parent`, which started it, does."""

    def watch() -> None:
        _wait_for_end(parent)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def _wait_for_end(parent: int) -> None:
    if sys.platform == "win32":  # where the number of a parent that is gone stays
        import _winapi

        with suppress(OSError):  # it is gone
            _winapi.WaitForSingleObject(_winapi.OpenProcess(_winapi.SYNCHRONIZE, False, parent), _winapi.INFINITE)
    elif os.getppid() == parent:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
    elif (known := multiprocessing.parent_process()) is not None:  # a fork server stands between, or it is gone
        with suppress(ValueError, TypeError):  # nothing to wait for
            known.join()


def jax_must_run() -> None:
    """Refuse to run JAX in a process where it would wait forever."""
    if forked_after_jax():
        raise InputError(
            "this process was forked when JAX had run, and JAX would wait forever here; start processes afresh, with"
            " joblib's backend 'loky' or multiprocessing.get_context('spawn'), or fork before JAX runs"
        )

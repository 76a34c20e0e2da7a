"""All studies by name, and the loop over the tasks of one.

A task draws from a generator of its own, seeded by the seed, the study's name and the task's place, so that no number
depends on the tasks before it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from bayes_dp.audits.registry import INDEX
from bayes_dp.audits.registry import audit as audit_named
from bayes_dp.calibrate.combined import combined_tasks
from bayes_dp.calibrate.guesses import f_dp_tasks, one_run_tasks, panoramia_tasks, zero_run_tasks
from bayes_dp.calibrate.looked_at import looked_at_tasks
from bayes_dp.calibrate.profiles import profile_tasks
from bayes_dp.calibrate.rates import interval_tasks
from bayes_dp.calibrate.registered import can_be_studied, tasks_for
from bayes_dp.calibrate.result import Row, Simulation, Study
from bayes_dp.calibrate.shifted import shifted_tasks
from bayes_dp.calibrate.wrong_pairs import wrong_pair_tasks
from bayes_dp.checks import InputError, one_number, seed_of, show, whole_number
from bayes_dp.support.progress import bar

__all__ = ["AUDITS", "TASKS", "study"]

Progress = Callable[[int, int], None]  # tasks done, tasks in all


def _registered(study: str) -> Iterator[Simulation]:
    for name, entry in INDEX.items():
        if entry.study == study:
            yield from tasks_for(audit_named(name))


TASKS: dict[str, Callable[[], Iterator[Simulation]]] = {
    "one-run": one_run_tasks,
    "f-dp": f_dp_tasks,
    "intervals": interval_tasks,
    "panoramia": panoramia_tasks,
    "zero-run-compositional": zero_run_tasks,
    "zero-run": shifted_tasks,
    "wrong-pairs": wrong_pair_tasks,
    "profile": profile_tasks,
    "sequential": looked_at_tasks,
    "combine": combined_tasks,
}
for _name, _entry in INDEX.items():
    if _entry.study not in TASKS and can_be_studied(audit_named(_name)):
        TASKS[_entry.study] = partial(_registered, _entry.study)
AUDITS = tuple(TASKS)


def study(
    audit: str,
    *,
    repetitions: int = 10_000,
    p: float = 0.05,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Study:
    """Simulate an audit, one of `AUDITS`, so many times for each of its rows.

    An interrupted study keeps the rows that are finished, if there are any.

    Parameters
    ----------
    audit, repetitions : one of `AUDITS`, and the simulated audits of each row.
    p : the error probability of each bound.
    seed : of all draws; the same seed gives the same rows.
    progress : whether there is a bar on standard error, by default on a terminal; or a function of (tasks done, tasks
        in all) that is called instead.

    >>> study = bdp.calibrate.study("wrong-pairs", repetitions=20)
    >>> study.passed, len(study.rows)
    (True, 35)
    >>> max(row.rate for row in study.rows if row.valid_claim)
    0.15
    """
    if not isinstance(audit, str) or audit not in TASKS:
        raise InputError(f"audit must be one of {', '.join(AUDITS)}, not {show(audit)}")
    whole_number("repetitions", repetitions, 1)
    if not (callable(progress) or progress is None or isinstance(progress, bool)):
        raise InputError(f"progress must be a function, True, False or None, not {show(progress)}")
    p = one_number("p", p, 0.0, 1.0, low_open=True, high_open=True)
    seed = seed_of(seed)
    rows, complete = _run(audit, tuple(TASKS[audit]()), int(repetitions), p, seed, progress)
    return Study(audit, int(repetitions), p, seed, rows, complete)


def _run(
    audit: str, tasks: Sequence[Simulation], size: int, p: float, seed: int, progress: Progress | bool | None
) -> tuple[tuple[Row, ...], bool]:
    rows: list[Row] = []
    try:
        with _shown(progress, len(tasks)) as tell:
            for i, task in enumerate(tasks):
                rows += task(np.random.default_rng([seed, zlib.crc32(audit.encode()), i]), size, p)
                tell(i + 1, len(tasks))
    except KeyboardInterrupt:
        if not rows:
            raise
        return tuple(rows), False
    return tuple(rows), True


@contextmanager
def _shown(progress: Progress | bool | None, total: int) -> Iterator[Progress]:
    """The caller's function, or one that moves a bar."""
    if callable(progress):
        yield progress
        return
    with bar(total, progress) as move:
        yield lambda done, total: move(1, "")

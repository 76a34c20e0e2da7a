"""A progress bar on standard error, silent where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bayes_dp.checks import truth

__all__ = ["bar", "check_shown"]

_LOOK_BACK = 3600.0  # seconds of which the time left is told: some steps take minutes

Move = Callable[[int, str], None]  # so many more are done, and what is being done


def check_shown(shown: Any) -> None:
    """Refuse what does not say whether there is a bar, before the work that it is to show."""
    if shown is not None:
        truth("progress", shown)


@contextmanager
def bar(total: int, shown: bool | None = None) -> Iterator[Move]:
    """A function that moves the bar: on a terminal only, always (`shown` True) or never (False)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    visible = console.is_terminal if shown is None else shown
    with Progress(
        *columns, console=console, transient=console.is_terminal, disable=not visible, speed_estimate_period=_LOOK_BACK
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, what: progress.update(task, advance=done, description=what)

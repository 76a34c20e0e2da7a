"""Whether this process was forked when JAX had run.

Then JAX's threads are missing here, and whatever it is asked waits forever. It does not matter who ran it. A process
that was forked before runs JAX as any other.
"""

from __future__ import annotations

import os
import sys

__all__ = ["forked_after_jax", "note_forks"]

_after_jax = False


def note_forks() -> None:
    """Have every process that is forked from now on note whether JAX had run."""
    if hasattr(os, "register_at_fork"):  # where there is none, there are no forks
        os.register_at_fork(after_in_child=_note)


def forked_after_jax() -> bool:
    """What was noted in this process."""
    return _after_jax


def _note() -> None:
    global _after_jax
    bridge = sys.modules.get("jax._src.xla_bridge")
    _after_jax = _after_jax or bool(getattr(bridge, "_backends", None))  # not by its function, whose lock may be held

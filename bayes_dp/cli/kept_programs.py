"""What JAX compiles for a command line is kept for the next one: a sampler takes seconds to compile.

The folder is bounded, and locked while it is read or written. In Python it is JAX's own setting, which no import of
this package changes: JAX_COMPILATION_CACHE_DIR.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

__all__ = ["keep_programs"]

_MOST = 256 * 2**20  # bytes
_LEAST = 0.2  # seconds that a program takes to compile


def keep_programs() -> None:
    """Have JAX keep them in the user's cache, unless the user has told JAX where; before JAX is imported."""
    if "JAX_COMPILATION_CACHE_DIR" in os.environ or "jax" in sys.modules:
        return
    try:
        folder = _cache() / "bayes-dp" / "programs"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home, or none to write to
        return
    if not os.access(folder, os.W_OK):
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ["JAX_COMPILATION_CACHE_MAX_SIZE"] = str(_MOST)
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(_LEAST))
    # A full disk is no reason to stop, nor to say anything: the program is compiled again.
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache")


def _cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

"""What the tests arrange for themselves."""

from __future__ import annotations

import os
from pathlib import Path


def test_each_worker_keeps_what_it_compiled_in_a_folder_of_its_own():
    """Two that write one file at once read what is half written."""
    import jax

    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    assert Path(jax.config.jax_compilation_cache_dir).name == worker

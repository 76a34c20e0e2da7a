"""What the tests arrange for themselves."""

from __future__ import annotations

from pathlib import Path


def test_compiled_programs_are_kept_in_a_folder_that_is_locked():
    """JAX locks it only if its size is bounded; two that write one file at once would leave what cannot be read."""
    import jax

    assert Path(jax.config.jax_compilation_cache_dir).name == ".jax_cache"
    assert jax.config.jax_compilation_cache_max_size > 0

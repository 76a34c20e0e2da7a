"""How the samplers' programs are compiled: in less time, as most take longer to compile than to run.

XLA translates each fusion of operations by itself, through MLIR. Its emitters of machine code before those do so in
half the time and a third of the memory, and what they make of small arrays is as fast. JAX 0.10, the last one for
Python 3.11, has them, and JAX 0.12 does not.
"""

from __future__ import annotations

from functools import lru_cache

import jax

__all__ = ["compiler_options", "uses_earlier_emitters"]

_SMALL = 400  # numbers


def uses_earlier_emitters(size: int) -> bool:
    """Whether a program on arrays of so many numbers is better compiled by them, and they are there."""
    return size <= _SMALL and _has_earlier_emitters()


def compiler_options(level: int, earlier: bool) -> dict[str, int | bool]:
    """JAX's options for a level of optimisation, and for the earlier emitters."""
    return {"xla_backend_optimization_level": level} | ({"xla_cpu_use_fusion_emitters": False} if earlier else {})


@lru_cache
def _has_earlier_emitters() -> bool:
    try:
        jax.jit(lambda x: x, compiler_options=compiler_options(3, True))(0.0)
    except jax.errors.JaxRuntimeError:  # no such option
        return False
    return True

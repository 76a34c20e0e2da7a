"""How the samplers' programs are compiled: in less time, as most take longer to compile than to run."""

from __future__ import annotations

from functools import lru_cache

import jax

__all__ = ["compiler_options"]

_SMALL = 300  # numbers in a program's data, up to which it runs as fast by the emitters before those of today


def compiler_options(level: int, size: int) -> dict[str, int | bool]:
    """JAX's options for a program on `size` numbers: the level of optimisation, and which emitters of machine code.

    XLA translates each fusion of operations by itself, through MLIR. Its emitters before those do so in half the time
    and a third of the memory; from some JAX 0.11 or 0.12 on there are none.
    """
    earlier = {"xla_cpu_use_fusion_emitters": False} if size <= _SMALL and _has_earlier_emitters() else {}
    return {"xla_backend_optimization_level": level, **earlier}


@lru_cache
def _has_earlier_emitters() -> bool:
    try:
        jax.jit(lambda x: x, compiler_options={"xla_cpu_use_fusion_emitters": False})(0.0)
    except jax.errors.JaxRuntimeError:  # no such option
        return False
    return True

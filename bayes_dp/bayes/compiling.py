"""How the samplers' programs are compiled: in less time, as most take longer to compile than to run.

XLA translates each fusion of operations by itself, through MLIR. Its emitters of machine code before those do so in
half the time and a third of the memory, and what they make of small arrays is as fast. JAX 0.10, the last one for
Python 3.11, has them, and JAX 0.12 does not.

A program is found again, in a folder of JAX's cache, by a hash of all that it is, the order of its arguments too. Those
that are numbers of NumPyro's distributions are in the order of a set of names, which is another one in each process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Self

import jax
import numpyro.distributions as dist

__all__ = ["Ordered", "compiler_options", "leaf_order", "uses_earlier_emitters"]

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


@jax.tree_util.register_pytree_node_class
class Ordered:
    """A distribution as an argument of a program: its numbers come in an order that is the same in every process."""

    def __init__(self, law: Any) -> None:
        self.law = law

    def log_prob(self, value: Any) -> jax.Array:
        found: jax.Array = self.law.log_prob(value)
        return found

    def tree_flatten(self) -> tuple[list[Any], Any]:
        leaves, structure = jax.tree.flatten(self.law)
        return [leaves[i] for i in leaf_order(structure)], structure

    @classmethod
    def tree_unflatten(cls, structure: Any, leaves: list[Any]) -> Self:
        places = dict(zip(leaf_order(structure), leaves, strict=True))
        return cls(jax.tree.unflatten(structure, [places[i] for i in range(len(places))]))


@lru_cache(maxsize=256)
def leaf_order(structure: Any) -> tuple[int, ...]:
    """The places of the leaves of a tree, those of distributions by the names of their fields."""
    marks = [_Mark() for _ in range(structure.num_leaves)]
    places = {mark: i for i, mark in enumerate(marks)}
    found = [places[mark] for mark in _marks(jax.tree.unflatten(structure, marks))]
    return tuple(dict.fromkeys([*found, *places.values()]))  # a class may flatten itself in its own way


class _Mark:
    """What stands for a leaf."""


def _marks(node: Any) -> Iterator[_Mark]:
    if isinstance(node, dist.Distribution):
        for name in sorted(type(node).gather_pytree_data_fields()):
            yield from _marks(vars(node).get(name))
        return
    for child in jax.tree.leaves(node, is_leaf=lambda each: isinstance(each, dist.Distribution)):
        if isinstance(child, dist.Distribution):
            yield from _marks(child)
        elif isinstance(child, _Mark):
            yield child

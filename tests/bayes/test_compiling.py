"""The options of the compiler are known to the JAX that is installed, and small programs have theirs; and programs are
the same in every process."""

import os
import subprocess
import sys

import jax
import numpy as np
import numpyro.distributions as dist
import pytest

from bayes_dp.bayes import compiling
from bayes_dp.bayes.compiling import Ordered, compiler_options, leaf_order, uses_earlier_emitters


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("size", [3, 400, 401, 10**6])
def test_a_program_compiles_and_computes_the_same(level, size):
    x = np.linspace(0, 1, size, dtype=np.float32)
    options = compiler_options(level, uses_earlier_emitters(size))
    assert options["xla_backend_optimization_level"] == level
    np.testing.assert_allclose(jax.jit(lambda x: x / (1 + x), compiler_options=options)(x), x / (1 + x), rtol=1e-6)


def test_the_earlier_emitters_are_for_small_programs_where_there_are_any(monkeypatch):
    monkeypatch.setattr(compiling, "_has_earlier_emitters", lambda: True)
    assert [uses_earlier_emitters(size) for size in (1, 400, 401)] == [True, True, False]
    monkeypatch.setattr(compiling, "_has_earlier_emitters", lambda: False)
    assert not uses_earlier_emitters(1)
    assert compiler_options(1, True) == compiler_options(1, False) | {"xla_cpu_use_fusion_emitters": False}


class Shifted(dist.Normal):
    """A user's law with a way of its own to become a tree."""

    def tree_flatten(self):
        return (self.scale, 2.0 * self.loc), None

    @classmethod
    def tree_unflatten(cls, _, leaves):
        found = object.__new__(cls)
        vars(found).update(scale=leaves[0], loc=leaves[1], _validate_args=False, _batch_shape=(), _event_shape=())
        return found


@pytest.mark.parametrize("law", [dist.Beta(1.0, 2.0), dist.TruncatedNormal(0.0, 1.0, low=0.0), Shifted(3.0, 4.0)])
def test_an_ordered_law_has_all_its_numbers(law):
    leaves, structure = jax.tree.flatten(law)
    assert sorted(leaf_order(structure)) == list(range(len(leaves)))
    ordered, form = jax.tree.flatten(Ordered(law))
    again = jax.tree.unflatten(form, ordered)
    assert float(again.log_prob(0.7)) == pytest.approx(float(jax.tree.unflatten(structure, leaves).log_prob(0.7)))


def test_the_arguments_of_a_program_are_in_one_order_in_every_process():
    """NumPyro's fields are a set of names, whose order depends on a seed that each process draws."""
    program = """
import jax, numpyro.distributions as dist
from bayes_dp.bayes.compiling import Ordered, leaf_order
law = dist.StudentT(3.0, 1.0, 2.0)
leaves, structure = jax.tree.flatten(((law, 5.0), {"other": dist.Gamma(2.0, rate=3.0)}))
print([float(leaf) for leaf in jax.tree.leaves(Ordered(law))], [float(leaves[i]) for i in leaf_order(structure)])
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=True, timeout=60,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(found) == 1

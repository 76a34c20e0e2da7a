"""The options of the compiler are known to the JAX that is installed, and small programs have theirs."""

import jax
import numpy as np
import pytest

from bayes_dp.bayes import compiling
from bayes_dp.bayes.compiling import compiler_options, uses_earlier_emitters


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

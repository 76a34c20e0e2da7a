"""The options of the compiler are known to the JAX that is installed, and small programs have theirs."""

import jax
import numpy as np
import pytest

from bayes_dp.bayes import compiling
from bayes_dp.bayes.compiling import compiler_options


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("size", [3, 300, 301, 10**6])
def test_a_program_compiles_and_computes_the_same(level, size):
    x = np.linspace(0, 1, size, dtype=np.float32)
    options = compiler_options(level, size)
    assert options["xla_backend_optimization_level"] == level
    np.testing.assert_allclose(jax.jit(lambda x: x / (1 + x), compiler_options=options)(x), x / (1 + x), rtol=1e-6)


def test_the_earlier_emitters_are_for_small_programs_where_there_are_any(monkeypatch):
    found = {}
    for there in (True, False):
        monkeypatch.setattr(compiling, "_has_earlier_emitters", lambda there=there: there)
        found[there] = [compiler_options(1, size) for size in (300, 301)]
    plain = {"xla_backend_optimization_level": 1}
    assert found[True] == [plain | {"xla_cpu_use_fusion_emitters": False}, plain]
    assert found[False] == [plain, plain]

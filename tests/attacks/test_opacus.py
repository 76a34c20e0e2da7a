"""Dirac canaries in trainings by Opacus, where it is installed: their law, a fault, batches in parts."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks.opacus import DiracCanaries
from bayes_dp.checks import InputError

M, SIGMA, Q, C = 600, 0.7, 0.25, 0.5
COINS = np.arange(M) % 2 == 0


def test_other_optimizers_are_refused():
    with pytest.raises(InputError, match="optimizer must be a DPOptimizer of Opacus with one clipping norm, not 3"):
        DiracCanaries(3, COINS, Q)


def training(norm=1.0, sigma=SIGMA, epochs=10, part=None, backward_passes=1, fault=None):
    """What is seen of the canaries, and of the weights of a network, in steps on about 50 of 200 examples."""
    torch, opacus = pytest.importorskip("torch"), pytest.importorskip("opacus")
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    torch.manual_seed(0)
    x, y = torch.randn(200, 6), torch.randint(0, 3, (200,))
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, optimizer, loader = opacus.PrivacyEngine().make_private(
            module=model,
            optimizer=optimizer,
            data_loader=loader,
            noise_multiplier=sigma,
            max_grad_norm=C,
            poisson_sampling=backward_passes == 1,
        )
        if fault:
            optimizer.noise_multiplier /= 2
        canaries = DiracCanaries(optimizer, COINS, Q, norm=norm)
        for _ in range(epochs):
            if part is None:
                batches = loader
            else:
                with BatchMemoryManager(data_loader=loader, max_physical_batch_size=part, optimizer=optimizer) as few:
                    batches = list(few)
            for a, b in batches:
                optimizer.zero_grad()
                for _ in range(backward_passes):
                    torch.nn.functional.cross_entropy(model(a), b).backward()
                optimizer.step()
    return canaries.inner


def test_the_law_of_a_step():
    inner = training()
    assert inner.shape == (40, M)
    assert inner[:, ~COINS].std() == pytest.approx(SIGMA, rel=0.02)
    assert inner[:, COINS].mean() == pytest.approx(Q, abs=0.02)
    assert inner[:, COINS].var() == pytest.approx(SIGMA**2 + Q * (1 - Q), rel=0.04)


def test_opacus_clips_them():
    for norm, seen in ((3.0, 1.0), (0.5, 0.5)):
        inner = training(norm, sigma=1e-4, epochs=1)
        np.testing.assert_allclose(np.unique(inner.round(2)), [0.0, seen])


def test_batches_in_parts_draw_once():
    inner = training(sigma=1e-4, epochs=2, part=20)
    assert inner.shape == (8, M)
    assert inner[:, COINS].mean() == pytest.approx(Q, abs=0.04)
    assert inner.max() < 1.01


def test_several_backward_passes_are_refused():
    with pytest.raises(InputError, match="each step must have one backward pass"):
        training(epochs=1, backward_passes=2)


def test_half_of_the_noise_is_found():
    claim = bdp.Claim.dp_sgd(1.0, Q, 40, 1e-5)
    found = {fault: bdp.estimate_steps(training(sigma=1.0, fault=fault), COINS, claim) for fault in (None, "half")}
    assert not found[None].refuted
    assert found["half"].refuted
    low, high = found["half"].interval(0.99, "noise_multiplier")
    assert low < 0.5 < high


@pytest.mark.filterwarnings("ignore")
def test_the_recipe():
    pytest.importorskip("opacus")
    page = (Path(__file__).parents[2] / "docs" / "methods" / "white_box.md").read_text(encoding="utf-8")
    code, found = re.findall(r"^## With Opacus$.*?^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0], {}
    exec(compile(code, "docs/methods/white_box.md", "exec"), found)
    assert not found["found"].refuted
    assert 1 < found["bound"].value < found["claim"].epsilon

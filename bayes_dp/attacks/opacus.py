"""Dirac canaries in a training by Opacus (`pip install bayes-dp[torch]`), whose own code clips, sums and hides them.

The optimizer gets one more parameter, with a coordinate for each canary, in which no example has a gradient. In each
step a canary that is drawn is one more row of the gradients of all parameters. This audits clipping and noise, and not
the sampling: canaries are not among the data that the loader draws from, and are drawn here, with probability q each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, one_number, seed_of, show
from bayes_dp.support.arrays import Floats

__all__ = ["DiracCanaries"]


class DiracCanaries:
    """m canaries with the coins `member` (m,), whose gradients have the norm κc before they are clipped, κ = `norm`.

    `inner` is what each step shows of them in units of c, (T, m): N(0, σ²), and for members of the training
    (1 − q) N(0, σ²) + q N(min(κ, 1), σ²).
    """

    def __init__(self, optimizer: Any, member: ArrayLike, sampling_rate: float, *, norm: float = 1.0, seed: int = 0):
        if not hasattr(optimizer, "pre_step") or np.ndim(optimizer.max_grad_norm):
            raise InputError(f"optimizer must be a DPOptimizer of Opacus with one clipping norm, not {show(optimizer)}")
        self._coins, self._rng = np.asarray(member, bool), np.random.default_rng(seed_of(seed))
        self._rate = one_number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True)
        self._norm = one_number("norm", norm, 0.0, low_open=True, high_open=True)
        self._optimizer, self._others, self._step = optimizer, list(optimizer.params), optimizer.pre_step
        self._own = self._others[0].new_zeros(len(self._coins)).requires_grad_()
        self._seen: list[Floats] = []
        self._begins = True  # and is no further part of a batch that is too large for the memory
        optimizer.original_optimizer.add_param_group({"params": [self._own]})
        optimizer.pre_step = self._with_canaries

    @property
    def inner(self) -> Floats:
        return np.reshape(self._seen, (-1, len(self._coins)))

    def _with_canaries(self, closure: Any = None) -> bool:
        import torch

        drawn = np.flatnonzero((self._rng.random(len(self._coins)) < self._rate) & self._coins & self._begins)
        for p in self._others:
            if not isinstance(p.grad_sample, torch.Tensor):
                raise InputError("each step must have one backward pass, with the gradient of each example")
            p.grad_sample = torch.cat([p.grad_sample, p.grad_sample.new_zeros(len(drawn), *p.shape)])
        rows = self._own.new_zeros(len(self._others[0].grad_sample), len(self._coins)).detach()
        rows[np.arange(-len(drawn), 0), drawn] = self._norm * self._optimizer.max_grad_norm
        self._own.grad_sample = rows
        self._begins = bool(self._step(closure))
        if self._begins:
            batch = self._optimizer.expected_batch_size if self._optimizer.loss_reduction == "mean" else 1
            self._seen.append((self._own.grad * (batch / self._optimizer.max_grad_norm)).cpu().double().numpy())
        return self._begins

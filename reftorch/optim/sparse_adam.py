"""The optimizer SparseAdam, which is for sparse gradients only.

Mirrors: torch/optim/sparse_adam.py
Leaves out: the update itself, because there are no sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.optim.optimizer import Optimizer, _check_betas, _loss_of

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients: only the rows that have a gradient change, and only their means.

    A program can construct the optimizer, but no gradient is sparse here, so ``step`` refuses every gradient as
    PyTorch refuses a dense one.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate (default 1e-3).
        betas: decay rates of the two means (default 0.9, 0.999).
        eps: the number that is added to the divisor (default 1e-8).
        maximize: whether to maximize the objective instead of minimizing it (default False).

    Raises:
        ValueError: an option is out of its range.
        RuntimeError: in ``step``, a parameter has a gradient.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.SparseAdam([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        Traceback (most recent call last):
            ...
        RuntimeError: SparseAdam does not support dense gradients, please consider Adam instead

    Mirrors torch/optim/sparse_adam.py, ``SparseAdam``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        _check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = _loss_of(closure)
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss

"""Stochastic gradient descent.

Mirrors: torch/optim/sgd.py
Leaves out: the ``foreach``, ``fused`` and ``differentiable`` variants, and the functional form ``sgd``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import enable_grad, no_grad
from reftorch.optim.optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    r"""Stochastic gradient descent, optionally with momentum.

    With parameter :math:`p`, gradient :math:`g`, learning rate :math:`\gamma`, weight decay :math:`\lambda`,
    momentum :math:`\mu` and dampening :math:`\tau`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        b &\leftarrow \mu b + (1 - \tau) g \quad (b \leftarrow g \text{ in the first step}) \\
        p &\leftarrow p - \gamma b

    Without momentum, :math:`b` is :math:`g`. Nesterov's form has :math:`g + \mu b` for :math:`b` in the last line.
    Unlike in the papers, the learning rate is not a factor in :math:`b`, so a new learning rate takes full effect at
    once.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-3).
        momentum: :math:`\mu` (default 0).
        dampening: :math:`\tau` (default 0).
        weight_decay: :math:`\lambda` (default 0).
        nesterov: whether to use Nesterov's form (default False).
        maximize: whether to maximize the objective instead of minimizing it (default False).

    Raises:
        ValueError: an option is negative, or ``nesterov`` is set without momentum or with dampening.

    Example:
        >>> import reftorch as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        >>> for _ in range(2):
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        >>> print(w.data)
        tensor([0.4600])

    Mirrors torch/optim/sgd.py, ``SGD``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            self._step_group(**group)
        return loss

    def _step_group(
        self,
        params: list[Tensor],
        lr: float | Tensor,
        momentum: float,
        dampening: float,
        weight_decay: float,
        nesterov: bool,
        maximize: bool,
        **_: Any,
    ) -> None:
        step_size = -(lr.item() if isinstance(lr, Tensor) else lr)
        for param in params:
            grad = param.grad
            if grad is None:
                continue
            if maximize:
                grad = -grad
            if weight_decay != 0:
                grad = grad.add(param, alpha=weight_decay)
            if momentum != 0:
                state = self.state[param]
                buf = state.get("momentum_buffer")
                if buf is None:
                    buf = state["momentum_buffer"] = grad.detach().clone()
                else:
                    buf.mul_(momentum).add_(grad, alpha=1 - dampening)
                grad = grad.add(buf, alpha=momentum) if nesterov else buf
            param.add_(grad, alpha=step_size)

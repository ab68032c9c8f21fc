"""The optimizer Adam.

Mirrors: torch/optim/adam.py
Leaves out: the ``foreach``, ``fused``, ``capturable`` and ``differentiable`` variants, and the functional form
``adam``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import enable_grad, no_grad
from reftorch.optim.optimizer import Optimizer

__all__ = ["Adam"]


def _to_scalar(value: float | Tensor) -> float:
    return value.item() if isinstance(value, Tensor) else value


class Adam(Optimizer):
    r"""Move along the mean of the gradients, divided by the root of the mean of their squares.

    With parameter :math:`p`, gradient :math:`g`, step number :math:`t`, learning rate :math:`\gamma`, decay rates
    :math:`\beta_1, \beta_2` and weight decay :math:`\lambda`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        m &\leftarrow \beta_1 m + (1 - \beta_1) g \\
        v &\leftarrow \beta_2 v + (1 - \beta_2) g^2 \\
        p &\leftarrow p - \gamma \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    Both means start from 0; the divisions by :math:`1 - \beta^t` correct for this start.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-3).
        betas: :math:`\beta_1, \beta_2` (default 0.9, 0.999).
        eps: :math:`\epsilon` (default 1e-8).
        weight_decay: :math:`\lambda` (default 0).
        amsgrad: whether to divide by the root of the largest :math:`v` so far (default False).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        decoupled_weight_decay: whether the first line is :math:`p \leftarrow p - \gamma \lambda p` instead, as in
            :class:`AdamW` (default False).

    Raises:
        ValueError: an option is negative, a :math:`\beta` is not in :math:`[0, 1)`, or only one of them is a tensor.

    Example:
        >>> import reftorch as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adam([w], lr=0.1)
        >>> for _ in range(2):
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        >>> print(w.data)
        tensor([0.8004])

    Mirrors torch/optim/adam.py, ``Adam``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if not (all(isinstance(b, float) for b in betas) or all(isinstance(b, Tensor) for b in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr,
            "betas": tuple(_to_scalar(beta) for beta in betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)
            group.setdefault("maximize", False)
            group.setdefault("decoupled_weight_decay", False)

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    self._step_param(param, **group)
        return loss

    def _state_of(self, param: Tensor, amsgrad: bool) -> dict[str, Any]:
        state = self.state[param]
        if not state:
            state["step"] = _C.tensor(0.0, dtype=_C.float32)
            state["exp_avg"] = _VF.zeros_like(param)
            state["exp_avg_sq"] = _VF.zeros_like(param)
            if amsgrad:
                state["max_exp_avg_sq"] = _VF.zeros_like(param)
        return state

    def _step_param(
        self,
        param: Tensor,
        lr: float | Tensor,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
        amsgrad: bool,
        maximize: bool,
        decoupled_weight_decay: bool,
        **_: Any,
    ) -> None:
        state, rate = self._state_of(param, amsgrad), _to_scalar(lr)
        grad = -param.grad if maximize else param.grad  # type: ignore[operator]
        state["step"] += 1
        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - rate * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)  # type: ignore[union-attr]

        exp_avg, exp_avg_sq, step = state["exp_avg"], state["exp_avg_sq"], state["step"].item()
        exp_avg.lerp_(grad, 1 - betas[0])
        exp_avg_sq.mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
        second = exp_avg_sq
        if amsgrad:
            second = state["max_exp_avg_sq"]
            second.copy_(second.maximum(exp_avg_sq))
        corrected = (1 - betas[1] ** step) ** 0.5
        param.addcdiv_(exp_avg, (second.sqrt() / corrected).add_(eps), value=-rate / (1 - betas[0] ** step))

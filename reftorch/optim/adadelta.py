"""The optimizer Adadelta.

Mirrors: torch/optim/adadelta.py
Leaves out: sparse gradients, complex parameters, and ``capturable``, which is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.optim.optimizer import (
    Optimizer,
    _check_capturable,
    _check_foreach,
    _check_lr,
    _check_nonnegative,
    _check_state_steps,
    _cuda_graph_capture_health_check,
    _get_value,
    _loss_of,
    _scalar_state,
    _to_scalar,
    _use_grad_for_differentiable,
)

__all__ = ["Adadelta", "adadelta"]


def _single_tensor_adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    """Change the parameters by the rule of :class:`Adadelta`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for param, grad, square_avg, acc_delta, step in zip(
        params, grads, square_avgs, acc_deltas, state_steps, strict=True
    ):
        step += 1
        grad = -grad if maximize else grad

        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)

        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        std = square_avg.add(eps).sqrt_()
        delta = acc_delta.add(eps).sqrt_()
        if differentiable:
            delta = delta.clone()  # autograd has saved the root, so the next line must not change it
        delta.div_(std).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-lr)


class Adadelta(Optimizer):
    r"""Scale each gradient so that the updates have the size of the recent updates.

    With parameter :math:`p`, gradient :math:`g`, learning rate :math:`\gamma`, decay rate :math:`\rho` and weight
    decay :math:`\lambda`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        v &\leftarrow \rho v + (1 - \rho) g^2 \\
        \Delta &= \frac{\sqrt{u + \epsilon}}{\sqrt{v + \epsilon}} g \\
        u &\leftarrow \rho u + (1 - \rho) \Delta^2 \\
        p &\leftarrow p - \gamma \Delta

    Both means start from 0, so the first updates are small, of the size :math:`\sqrt\epsilon`.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: :math:`\gamma`, a factor of the update (default 1.0).
        rho: :math:`\rho` (default 0.9).
        eps: :math:`\epsilon` (default 1e-6).
        weight_decay: :math:`\lambda` (default 0).
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: a loop, as in PyTorch on a CPU).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        differentiable: whether autograd records the update (default False).

    Raises:
        ValueError: an option is negative, or :math:`\rho` is larger than 1.
        AssertionError: ``capturable`` is set, and a parameter or its state is not on a CUDA device.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adadelta([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.9968])

    Mirrors torch/optim/adadelta.py, ``Adadelta``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        _check_nonnegative("epsilon", eps)
        _check_nonnegative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(foreach=None, maximize=False, differentiable=False, capturable=False)

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        square_avgs: list[Tensor],
        acc_deltas: list[Tensor],
        state_steps: list[Tensor],
    ) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            params_with_grad.append(p)
            grads.append(p.grad)
            state = self.state[p]
            if not state:
                state["step"] = _scalar_state(0.0, group["capturable"], p)
                state["square_avg"] = _VF.zeros_like(p)
                state["acc_delta"] = _VF.zeros_like(p)
            square_avgs.append(state["square_avg"])
            acc_deltas.append(state["acc_delta"])
            state_steps.append(state["step"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            square_avgs: list[Tensor] = []
            acc_deltas: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, square_avgs, acc_deltas, state_steps)
            adadelta(
                params_with_grad,
                grads,
                square_avgs,
                acc_deltas,
                state_steps,
                lr=group["lr"],
                rho=group["rho"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def adadelta(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """Update parameters by the rule of :class:`Adadelta`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        square_avgs: the means of the squared gradients, which change in place.
        acc_deltas: the means of the squared updates, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`Adadelta`.

    Mirrors torch/optim/adadelta.py, ``adadelta``.
    """
    _check_state_steps(state_steps)
    _check_capturable(capturable, params, state_steps)
    func = _multi_tensor_adadelta if foreach else _single_tensor_adadelta
    func(
        params,
        grads,
        square_avgs,
        acc_deltas,
        state_steps,
        lr=lr,
        rho=rho,
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
        differentiable=differentiable,
    )


def _multi_tensor_adadelta(
    params: list[Tensor],
    grads: Sequence[Tensor],
    square_avgs: list[Tensor],
    acc_deltas: list[Tensor],
    state_steps: list[Tensor],
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    if not params:
        return
    _check_foreach(differentiable)
    lr = _get_value(lr)
    if maximize:
        grads = _VF._foreach_neg(grads)
    _VF._foreach_add_(state_steps, 1)
    if weight_decay != 0:
        grads = _VF._foreach_add(grads, params, alpha=weight_decay)

    _VF._foreach_mul_(square_avgs, rho)
    _VF._foreach_addcmul_(square_avgs, grads, grads, 1 - rho)
    stds = _VF._foreach_add(square_avgs, eps)
    _VF._foreach_sqrt_(stds)
    deltas = _VF._foreach_add(acc_deltas, eps)
    _VF._foreach_sqrt_(deltas)
    _VF._foreach_div_(deltas, stds)
    _VF._foreach_mul_(deltas, grads)
    _VF._foreach_mul_(acc_deltas, rho)
    _VF._foreach_addcmul_(acc_deltas, deltas, deltas, 1 - rho)
    _VF._foreach_add_(params, deltas, alpha=-lr)

"""The optimizer RMSprop.

Mirrors: torch/optim/rmsprop.py
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

__all__ = ["RMSprop", "rmsprop"]


def _single_tensor_rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
    differentiable: bool,
) -> None:
    """Change the parameters by the rule of :class:`RMSprop`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        square_avg, step = square_avgs[i], state_steps[i]
        step += 1

        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)

        square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        # The next step changes the state in place, so what autograd saves has to be a copy.
        variance = square_avg.clone() if differentiable else square_avg
        if centered:
            grad_avg = grad_avgs[i]
            grad_avg.lerp_(grad, 1 - alpha)
            mean = grad_avg.clone() if differentiable else grad_avg
            variance = variance.addcmul(mean, mean, value=-1)
        avg = variance.sqrt() + eps if differentiable else variance.sqrt().add_(eps)

        if momentum > 0:
            buf = momentum_buffer_list[i]
            buf.mul_(momentum).addcdiv_(grad, avg)
            param.add_(buf, alpha=-lr)
        else:
            param.addcdiv_(grad, avg, value=-lr)


class RMSprop(Optimizer):
    r"""Divide each gradient by the root of the mean of its recent squares.

    With parameter :math:`p`, gradient :math:`g`, learning rate :math:`\gamma`, decay rate :math:`\alpha`, momentum
    :math:`\mu` and weight decay :math:`\lambda`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        v &\leftarrow \alpha v + (1 - \alpha) g^2 \\
        b &\leftarrow \mu b + g / (\sqrt v + \epsilon) \\
        p &\leftarrow p - \gamma b

    The centered form takes for :math:`v` in the third line the variance :math:`v - a^2`, where :math:`a` is the mean
    of the recent gradients, :math:`a \leftarrow \alpha a + (1 - \alpha) g`.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-2).
        alpha: :math:`\alpha` (default 0.99).
        eps: :math:`\epsilon` (default 1e-8).
        weight_decay: :math:`\lambda` (default 0).
        momentum: :math:`\mu` (default 0).
        centered: whether to use the centered form (default False).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: a loop, as in PyTorch on a CPU).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        differentiable: whether autograd records the update (default False).

    Raises:
        ValueError: an option is negative.
        AssertionError: ``capturable`` is set, and a parameter or its state is not on a CUDA device.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RMSprop([w], lr=0.01)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.9000])

    Mirrors torch/optim/rmsprop.py, ``RMSprop``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_lr(lr)
        _check_nonnegative("epsilon", eps)
        _check_nonnegative("momentum", momentum)
        _check_nonnegative("weight_decay", weight_decay)
        _check_nonnegative("alpha", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(
            momentum=0, centered=False, foreach=None, maximize=False, differentiable=False, capturable=False
        )

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        square_avgs: list[Tensor],
        momentum_buffer_list: list[Tensor],
        grad_avgs: list[Tensor],
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
                if group["momentum"] > 0:
                    state["momentum_buffer"] = _VF.zeros_like(p)
                if group["centered"]:
                    state["grad_avg"] = _VF.zeros_like(p)
            square_avgs.append(state["square_avg"])
            state_steps.append(state["step"])
            if group["momentum"] > 0:
                momentum_buffer_list.append(state["momentum_buffer"])
            if group["centered"]:
                grad_avgs.append(state["grad_avg"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            square_avgs: list[Tensor] = []
            momentum_buffer_list: list[Tensor] = []
            grad_avgs: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, square_avgs, momentum_buffer_list, grad_avgs, state_steps)
            rmsprop(
                params_with_grad,
                grads,
                square_avgs,
                grad_avgs,
                momentum_buffer_list,
                state_steps,
                lr=group["lr"],
                alpha=group["alpha"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                centered=group["centered"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def rmsprop(
    params: list[Tensor],
    grads: list[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """Update parameters by the rule of :class:`RMSprop`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        square_avgs: the means of the squared gradients, which change in place.
        grad_avgs: the means of the gradients, which change in place; empty unless ``centered``.
        momentum_buffer_list: the momentum buffers, which change in place; empty without momentum.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`RMSprop`.

    Mirrors torch/optim/rmsprop.py, ``rmsprop``.
    """
    _check_state_steps(state_steps)
    _check_capturable(capturable, params, state_steps)
    func = _multi_tensor_rmsprop if foreach else _single_tensor_rmsprop
    func(
        params,
        grads,
        square_avgs,
        grad_avgs,
        momentum_buffer_list,
        state_steps,
        lr=lr,
        alpha=alpha,
        eps=eps,
        weight_decay=weight_decay,
        momentum=momentum,
        centered=centered,
        maximize=maximize,
        differentiable=differentiable,
    )


def _multi_tensor_rmsprop(
    params: list[Tensor],
    grads: Sequence[Tensor],
    square_avgs: list[Tensor],
    grad_avgs: list[Tensor],
    momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor],
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
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

    _VF._foreach_mul_(square_avgs, alpha)
    _VF._foreach_addcmul_(square_avgs, grads, grads, 1 - alpha)
    if centered:
        _VF._foreach_lerp_(grad_avgs, grads, 1 - alpha)
        avgs = _VF._foreach_addcmul(square_avgs, grad_avgs, grad_avgs, -1)
        _VF._foreach_sqrt_(avgs)
    else:
        avgs = _VF._foreach_sqrt(square_avgs)
    _VF._foreach_add_(avgs, eps)

    if momentum > 0:
        _VF._foreach_mul_(momentum_buffer_list, momentum)
        _VF._foreach_addcdiv_(momentum_buffer_list, grads, avgs)
        _VF._foreach_add_(params, momentum_buffer_list, alpha=-lr)
    else:
        _VF._foreach_addcdiv_(params, grads, avgs, -lr)

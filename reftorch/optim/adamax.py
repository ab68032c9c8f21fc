"""The optimizer Adamax: Adam with the largest gradient in place of the mean square.

Mirrors: torch/optim/adamax.py
Leaves out: sparse gradients, complex parameters, and ``capturable``, which is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.optim.optimizer import (
    Optimizer,
    _check_capturable,
    _check_foreach,
    _check_options_of_adam,
    _check_state_steps,
    _cuda_graph_capture_health_check,
    _get_value,
    _group_by,
    _loss_of,
    _scalar_state,
    _to_scalar,
    _use_grad_for_differentiable,
    _values,
)

__all__ = ["Adamax", "adamax"]


def _single_tensor_adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    """Change the parameters by the rule of :class:`Adamax`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_inf, step_t = exp_avgs[i], exp_infs[i], state_steps[i]
        step_t += 1

        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)

        exp_avg.lerp_(grad, 1 - beta1)
        exp_inf.copy_((exp_inf * beta2).maximum(grad.abs().add_(eps)))

        if capturable:  # the factor is a tensor, and addcdiv_ takes numbers only
            param.addcdiv_(exp_avg, exp_inf * ((beta1**step_t - 1) / lr))
            continue
        step_size = lr / (1 - beta1 ** _get_value(step_t))
        if differentiable:
            # The next step changes the state in place, so what autograd saves has to be a copy.
            param.addcdiv_(exp_avg.clone(), exp_inf.clone(), value=-step_size)
        else:
            param.addcdiv_(exp_avg, exp_inf, value=-step_size)


class Adamax(Optimizer):
    r"""Move along the mean of the gradients, divided by the largest recent gradient of each element.

    With parameter :math:`p`, gradient :math:`g`, step number :math:`t`, learning rate :math:`\gamma`, decay rates
    :math:`\beta_1, \beta_2` and weight decay :math:`\lambda`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        m &\leftarrow \beta_1 m + (1 - \beta_1) g \\
        u &\leftarrow \max(\beta_2 u, |g| + \epsilon) \\
        p &\leftarrow p - \frac{\gamma}{1 - \beta_1^t} \frac{m}{u}

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 2e-3).
        betas: :math:`\beta_1, \beta_2` (default 0.9, 0.999).
        eps: :math:`\epsilon` (default 1e-8).
        weight_decay: :math:`\lambda` (default 0).
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: a loop, as in PyTorch on a CPU).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        differentiable: whether autograd records the update (default False).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).

    Raises:
        ValueError: an option is negative, or a :math:`\beta` is not in :math:`[0, 1)`.
        AssertionError: ``capturable`` is set, and a parameter or its state is not on a CUDA device.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adamax([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.9000])

    Mirrors torch/optim/adamax.py, ``Adamax``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _check_options_of_adam(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
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
        exp_avgs: list[Tensor],
        exp_infs: list[Tensor],
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
                state["exp_avg"] = _VF.zeros_like(p)
                state["exp_inf"] = _VF.zeros_like(p)
            exp_avgs.append(state["exp_avg"])
            exp_infs.append(state["exp_inf"])
            state_steps.append(state["step"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            exp_avgs: list[Tensor] = []
            exp_infs: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, exp_avgs, exp_infs, state_steps)
            beta1, beta2 = group["betas"]
            adamax(
                params_with_grad,
                grads,
                exp_avgs,
                exp_infs,
                state_steps,
                eps=group["eps"],
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def adamax(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """Update parameters by the rule of :class:`Adamax`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        exp_avgs: the means of the gradients, which change in place.
        exp_infs: the largest recent gradients, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`Adamax`.

    Mirrors torch/optim/adamax.py, ``adamax``.
    """
    _check_state_steps(state_steps)
    _check_capturable(capturable, params, state_steps)
    single = functools.partial(_single_tensor_adamax, capturable=capturable)
    func = _multi_tensor_adamax if foreach and not capturable else single
    func(
        params,
        grads,
        exp_avgs,
        exp_infs,
        state_steps,
        eps=eps,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        maximize=maximize,
        differentiable=differentiable,
    )


def _multi_tensor_adamax(
    params: list[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: list[Tensor],
    exp_infs: list[Tensor],
    state_steps: list[Tensor],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
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

    _VF._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    _VF._foreach_mul_(exp_infs, beta2)
    sizes = _VF._foreach_abs(grads)
    _VF._foreach_add_(sizes, eps)
    _VF._foreach_maximum_(exp_infs, sizes)

    for step, (some_params, firsts, infs) in _group_by(_values(state_steps), params, exp_avgs, exp_infs):
        _VF._foreach_addcdiv_(some_params, firsts, infs, -lr / (1 - beta1**step))

"""The optimizer Adam.

Mirrors: torch/optim/adam.py
Leaves out: sparse gradients, complex parameters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.optim.optimizer import (
    Optimizer,
    _check_capturable_devices,
    _check_foreach,
    _check_no_grad_scaler,
    _check_options_of_adam,
    _cuda_graph_capture_health_check,
    _default_to_fused,
    _device_dtype_check_for_fused,
    _get_value,
    _group_by,
    _kernel_groups,
    _loss_of,
    _moved,
    _scalar_state,
    _to_scalar,
    _use_grad_for_differentiable,
    _values,
)

__all__ = ["Adam", "adam"]


def _single_tensor_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: Any,
    eps: float,
    maximize: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    """Change the parameters by the rule of :class:`Adam`, one after the other: the form to read."""
    lr, beta1, beta2 = _to_scalar(lr), _to_scalar(beta1), _to_scalar(beta2)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_avg_sq, step_t = exp_avgs[i], exp_avg_sqs[i], state_steps[i]
        step_t += 1

        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            elif isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
                grad = grad.addcmul(param.clone(), weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)

        exp_avg.lerp_(grad, 1 - beta1)
        if isinstance(beta2, Tensor) and beta2.requires_grad:
            exp_avg_sq.lerp_(grad.square(), 1 - beta2)
        else:
            exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)

        if differentiable:
            # Later steps change the state in place, so what the formulas of autograd save has to be a copy.
            step, second = step_t.clone(), exp_avg_sq.clone()
            if amsgrad:
                second = second.maximum(max_exp_avg_sqs[i].clone())
                max_exp_avg_sqs[i].copy_(second)
            step_size = lr / (1 - beta1**step)
            denom = second.sqrt() / (1 - beta2**step) ** 0.5 + eps
            param.addcdiv_(exp_avg * -step_size, denom)
        else:
            step, second = _get_value(step_t), exp_avg_sq
            if amsgrad:
                second = _VF.maximum(max_exp_avg_sqs[i], exp_avg_sq, out=max_exp_avg_sqs[i])
            step_size = lr / (1 - beta1**step)
            denom = (second.sqrt() / (1 - beta2**step) ** 0.5).add_(eps)
            param.addcdiv_(exp_avg, denom, value=-step_size)


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
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: they do not; see ``fused``).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).
        differentiable: whether autograd records the update (default False).
        fused: whether one kernel does the whole update, which is the quickest way (default None: if all parameters are
            float32 or float64 and on the CPU, and ``foreach`` is None). The results are the same, but for 16-bit
            floats, where the kernel rounds less often. In PyTorch the default is that the kernel does not.
        decoupled_weight_decay: whether the first line is :math:`p \leftarrow p - \gamma \lambda p` instead, as in
            :class:`AdamW` (default False).

    Raises:
        ValueError: an option is negative, a :math:`\beta` is not in :math:`[0, 1)`, or only one of them is a tensor.
        RuntimeError: ``fused`` is set together with ``foreach`` or ``differentiable``, or a parameter is not a
            floating point tensor on a device with such a kernel.
        AssertionError: ``capturable`` is set, and a parameter or its count is not on a CUDA device.

    Example:
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
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        _check_options_of_adam(lr, betas, eps, weight_decay)
        if not (all(isinstance(b, float) for b in betas) or all(isinstance(b, Tensor) for b in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        for index, beta in enumerate(betas):
            if isinstance(beta, Tensor) and foreach and not capturable:
                raise ValueError(f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True")
            if isinstance(beta, Tensor) and beta.numel() != 1:
                raise ValueError(f"Tensor betas[{index}] must be 1-element")
        defaults = {
            "lr": lr,
            "betas": tuple(_to_scalar(beta) for beta in betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        self._set_up_fused(fused, foreach, differentiable)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(
            amsgrad=False,
            maximize=False,
            foreach=None,
            capturable=False,
            differentiable=False,
            decoupled_weight_decay=False,
            fused=None,
        )
        for group in self.param_groups:
            for p in group["params"]:
                if group["capturable"] and "step" in self.state.get(p, {}):
                    self.state[p]["step"] = self.state[p]["step"].to(p.device)

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        exp_avgs: list[Tensor],
        exp_avg_sqs: list[Tensor],
        max_exp_avg_sqs: list[Tensor],
        state_steps: list[Tensor],
    ) -> None:
        if group["foreach"] and isinstance(group["lr"], Tensor) and not group["capturable"]:
            raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            params_with_grad.append(p)
            grads.append(grad)
            state = self.state[p]
            if not state:
                if group["fused"]:
                    _device_dtype_check_for_fused(p)
                state["step"] = _scalar_state(0.0, group["fused"] or group["capturable"], p)
                state["exp_avg"] = _VF.zeros_like(p)
                state["exp_avg_sq"] = _VF.zeros_like(p)
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = _VF.zeros_like(p)
            exp_avgs.append(state["exp_avg"])
            exp_avg_sqs.append(state["exp_avg_sq"])
            if group["amsgrad"]:
                max_exp_avg_sqs.append(state["max_exp_avg_sq"])
            state_steps.append(state["step"])
            if group["differentiable"] and state["step"].requires_grad:
                raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            exp_avgs: list[Tensor] = []
            exp_avg_sqs: list[Tensor] = []
            max_exp_avg_sqs: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
            beta1, beta2 = group["betas"]
            adam(
                params_with_grad,
                grads,
                exp_avgs,
                exp_avg_sqs,
                max_exp_avg_sqs,
                state_steps,
                amsgrad=group["amsgrad"],
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                maximize=group["maximize"],
                foreach=group["foreach"],
                capturable=group["capturable"],
                differentiable=group["differentiable"],
                fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
                decoupled_weight_decay=group["decoupled_weight_decay"],
            )
        return loss


def adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Update parameters by the rule of :class:`Adam`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        exp_avgs: the means of the gradients, which change in place.
        exp_avg_sqs: the means of the squared gradients, which change in place.
        max_exp_avg_sqs: the largest means of the squared gradients; empty without ``amsgrad``.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`Adam`.

    Raises:
        RuntimeError: a number of steps is not a tensor.
        AssertionError: ``capturable`` is set, and a parameter or its count is not on a CUDA device.

    Mirrors torch/optim/adam.py, ``adam``.
    """
    _check_capturable_devices(capturable, params, state_steps)
    if not fused:
        _check_no_grad_scaler(grad_scale, found_inf)
    if _default_to_fused(fused, foreach, params, state_steps, lr, beta1, beta2):
        func: Any = functools.partial(_fused_adam, grad_scale=grad_scale, found_inf=found_inf)
    elif capturable and not differentiable:  # the loop with `differentiable` keeps the count a tensor, too
        func = _capturable_adam
    else:
        func = _multi_tensor_adam if foreach else _single_tensor_adam
    func(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        amsgrad=amsgrad,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
        differentiable=differentiable,
        decoupled_weight_decay=decoupled_weight_decay,
    )


def _capturable_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: Any,
    eps: float,
    maximize: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    """Change the parameters by the rule of :class:`Adam`, with the count of steps as a tensor that is never read.

    A replay of a CUDA graph then counts on. The divisor takes the step size, because ``addcdiv_`` takes only a number.
    """
    lr, beta1, beta2 = _to_scalar(lr), _to_scalar(beta1), _to_scalar(beta2)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_avg_sq, step = exp_avgs[i], exp_avg_sqs[i], state_steps[i]
        step += 1
        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        second = exp_avg_sq
        if amsgrad:
            second = _VF.maximum(max_exp_avg_sqs[i], exp_avg_sq, out=max_exp_avg_sqs[i])
        step_size = lr / (1 - beta1**step)
        denom = second.sqrt() / ((1 - beta2**step) ** 0.5 * -step_size) - eps / step_size
        param.addcdiv_(exp_avg, denom)


def _multi_tensor_adam(
    params: list[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: Any,
    eps: float,
    maximize: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    if not params:
        return
    _check_foreach(differentiable)
    lr, beta1, beta2 = _get_value(lr), _get_value(beta1), _get_value(beta2)
    if maximize:
        grads = _VF._foreach_neg(grads)
    _VF._foreach_add_(state_steps, 1)

    if weight_decay != 0:
        if decoupled_weight_decay:
            _VF._foreach_mul_(params, 1 - lr * weight_decay)
        else:
            grads = _VF._foreach_add(grads, params, alpha=weight_decay)

    _VF._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    _VF._foreach_mul_(exp_avg_sqs, beta2)
    _VF._foreach_addcmul_(exp_avg_sqs, grads, grads, 1 - beta2)
    seconds = exp_avg_sqs
    if amsgrad:
        seconds = max_exp_avg_sqs
        _VF._foreach_maximum_(seconds, exp_avg_sqs)

    for step, (some_params, firsts, some_seconds) in _group_by(_values(state_steps), params, exp_avgs, seconds):
        denoms = _VF._foreach_sqrt(some_seconds)
        _VF._foreach_div_(denoms, (1 - beta2**step) ** 0.5)
        _VF._foreach_add_(denoms, eps)
        _VF._foreach_addcdiv_(some_params, firsts, denoms, -lr / (1 - beta1**step))


def _fused_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: float,
    eps: float,
    maximize: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    if not params:
        return
    if differentiable:
        raise RuntimeError("Adam with fused=True does not support differentiable=True")
    update: Any = _VF._fused_adamw_ if decoupled_weight_decay else _VF._fused_adam_
    for *lists, steps in _kernel_groups(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps):
        _VF._foreach_add_(steps, 1)
        found = _moved(found_inf, lists[0])
        update(
            *lists,
            steps,
            amsgrad=amsgrad,
            lr=_moved(lr, lists[0]),
            beta1=_get_value(beta1),
            beta2=_get_value(beta2),
            weight_decay=weight_decay,
            eps=eps,
            maximize=maximize,
            grad_scale=_moved(grad_scale, lists[0]),
            found_inf=found,
        )
        if found is not None:  # a step that was skipped does not count
            _VF._foreach_sub_(steps, [found] * len(steps))

"""The optimizer RAdam: Adam that divides only when the mean of the squares is reliable.

Mirrors: torch/optim/radam.py
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

__all__ = ["RAdam", "radam"]


def _single_tensor_radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    """Change the parameters by the rule of :class:`RAdam`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_avg_sq, step_t = exp_avgs[i], exp_avg_sqs[i], state_steps[i]
        step_t += 1
        step: Any = step_t if capturable else _get_value(step_t)

        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)

        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        update = exp_avg / (1 - beta1**step) * lr
        if capturable:
            root = exp_avg_sq.sqrt().add_(eps)
            param.sub_(update * _rectification_on_device(step, beta2, root))
            continue
        rect = _rectification(step, beta2)
        if rect is not None:
            # The next step changes the mean in place, so what autograd saves has to be a copy.
            root = exp_avg_sq.clone().sqrt() + eps if differentiable else exp_avg_sq.sqrt().add_(eps)
            update = update * ((1 - beta2**step) ** 0.5 / root) * rect
        param.sub_(update)


class RAdam(Optimizer):
    r"""Adam whose adaptive learning rate is switched on and corrected as the variance of the squares becomes finite.

    With parameter :math:`p`, gradient :math:`g`, step number :math:`t`, learning rate :math:`\gamma`, decay rates
    :math:`\beta_1, \beta_2` and weight decay :math:`\lambda`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        m &\leftarrow \beta_1 m + (1 - \beta_1) g \\
        v &\leftarrow \beta_2 v + (1 - \beta_2) g^2 \\
        \rho_\infty &= 2 / (1 - \beta_2) - 1, \quad
            \rho_t = \rho_\infty - 2 t \beta_2^t / (1 - \beta_2^t) \\
        p &\leftarrow p - \gamma \frac{m}{1 - \beta_1^t}
            \begin{cases}
                \sqrt{\frac{(\rho_t - 4)(\rho_t - 2)\rho_\infty}{(\rho_\infty - 4)(\rho_\infty - 2)\rho_t}}
                    \frac{\sqrt{1 - \beta_2^t}}{\sqrt v + \epsilon} & \text{if } \rho_t > 5 \\
                1 & \text{otherwise}
            \end{cases}

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-3).
        betas: :math:`\beta_1, \beta_2` (default 0.9, 0.999).
        eps: :math:`\epsilon` (default 1e-8).
        weight_decay: :math:`\lambda` (default 0).
        decoupled_weight_decay: whether the first line is :math:`p \leftarrow p - \gamma \lambda p` instead, as in
            :class:`AdamW` (default False).
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: a loop, as in PyTorch on a CPU).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).
        differentiable: whether autograd records the update (default False).

    Raises:
        ValueError: an option is negative, or a :math:`\beta` is not in :math:`[0, 1)`.
        AssertionError: ``capturable`` is set, and a parameter or its state is not on a CUDA device.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.8000])

    Mirrors torch/optim/radam.py, ``RAdam``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_options_of_adam(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(
            foreach=None, maximize=False, differentiable=False, decoupled_weight_decay=False, capturable=False
        )

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        exp_avgs: list[Tensor],
        exp_avg_sqs: list[Tensor],
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
                state["exp_avg_sq"] = _VF.zeros_like(p)
            exp_avgs.append(state["exp_avg"])
            exp_avg_sqs.append(state["exp_avg_sq"])
            state_steps.append(state["step"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            exp_avgs: list[Tensor] = []
            exp_avg_sqs: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, exp_avgs, exp_avg_sqs, state_steps)
            beta1, beta2 = group["betas"]
            radam(
                params_with_grad,
                grads,
                exp_avgs,
                exp_avg_sqs,
                state_steps,
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                maximize=group["maximize"],
                foreach=group["foreach"],
                capturable=group["capturable"],
                differentiable=group["differentiable"],
                decoupled_weight_decay=group["decoupled_weight_decay"],
            )
        return loss


def radam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
) -> None:
    """Update parameters by the rule of :class:`RAdam`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        exp_avgs: the means of the gradients, which change in place.
        exp_avg_sqs: the means of the squared gradients, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`RAdam`.

    Mirrors torch/optim/radam.py, ``radam``.
    """
    _check_state_steps(state_steps)
    _check_capturable(capturable, params, state_steps)
    single = functools.partial(_single_tensor_radam, capturable=capturable)
    func = _multi_tensor_radam if foreach and not capturable else single
    func(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        state_steps,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
        differentiable=differentiable,
    )


def _rectification(step: float, beta2: float) -> float | None:
    r"""Return the factor of the adaptive learning rate after ``step`` steps; None where :math:`\rho_t \le 5`."""
    rho_inf = 2 / (1 - beta2) - 1
    rho_t = rho_inf - 2 * step * beta2**step / (1 - beta2**step)
    if rho_t <= 5.0:
        return None
    return ((rho_t - 4) * (rho_t - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho_t)) ** 0.5


def _rectification_on_device(step: Tensor, beta2: float, root: Tensor) -> Tensor:
    """Return the factor of an update, 1 where the function above returns None. Nothing is read on the host."""
    rho_inf = 2 / (1 - beta2) - 1
    step = step.double()  # rho_t is a small difference of large numbers
    correction = 1 - beta2**step
    rho_t = rho_inf - 2 * step * (beta2**step) / correction
    safe = rho_t.clamp(min=5.0)  # the root below has no value for smaller numbers, which `where` leaves out
    rect = ((safe - 4) * (safe - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * safe)) ** 0.5
    return _VF.where(rho_t > 5.0, correction**0.5 / root * rect, _VF.ones_like(root))


def _multi_tensor_radam(
    params: list[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor],
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
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
        if decoupled_weight_decay:
            _VF._foreach_mul_(params, 1 - lr * weight_decay)
        else:
            grads = _VF._foreach_add(grads, params, alpha=weight_decay)

    _VF._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    _VF._foreach_mul_(exp_avg_sqs, beta2)
    _VF._foreach_addcmul_(exp_avg_sqs, grads, grads, 1 - beta2)

    for step, (some_params, firsts, seconds) in _group_by(_values(state_steps), params, exp_avgs, exp_avg_sqs):
        updates = _VF._foreach_div(firsts, 1 - beta1**step)
        _VF._foreach_mul_(updates, lr)
        rect = _rectification(step, beta2)
        if rect is not None:
            roots = _VF._foreach_sqrt(seconds)
            _VF._foreach_add_(roots, eps)
            _VF._foreach_reciprocal_(roots)
            _VF._foreach_mul_(roots, (1 - beta2**step) ** 0.5)
            _VF._foreach_mul_(updates, roots)
            _VF._foreach_mul_(updates, rect)
        _VF._foreach_sub_(some_params, updates)

"""The optimizer Adagrad.

Mirrors: torch/optim/adagrad.py
Leaves out: sparse gradients, and complex parameters.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.optim.optimizer import (
    Optimizer,
    _check_foreach,
    _check_lr,
    _check_no_grad_scaler,
    _check_nonnegative,
    _check_state_steps,
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

__all__ = ["Adagrad", "adagrad"]


def _single_tensor_adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    """Change the parameters by the rule of :class:`Adagrad`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for param, grad, state_sum, step_t in zip(params, grads, state_sums, state_steps, strict=True):
        step_t += 1
        step = _get_value(step_t)
        grad = -grad if maximize else grad

        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)

        state_sum.addcmul_(grad, grad, value=1)
        # The next step changes the sum in place, so what autograd saves has to be a copy.
        std = state_sum.clone().sqrt() + eps if differentiable else state_sum.sqrt().add_(eps)
        param.addcdiv_(grad, std, value=-lr / (1 + (step - 1) * lr_decay))


class Adagrad(Optimizer):
    r"""Divide each gradient by the root of the sum of all its squares so far.

    With parameter :math:`p`, gradient :math:`g`, step number :math:`t`, learning rate :math:`\gamma` and its decay
    :math:`\eta`, and weight decay :math:`\lambda`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        s &\leftarrow s + g^2 \\
        p &\leftarrow p - \frac{\gamma}{1 + (t - 1) \eta} \frac{g}{\sqrt s + \epsilon}

    The state exists from the beginning, and not from the first step, because :math:`s` may start from a value.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-2).
        lr_decay: :math:`\eta` (default 0).
        weight_decay: :math:`\lambda` (default 0).
        initial_accumulator_value: the value from which :math:`s` starts (default 0).
        eps: :math:`\epsilon` (default 1e-10).
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: a loop, as in PyTorch on a CPU).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        differentiable: whether autograd records the update (default False).
        fused: whether one kernel does the whole update, which is the quickest way (default None: it does not). The
            results are the same, but for 16-bit floats, where the kernel rounds less often.

    Raises:
        ValueError: an option is negative.
        RuntimeError: ``fused`` is set together with ``foreach`` or ``differentiable``, or a parameter is not a
            floating point tensor on a device with such a kernel.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adagrad([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.9000])

    Mirrors torch/optim/adagrad.py, ``Adagrad``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check_lr(lr)
        _check_nonnegative("lr_decay", lr_decay)
        _check_nonnegative("weight_decay", weight_decay)
        _check_nonnegative("initial_accumulator_value", initial_accumulator_value)
        _check_nonnegative("epsilon", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        self._set_up_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for p in group["params"]:
                self._init_state(p, group["fused"])

    def _init_state(self, p: Tensor, fused: bool | None) -> None:
        self.state[p]["step"] = _scalar_state(0.0, fused, p)
        self.state[p]["sum"] = _VF.full_like(p, self.defaults["initial_accumulator_value"])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(foreach=None, maximize=False, differentiable=False, fused=None)

    def share_memory(self) -> None:
        """Move the sums of squares into shared memory, so that several processes can update them.

        Mirrors torch/optim/adagrad.py, ``Adagrad.share_memory``.
        """
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        state_sums: list[Tensor],
        state_steps: list[Tensor],
    ) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            if group["fused"]:
                _device_dtype_check_for_fused(p)
            params_with_grad.append(p)
            grads.append(p.grad)
            if not self.state[p]:  # a parameter that came with add_param_group
                self._init_state(p, group["fused"])
            state_sums.append(self.state[p]["sum"])
            state_steps.append(self.state[p]["step"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            state_sums: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, state_sums, state_steps)
            adagrad(
                params_with_grad,
                grads,
                state_sums,
                state_steps,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                lr_decay=group["lr_decay"],
                eps=group["eps"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
            )
        return loss


def adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Update parameters by the rule of :class:`Adagrad`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        state_sums: the sums of the squared gradients, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`Adagrad`.

    Mirrors torch/optim/adagrad.py, ``adagrad``.
    """
    _check_state_steps(state_steps)
    if fused:
        func: Any = functools.partial(_fused_adagrad, grad_scale=grad_scale, found_inf=found_inf)
    else:
        _check_no_grad_scaler(grad_scale, found_inf)
        func = _multi_tensor_adagrad if foreach else _single_tensor_adagrad
    func(
        params,
        grads,
        state_sums,
        state_steps,
        lr=lr,
        weight_decay=weight_decay,
        lr_decay=lr_decay,
        eps=eps,
        maximize=maximize,
        differentiable=differentiable,
    )


def _multi_tensor_adagrad(
    params: list[Tensor],
    grads: Sequence[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
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

    _VF._foreach_addcmul_(state_sums, grads, grads, 1)
    stds = _VF._foreach_sqrt(state_sums)
    _VF._foreach_add_(stds, eps)
    for step, (some_params, some_grads, some_stds) in _group_by(_values(state_steps), params, grads, stds):
        _VF._foreach_addcdiv_(some_params, some_grads, some_stds, -lr / (1 + (step - 1) * lr_decay))


def _fused_adagrad(
    params: list[Tensor],
    grads: list[Tensor],
    state_sums: list[Tensor],
    state_steps: list[Tensor],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    if not params:
        return
    if differentiable:
        raise RuntimeError("adagrad with fused=True does not support differentiable=True")
    for some_params, some_grads, sums, steps in _kernel_groups(params, grads, state_sums, state_steps):
        _VF._foreach_add_(steps, 1)
        found = _moved(found_inf, some_params)
        _VF._fused_adagrad_(
            some_params,
            some_grads,
            sums,
            steps,
            lr=_moved(lr, some_params),
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            eps=eps,
            maximize=maximize,
            grad_scale=_moved(grad_scale, some_params),
            found_inf=found,
        )
        if found is not None:  # a step that was skipped does not count
            _VF._foreach_sub_(steps, [found] * len(steps))

"""Stochastic gradient descent.

Mirrors: torch/optim/sgd.py
Leaves out: sparse gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.optim.optimizer import (
    Optimizer,
    _check_no_grad_scaler,
    _device_dtype_check_for_fused,
    _get_value,
    _group_by,
    _loss_of,
    _moved,
    _to_scalar,
    _use_grad_for_differentiable,
)

__all__ = ["SGD", "sgd"]


def _single_tensor_sgd(
    params: list[Tensor],
    grads: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    *,
    weight_decay: Any,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Change the parameters by the rule of :class:`SGD`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]

        if isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
            grad = grad.addcmul(param.clone(), weight_decay)
        elif weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)

        if momentum != 0:
            buf = momentum_buffer_list[i]
            if buf is None:
                buf = momentum_buffer_list[i] = grad.detach().clone()
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buf, alpha=momentum) if nesterov else buf

        if isinstance(lr, Tensor) and lr.requires_grad:
            param.addcmul_(grad, lr, value=-1)
        else:
            param.add_(grad, alpha=-lr)


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
        foreach: whether functions of lists, ``torch._foreach_*``, do the updates, instead of a loop; the results are
            the same (default None: a loop, as in PyTorch on a CPU).
        differentiable: whether autograd records the update (default False).
        fused: whether one kernel does the whole update (default None: it does not, because the kernel is not quicker
            without a momentum). The results are the same, but for 16-bit floats, where the kernel rounds less often.

    Raises:
        ValueError: an option is negative, or ``nesterov`` is set without momentum or with dampening.
        RuntimeError: ``fused`` is set together with ``foreach`` or ``differentiable``, or a parameter is not a
            floating point tensor on a device with such a kernel.

    Example:
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
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
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
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        self._set_up_fused(fused, foreach, differentiable)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(nesterov=False, maximize=False, foreach=None, differentiable=False, fused=False)

    def _init_group(
        self,
        group: dict[str, Any],
        params: list[Tensor],
        grads: list[Tensor],
        momentum_buffer_list: list[Tensor | None],
    ) -> bool:
        """Fill the lists, and return whether a parameter has no momentum buffer yet."""
        has_new = False
        has_momentum, fused, state = group["momentum"] != 0, group["fused"], self.state
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if fused:
                _device_dtype_check_for_fused(p)
            params.append(p)
            grads.append(grad)
            if has_momentum:
                buffer = state[p].get("momentum_buffer")
                has_new = has_new or buffer is None
                momentum_buffer_list.append(buffer)
        return has_new

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = _loss_of(closure)
        for group in self.param_groups:
            params: list[Tensor] = []
            grads: list[Tensor] = []
            momentum_buffer_list: list[Tensor | None] = []
            has_new = self._init_group(group, params, grads, momentum_buffer_list)
            sgd(
                params,
                grads,
                momentum_buffer_list,
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                lr=group["lr"],
                dampening=group["dampening"],
                nesterov=group["nesterov"],
                maximize=group["maximize"],
                foreach=group["foreach"],
                fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
            )
            if has_new:  # in the first step of a parameter, the rule has put a buffer into the list
                for p, buffer in zip(params, momentum_buffer_list, strict=True):
                    self.state[p]["momentum_buffer"] = buffer
        return loss


def sgd(
    params: list[Tensor],
    d_p_list: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float | Tensor,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """Update parameters by stochastic gradient descent: the step of :class:`SGD`, without its state.

    Args:
        params: the parameters, which change in place.
        d_p_list: their gradients.
        momentum_buffer_list: their momentum buffers, which change in place; None becomes a new buffer.

    The other arguments are the options of :class:`SGD`.

    Mirrors torch/optim/sgd.py, ``sgd``.
    """
    if fused and not foreach:
        func: Any = functools.partial(_fused_sgd, grad_scale=grad_scale, found_inf=found_inf)
    else:
        _check_no_grad_scaler(grad_scale, found_inf)
        func = _multi_tensor_sgd if foreach else _single_tensor_sgd
    func(
        params,
        d_p_list,
        momentum_buffer_list,
        weight_decay=weight_decay,
        momentum=momentum,
        lr=lr,
        dampening=dampening,
        nesterov=nesterov,
        maximize=maximize,
    )


def _has_none(values: list[Any]) -> bool:
    # A loop, because `in` would compare tensors by their elements, and a generator takes three times as long.
    for value in values:  # noqa: SIM110
        if value is None:
            return True
    return False


def _multi_tensor_sgd(
    params: list[Tensor],
    grads: Sequence[Tensor],
    momentum_buffer_list: list[Tensor | None],
    *,
    weight_decay: Any,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    if not params:
        return
    lr = _get_value(lr)
    if maximize:
        grads = _VF._foreach_neg(grads)
    if weight_decay != 0:
        grads = _VF._foreach_add(grads, params, alpha=_get_value(weight_decay))

    if momentum != 0:
        bufs: Any = momentum_buffer_list
        if _has_none(bufs):  # the first step of some parameters
            for i, grad in enumerate(grads):
                if bufs[i] is None:
                    bufs[i] = grad.detach().clone()
                else:
                    bufs[i].mul_(momentum).add_(grad, alpha=1 - dampening)
        else:
            _VF._foreach_mul_(bufs, momentum)
            _VF._foreach_add_(bufs, grads, alpha=1 - dampening)
        grads = _VF._foreach_add(grads, bufs, alpha=momentum) if nesterov else bufs

    _VF._foreach_add_(params, grads, alpha=-lr)


def _fused_sgd(
    params: list[Tensor],
    grads: list[Tensor],
    momentum_buffer_list: list[Tensor | None],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    weight_decay: Any,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    if not params:
        return
    has_momentum = momentum != 0
    is_new = [has_momentum and buffer is None for buffer in momentum_buffer_list] or [False] * len(params)
    for i, grad in enumerate(grads):
        if is_new[i]:
            momentum_buffer_list[i] = _VF.empty_like(grad)  # the kernel fills it in this step
    all_buffers: Any = momentum_buffer_list
    keys = [(p.device, p.dtype, new) for p, new in zip(params, is_new, strict=True)]
    for (_, _, new), (some_params, some_grads, buffers) in _group_by(keys, params, grads, all_buffers):
        _VF._fused_sgd_(
            some_params,
            some_grads,
            buffers if has_momentum else [],
            weight_decay=_get_value(weight_decay),
            momentum=momentum,
            lr=_moved(lr, some_params),
            dampening=dampening,
            nesterov=nesterov,
            maximize=maximize,
            is_first_step=new,
            grad_scale=_moved(grad_scale, some_params),
            found_inf=_moved(found_inf, some_params),
        )

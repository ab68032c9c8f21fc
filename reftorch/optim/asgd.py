"""Averaged stochastic gradient descent.

Mirrors: torch/optim/asgd.py
Leaves out: sparse gradients, complex parameters, and ``capturable``, which is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.optim.optimizer import (
    Optimizer,
    _check_capturable,
    _check_lr,
    _check_nonnegative,
    _cuda_graph_capture_health_check,
    _get_scalar_dtype,
    _get_value,
    _loss_of,
    _to_scalar,
    _use_grad_for_differentiable,
)

__all__ = ["ASGD", "asgd"]


def _single_tensor_asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
    maximize: bool,
    capturable: bool,
) -> None:
    """Change the parameters by the rule of :class:`ASGD`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        ax, mu, eta, step_t = axs[i], mus[i], etas[i], state_steps[i]
        step_t += 1

        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)

        if capturable:  # nothing is read on the host
            param.mul_(1 - lambd * eta)
            param.addcmul_(grad, eta, value=-1)
            ax.add_(param.sub(ax).mul_(mu))
            eta.copy_(lr / (1 + lambd * lr * step_t) ** alpha)
            mu.copy_(1 / (step_t - t0).clamp(min=1))
            continue

        step = _get_value(step_t)
        eta_value = _get_value(eta)
        param.mul_(1 - lambd * eta_value)
        param.add_(grad, alpha=-eta_value)

        if _get_value(mu) == 1:
            ax.copy_(param)
        else:
            ax.add_(param.sub(ax).mul_(mu))

        eta.copy_(_VF.scalar_tensor(_get_value(lr / (1 + lambd * lr * step) ** alpha)))
        mu.fill_(1 / max(1, step - t0))


class ASGD(Optimizer):
    r"""Stochastic gradient descent that also keeps the average of the parameters.

    With parameter :math:`p`, gradient :math:`g`, step number :math:`t`, learning rate :math:`\gamma` and weight decay
    :math:`w`, one step is

    .. math::
        g &\leftarrow g + w p \\
        p &\leftarrow (1 - \lambda \eta) p - \eta g \\
        a &\leftarrow a + \mu (p - a) \\
        \eta &\leftarrow \frac{\gamma}{(1 + \lambda \gamma t)^\alpha}, \quad
        \mu \leftarrow \frac{1}{\max(1, t - t_0)}

    Here :math:`\eta` starts from :math:`\gamma` and :math:`\mu` from 1. The average :math:`a` is the entry ``"ax"`` of
    the state: a program that wants the averaged parameters copies them from there.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-2).
        lambd: :math:`\lambda` (default 1e-4).
        alpha: :math:`\alpha` (default 0.75).
        t0: the step :math:`t_0` after which averaging begins (default 1e6).
        weight_decay: :math:`w` (default 0).
        foreach: accepted; the parameters are updated one after the other in any case, because most of a step has no
            function for lists (default None).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        differentiable: whether autograd records the update (default False).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).

    Raises:
        ValueError: the learning rate or the weight decay is negative.
        AssertionError: ``capturable`` is set, and a parameter or its state is not on a CUDA device.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.ASGD([w], lr=0.1, t0=0)
        >>> for _ in range(3):
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        >>> w.item() < optimizer.state[w]["ax"].item()  # the average lags behind
        True

    Mirrors torch/optim/asgd.py, ``ASGD``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _check_lr(lr)
        _check_nonnegative("weight_decay", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
        for p, p_state in self.state.items():
            for name in ("eta", "mu"):
                if p_state and not isinstance(p_state[name], Tensor):
                    p_state[name] = self._scalar_beside(p, p_state[name])

    @staticmethod
    def _scalar_beside(p: Tensor, value: float | Tensor) -> Tensor:
        """Return a number of the state as a 0-dim tensor on the device of its parameter."""
        return _VF.full((), _get_value(value), dtype=_get_scalar_dtype(), device=p.device)

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        mus: list[Tensor],
        axs: list[Tensor],
        etas: list[Tensor],
        state_steps: list[Tensor],
    ) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            params_with_grad.append(p)
            grads.append(p.grad)
            state = self.state[p]
            if not state:
                state["step"] = self._scalar_beside(p, 0.0)
                state["eta"] = self._scalar_beside(p, group["lr"])
                state["mu"] = self._scalar_beside(p, 1.0)
                state["ax"] = _VF.zeros_like(p)
            mus.append(state["mu"])
            axs.append(state["ax"])
            etas.append(state["eta"])
            state_steps.append(state["step"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            mus: list[Tensor] = []
            axs: list[Tensor] = []
            etas: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, mus, axs, etas, state_steps)
            asgd(
                params_with_grad,
                grads,
                axs,
                mus,
                etas,
                state_steps,
                lambd=group["lambd"],
                lr=group["lr"],
                t0=group["t0"],
                alpha=group["alpha"],
                weight_decay=group["weight_decay"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def asgd(
    params: list[Tensor],
    grads: list[Tensor],
    axs: list[Tensor],
    mus: list[Tensor],
    etas: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    r"""Update parameters by the rule of :class:`ASGD`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        axs: the averages of the parameters, which change in place.
        mus: the factors :math:`\mu`, 0-dim tensors, which change in place.
        etas: the factors :math:`\eta`, 0-dim tensors, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`ASGD`.

    Mirrors torch/optim/asgd.py, ``asgd``.
    """
    others = "params, mus, etas, and state_steps"
    _check_capturable(capturable, params, mus, etas, state_steps, others=others)
    _single_tensor_asgd(
        params,
        grads,
        axs,
        mus,
        etas,
        state_steps,
        lambd=lambd,
        lr=lr,
        t0=t0,
        alpha=alpha,
        weight_decay=weight_decay,
        maximize=maximize,
        capturable=capturable,
    )

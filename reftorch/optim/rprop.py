"""The optimizer Rprop: only the signs of the gradients count.

Mirrors: torch/optim/rprop.py
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
    _check_state_steps,
    _cuda_graph_capture_health_check,
    _get_value,
    _loss_of,
    _scalar_state,
    _use_grad_for_differentiable,
)

__all__ = ["Rprop", "rprop"]


def _single_tensor_rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    """Change the parameters by the rule of :class:`Rprop`, one after the other: the form to read."""
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        prev, step_size, step = prevs[i], step_sizes[i], state_steps[i]
        step += 1

        same = grad.mul(prev.clone() if differentiable else prev).sign()  # 1, -1 or 0
        factor = _VF.where(same.gt(0), etaplus, _VF.where(same.lt(0), etaminus, _VF.ones_like(grad)))
        step_size.mul_(factor).clamp_(step_size_min, step_size_max)

        grad = _VF.where(same.lt(0), 0.0, grad)
        # The next step changes the step size in place, so what autograd saves has to be a copy.
        param.addcmul_(grad.sign(), step_size.clone() if differentiable else step_size, value=-1)
        prev.copy_(grad)


class Rprop(Optimizer):
    r"""Give each element a step size of its own, which grows while the sign of the gradient stays the same.

    With parameter :math:`p`, gradient :math:`g`, the gradient :math:`g'` of the step before, and step size
    :math:`s`, which starts from the learning rate, one step is

    .. math::
        s &\leftarrow \begin{cases}
            \min(\eta_+ s, s_\text{max}) & \text{if } g g' > 0 \\
            \max(\eta_- s, s_\text{min}), \quad g \leftarrow 0 & \text{if } g g' < 0 \\
            s & \text{otherwise} \end{cases} \\
        p &\leftarrow p - s \operatorname{sign}(g), \quad g' \leftarrow g

    The rule is for gradients of the whole data: the signs of the gradients of small batches change at random.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: the first step size :math:`s` (default 1e-2).
        etas: :math:`\eta_-, \eta_+` (default 0.5, 1.2).
        step_sizes: :math:`s_\text{min}, s_\text{max}` (default 1e-6, 50).
        capturable: whether the count of steps is a tensor on the device of the parameter, so that a CUDA graph may
            contain the step; the CPU has no graphs, so there the first step raises (default False).
        foreach: accepted; the parameters are updated one after the other in any case, because most of a step has no
            function for lists (default None).
        maximize: whether to maximize the objective instead of minimizing it (default False).
        differentiable: whether autograd records the update (default False).

    Raises:
        ValueError: the learning rate is negative, or not :math:`0 < \eta_- < 1 < \eta_+`.
        AssertionError: ``capturable`` is set, and a parameter or its state is not on a CUDA device.

    Example:
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Rprop([w], lr=0.1)
        >>> for _ in range(2):
        ...     optimizer.zero_grad()
        ...     (w * w).sum().backward()
        ...     optimizer.step()
        >>> print(w.data)
        tensor([0.7800])

    Mirrors torch/optim/rprop.py, ``Rprop``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
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
        params: list[Tensor],
        grads: list[Tensor],
        prevs: list[Tensor],
        step_sizes: list[Tensor],
        state_steps: list[Tensor],
    ) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            params.append(p)
            grads.append(p.grad)
            state = self.state[p]
            if not state:
                state["step"] = _scalar_state(0.0, group["capturable"], p)
                state["prev"] = _VF.zeros_like(p)
                state["step_size"] = _VF.full_like(p.grad, _get_value(group["lr"]))
            prevs.append(state["prev"])
            step_sizes.append(state["step_size"])
            state_steps.append(state["step"])

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        _cuda_graph_capture_health_check(self)
        loss = _loss_of(closure)
        for group in self.param_groups:
            params: list[Tensor] = []
            grads: list[Tensor] = []
            prevs: list[Tensor] = []
            step_sizes: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params, grads, prevs, step_sizes, state_steps)
            etaminus, etaplus = group["etas"]
            step_size_min, step_size_max = group["step_sizes"]
            rprop(
                params,
                grads,
                prevs,
                step_sizes,
                state_steps,
                step_size_min=step_size_min,
                step_size_max=step_size_max,
                etaminus=etaminus,
                etaplus=etaplus,
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def rprop(
    params: list[Tensor],
    grads: list[Tensor],
    prevs: list[Tensor],
    step_sizes: list[Tensor],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """Update parameters by the rule of :class:`Rprop`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        prevs: the gradients of the step before, which change in place.
        step_sizes: the step sizes, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`Rprop`.

    Mirrors torch/optim/rprop.py, ``rprop``.
    """
    _check_state_steps(state_steps)
    _check_capturable(capturable, params, state_steps)
    _single_tensor_rprop(
        params,
        grads,
        prevs,
        step_sizes,
        state_steps,
        step_size_min=step_size_min,
        step_size_max=step_size_max,
        etaminus=etaminus,
        etaplus=etaplus,
        maximize=maximize,
        differentiable=differentiable,
    )

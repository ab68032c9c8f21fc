"""The optimizer NAdam: Adam with Nesterov's momentum.

Mirrors: torch/optim/nadam.py
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
    _check_nonnegative,
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

__all__ = ["NAdam", "nadam"]


def _single_tensor_nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    """Change the parameters by the rule of :class:`NAdam`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        exp_avg, exp_avg_sq, mu_product, step_t = exp_avgs[i], exp_avg_sqs[i], mu_products[i], state_steps[i]
        step_t += 1
        step: Any = step_t if capturable else _get_value(step_t)

        if weight_decay != 0:
            if decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(param, alpha=weight_decay)

        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
        mu_product *= mu
        product: Any = mu_product if capturable else _get_value(mu_product)

        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denom = (exp_avg_sq / (1 - beta2**step)).sqrt()
        denom = denom + eps if differentiable else denom.add_(eps)
        # The next step changes the mean in place, so what autograd saves has to be a copy.
        mean = exp_avg.clone() if differentiable else exp_avg
        if capturable:  # the factors are tensors, and addcdiv_ takes numbers only
            param.addcdiv_(grad * (-lr * (1.0 - mu) / (1.0 - product)), denom)
            param.addcdiv_(mean * (-lr * mu_next / (1.0 - product * mu_next)), denom)
            continue
        param.addcdiv_(grad, denom, value=-lr * (1.0 - mu) / (1.0 - product))
        param.addcdiv_(mean, denom, value=-lr * mu_next / (1.0 - product * mu_next))


class NAdam(Optimizer):
    r"""Adam whose mean of the gradients looks one step ahead, as Nesterov's momentum does.

    With parameter :math:`p`, gradient :math:`g`, step number :math:`t`, learning rate :math:`\gamma`, decay rates
    :math:`\beta_1, \beta_2`, weight decay :math:`\lambda` and momentum decay :math:`\psi`, one step is

    .. math::
        g &\leftarrow g + \lambda p \\
        \mu_t &= \beta_1 (1 - \tfrac12 0.96^{t \psi}), \quad \Pi_t = \mu_1 \mu_2 \cdots \mu_t \\
        m &\leftarrow \beta_1 m + (1 - \beta_1) g \\
        v &\leftarrow \beta_2 v + (1 - \beta_2) g^2 \\
        p &\leftarrow p - \gamma \frac{\frac{\mu_{t+1}}{1 - \Pi_{t+1}} m + \frac{1 - \mu_t}{1 - \Pi_t} g}
            {\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 2e-3).
        betas: :math:`\beta_1, \beta_2` (default 0.9, 0.999).
        eps: :math:`\epsilon` (default 1e-8).
        weight_decay: :math:`\lambda` (default 0).
        momentum_decay: :math:`\psi` (default 4e-3).
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
        >>> optimizer = torch.optim.NAdam([w], lr=0.1)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.8944])

    Mirrors torch/optim/nadam.py, ``NAdam``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_options_of_adam(lr, betas, eps, weight_decay)
        _check_nonnegative("momentum_decay", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(
            maximize=False, foreach=None, capturable=False, differentiable=False, decoupled_weight_decay=False
        )
        for p_state in self.state.values():
            if p_state and not isinstance(p_state["mu_product"], Tensor):
                p_state["mu_product"] = _scalar_state(p_state["mu_product"])

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        exp_avgs: list[Tensor],
        exp_avg_sqs: list[Tensor],
        mu_products: list[Tensor],
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
                state["mu_product"] = _scalar_state(1.0, group["capturable"], p)
                state["exp_avg"] = _VF.zeros_like(p)
                state["exp_avg_sq"] = _VF.zeros_like(p)
            exp_avgs.append(state["exp_avg"])
            exp_avg_sqs.append(state["exp_avg_sq"])
            mu_products.append(state["mu_product"])
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
            mu_products: list[Tensor] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps)
            beta1, beta2 = group["betas"]
            nadam(
                params_with_grad,
                grads,
                exp_avgs,
                exp_avg_sqs,
                mu_products,
                state_steps,
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                momentum_decay=group["momentum_decay"],
                eps=group["eps"],
                maximize=group["maximize"],
                decoupled_weight_decay=group["decoupled_weight_decay"],
                foreach=group["foreach"],
                capturable=group["capturable"],
                differentiable=group["differentiable"],
            )
        return loss


def nadam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    r"""Update parameters by the rule of :class:`NAdam`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        exp_avgs: the means of the gradients, which change in place.
        exp_avg_sqs: the means of the squared gradients, which change in place.
        mu_products: the products :math:`\Pi`, 0-dim tensors, which change in place.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`NAdam`.

    Mirrors torch/optim/nadam.py, ``nadam``.
    """
    _check_state_steps(state_steps)
    if not all(isinstance(product, Tensor) for product in mu_products):
        raise RuntimeError("API has changed, `mu_products` argument must contain a list of singleton tensors")
    others = "params, mu_products and state_steps"
    _check_capturable(capturable, params, mu_products, state_steps, others=others)
    single = functools.partial(_single_tensor_nadam, capturable=capturable)
    func = _multi_tensor_nadam if foreach and not capturable else single
    func(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        mu_products,
        state_steps,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        momentum_decay=momentum_decay,
        eps=eps,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
        differentiable=differentiable,
    )


def _multi_tensor_nadam(
    params: list[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    mu_products: list[Tensor],
    state_steps: list[Tensor],
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
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

    keys = list(zip(_values(state_steps), _values(mu_products), strict=True))
    for (step, _), lists in _group_by(keys, params, grads, exp_avgs, exp_avg_sqs, mu_products):
        some_params, some_grads, firsts, seconds, products = lists
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))
        mu_next = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
        _VF._foreach_mul_(products, mu)
        product = products[0].item()
        denoms = _VF._foreach_div(seconds, 1 - beta2**step)
        _VF._foreach_sqrt_(denoms)
        _VF._foreach_add_(denoms, eps)
        _VF._foreach_addcdiv_(some_params, some_grads, denoms, -lr * (1.0 - mu) / (1.0 - product))
        _VF._foreach_addcdiv_(some_params, firsts, denoms, -lr * mu_next / (1.0 - product * mu_next))

"""The optimizer Adafactor.

Mirrors: torch/optim/_adafactor.py
Leaves out: sparse gradients and complex parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._type_info import finfo
from reftorch.autograd.grad_mode import no_grad
from reftorch.optim.optimizer import Optimizer, _get_value, _loss_of, _scalar_state

__all__ = ["Adafactor", "adafactor"]


def _single_tensor_adafactor(
    params: list[Tensor],
    grads: list[Tensor],
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: list[Tensor],
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """Change the parameters by the rule of :class:`Adafactor`, one after the other: the form to read."""
    lr = _get_value(lr)
    for i, param in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        row_var, col_var, variance, step_t = row_vars[i], col_vars[i], variances[i], state_steps[i]
        epsilon = finfo(param.dtype).eps if eps1 is None else eps1

        step_t += 1
        step = step_t.item()
        one_minus_beta2 = step**beta2_decay
        rho = min(lr, 1 / step**0.5)
        alpha = max(eps2, _rms(param)) * rho

        if weight_decay != 0:
            param.mul_(1 - lr * weight_decay)

        if grad.dim() > 1:
            if row_var is None or col_var is None:
                raise AssertionError("row_var and col_var should be defined when grad is multidimensional")
            row_var.lerp_(grad.norm(2, dim=-1, keepdim=True).square_().div_(grad.size(-1)), one_minus_beta2)
            col_var.lerp_(grad.norm(2, dim=-2, keepdim=True).square_().div_(grad.size(-2)), one_minus_beta2)
            estimate = row_var @ col_var
            estimate.div_(row_var.mean(dim=-2, keepdim=True).clamp_(min=epsilon))
        else:
            if variance is None:
                raise AssertionError("variance should be defined when grad is a vector")
            variance.lerp_(grad * grad, one_minus_beta2)
            estimate = variance.clone()

        update = estimate.clamp_(min=epsilon * epsilon).rsqrt_().mul_(grad)
        param.add_(update, alpha=-alpha / max(1.0, _rms(update) / d))


class Adafactor(Optimizer):
    r"""Like Adam without momentum, but the mean square of a matrix is kept as one row and one column.

    With parameter :math:`p`, gradient :math:`g` of shape :math:`(n, m)`, step number :math:`t`, learning rate
    :math:`\gamma`, decay :math:`\tau`, weight decay :math:`\lambda` and root mean square
    :math:`\operatorname{RMS}(x) = \|x\|_2 / \sqrt{\text{number of elements}}`, one step is

    .. math::
        \rho &= \min(\gamma, 1 / \sqrt t), \quad \alpha = \max(\epsilon_2, \operatorname{RMS}(p)) \rho, \quad
            \beta = 1 - t^\tau \\
        p &\leftarrow p - \gamma \lambda p \\
        R_i &\leftarrow \beta R_i + (1 - \beta) \tfrac1m \sum_j g_{ij}^2, \quad
            C_j \leftarrow \beta C_j + (1 - \beta) \tfrac1n \sum_i g_{ij}^2 \\
        V_{ij} &= R_i C_j / \max(\epsilon_1, \tfrac1n \sum_i R_i) \\
        U &= g / \sqrt{\max(V, \epsilon_1^2)} \\
        p &\leftarrow p - \alpha\, U / \max(1, \operatorname{RMS}(U) / d)

    Instead of :math:`n m` numbers, the state of a matrix has :math:`n + m`. For a gradient of one dimension, :math:`V`
    itself is the mean, :math:`V \leftarrow \beta V + (1 - \beta) g^2`.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: :math:`\gamma`, an upper bound of the relative step size (default 1e-2).
        beta2_decay: :math:`\tau`, the exponent with which the mean square forgets less and less (default -0.8).
        eps: :math:`\epsilon_1, \epsilon_2` (default None, 1e-3). None stands for the smallest difference from 1 of the
            parameter's dtype.
        d: the root mean square of the update from which it is clipped (default 1.0).
        weight_decay: :math:`\lambda` (default 0.0).
        foreach: accepted; the parameters are updated one after the other in any case, because most of a step has no
            function for lists (default None).
        maximize: whether to maximize the objective instead of minimizing it (default False).

    Raises:
        ValueError: an option is out of its range.

    Example:
        >>> w = torch.nn.Parameter(torch.ones(3, 4))
        >>> optimizer = torch.optim.Adafactor([w])
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> {name: list(value.shape) for name, value in optimizer.state[w].items()}
        {'step': [], 'row_var': [3, 1], 'col_var': [1, 4]}

    Mirrors torch/optim/_adafactor.py, ``Adafactor``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._complete_groups(foreach=None)

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        row_vars: list[Tensor | None],
        col_vars: list[Tensor | None],
        variances: list[Tensor | None],
        state_steps: list[Tensor],
    ) -> None:
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            params_with_grad.append(p)
            grads.append(grad)
            state = self.state[p]
            if not state:
                state["step"] = _scalar_state(0.0)
                if grad.dim() > 1:
                    state["row_var"] = grad.new_zeros([*grad.shape[:-1], 1])
                    state["col_var"] = grad.new_zeros([*grad.shape[:-2], 1, grad.shape[-1]])
                else:
                    state["variance"] = _VF.zeros_like(grad)
            row_vars.append(state.get("row_var"))
            col_vars.append(state.get("col_var"))
            variances.append(state.get("variance"))
            state_steps.append(state["step"])

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            row_vars: list[Tensor | None] = []
            col_vars: list[Tensor | None] = []
            variances: list[Tensor | None] = []
            state_steps: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, row_vars, col_vars, variances, state_steps)
            eps1, eps2 = group["eps"]
            adafactor(
                params_with_grad,
                grads,
                row_vars,
                col_vars,
                variances,
                state_steps,
                d=group["d"],
                lr=group["lr"],
                beta2_decay=group["beta2_decay"],
                weight_decay=group["weight_decay"],
                eps1=eps1,
                eps2=eps2,
                foreach=group["foreach"],
                maximize=group["maximize"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
            )
        return loss


def adafactor(
    params: list[Tensor],
    grads: list[Tensor],
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """Update parameters by the rule of :class:`Adafactor`, whose state the caller holds.

    Args:
        params: the parameters, which change in place.
        grads: their gradients.
        row_vars: the means of the squares in each row, which change in place; None for a gradient of one dimension.
        col_vars: the means of the squares in each column, which change in place; None for one dimension.
        variances: the means of the squares, which change in place; None for several dimensions.
        state_steps: the numbers of steps, 0-dim tensors, which change in place.

    The other arguments are the options of :class:`Adafactor`. ``foreach`` makes no difference: most of a step is
    matrix products and norms, which have no function for lists.

    Mirrors torch/optim/_adafactor.py, ``adafactor``.
    """
    if not all(isinstance(step, Tensor) for step in state_steps):
        raise RuntimeError("`state_steps` argument must contain a list of singleton tensors")
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Grad scaling should occur outside of optimizer.step()")
    _single_tensor_adafactor(
        params,
        grads,
        row_vars,
        col_vars,
        variances,
        state_steps,
        d=d,
        lr=lr,
        beta2_decay=beta2_decay,
        weight_decay=weight_decay,
        eps1=eps1,
        eps2=eps2,
        maximize=maximize,
    )


def _rms(x: Tensor) -> float:
    return x.norm(2).item() / x.numel() ** 0.5

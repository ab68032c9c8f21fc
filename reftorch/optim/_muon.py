"""The optimizer Muon: momentum whose update is made orthogonal, for matrices.

Mirrors: torch/optim/_muon.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.optim.optimizer import Optimizer, _loss_of, _to_scalar

__all__ = ["Muon"]

EPS = 1e-7
DEFAULT_A = 3.4445
DEFAULT_B = -4.7750
DEFAULT_C = 2.0315
DEFAULT_NS_STEPS = 5


def _zeropower_via_newtonschulz(
    grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float
) -> Tensor:
    r"""Return approximately :math:`U V^T`, where :math:`U S V^T` is the singular value decomposition of ``grad``.

    Each step maps every singular value :math:`s` to :math:`a s + b s^3 + c s^5`. The coefficients are such that a few
    steps bring all singular values near 1; they do not converge to 1. bfloat16 is precise enough for this purpose.
    """
    if ns_steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(grad.shape) != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(ns_coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = ns_coefficients
    x = grad.bfloat16()
    tall = grad.size(0) > grad.size(1)
    if tall:
        x = x.T  # the Gram matrix of the shorter side is smaller
    x = x / x.norm().clamp(min=eps)  # now no singular value is larger than 1
    for _ in range(ns_steps):
        gram = x @ x.T
        gram_update = _VF.addmm(gram, gram, gram, beta=b, alpha=c)
        x = _VF.addmm(x, gram_update, x, beta=a)
    return x.T if tall else x


def _adjust_lr(lr: Any, adjust_lr_fn: str | None, param_shape: Any) -> Any:
    """Return the learning rate for a matrix of the given shape, so that large and small matrices learn alike."""
    rows, columns = param_shape[:2]
    if adjust_lr_fn is None or adjust_lr_fn == "original":
        return lr * math.sqrt(max(1, rows / columns))
    if adjust_lr_fn == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr


def _single_tensor_muon(
    params: list[Tensor],
    grads: list[Tensor],
    muon_momentum_bufs: list[Tensor],
    *,
    lr: Any,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
) -> None:
    """Change the parameters by the rule of :class:`Muon`, one after the other: the form to read."""
    lr = _to_scalar(lr)
    for i, param in enumerate(params):
        grad, buf = grads[i], muon_momentum_bufs[i]
        if grad.ndim != 2:
            raise ValueError("Param gradient must be a 2D matrix")
        buf.lerp_(grad, 1 - momentum)
        update = grad.lerp(buf, momentum) if nesterov else buf
        update = _zeropower_via_newtonschulz(update, ns_coefficients, ns_steps, eps)
        param.mul_(1 - lr * weight_decay)
        param.add_(update, alpha=-_adjust_lr(lr, adjust_lr_fn, param.shape))


class Muon(Optimizer):
    r"""Momentum whose update has all singular values near 1, for the matrices in the inner layers of a network.

    With parameter :math:`p` of shape :math:`(n, m)`, gradient :math:`g`, learning rate :math:`\gamma`, momentum
    :math:`\mu` and weight decay :math:`\lambda`, one step is

    .. math::
        b &\leftarrow \mu b + (1 - \mu) g \\
        u &= (1 - \mu) g + \mu b \quad (u = b \text{ without Nesterov's form}) \\
        o &= U V^T, \text{ where } u = U S V^T \text{ is the singular value decomposition} \\
        p &\leftarrow p - \gamma \lambda p - \gamma f(n, m)\, o

    The third line is approximated by Newton-Schulz steps. Embeddings, biases and the last layer are for another
    optimizer, such as :class:`AdamW`.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups. All parameters
            have two dimensions.
        lr: learning rate :math:`\gamma` (default 1e-3).
        weight_decay: :math:`\lambda` (default 0.1).
        momentum: :math:`\mu` (default 0.95).
        nesterov: whether to use Nesterov's form (default True).
        ns_coefficients: the coefficients :math:`a, b, c` of a Newton-Schulz step.
        eps: the smallest norm by which the matrix is divided before the Newton-Schulz steps (default 1e-7).
        ns_steps: the number of Newton-Schulz steps (default 5).
        adjust_lr_fn: ``"original"`` (the default) for :math:`f = \sqrt{\max(1, n/m)}`, or ``"match_rms_adamw"`` for
            :math:`f = 0.2 \sqrt{\max(n, m)}`, with which the options of AdamW can be used.

    Raises:
        ValueError: an option is out of its range, or a parameter is not a matrix.

    Example:
        >>> layer = torch.nn.Linear(8, 8, bias=False)
        >>> before = layer.weight.detach().clone()
        >>> optimizer = torch.optim.Muon([layer.weight], lr=1.0, weight_decay=0.0)
        >>> layer(torch.randn(16, 8)).square().sum().backward()
        >>> optimizer.step()
        >>> largest = torch.linalg.svdvals(layer.weight.detach() - before).max().item()
        >>> 0.6 < largest < 1.3
        True

    Mirrors torch/optim/_muon.py, ``Muon``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (DEFAULT_A, DEFAULT_B, DEFAULT_C),
        eps: float = EPS,
        ns_steps: int = DEFAULT_NS_STEPS,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _init_group(
        self,
        group: dict[str, Any],
        params_with_grad: list[Tensor],
        grads: list[Tensor],
        muon_momentum_bufs: list[Tensor],
    ) -> None:
        for p in group["params"]:
            if p.grad is None:
                continue
            params_with_grad.append(p)
            grads.append(p.grad)
            state = self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = _VF.zeros_like(p.grad)
            muon_momentum_bufs.append(state["momentum_buffer"])

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = _loss_of(closure)
        for group in self.param_groups:
            params_with_grad: list[Tensor] = []
            grads: list[Tensor] = []
            muon_momentum_bufs: list[Tensor] = []
            self._init_group(group, params_with_grad, grads, muon_momentum_bufs)
            muon(
                params_with_grad,
                grads,
                muon_momentum_bufs,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                nesterov=group["nesterov"],
                ns_coefficients=group["ns_coefficients"],
                eps=group["eps"],
                ns_steps=group["ns_steps"],
                adjust_lr_fn=group["adjust_lr_fn"],
                has_complex=False,
            )
        return loss


def muon(
    params: list[Tensor],
    grads: list[Tensor],
    muon_momentum_bufs: list[Tensor],
    *,
    foreach: bool | None = None,
    lr: float | Tensor,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool,
) -> None:
    """Update parameters by the rule of :class:`Muon`, whose state the caller holds.

    Args:
        params: the matrices, which change in place.
        grads: their gradients.
        muon_momentum_bufs: their momentum buffers, which change in place.

    The other arguments are the options of :class:`Muon`.

    Mirrors torch/optim/_muon.py, ``muon``.
    """
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    if has_complex:
        raise ValueError("Complex parameters are not supported")
    _single_tensor_muon(
        params,
        grads,
        muon_momentum_bufs,
        lr=lr,
        weight_decay=weight_decay,
        momentum=momentum,
        nesterov=nesterov,
        ns_coefficients=ns_coefficients,
        ns_steps=ns_steps,
        eps=eps,
        adjust_lr_fn=adjust_lr_fn,
    )

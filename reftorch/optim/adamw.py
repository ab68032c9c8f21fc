"""The optimizer AdamW: Adam with decoupled weight decay.

Mirrors: torch/optim/adamw.py
Leaves out: the ``foreach``, ``fused``, ``capturable`` and ``differentiable`` variants, and the functional form
``adamw``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reftorch._tensor import Tensor
from reftorch.optim.adam import Adam

__all__ = ["AdamW"]


class AdamW(Adam):
    r"""Adam whose weight decay bypasses the means: each step begins with :math:`p \leftarrow p - \gamma \lambda p`.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts that are groups.
        lr: learning rate :math:`\gamma` (default 1e-3).
        betas: decay rates of the two means (default 0.9, 0.999).
        eps: the number that is added to the divisor (default 1e-8).
        weight_decay: :math:`\lambda` (default 1e-2).
        amsgrad: whether to divide by the root of the largest mean square so far (default False).
        maximize: whether to maximize the objective instead of minimizing it (default False).

    Raises:
        ValueError: see :class:`Adam`.

    Example:
        >>> import reftorch as torch
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.5)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> print(w.data)
        tensor([0.8500])

    Mirrors torch/optim/adamw.py, ``AdamW``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True

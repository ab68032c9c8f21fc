"""Which optimizer can be given its gradients.

Mirrors: torch/distributed/optim/utils.py
"""

from __future__ import annotations

from typing import Any

from reftorch.distributed.optim import _functional
from reftorch.distributed.optim._functional import _FunctionalOptimizer

__all__ = ["as_functional_optim", "functional_optim_map", "register_functional_optim"]

functional_optim_map: dict[Any, Any] = {
    each.optimizer_class: each
    for each in vars(_functional).values()
    if isinstance(each, type) and issubclass(each, _FunctionalOptimizer) and each is not _FunctionalOptimizer
}


def register_functional_optim(key: Any, optim: Any) -> None:
    """Add a class to those that :func:`as_functional_optim` finds; one that is there stays.

    Args:
        key: what the class is found by, for example a class of optimizers.
        optim: a class of objects with a method ``step_param(param, grad)``.

    Mirrors torch/distributed/optim/utils.py, ``register_functional_optim``.
    """
    functional_optim_map.setdefault(key, optim)


def as_functional_optim(optim_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an optimizer that is given the gradients, with no parameters yet.

    Args:
        optim_cls: the class of the optimizer that does so with ``.grad``.
        args: arguments of the optimizer after the parameters.
        kwargs: arguments of the optimizer by name.

    Raises:
        ValueError: there is none for this class.

    Example:
        >>> from reftorch.distributed.optim import as_functional_optim
        >>> w = torch.tensor([1.0, 2.0])
        >>> as_functional_optim(torch.optim.SGD, lr=0.5).step_param(w, torch.ones(2))
        >>> w
        tensor([0.5000, 1.5000])

    Mirrors torch/distributed/optim/utils.py, ``as_functional_optim``.
    """
    if optim_cls not in functional_optim_map:
        raise ValueError(f"Optimizer {optim_cls} does not have a functional counterpart!")
    return functional_optim_map[optim_cls]([], *args, _allow_empty_param_list=True, **kwargs)

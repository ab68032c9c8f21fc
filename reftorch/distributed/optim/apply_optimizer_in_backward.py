"""Optimizers that change each parameter as soon as its gradient has arrived, inside ``backward()``.

Mirrors: torch/distributed/optim/apply_optimizer_in_backward.py
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__: list[str] = []


def _run_optimizers(parameter: Any) -> None:
    """Change a parameter, and let go of its gradient; the engine calls this when the gradient has arrived.

    If a parameter has several optimizers, the engine calls this function once for each of them. The first call runs
    all of them and sets the gradient to None, so the later calls change nothing.
    """
    for optimizer in parameter._in_backward_optimizers:
        optimizer.step()
    parameter.grad = None


def _apply_optimizer_in_backward(
    optimizer_class: Any, params: Iterable[Any], optimizer_kwargs: dict[str, Any], register_hook: bool = True
) -> None:
    """Give each parameter an optimizer of its own, which runs inside ``backward()``.

    The gradient of a parameter is set to None after the step, so the gradients of a model need not all be in memory at
    one time. DistributedDataParallel runs the optimizers after the average over the ranks.

    Args:
        optimizer_class: the class of the optimizers. A parameter may be given several of them; they run in order.
        params: the parameters.
        optimizer_kwargs: the arguments of each optimizer after the parameter.
        register_hook: False only makes the optimizers; the caller sees to it that they run.

    Example:
        >>> from reftorch.distributed.optim import _apply_optimizer_in_backward
        >>> w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        >>> _apply_optimizer_in_backward(torch.optim.SGD, [w], {"lr": 0.5})
        >>> w.sum().backward()
        >>> w.tolist(), w.grad
        ([0.5, 1.5], None)

    Mirrors torch/distributed/optim/apply_optimizer_in_backward.py, ``_apply_optimizer_in_backward``.
    """
    for parameter in params:
        optimizer = optimizer_class([parameter], **optimizer_kwargs)
        if not hasattr(parameter, "_in_backward_optimizers"):
            parameter._in_backward_optimizers = []
            parameter._optimizer_classes, parameter._optimizer_kwargs = [], []
        if register_hook:
            # The optimizer keeps the handle: unlike an attribute of the parameter, this one enters no file.
            optimizer._in_backward_hook = parameter.register_post_accumulate_grad_hook(_run_optimizers)
        parameter._in_backward_optimizers.append(optimizer)
        parameter._optimizer_classes.append(optimizer_class)
        parameter._optimizer_kwargs.append(optimizer_kwargs)


def _remove_optimizer_hooks(parameter: Any) -> None:
    """Let the optimizers of a parameter run no more by themselves."""
    for optimizer in parameter._in_backward_optimizers:
        handle = optimizer.__dict__.pop("_in_backward_hook", None)
        if handle is not None:
            handle.remove()


def _get_in_backward_optimizers(module: Any) -> list[Any]:
    """Return the optimizers of the parameters of a module that run inside backward, for example to save their states.

    Args:
        module: the module.

    Mirrors torch/distributed/optim/apply_optimizer_in_backward.py, ``_get_in_backward_optimizers``.
    """
    return [each for p in module.parameters() for each in getattr(p, "_in_backward_optimizers", ())]

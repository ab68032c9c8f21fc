"""Hooks that run an optimizer as soon as a bucket is averaged, while backward still computes the next gradients.

Mirrors: torch/distributed/algorithms/ddp_comm_hooks/optimizer_overlap_hooks.py
Leaves out: side streams. The step runs on the thread that completes futures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reftorch.distributed._grad_bucket import GradBucket
from reftorch.futures import Future

__all__: list[str] = []

Hook = Callable[[Any, GradBucket], Future[Any]]

_FUNCTIONAL_OPTIM_STEP_METHOD_NAME = "step_param"


class _OptimizerHookState:
    """An optimizer for a hook, and the parameters that the optimizer may change.

    Args:
        functional_optim: an object with a method ``step_param(param, grad)``.
        params: the parameters to change; all if None.

    Raises:
        ValueError: the object has no such method.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/optimizer_overlap_hooks.py, ``_OptimizerHookState``.
    """

    def __init__(self, functional_optim: Any, params: Iterable[Any] | None = None) -> None:
        if not hasattr(functional_optim, _FUNCTIONAL_OPTIM_STEP_METHOD_NAME):
            raise ValueError(
                f"Class {type(functional_optim)} must implement method {_FUNCTIONAL_OPTIM_STEP_METHOD_NAME}."
            )
        self.functional_optimizer = functional_optim
        self.params_to_optimize = None if params is None else set(params)


def _hook_then_optimizer(hook: Hook, optimizer_state: _OptimizerHookState) -> Hook:
    """Return a hook that calls another hook and then changes the parameters of the bucket.

    Args:
        hook: averages the gradients, such as ``allreduce_hook``.
        optimizer_state: the optimizer.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/optimizer_overlap_hooks.py, ``_hook_then_optimizer``.
    """
    chosen = optimizer_state.params_to_optimize

    def hook_then_optimizer_wrapper(hook_state: Any, bucket: GradBucket) -> Future[Any]:
        def step(done: Future[Any]) -> Any:
            done.value()  # raises the error of a hook that has failed
            for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
                if chosen is None or parameter in chosen:
                    optimizer_state.functional_optimizer.step_param(parameter, gradient)
            return bucket.buffer()

        return hook(hook_state, bucket).then(step)

    return hook_then_optimizer_wrapper


def _apply_optim_in_backward_hook(gradient_is_bucket_view: bool) -> Hook:
    """Return the hook for parameters that were given to ``_apply_optimizer_in_backward``.

    The hook averages a bucket, runs the optimizers of its parameters, and sets their gradients to None. An unused
    parameter of a bucket that is reduced has a gradient of zeros.

    Args:
        gradient_is_bucket_view: has no effect: the optimizers get the views of the bucket in both cases.

    Mirrors torch/distributed/algorithms/ddp_comm_hooks/optimizer_overlap_hooks.py, the function of this name.
    """

    def apply_optim_in_backward_hook(hook_state: Any, bucket: GradBucket) -> Future[Any]:
        ddp = hook_state()
        size = ddp.process_group.size()

        def step(done: Future[Any]) -> Any:
            done.value()
            buffer = bucket.buffer().div_(size)
            for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
                if hasattr(parameter, "_in_backward_optimizers"):
                    parameter.grad = gradient
                    for optimizer in parameter._in_backward_optimizers:
                        optimizer.step()
                    parameter.grad = None
            return buffer

        return ddp.reducer._run_allreduce_hook(bucket).then(step)

    return apply_optim_in_backward_hook

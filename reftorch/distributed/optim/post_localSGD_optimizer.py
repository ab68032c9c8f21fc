"""An optimizer that averages the parameters of all ranks now and then.

Mirrors: torch/distributed/optim/post_localSGD_optimizer.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reftorch._warnings import warn
from reftorch.distributed.algorithms.model_averaging.averagers import ModelAverager
from reftorch.optim.optimizer import Optimizer

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Takes the step of an optimizer, and lets an averager average the parameters.

    Args:
        optim: the optimizer of this rank.
        averager: says when to average, such as ``PeriodicModelAverager``.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
        >>> from reftorch.distributed.optim import PostLocalSGDOptimizer
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     p = torch.nn.Parameter(torch.zeros(1))
        ...     sgd = torch.optim.SGD([p], lr=1.0)
        ...     optimizer = PostLocalSGDOptimizer(sgd, PeriodicModelAverager(period=2))
        ...     p.grad = torch.full((1,), -2.0 * dist.get_rank())
        ...     optimizer.step()
        ...     return p.item()
        >>> program()
        [1.0, 1.0]

    Mirrors torch/distributed/optim/post_localSGD_optimizer.py, ``PostLocalSGDOptimizer``.
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups

    @property
    def state(self) -> Any:  # type: ignore[override]
        """The state of ``optim``."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """Return the state of ``optim``, and under ``"step"`` the number of steps that the averager has counted."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what :meth:`state_dict` has returned. Without a number of steps, the averager begins again at 0."""
        self.optim.load_state_dict(state_dict)
        if "step" not in state_dict:
            warn("Loaded state dict does not contain a step counter for an averager. Setting step counter to 0.")
        self.averager.step = state_dict.get("step", 0)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step, and average the parameters if it is time to. PyTorch's method takes no closure."""
        result = self.optim.step() if closure is None else self.optim.step(closure)
        self.averager.average_parameters(self.param_groups)
        return result

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all gradients to None, or to zero."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters to ``optim``."""
        self.optim.add_param_group(param_group)

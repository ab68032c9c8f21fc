"""The hooks of a module in pieces: when its parameters are put together, and when they are given back.

Mirrors: torch/distributed/fsdp/_fully_shard/_fsdp_state.py
Leaves out: streams and prefetching, groups of several modules.

| moment                                | what sees it                  | what happens                             |
|---------------------------------------|-------------------------------|------------------------------------------|
| before ``forward``                    | a forward pre-hook            | all_gather                               |
| after ``forward``                     | a forward hook                | the memory is given back                 |
| a gradient arrives at the output      | a hook of the output          | all_gather                               |
| the gradients of the inputs are ready | a node that the inputs passed | reduce_scatter, the memory is given back |
| the backward pass ends                | a callback of the engine      | that, for modules without such a node    |

The root keeps its whole parameters after ``forward``, unless the program wants it otherwise, because the backward pass
needs them at once.
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch.autograd import Function, Variable
from reftorch.distributed.fsdp._fully_shard._fsdp_api import MixedPrecisionPolicy
from reftorch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup
from reftorch.distributed.utils import _cast_forward_inputs
from reftorch.utils import _pytree

__all__ = ["FSDPState"]


class _PostBackward(Function):
    """Passes the inputs of a module on. Its backward runs when the module's backward has ended."""

    @staticmethod
    def forward(ctx: Any, state: FSDPState, *inputs: Any) -> Any:
        ctx.state = state
        return inputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        ctx.state.group.post_backward()
        return None, *grads


class FSDPState:
    """What ``fully_shard`` knows of a module.

    Args:
        module: the module.
        group: its parameters.
        reshard_after_forward: whether the memory is given back after ``forward``; None means unless it is the root.
        policy: the dtypes of inputs and outputs.
    """

    def __init__(
        self, module: Any, group: FSDPParamGroup, reshard_after_forward: bool | None, policy: MixedPrecisionPolicy
    ) -> None:
        self.policy = policy
        self.module, self.group, self.reshard_after_forward = module, group, reshard_after_forward
        self.root: FSDPState | None = None  # known at the first forward
        self.awaits_end = False  # of the root: a callback waits for the end of the backward pass
        module.register_forward_pre_hook(self.pre_forward, prepend=True, with_kwargs=True)
        module.register_forward_hook(self.post_forward)
        module.register_state_dict_pre_hook(lambda module, prefix, keep_vars: self.group.reshard())
        module.register_load_state_dict_pre_hook(lambda *args: self.group.reshard())

    def states(self) -> list[FSDPState]:
        """Return the states of this module and of all modules in it."""
        found = (getattr(module, "_fsdp_state", None) for module in self.module.modules())
        return [state for state in found if state is not None]

    def pre_forward(self, module: Any, args: Any, kwargs: Any) -> Any:
        if self.root is None:  # the first module to be called that is in no other one
            for state in self.states():
                state.root = self
            if self.reshard_after_forward is None:
                self.reshard_after_forward = False
        if self.policy.cast_forward_inputs:
            args, kwargs = _cast_forward_inputs(self.policy.param_dtype, *args, **kwargs)
        self.group.unshard()
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor) and leaf.requires_grad]
        if places:
            passed = _PostBackward.apply(self, *(leaves[i] for i in places))
            for i, leaf in zip(places, passed, strict=True):
                leaves[i] = leaf
        return _pytree.tree_unflatten(leaves, spec)

    def post_forward(self, module: Any, args: Any, output: Any) -> Any:
        if self.reshard_after_forward is not False:
            self.group.reshard()
        for leaf in _pytree.tree_leaves(output):
            if isinstance(leaf, Tensor) and leaf.requires_grad:
                leaf.register_hook(self.pre_backward)
        (converted,), _ = _cast_forward_inputs(self.policy.output_dtype, output)
        return converted

    def pre_backward(self, grad: Any) -> Any:
        root: Any = self.root
        if not root.awaits_end:
            root.awaits_end = True
            Variable._execution_engine.queue_callback(root.end_of_backward)
        self.group.unshard()
        return grad

    def end_of_backward(self) -> None:
        self.awaits_end = False
        for state in self.states():
            if any(param.unsharded_param.grad is not None for param in state.group.params):
                state.group.post_backward()
            elif state.group.reshard_after_backward:
                state.group.reshard()
